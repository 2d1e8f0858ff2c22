package dozo.picture;

import dozo.picture.NoPicture.Why;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The middle slice along the third dimension, of the first volume, of NIfTI-1 and NIfTI-2 in one file. */
final class NiftiPicture {

    static final int HEADER_1_BYTES = 348;
    static final int HEADER_2_BYTES = 540;

    static final int SIGNED_16 = 4;
    static final int SIGNED_32 = 8;
    static final int FLOAT_32 = 16;
    static final int FLOAT_64 = 64;

    private static final int SLICES_MAX = 1 << 20;

    private NiftiPicture() {}

    /** @param order of the numbers, by the header's first one */
    static BufferedImage of(InputStream in, boolean first, ByteOrder order) throws IOException, NoPicture {
        int headerBytes = first ? HEADER_1_BYTES : HEADER_2_BYTES;
        ByteBuffer header = Bytes.read(in, headerBytes, order);
        int count = (int) dimension(header, first, 0);
        long width = dimension(header, first, 1);
        long height = dimension(header, first, 2);
        long slices = count < 3 ? 1 : dimension(header, first, 3);
        Picture.checkSides(width, height);
        double offset = first ? header.getFloat(108) : header.getLong(168);
        if (count < 2 || slices < 1 || slices > SLICES_MAX || !(offset >= 0 && offset <= Integer.MAX_VALUE)) {
            throw new NoPicture(Why.DAMAGED);
        }
        int type = header.getShort(first ? 70 : 12);
        long sliceBytes = width * height * bytes(type);
        // As in the check of its content: an offset inside the header is not meant.
        in.skipNBytes(Math.max((long) offset, headerBytes + 4) - headerBytes + slices / 2 * sliceBytes);
        ByteBuffer slice = Bytes.read(in, sliceBytes, order);
        // The first row is at the back of the head, which people expect at the bottom.
        return Picture.of(
                (int) width, (int) height, (x, y) -> value(type, slice, (int) ((height - 1 - y) * width + x)));
    }

    private static long dimension(ByteBuffer header, boolean first, int number) {
        return first ? header.getShort(40 + 2 * number) : header.getLong(16 + 8 * number);
    }

    static int bytes(int type) throws NoPicture {
        return switch (type) {
            case 2, 256 -> 1;
            case 4, 512 -> 2;
            case 8, 16, 768 -> 4;
            case 64 -> 8;
            default -> throw new NoPicture(Why.NOT_GREY);
        };
    }

    static double value(int type, ByteBuffer slice, int index) {
        return switch (type) {
            case 2 -> Byte.toUnsignedInt(slice.get(index));
            case 256 -> slice.get(index);
            case 4 -> slice.getShort(2 * index);
            case 512 -> Short.toUnsignedInt(slice.getShort(2 * index));
            case 8 -> slice.getInt(4 * index);
            case 768 -> Integer.toUnsignedLong(slice.getInt(4 * index));
            case 16 -> slice.getFloat(4 * index);
            default -> slice.getDouble(8 * index);
        };
    }
}
