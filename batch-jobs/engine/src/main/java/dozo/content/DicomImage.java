package dozo.content;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/** What a data set says of its image (PS3.3 C.7.6.3), and how many bytes that is without compression. */
final class DicomImage {

    static final int SOP_CLASS = 0x0008_0016;
    static final int SAMPLES = 0x0028_0002;
    static final int PHOTOMETRIC = 0x0028_0004;
    static final int FRAMES = 0x0028_0008;
    static final int ROWS = 0x0028_0010;
    static final int COLUMNS = 0x0028_0011;
    static final int BITS = 0x0028_0100;

    static final int VALUE_BYTES_MAX = 64;

    private static final String STORAGE = "1.2.840.10008.5.1.4.1.1.";
    private static final int UNKNOWN = -1;

    private String sopClass = "";
    private String photometric = "";
    private long samples = UNKNOWN;
    private long frames = 1;
    private long rows = UNKNOWN;
    private long columns = UNKNOWN;
    private int bits = UNKNOWN;

    /** Returns whether an element says something of the image. */
    static boolean isAttribute(int tag) {
        return switch (tag) {
            case SOP_CLASS, SAMPLES, PHOTOMETRIC, FRAMES, ROWS, COLUMNS, BITS -> true;
            default -> false;
        };
    }

    /** Takes the value of an attribute. */
    void take(int tag, ByteBuffer value) {
        switch (tag) {
            case SOP_CLASS -> sopClass = text(value);
            case PHOTOMETRIC -> photometric = text(value);
            case FRAMES -> frames = text(value).matches("[0-9]{1,9}") ? Long.parseLong(text(value)) : UNKNOWN;
            case SAMPLES -> samples = number(value);
            case ROWS -> rows = number(value);
            case COLUMNS -> columns = number(value);
            case BITS -> bits = number(value);
            default -> throw new IllegalArgumentException("not of the image: %08x".formatted(tag));
        }
    }

    private static String text(ByteBuffer value) {
        return StandardCharsets.ISO_8859_1.decode(value.duplicate()).toString().trim();
    }

    private static int number(ByteBuffer value) {
        return value.limit() == Short.BYTES ? Short.toUnsignedInt(value.getShort(0)) : UNKNOWN;
    }

    /** Returns how many images there are; not above zero: not known. */
    long frames() {
        return frames;
    }

    /** Returns whether an image is described. */
    boolean isDescribed() {
        return rows > 0 && columns > 0;
    }

    /** Returns whether the kind of object always has an image: CT, MR, their enhanced ones, secondary capture, PET. */
    boolean isImageClass() {
        if (!sopClass.startsWith(STORAGE)) {
            return false;
        }
        return switch (sopClass.substring(STORAGE.length())) {
            case "2", "2.1", "4", "4.1", "4.3", "7", "128", "130" -> true;
            default -> false;
        };
    }

    /** Returns whether the kind of object is known and need not have an image. */
    boolean isOtherClass() {
        return !sopClass.isEmpty() && !isImageClass();
    }

    /**
     * Returns how many bytes all images have at least; 0: nobody can know.
     *
     * @param sampleBits how many bits a sample has; 0: as the attribute says
     */
    long bytes(int sampleBits) {
        int size = sampleBits == 0 ? bits : sampleBits;
        boolean known = size == 1 || size == 8 || size == 16 || size == 32 || size == 64;
        if (!known || !isDescribed() || samples < 1 || frames < 1) {
            return 0;
        }
        try {
            long all = Math.multiplyExact(rows * columns, Math.multiplyExact(samples * frames, (long) size));
            return Math.ceilDiv(subsampled(all), Byte.SIZE);
        } catch (ArithmeticException e) {
            return 0;
        }
    }

    /** Two, or four, pixels share the samples of their colours (PS3.3 C.7.6.3.1.2). */
    private long subsampled(long all) {
        if (photometric.endsWith("_422")) {
            return all / 3 * 2;
        }
        return photometric.endsWith("_420") ? all / 2 : all;
    }
}
