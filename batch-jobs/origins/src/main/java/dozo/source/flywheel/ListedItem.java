package dozo.source.flywheel;

import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Item;
import dozo.source.delivery.ListedFile;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What Flywheel lists of the content of a session or project.
 *
 * @param container null if nothing of it can be read
 * @param missing containers that cannot be read, each with its reason; their files are unknown
 */
public record ListedItem(@Nullable Container container, List<HeldFile> files, List<Item> missing, List<Item> remarks) {

    /**
     * Reads an item's lists without downloading files.
     *
     * @param level a session or a project
     * @throws DeliveryException if the key is no longer accepted
     * @throws IllegalArgumentException if {@code id} is not an id
     */
    public static ListedItem of(Flywheel flywheel, Level level, String id) throws IOException, InterruptedException {
        return of(flywheel, level, id, null);
    }

    /** Reads also the metadata, if they are wanted. */
    static ListedItem of(Flywheel flywheel, Level level, String id, @Nullable Metadata metadata)
            throws IOException, InterruptedException {
        Answers.checkId(id);
        try {
            return new ItemContents(flywheel, metadata).read(level, id);
        } catch (DeliveryException e) {
            if (Flywheel.ENDS_ALL.contains(e.trouble())) {
                throw e;
            }
            return new ListedItem(null, List.of(), List.of(Item.of(level.word() + " " + id, id, e)), List.of());
        }
    }

    /** Returns the sum of the stated sizes. */
    public long bytes() {
        return ListedFile.bytes(files);
    }

    /** Returns the first modality stated for a file. */
    public @Nullable String modality() {
        return files.stream()
                .map(HeldFile::modality)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }
}
