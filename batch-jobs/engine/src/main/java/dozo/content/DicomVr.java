package dozo.content;

import java.nio.ByteBuffer;

/** The value representations of DICOM (PS3.5 section 6.2): which there are, and which have a length of 32 bits. */
public final class DicomVr {

    private static final int LETTERS = 26;

    /** Bytes of the element header by the two letters; 0: no such type. */
    private static final byte[] HEADER = new byte[LETTERS * LETTERS];

    static {
        register("AEASATCSDADSDTFDFLISLOLTPNSHSLSSSTTMUIULUS", DicomElements.HEADER_BYTES);
        register("OBODOFOLOVOWSQSVUCUNURUTUV", DicomElements.LONG_HEADER_BYTES);
    }

    private DicomVr() {}

    private static void register(String types, int headerBytes) {
        for (int i = 0; i < types.length(); i += 2) {
            HEADER[index(types.charAt(i), types.charAt(i + 1))] = (byte) headerBytes;
        }
    }

    /** Returns whether the element header at this offset has a known type and a length of 16 bits. */
    public static boolean isShort(ByteBuffer bytes, int at) {
        return header(bytes, at) == DicomElements.HEADER_BYTES;
    }

    /** Returns whether the element header at this offset has a known type and, after two bytes, a length of 32 bits. */
    public static boolean isLong(ByteBuffer bytes, int at) {
        return header(bytes, at) == DicomElements.LONG_HEADER_BYTES;
    }

    /** Returns whether the element header at this offset has two capital letters. */
    static boolean isLetters(ByteBuffer bytes, int at) {
        return index(bytes.get(at + 4), bytes.get(at + 5)) >= 0;
    }

    private static int header(ByteBuffer bytes, int at) {
        int index = index(bytes.get(at + 4), bytes.get(at + 5));
        return index < 0 ? 0 : HEADER[index];
    }

    private static int index(int first, int second) {
        boolean letters = first >= 'A' && first <= 'Z' && second >= 'A' && second <= 'Z';
        return letters ? (first - 'A') * LETTERS + second - 'A' : -1;
    }
}
