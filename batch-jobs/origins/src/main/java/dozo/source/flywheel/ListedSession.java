package dozo.source.flywheel;

import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Item;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What Flywheel tells of a session's content.
 *
 * @param session null when nothing of it can be read
 * @param missing what cannot be read, each with its reason: nobody knows what files it has
 */
public record ListedSession(@Nullable Container session, List<HeldFile> files, List<Item> missing, List<Item> remarks) {

    /**
     * Asks, and brings nothing.
     *
     * @throws DeliveryException when the key is not accepted any more
     * @throws IllegalArgumentException if it is no id
     */
    public static ListedSession of(Flywheel flywheel, String session) throws IOException, InterruptedException {
        Answers.checkId(session);
        try {
            return new SessionContents(flywheel).read(session);
        } catch (DeliveryException e) {
            if (Flywheel.endsAll(e.trouble())) {
                throw e;
            }
            return new ListedSession(null, List.of(), List.of(Item.of("session " + session, session, e)), List.of());
        }
    }

    /** Of the files whose sizes are told. */
    public long bytes() {
        return files.stream().mapToLong(file -> Math.max(0, file.sizeBytes())).sum();
    }

    /** The first that is told of a file. */
    public @Nullable String modality() {
        return files.stream()
                .map(HeldFile::modality)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }
}
