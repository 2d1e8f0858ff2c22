package dozo.suggest;

import dozo.source.OpenFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Instant;
import java.util.Optional;

/**
 * MEG recordings in the FIF format: a chain of tags, each with its kind, type, length in bytes, and the position of the
 * next one.
 */
final class Fif {

    private static final int FILE_ID = 100;
    private static final int ID_STRUCTURE = 31;
    private static final int MEASUREMENT_DATE = 204;
    private static final int TAG_BYTES = 16;
    private static final int TAGS_MAX = 2_000;

    private Fif() {}

    /** Returns whether the file begins like a FIF file. */
    static boolean isFif(OpenFile file) throws IOException {
        return Recording.bytes(file, 0, TAG_BYTES)
                .filter(tag -> tag.getInt(0) == FILE_ID && tag.getInt(4) == ID_STRUCTURE)
                .isPresent();
    }

    /** Returns the time of the measurement; empty if it is not among the first {@value #TAGS_MAX} tags. */
    static Optional<Instant> measuredAt(OpenFile file) throws IOException {
        long at = 0;
        for (int i = 0; i < TAGS_MAX; i++) {
            Optional<ByteBuffer> tag = Recording.bytes(file, at, TAG_BYTES);
            if (tag.isEmpty()) {
                return Optional.empty();
            }
            int size = tag.get().getInt(8);
            int next = tag.get().getInt(12);
            if (tag.get().getInt(0) == MEASUREMENT_DATE && size >= 4) {
                return Recording.bytes(file, at + TAG_BYTES, 4).map(date -> Instant.ofEpochSecond(date.getInt(0)));
            }
            if (size < 0 || next < 0) {
                return Optional.empty();
            }
            at = next == 0 ? at + TAG_BYTES + size : next;
        }
        return Optional.empty();
    }
}
