package dozo.content;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * NIfTI-1 and NIfTI-2 in one file (nifti1.h and nifti2.h of the NIfTI Data Format Working Group): the images begin at
 * {@code vox_offset} and have dimensions × bits per voxel. Longer files are legal. A file of only a header, and one that is
 * exactly four bytes short, exist and are suspect.
 */
final class Nifti implements Format {

    /** Bits of a voxel by datatype: the field {@code bitpix} must agree, or nobody knows. */
    private static final Map<Integer, Integer> BITS = Map.ofEntries(
            Map.entry(1, 1),
            Map.entry(2, 8),
            Map.entry(4, 16),
            Map.entry(8, 32),
            Map.entry(16, 32),
            Map.entry(32, 64),
            Map.entry(64, 64),
            Map.entry(128, 24),
            Map.entry(256, 8),
            Map.entry(512, 16),
            Map.entry(768, 32),
            Map.entry(1024, 64),
            Map.entry(1280, 64),
            Map.entry(1536, 128),
            Map.entry(1792, 128),
            Map.entry(2048, 256),
            Map.entry(2304, 32));

    private static final int HEADER_1_BYTES = 348;
    private static final int HEADER_2_BYTES = 540;
    private static final int DIMENSIONS_MAX = 7;

    /** Beyond it, and if it is no number, nobody knows where the images begin. */
    private static final double MAX_OFFSET = 1e15;

    /** The line ends of the magic number of NIfTI-2 show a transfer as text. */
    private static final int LINE_ENDS = 0x0D0A1A0A;

    @Override
    public @Nullable Check check(Beginning file) {
        for (ByteOrder order : new ByteOrder[] {ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN}) {
            ByteBuffer bytes = file.in(order);
            if (file.reaches(HEADER_1_BYTES) && bytes.getInt(0) == HEADER_1_BYTES && file.has(344, "n+1\0")) {
                return new Images("NIfTI-1", HEADER_1_BYTES, order);
            }
            if (file.reaches(HEADER_2_BYTES) && bytes.getInt(0) == HEADER_2_BYTES && file.has(4, "n+2\0")) {
                return new Images("NIfTI-2", HEADER_2_BYTES, order);
            }
        }
        return null;
    }

    /**
     * Returns where the images end, by their header.
     *
     * @param first whether it is of NIfTI-1 or Analyze 7.5, else of NIfTI-2
     * @param from where they begin at the earliest
     */
    static long imagesEnd(ByteBuffer header, boolean first, long from) throws NotWhole {
        int type = header.getShort(first ? 70 : 12);
        int bits = header.getShort(first ? 72 : 14);
        double offset = first ? header.getFloat(108) : header.getLong(168);
        if (!Integer.valueOf(bits).equals(BITS.get(type)) || !(offset < MAX_OFFSET)) {
            throw NotWhole.unknown();
        }
        return Math.addExact(Math.max((long) offset, from), bytes(voxels(header, first), bits));
    }

    private static long bytes(long voxels, int bits) throws NotWhole {
        try {
            return Math.ceilDiv(Math.multiplyExact(voxels, bits), Byte.SIZE);
        } catch (ArithmeticException e) {
            throw NotWhole.broken("its dimensions are impossible");
        }
    }

    private static long voxels(ByteBuffer header, boolean first) throws NotWhole {
        int count = (int) dimension(header, first, 0);
        if (count < 1 || count > DIMENSIONS_MAX) {
            throw NotWhole.unknown();
        }
        long voxels = 1;
        for (int i = 1; i <= count; i++) {
            long length = dimension(header, first, i);
            if (i == 1 && first && length == -1) {
                // FreeSurfer writes more vertices than 16 bits can count into glmin.
                length = header.getInt(144);
            }
            if (length <= 0) {
                throw NotWhole.unknown();
            }
            try {
                voxels = Math.multiplyExact(voxels, length);
            } catch (ArithmeticException e) {
                throw NotWhole.broken("its dimensions are impossible");
            }
        }
        return voxels;
    }

    private static long dimension(ByteBuffer header, boolean first, int number) {
        return first ? header.getShort(40 + 2 * number) : header.getLong(16 + 8 * number);
    }

    private static final class Images extends Check {

        private final int headerBytes;
        private final ByteOrder order;
        private long end;

        Images(String format, int headerBytes, ByteOrder order) {
            super(format);
            this.headerBytes = headerBytes;
            this.order = order;
            want(headerBytes);
        }

        @Override
        void part(ByteBuffer header) throws NotWhole {
            header.order(order);
            boolean first = headerBytes == HEADER_1_BYTES;
            int lineEnds = first ? 0 : header.duplicate().getInt(8);
            if (lineEnds != 0 && lineEnds != LINE_ENDS) {
                throw NotWhole.broken("the line ends in its header were changed: it was transferred as text");
            }
            // An offset inside the header is not meant: the images follow it and the four bytes of its extension flag.
            end = imagesEnd(header, first, headerBytes + 4);
            skip(end - headerBytes);
        }

        @Override
        void end(long left) throws NotWhole {
            if (left > 0) {
                boolean seen = position() <= headerBytes + 4 || left == 4;
                String why = "its header says %,d bytes, the file has %,d".formatted(end, position());
                throw seen ? NotWhole.suspect(why) : NotWhole.broken(why);
            }
        }
    }
}
