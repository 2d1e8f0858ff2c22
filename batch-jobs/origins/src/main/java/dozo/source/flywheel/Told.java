package dozo.source.flywheel;

import java.io.IOException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What Flywheel tells of a session's content.
 *
 * @param session null when nothing of it can be read
 * @param bytes of the files whose sizes are told
 * @param modality the first that is told of a file
 * @param missing what cannot be read, each with its reason
 */
public record Told(
        @Nullable Container session,
        int files,
        long bytes,
        @Nullable String modality,
        List<Item> missing,
        List<Item> remarks) {

    /**
     * Asks, and brings nothing.
     *
     * @throws FlywheelException when the key is not accepted any more
     * @throws IllegalArgumentException if it is no id
     */
    public static Told of(Flywheel flywheel, String session) throws IOException, InterruptedException {
        Answers.checkId(session);
        SessionContents contents = new SessionContents(flywheel);
        try {
            Container container = contents.read(session);
            return new Told(
                    container,
                    contents.files().size(),
                    contents.bytes(),
                    contents.modality(),
                    List.copyOf(contents.missing()),
                    List.copyOf(contents.remarks()));
        } catch (FlywheelException e) {
            if (e.trouble().endsAll()) {
                throw e;
            }
            return new Told(null, 0, 0, null, List.of(Item.ofUnread(session, e)), List.of());
        }
    }
}
