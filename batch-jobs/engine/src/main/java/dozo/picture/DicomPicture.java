package dozo.picture;

import dozo.content.DicomSyntax;
import dozo.content.DicomVr;
import dozo.picture.NoPicture.Why;
import java.awt.image.BufferedImage;
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
    private static final int META_GROUP = 2;
    private static final int PIXELS = 0x7FE0_0010;
    private static final int ITEM = 0xFFFE_E000;
    private static final int ITEM_END = 0xFFFE_E00D;
    private static final int SEQUENCE_END = 0xFFFE_E0DD;
    private static final long UNDEFINED = 0xFFFF_FFFFL;

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

    static BufferedImage of(InputStream in) throws IOException, NoPicture {
        in.skipNBytes(PREAMBLE_BYTES);
        return new DicomPicture(in).drawn();
    }

    private BufferedImage drawn() throws IOException, NoPicture {
        byte[] header = in.readNBytes(HEADER_BYTES);
        // Its length is often wrong: it ends where another group begins.
        while (header.length == HEADER_BYTES && header[0] == META_GROUP && header[1] == 0) {
            begin(header);
            keepOrSkip();
            header = in.readNBytes(HEADER_BYTES);
        }
        if (header.length == HEADER_BYTES) {
            beginData(DicomSyntax.of(text(0x0002_0010), ByteBuffer.wrap(header)), header);
        }
        for (header = in.readNBytes(HEADER_BYTES);
                header.length == HEADER_BYTES;
                header = in.readNBytes(HEADER_BYTES)) {
            begin(header);
            if (tag == PIXELS) {
                return image();
            }
            keepOrSkip();
        }
        throw new NoPicture(Why.NO_IMAGE);
    }

    private void beginData(DicomSyntax syntax, byte[] header) throws NoPicture {
        if (!syntax.isNative() && !syntax.uid().isEmpty()) {
            throw new NoPicture(Why.COMPRESSED);
        }
        order = syntax.order();
        explicit = syntax.explicit();
        in = new SequenceInputStream(new ByteArrayInputStream(header), in);
        if (syntax.isDeflated()) {
            in = new InflaterInputStream(in, new Inflater(true));
        }
    }

    /** Takes an element's header, and reads the rest of it. Elements without types occur inside explicit data sets, too. */
    private void begin(byte[] bytes) throws IOException, NoPicture {
        ByteBuffer header = ByteBuffer.wrap(bytes).order(order);
        tag = header.getShort(0) << Short.SIZE | Short.toUnsignedInt(header.getShort(2));
        if (explicit && DicomVr.isLong(header, 0)) {
            length = Integer.toUnsignedLong(Bytes.read(in, Integer.BYTES, order).getInt());
        } else if (explicit && DicomVr.isShort(header, 0)) {
            length = Short.toUnsignedLong(header.getShort(6));
        } else {
            length = Integer.toUnsignedLong(header.getInt(4));
        }
    }

    private void next() throws IOException, NoPicture {
        begin(Bytes.read(in, HEADER_BYTES, order).array());
    }

    private void keepOrSkip() throws IOException, NoPicture {
        if (length <= VALUE_BYTES_MAX) {
            values.put(tag, Bytes.read(in, length, order));
        } else {
            skip(0);
        }
    }

    private void skip(int depth) throws IOException, NoPicture {
        if (length != UNDEFINED) {
            in.skipNBytes(length);
            return;
        }
        for (next(); tag != SEQUENCE_END; next()) {
            if (tag != ITEM || depth > DEPTH_MAX) {
                throw new NoPicture(Why.DAMAGED);
            }
            if (length != UNDEFINED) {
                in.skipNBytes(length);
                continue;
            }
            for (next(); tag != ITEM_END; next()) {
                skip(depth + 1);
            }
        }
    }

    private BufferedImage image() throws IOException, NoPicture {
        if (length == UNDEFINED) {
            throw new NoPicture(Why.COMPRESSED);
        }
        String photometric = text(0x0028_0004);
        int bits = number(0x0028_0100, 0);
        boolean grey = number(0x0028_0002, 1) == 1 && photometric.startsWith("MONOCHROME");
        if (!grey || (bits != 8 && bits != 16 && bits != 32)) {
            throw new NoPicture(Why.NOT_GREY);
        }
        int rows = number(0x0028_0010, 0);
        int columns = number(0x0028_0011, 0);
        Picture.checkSides(columns, rows);
        int stored = number(0x0028_0101, bits);
        int highBit = number(0x0028_0102, stored - 1);
        long frameBytes = (long) rows * columns * (bits / Byte.SIZE);
        long frames = Math.max(1, (long) decimal(0x0028_0008, 1));
        if (frames > length / frameBytes || stored < 1 || highBit >= bits || highBit + 1 < stored) {
            throw new NoPicture(Why.DAMAGED);
        }
        in.skipNBytes(frames / 2 * frameBytes);
        ByteBuffer frame = Bytes.read(in, frameBytes, order);
        boolean signed = number(0x0028_0103, 0) == 1;
        double intercept = decimal(0x0028_1052, 0);
        double slope = decimal(0x0028_1053, 1);
        // The lowest value is white.
        double sign = photometric.equals("MONOCHROME1") ? -1 : 1;
        Picture.Values points = (x, y) -> {
            long left = cell(frame, bits, y * columns + x) << (Long.SIZE - 1 - highBit);
            long value = signed ? left >> (Long.SIZE - stored) : left >>> (Long.SIZE - stored);
            return sign * (value * slope + intercept);
        };
        double centre = sign * decimal(0x0028_1050, Double.NaN);
        double half = decimal(0x0028_1051, Double.NaN) / 2;
        return half > 0 && Double.isFinite(centre)
                ? Picture.of(columns, rows, points, centre - half, centre + half)
                : Picture.of(columns, rows, points);
    }

    private static long cell(ByteBuffer frame, int bits, int index) {
        return switch (bits) {
            case 8 -> frame.get(index);
            case 16 -> frame.getShort(index * Short.BYTES);
            default -> frame.getInt(index * Integer.BYTES);
        };
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
        return first.matches("[-+]?[0-9]{1,16}([.][0-9]{0,16})?([eE][-+]?[0-9]{1,2})?")
                ? Double.parseDouble(first)
                : missing;
    }
}
