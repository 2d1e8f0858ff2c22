package dozo.content;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * How a data set is encoded (PS3.5 section 10 and annex A).
 *
 * @param uid of the transfer syntax; empty: not declared
 * @param order of its numbers
 * @param explicit whether its elements carry their types; single files and items differ from what is declared
 */
public record DicomSyntax(String uid, ByteOrder order, boolean explicit) {

    private static final String STANDARD = "1.2.840.10008.1.2";
    private static final String IMPLICIT = STANDARD;
    private static final String EXPLICIT = STANDARD + ".1";
    private static final String BIG_ENDIAN = STANDARD + ".2";
    private static final String DEFLATED = STANDARD + ".1.99";
    private static final String RLE = STANDARD + ".5";

    /** Read in the wrong order, the first groups are larger. */
    private static final int GROUP_SWAPPED_MIN = 0x0400;

    /** Of a bare data set. */
    DicomSyntax(ByteOrder order, boolean explicit) {
        this("", order, explicit);
    }

    /** Returns the declared encoding, or for none and private ones what the first element header looks like. */
    public static DicomSyntax of(String uid, ByteBuffer header) {
        if (uid.equals(BIG_ENDIAN)) {
            return new DicomSyntax(uid, ByteOrder.BIG_ENDIAN, true);
        }
        boolean standard = uid.startsWith(STANDARD);
        int group = Short.toUnsignedInt(
                header.duplicate().order(ByteOrder.LITTLE_ENDIAN).getShort(0));
        int swapped = Short.toUnsignedInt(Short.reverseBytes((short) group));
        boolean big = !standard && group >= GROUP_SWAPPED_MIN && swapped < group;
        boolean explicit = standard ? !uid.equals(IMPLICIT) : DicomVr.isShort(header, 0) || DicomVr.isLong(header, 0);
        return new DicomSyntax(uid, big ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN, explicit);
    }

    /** Returns whether all after the file meta information is deflated. */
    public boolean isDeflated() {
        return uid.equals(DEFLATED);
    }

    /** Returns whether images are declared to be without compression. */
    public boolean isNative() {
        return uid.equals(IMPLICIT) || uid.equals(EXPLICIT) || uid.equals(BIG_ENDIAN) || uid.equals(DEFLATED);
    }

    boolean isRle() {
        return uid.equals(RLE);
    }

    /** Returns whether images are JPEG or JPEG-LS. */
    boolean isJpeg() {
        return isBetween(50, 81);
    }

    /** Returns whether images are JPEG 2000, without the multi-component part that unites images. */
    boolean isJpeg2000() {
        return isBetween(90, 91) || isBetween(201, 203);
    }

    /** Returns whether every image has parts of its own (PS3.5 A.4); not so in video. */
    boolean hasPartsByImage() {
        return isRle() || isJpeg() || isJpeg2000();
    }

    private boolean isBetween(int first, int last) {
        String jpeg = STANDARD + ".4.";
        String number = uid.startsWith(jpeg) ? uid.substring(jpeg.length()) : "";
        if (!number.matches("[0-9]{2,3}")) {
            return false;
        }
        return Integer.parseInt(number) >= first && Integer.parseInt(number) <= last;
    }
}
