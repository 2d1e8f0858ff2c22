package dozo.content;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * Volumes of FreeSurfer, {@code .mgh}, and in gzip {@code .mgz} (as read by NiBabel, {@code freesurfer/mghformat.py}), big
 * endian: the voxels begin at byte {@value Volume#HEADER_BYTES}; a footer of any length, or none, follows.
 */
final class Mgh implements Format {

    private static final int VERSION = 1;

    @Override
    public @Nullable Check check(Beginning file) {
        ByteBuffer bytes = file.in(ByteOrder.BIG_ENDIAN);
        // Newer programs keep what the volume is for in the second lowest byte of the version.
        boolean mgh = (file.isNamed(".mgh") || file.isNamed(".mgz"))
                && file.reaches(Volume.TYPE_AT + Integer.BYTES)
                && (bytes.getInt(0) & 0xFFFF_00FF) == VERSION;
        return mgh ? new Volume() : null;
    }

    private static final class Volume extends Check {

        private static final int HEADER_BYTES = 284;
        private static final int DIMENSIONS_AT = 4;
        private static final int DIMENSIONS = 4;
        private static final int TYPE_AT = 20;

        private long end = HEADER_BYTES;

        Volume() {
            super("FreeSurfer MGH");
            want(HEADER_BYTES);
        }

        @Override
        void part(ByteBuffer header) throws NotWhole {
            header.order(ByteOrder.BIG_ENDIAN);
            long bytes = voxelBytes(header.getInt(TYPE_AT));
            for (int i = 0; i < DIMENSIONS; i++) {
                int length = header.getInt(DIMENSIONS_AT + Integer.BYTES * i);
                if (length <= 0) {
                    throw NotWhole.unknown();
                }
                if (bytes > Long.MAX_VALUE / 2 / length) {
                    throw NotWhole.broken("its dimensions are impossible");
                }
                bytes *= length;
            }
            end = HEADER_BYTES + bytes;
            skip(bytes);
        }

        private static int voxelBytes(int type) throws NotWhole {
            return switch (type) {
                case 0 -> 1;
                case 1, 3 -> 4;
                case 4, 10 -> 2;
                default -> throw NotWhole.unknown();
            };
        }

        @Override
        void end(long left) throws NotWhole {
            if (left > 0) {
                throw NotWhole.broken("its header says %,d bytes, the file has %,d".formatted(end, position()));
            }
        }
    }
}
