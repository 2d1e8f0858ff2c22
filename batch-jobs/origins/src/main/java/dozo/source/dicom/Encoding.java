package dozo.source.dicom;

import java.io.IOException;

/** How the elements of a data set are written. */
enum Encoding {
    IMPLICIT_LITTLE(false, false),
    EXPLICIT_LITTLE(true, false),
    EXPLICIT_BIG(true, true);

    private static final int NUMBER_AND_VR = 6;

    private final boolean explicit;
    private final boolean bigEndian;

    Encoding(boolean explicit, boolean bigEndian) {
        this.explicit = explicit;
        this.bigEndian = bigEndian;
    }

    boolean explicit() {
        return explicit;
    }

    boolean bigEndian() {
        return bigEndian;
    }

    /** Returns the encoding of a transfer syntax. Private ones are mostly explicit. */
    static Encoding of(String transferSyntax) {
        return switch (transferSyntax) {
            // The second one is GE's: the pixels are in the other byte order, the header is encoded as in the first.
            case "1.2.840.10008.1.2", "1.2.840.113619.5.2" -> IMPLICIT_LITTLE;
            case "1.2.840.10008.1.2.2" -> EXPLICIT_BIG;
            default -> EXPLICIT_LITTLE;
        };
    }

    static boolean isDeflated(String transferSyntax) {
        return switch (transferSyntax) {
            case "1.2.840.10008.1.2.1.99", "1.2.840.10008.1.2.4.95", "1.2.840.10008.1.2.4.205" -> true;
            default -> false;
        };
    }

    /** Guesses the encoding from the next element. Files that declare a wrong one are not rare. */
    static Encoding guessed(Input input, Encoding declared) throws IOException, Malformed {
        if (!input.has(NUMBER_AND_VR)) {
            return declared;
        }
        int vr = input.shortAt(4, true);
        if (Vr.isKnown(vr)) {
            // A data set begins with a low group number; in the wrong byte order it is a high one.
            return input.shortAt(0, true) < input.shortAt(0, false) ? EXPLICIT_BIG : EXPLICIT_LITTLE;
        }
        return declared.explicit && Vr.isPrintable(vr) ? declared : IMPLICIT_LITTLE;
    }
}
