package dozo.source.dicom;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.zip.Deflater;

/** Writes valid and invalid DICOM data for tests. */
public final class Dataset {

    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private final boolean explicit;
    private final boolean bigEndian;

    private Dataset(boolean explicit, boolean bigEndian) {
        this.explicit = explicit;
        this.bigEndian = bigEndian;
    }

    public static Dataset explicit() {
        return new Dataset(true, false);
    }

    static Dataset implicit() {
        return new Dataset(false, false);
    }

    static Dataset bigEndian() {
        return new Dataset(true, true);
    }

    /** Returns a file: preamble, "DICM", a group 0002 with this transfer syntax, and the data set. */
    static byte[] file(String transferSyntax, byte[] data) {
        byte[] meta = explicit()
                .text(0x0002_0002, "UI", "1.2.840.10008.5.1.4.1.1.4\0")
                .text(0x0002_0010, "UI", transferSyntax.length() % 2 == 0 ? transferSyntax : transferSyntax + "\0")
                .bytes();
        Dataset file = explicit();
        file.raw(new byte[128]).raw("DICM".getBytes(StandardCharsets.US_ASCII));
        return file.raw(meta).raw(data).bytes();
    }

    public static byte[] file(byte[] data) {
        return file("1.2.840.10008.1.2.1", data);
    }

    static byte[] deflated(byte[] data) {
        return deflated(data, 0);
    }

    /** Deflates the data with so many megabytes of zeros after it. */
    static byte[] deflated(byte[] data, int megabytes) {
        Deflater deflater = new Deflater(9, true);
        ByteArrayOutputStream deflated = new ByteArrayOutputStream();
        byte[] zeros = new byte[1 << 20];
        for (int i = 0; i <= megabytes; i++) {
            deflater.setInput(i == 0 ? data : zeros);
            if (i == megabytes) {
                deflater.finish();
            }
            byte[] part = new byte[4096];
            while (!deflater.needsInput() || (i == megabytes && !deflater.finished())) {
                deflated.write(part, 0, deflater.deflate(part));
            }
        }
        deflater.end();
        return file("1.2.840.10008.1.2.1.99", deflated.toByteArray());
    }

    public Dataset text(int tag, String vr, String text) {
        return element(tag, vr, text.getBytes(StandardCharsets.ISO_8859_1));
    }

    Dataset element(int tag, String vr, byte[] value) {
        return head(tag, vr, value.length).raw(value);
    }

    /** Writes the head of an element that states this length; -1 means undefined. */
    Dataset head(int tag, String vr, long length) {
        number(tag >>> 16, 2).number(tag & 0xFFFF, 2);
        if (!explicit || tag >>> 16 == 0xFFFE) {
            return number(length, 4);
        }
        text(vr);
        return switch (vr) {
            case "OB", "OW", "SQ", "UN", "UT", "ZZ" -> number(0, 2).number(length, 4);
            default -> number(length, 2);
        };
    }

    Dataset item(long length) {
        return head(0xFFFE_E000, "", length);
    }

    Dataset itemEnd() {
        return head(0xFFFE_E00D, "", 0);
    }

    Dataset sequenceEnd() {
        return head(0xFFFE_E0DD, "", 0);
    }

    Dataset number(long number, int size) {
        for (int i = 0; i < size; i++) {
            bytes.write((int) (number >> 8 * (bigEndian ? size - 1 - i : i)));
        }
        return this;
    }

    Dataset raw(byte[] more) {
        bytes.writeBytes(more);
        return this;
    }

    public byte[] bytes() {
        return bytes.toByteArray();
    }

    private void text(String letters) {
        bytes.writeBytes(letters.getBytes(StandardCharsets.US_ASCII));
    }
}
