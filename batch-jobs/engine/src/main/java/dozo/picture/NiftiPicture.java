package dozo.picture;

import dozo.picture.NoPicture.Why;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The middle slice along the third dimension, of the first volume, of NIfTI-1 and NIfTI-2 in one file. */
final class NiftiPicture {

    static final int HEADER_1_BYTES = 348;
    static final int HEADER_2_BYTES = 540;

    private static final int SLICES_MAX = 1 << 20;

    private NiftiPicture() {}

    /** @param order of the numbers, by the header's first one */
    static Picture of(InputStream in, boolean first, ByteOrder order) throws IOException, NoPicture {
        int headerBytes = first ? HEADER_1_BYTES : HEADER_2_BYTES;
        ByteBuffer header = Numbers.read(in, headerBytes, order);
        long count = dimension(header, first, 0);
        long width = dimension(header, first, 1);
        long height = dimension(header, first, 2);
        long slices = count < 3 ? 1 : dimension(header, first, 3);
        if (count < 2 || slices < 1) {
            throw new NoPicture(Why.NO_IMAGE);
        }
        Picture.checkSides(width, height);
        double offset = first ? header.getFloat(108) : header.getLong(168);
        if (slices > SLICES_MAX || !(offset >= 0 && offset <= Integer.MAX_VALUE)) {
            throw new NoPicture(Why.DAMAGED);
        }
        Numbers type = type(header.getShort(first ? 70 : 12));
        long sliceBytes = width * height * type.bytes();
        // As the check of its content: an offset inside the header is not meant.
        in.skipNBytes(Math.max((long) offset, headerBytes + 4) - headerBytes + slices / 2 * sliceBytes);
        ByteBuffer slice = Numbers.read(in, sliceBytes, order);
        int columns = (int) width;
        int rows = (int) height;
        // The first row is at the back of the head, which people expect at the bottom.
        return Picture.of(columns, rows, (x, y) -> type.at(slice, (rows - 1 - y) * columns + x));
    }

    private static long dimension(ByteBuffer header, boolean first, int number) {
        return first ? header.getShort(40 + 2 * number) : header.getLong(16 + 8 * number);
    }

    private static Numbers type(int datatype) throws NoPicture {
        return switch (datatype) {
            case 2 -> Numbers.UNSIGNED_8;
            case 4 -> Numbers.SIGNED_16;
            case 8 -> Numbers.SIGNED_32;
            case 16 -> Numbers.FLOAT_32;
            case 64 -> Numbers.FLOAT_64;
            case 256 -> Numbers.SIGNED_8;
            case 512 -> Numbers.UNSIGNED_16;
            case 768 -> Numbers.UNSIGNED_32;
            default -> throw new NoPicture(Why.NOT_GREY);
        };
    }
}
