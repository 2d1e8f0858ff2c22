package dozo.picture;

import dozo.content.DicomSyntax;
import dozo.content.DicomVr;
import dozo.picture.NoPicture.Why;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import java.util.zip.Inflater;
import java.util.zip.InflaterInputStream;

/**
 * The middle image of a DICOM file with preamble, without compression, in grey (PS3.3 C.7.6.3): with the first window of the
 * file, or else from the lowest to the highest value.
 */
final class DicomPicture {

    private static final int PREAMBLE_BYTES = 132;
    private static final int HEADER_BYTES = 8;
    private static final int VALUE_BYTES_MAX = 64;
    private static final int DEPTH_MAX = 32;
    private static final long UNDEFINED = 0xFFFF_FFFFL;

    private static final int META_GROUP = 2;
    private static final int ITEM_GROUP = 0xFFFE;
    private static final int SYNTAX = 0x0002_0010;
    private static final int SAMPLES = 0x0028_0002;
    private static final int PHOTOMETRIC = 0x0028_0004;
    private static final int FRAMES = 0x0028_0008;
    private static final int ROWS = 0x0028_0010;
    private static final int COLUMNS = 0x0028_0011;
    private static final int BITS_ALLOCATED = 0x0028_0100;
    private static final int BITS_STORED = 0x0028_0101;
    private static final int HIGH_BIT = 0x0028_0102;
    private static final int SIGNED = 0x0028_0103;
    private static final int WINDOW_CENTRE = 0x0028_1050;
    private static final int WINDOW_WIDTH = 0x0028_1051;
    private static final int INTERCEPT = 0x0028_1052;
    private static final int SLOPE = 0x0028_1053;
    private static final int PIXELS = 0x7FE0_0010;
    private static final int ITEM = 0xFFFE_E000;
    private static final int ITEM_END = 0xFFFE_E00D;
    private static final int SEQUENCE_END = 0xFFFE_E0DD;

    private InputStream in;
    private ByteOrder order = ByteOrder.LITTLE_ENDIAN;
    private boolean explicit = true;
    private int tag;
    private long length;

    /** The short values at the top, by tag. */
    private final Map<Integer, ByteBuffer> values = new HashMap<>();

    private DicomPicture(InputStream in) {
        this.in = in;
    }

    static Picture of(InputStream in) throws IOException, NoPicture {
        in.skipNBytes(PREAMBLE_BYTES);
        return new DicomPicture(in).drawn();
    }

    private Picture drawn() throws IOException, NoPicture {
        byte[] header = in.readNBytes(HEADER_BYTES);
        while (isMeta(header) && begins(header)) {
            keepOrSkip();
            header = in.readNBytes(HEADER_BYTES);
        }
        if (header.length == HEADER_BYTES) {
            begin(DicomSyntax.of(text(SYNTAX), ByteBuffer.wrap(header)), header);
        }
        while (begins(in.readNBytes(HEADER_BYTES))) {
            if (tag == PIXELS) {
                return image();
            }
            keepOrSkip();
        }
        throw new NoPicture(Why.NO_IMAGE);
    }

    /** The file meta information ends where another group begins: its length is often wrong. */
    private static boolean isMeta(byte[] header) {
        return header.length == HEADER_BYTES && header[0] == META_GROUP && header[1] == 0;
    }

    /** Begins the data set, whose first element header was read already. */
    private void begin(DicomSyntax syntax, byte[] header) throws NoPicture {
        order = syntax.order();
        explicit = syntax.explicit();
        if (!syntax.isNative() && !syntax.uid().isEmpty()) {
            throw new NoPicture(Why.COMPRESSED);
        }
        in = new SequenceInputStream(new ByteArrayInputStream(header), in);
        if (syntax.isDeflated()) {
            in = new InflaterInputStream(in, new Inflater(true));
        }
    }

    /** Takes an element header, and reads the rest of it; returns false if there is none. */
    private boolean begins(byte[] bytes) throws IOException, NoPicture {
        if (bytes.length < HEADER_BYTES) {
            return false;
        }
        ByteBuffer header = ByteBuffer.wrap(bytes).order(order);
        int group = Short.toUnsignedInt(header.getShort(0));
        tag = group << Short.SIZE | Short.toUnsignedInt(header.getShort(2));
        // Elements without types occur inside explicit data sets, too.
        if (explicit && group != ITEM_GROUP && DicomVr.isLong(header, 0)) {
            length = Integer.toUnsignedLong(
                    Numbers.read(in, Integer.BYTES, order).getInt());
        } else if (explicit && group != ITEM_GROUP && DicomVr.isShort(header, 0)) {
            length = Short.toUnsignedLong(header.getShort(6));
        } else {
            length = Integer.toUnsignedLong(header.getInt(4));
        }
        return true;
    }

    private void keepOrSkip() throws IOException, NoPicture {
        if (length <= VALUE_BYTES_MAX) {
            values.put(tag, Numbers.read(in, length, order));
        } else {
            skip(0);
        }
    }

    private void skip(int depth) throws IOException, NoPicture {
        if (length != UNDEFINED) {
            in.skipNBytes(length);
            return;
        }
        if (depth > DEPTH_MAX) {
            throw new NoPicture(Why.DAMAGED);
        }
        for (next(); tag != SEQUENCE_END; next()) {
            if (tag != ITEM) {
                throw new NoPicture(Why.DAMAGED);
            }
            if (length == UNDEFINED) {
                for (next(); tag != ITEM_END; next()) {
                    skip(depth + 1);
                }
            } else {
                in.skipNBytes(length);
            }
        }
    }

    private void next() throws IOException, NoPicture {
        if (!begins(in.readNBytes(HEADER_BYTES))) {
            throw new NoPicture(Why.DAMAGED);
        }
    }

    private Picture image() throws IOException, NoPicture {
        if (length == UNDEFINED) {
            throw new NoPicture(Why.COMPRESSED);
        }
        String photometric = text(PHOTOMETRIC);
        int bits = number(BITS_ALLOCATED, 0);
        boolean grey = number(SAMPLES, 1) == 1 && photometric.startsWith("MONOCHROME");
        if (!grey || (bits != 8 && bits != 16 && bits != 32)) {
            throw new NoPicture(Why.NOT_GREY);
        }
        int columns = number(COLUMNS, 0);
        int rows = number(ROWS, 0);
        Picture.checkSides(columns, rows);
        long frameBytes = (long) rows * columns * (bits / Byte.SIZE);
        long frames = Math.max(1, (long) decimal(FRAMES, 1));
        if (frames > length / frameBytes) {
            throw new NoPicture(Why.DAMAGED);
        }
        in.skipNBytes(frames / 2 * frameBytes);
        ByteBuffer frame = Numbers.read(in, frameBytes, order);
        Stored stored = new Stored(
                bits,
                number(BITS_STORED, bits),
                number(HIGH_BIT, number(BITS_STORED, bits) - 1),
                number(SIGNED, 0) == 1);
        double slope = decimal(SLOPE, 1);
        double intercept = decimal(INTERCEPT, 0);
        // MONOCHROME1: the lowest value is white.
        double sign = photometric.equals("MONOCHROME1") ? -1 : 1;
        Picture.Values points = (x, y) -> sign * (stored.at(frame, y * columns + x) * slope + intercept);
        double centre = sign * decimal(WINDOW_CENTRE, Double.NaN);
        double width = decimal(WINDOW_WIDTH, Double.NaN);
        return width > 0 && Double.isFinite(centre)
                ? Picture.of(columns, rows, points, centre - width / 2, centre + width / 2)
                : Picture.of(columns, rows, points);
    }

    /** How a value lies in its cell (PS3.5 section 8.1.1). */
    private record Stored(int cellBits, int bits, int highBit, boolean signed) {

        Stored {
            if (bits < 1 || highBit >= cellBits || highBit + 1 < bits) {
                throw new IllegalArgumentException("impossible bits");
            }
        }

        double at(ByteBuffer frame, int index) {
            long cell = switch (cellBits) {
                case 8 -> frame.get(index);
                case 16 -> frame.getShort(index * Short.BYTES);
                default -> frame.getInt(index * Integer.BYTES);
            };
            long left = cell << (Long.SIZE - 1 - highBit);
            return signed ? left >> (Long.SIZE - bits) : left >>> (Long.SIZE - bits);
        }
    }

    private String text(int of) {
        ByteBuffer value = values.getOrDefault(of, ByteBuffer.allocate(0));
        return StandardCharsets.ISO_8859_1.decode(value.duplicate()).toString().trim();
    }

    private int number(int of, int missing) {
        ByteBuffer value = values.get(of);
        return value == null || value.limit() < Short.BYTES ? missing : Short.toUnsignedInt(value.getShort(0));
    }

    /** Returns the first of the numbers in a text. */
    private double decimal(int of, double missing) {
        String first = text(of).split("\\\\", 2)[0].strip();
        return first.matches("[-+0-9.eE]{1,16}") ? Double.parseDouble(first) : missing;
    }
}
