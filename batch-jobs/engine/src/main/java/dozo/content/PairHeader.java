package dozo.content;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * The header of an Analyze 7.5 or NIfTI image in two files, {@code .hdr}: it begins with its length in bytes. The images are in
 * another file, which this check does not see.
 */
final class PairHeader implements Format {

    private static final int BYTES = 348;
    private static final int NIFTI_2_BYTES = 540;

    @Override
    public @Nullable Check check(Beginning file) {
        if (!file.isNamed(".hdr") || !file.reaches(Integer.BYTES)) {
            return null;
        }
        ByteBuffer bytes = file.in(ByteOrder.BIG_ENDIAN);
        for (int length : new int[] {BYTES, NIFTI_2_BYTES}) {
            if (bytes.getInt(0) == length || Integer.reverseBytes(bytes.getInt(0)) == length) {
                return new Header(length == BYTES ? format(file) : "NIfTI-2 header", length);
            }
        }
        return null;
    }

    private static String format(Beginning file) {
        return file.has(BYTES - 4, "ni1\0") ? "NIfTI-1 header" : "Analyze header";
    }

    private static final class Header extends Check {

        private final int bytes;

        Header(String format, int bytes) {
            super(format);
            this.bytes = bytes;
            skip(bytes);
        }

        @Override
        void part(ByteBuffer part) {
            throw new IllegalStateException("nothing is wanted");
        }

        @Override
        void end(long left) throws NotWhole {
            if (left > 0) {
                throw NotWhole.broken(
                        "it should have %,d bytes or more, the file has %,d".formatted(bytes, position()));
            }
        }
    }
}
