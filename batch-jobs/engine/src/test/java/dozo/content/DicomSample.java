package dozo.content;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.zip.Deflater;
import java.util.zip.DeflaterOutputStream;

/** Writes DICOM files for tests, element by element. */
public final class DicomSample {

    public static final String IMPLICIT = "1.2.840.10008.1.2";
    public static final String EXPLICIT = "1.2.840.10008.1.2.1";
    public static final String DEFLATED = "1.2.840.10008.1.2.1.99";
    public static final String BIG_ENDIAN = "1.2.840.10008.1.2.2";
    public static final String RLE = "1.2.840.10008.1.2.5";
    public static final String JPEG = "1.2.840.10008.1.2.4.70";
    public static final String MPEG = "1.2.840.10008.1.2.4.100";

    public static final int UNDEFINED = -1;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final String syntax;
    private boolean explicit;

    public DicomSample(String syntax) {
        this.syntax = syntax;
        explicit = !syntax.equals(IMPLICIT);
    }

    /** Writes what follows with types, or without. */
    public DicomSample explicit(boolean types) {
        explicit = types;
        return this;
    }

    public DicomSample add(int tag, String vr, byte[] value) {
        return header(tag, vr, value.length).raw(value);
    }

    public DicomSample text(int tag, String vr, String value) {
        String even = value.length() % 2 == 0 ? value : value + (vr.equals("UI") ? "\0" : " ");
        return add(tag, vr, even.getBytes(StandardCharsets.ISO_8859_1));
    }

    public DicomSample number(int tag, int value) {
        return add(tag, "US", buffer(2).putShort((short) value).array());
    }

    public DicomSample offset(int tag, int value) {
        return add(tag, "UL", buffer(4).putInt(value).array());
    }

    public DicomSample header(int tag, String vr, int length) {
        ByteBuffer header = buffer(12).putShort((short) (tag >>> 16)).putShort((short) tag);
        boolean item = tag >>> 16 == 0xFFFE;
        if (explicit && !item) {
            header.put(vr.getBytes(StandardCharsets.ISO_8859_1));
            if ("OB OW SQ UN UT OF OD OV".contains(vr)) {
                header.putShort((short) 0).putInt(length);
            } else {
                header.putShort((short) length);
            }
        } else {
            header.putInt(length);
        }
        out.write(header.array(), 0, header.position());
        return this;
    }

    public DicomSample item(int length) {
        return header(0xFFFE_E000, "", length);
    }

    public DicomSample itemEnd() {
        return header(0xFFFE_E00D, "", 0);
    }

    public DicomSample sequenceEnd() {
        return header(0xFFFE_E0DD, "", 0);
    }

    public DicomSample raw(byte... bytes) {
        out.writeBytes(bytes);
        return this;
    }

    /** Describes images of 16 bits. */
    public DicomSample image(int frames, int rows, int columns) {
        return text(0x0008_0016, "UI", "1.2.840.10008.5.1.4.1.1.4")
                .text(0x0008_0018, "UI", "1.2.3.4")
                .text(0x0010_0010, "PN", "Phantom")
                .number(0x0028_0002, 1)
                .text(0x0028_0004, "CS", "MONOCHROME2")
                .text(0x0028_0008, "IS", String.valueOf(frames))
                .number(0x0028_0010, rows)
                .number(0x0028_0011, columns)
                .number(0x0028_0100, 16);
    }

    int position() {
        return out.size();
    }

    /** Returns the data set alone. */
    public byte[] bare() {
        return out.toByteArray();
    }

    /** Returns the file with preamble and file meta information. */
    public byte[] file() {
        DicomSample meta = new DicomSample(EXPLICIT)
                .raw(new byte[128])
                .raw("DICM".getBytes(StandardCharsets.ISO_8859_1))
                .offset(0x0002_0000, 99)
                .add(0x0002_0001, "OB", new byte[] {0, 1});
        if (!syntax.isEmpty()) {
            meta.text(0x0002_0010, "UI", syntax);
        }
        return meta.raw(syntax.equals(DEFLATED) ? deflated(bare()) : bare()).bare();
    }

    private static byte[] deflated(byte[] content) {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        Deflater deflater = new Deflater(Deflater.BEST_COMPRESSION, true);
        try (DeflaterOutputStream deflate = new DeflaterOutputStream(packed, deflater)) {
            deflate.write(content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } finally {
            deflater.end();
        }
        return packed.toByteArray();
    }

    private ByteBuffer buffer(int bytes) {
        return ByteBuffer.allocate(bytes)
                .order(syntax.equals(BIG_ENDIAN) ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
    }
}
