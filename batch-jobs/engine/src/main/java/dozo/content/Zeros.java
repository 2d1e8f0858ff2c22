package dozo.content;

import java.nio.ByteBuffer;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Files of nothing but zeros, or that begin with {@value Beginning#BYTES} of them, under a name whose format begins otherwise: a
 * copy reserved the space and wrote no data, or a crash lost it. Empty files are not meant: trees of examples are full of them.
 */
final class Zeros implements Format {

    /** By the ending of the name; none of them begins with so many zeros, not even DICOM, whose preamble has 128 bytes. */
    private static final Map<String, String> FORMATS = Map.of(
            ".dcm", "DICOM",
            ".edf", "EDF",
            ".fif", "FIFF",
            ".gz", "gzip",
            ".json", "JSON",
            ".meg4", "CTF",
            ".mgz", "gzip",
            ".nii", "NIfTI",
            ".par", "Philips PAR",
            ".res4", "CTF");

    @Override
    public @Nullable Check check(Beginning file) {
        if (!file.reaches(1)
                || file.bytes()
                                .duplicate()
                                .mismatch(ByteBuffer.allocate(file.bytes().limit()))
                        >= 0) {
            return null;
        }
        return FORMATS.entrySet().stream()
                .filter(format -> file.isNamed(format.getKey()))
                .map(format -> new Lost(format.getValue()))
                .findFirst()
                .orElse(null);
    }

    private static final class Lost extends Check {

        Lost(String format) {
            super(format);
        }

        @Override
        void stream(ByteBuffer bytes) throws NotWhole {
            throw NotWhole.broken("its first %,d bytes are zeros".formatted(bytes.remaining()));
        }
    }
}
