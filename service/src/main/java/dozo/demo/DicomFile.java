package dozo.demo;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** Writes DICOM Part 10 files (PS3.10) in explicit VR little endian, with only what an uncompressed image needs. */
final class DicomFile {

    private static final String EXPLICIT_VR_LITTLE_ENDIAN = "1.2.840.10008.1.2.1";
    private static final int PREAMBLE_BYTES = 128;

    private DicomFile() {}

    /** Returns the file of one instance. The elements of the data set may be in any order. */
    static byte[] of(String sopClassUid, String sopInstanceUid, List<Element> dataSet) {
        List<Element> meta = List.of(
                new Element(0x00020001, "OB", new byte[] {0, 1}),
                Element.text(0x00020002, "UI", sopClassUid),
                Element.text(0x00020003, "UI", sopInstanceUid),
                Element.text(0x00020010, "UI", EXPLICIT_VR_LITTLE_ENDIAN),
                Element.text(0x00020012, "UI", uid("dozo demo")),
                Element.text(0x00020013, "SH", "DOZO_DEMO"));
        Element metaLength = Element.int32(0x00020000, sizeBytes(meta));
        ByteBuffer file = ByteBuffer.allocate(
                        PREAMBLE_BYTES + 4 + metaLength.sizeBytes() + sizeBytes(meta) + sizeBytes(dataSet))
                .order(ByteOrder.LITTLE_ENDIAN);
        file.position(PREAMBLE_BYTES).put("DICM".getBytes(UTF_8));
        metaLength.putTo(file);
        meta.forEach(element -> element.putTo(file));
        dataSet.stream().sorted(Comparator.comparingInt(Element::tag)).forEach(element -> element.putTo(file));
        return file.array();
    }

    /**
     * Returns a valid UID, always the same for the same name: 2.25 and a UUID as a decimal number (PS3.5 annex B.2).
     */
    static String uid(String name) {
        String hex = UUID.nameUUIDFromBytes(name.getBytes(UTF_8)).toString().replace("-", "");
        return "2.25." + new BigInteger(hex, 16);
    }

    private static int sizeBytes(List<Element> elements) {
        return elements.stream().mapToInt(Element::sizeBytes).sum();
    }

    /**
     * A data element; its value is padded to an even length. Elements are never compared, so an array component is
     * safe.
     */
    @SuppressWarnings("ArrayRecordComponent")
    record Element(int tag, String vr, byte[] value) {

        private static final Set<String> VRS_WITH_LONG_LENGTH = Set.of("OB", "OW");

        Element {
            if (value.length % 2 != 0) {
                value = Arrays.copyOf(value, value.length + 1);
                value[value.length - 1] = (byte) (vr.equals("UI") || vr.equals("OB") ? 0 : ' ');
            }
        }

        static Element text(int tag, String vr, String value) {
            return new Element(tag, vr, value.getBytes(UTF_8));
        }

        static Element int16(int tag, int value) {
            return new Element(tag, "US", new byte[] {(byte) value, (byte) (value >> 8)});
        }

        static Element int32(int tag, int value) {
            return new Element(
                    tag, "UL", new byte[] {(byte) value, (byte) (value >> 8), (byte) (value >> 16), (byte) (value >> 24)
                    });
        }

        int sizeBytes() {
            return (hasLongLength() ? 12 : 8) + value.length;
        }

        void putTo(ByteBuffer file) {
            file.putShort((short) (tag >> 16)).putShort((short) tag).put(vr.getBytes(UTF_8));
            if (hasLongLength()) {
                file.putShort((short) 0).putInt(value.length);
            } else {
                file.putShort((short) value.length);
            }
            file.put(value);
        }

        private boolean hasLongLength() {
            return VRS_WITH_LONG_LENGTH.contains(vr);
        }
    }
}
