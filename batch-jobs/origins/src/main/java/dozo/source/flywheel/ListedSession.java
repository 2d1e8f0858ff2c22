package dozo.source.flywheel;

import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Item;
import dozo.source.delivery.ListedFile;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What Flywheel lists of a session's content.
 *
 * @param session null if nothing of it can be read
 * @param missing containers that cannot be read, each with its reason; their files are unknown
 */
public record ListedSession(@Nullable Container session, List<HeldFile> files, List<Item> missing, List<Item> remarks) {

    /**
     * Reads the session's lists without downloading files.
     *
     * @throws DeliveryException if the key is no longer accepted
     * @throws IllegalArgumentException if {@code session} is not an id
     */
    public static ListedSession of(Flywheel flywheel, String session) throws IOException, InterruptedException {
        Answers.checkId(session);
        try {
            return new SessionContents(flywheel).read(session);
        } catch (DeliveryException e) {
            if (Flywheel.ENDS_ALL.contains(e.trouble())) {
                throw e;
            }
            return new ListedSession(null, List.of(), List.of(Item.of("session " + session, session, e)), List.of());
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
