package dozo.picture;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.content.DicomSample;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The picture of a DICOM file is its middle image without compression; all else has a reason. */
class DicomPictureTest {

    private static final String FROM_LOWEST_TO_HIGHEST = "[[0, 85], [170, 255]]";

    private static byte[] values(String syntax, int... values) {
        ByteOrder order = syntax.equals(DicomSample.BIG_ENDIAN) ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        ByteBuffer bytes = ByteBuffer.allocate(2 * values.length).order(order);
        Arrays.stream(values).forEach(value -> bytes.putShort((short) value));
        return bytes.array();
    }

    /** Returns three images of 2 × 2 points, of which the second one counts. */
    static byte[] file(String syntax) {
        return new DicomSample(syntax)
                .image(3, 2, 2)
                .add(0x7FE0_0010, "OW", values(syntax, 9, 9, 9, 9, 100, 200, 300, 400, 9, 9, 9, 9))
                .file();
    }

    /** Returns one image of 2 × 2 points from 10 to 40, with more elements of group 0028. */
    private static DicomSample image(String photometric) {
        return new DicomSample(DicomSample.EXPLICIT)
                .number(0x0028_0002, 1)
                .text(0x0028_0004, "CS", photometric)
                .number(0x0028_0010, 2)
                .number(0x0028_0011, 2)
                .number(0x0028_0100, 16);
    }

    private static String drawn(DicomSample image, int... values) {
        return Drawn.of(image.add(0x7FE0_0010, "OW", values(DicomSample.EXPLICIT, values))
                .file());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {DicomSample.IMPLICIT, DicomSample.EXPLICIT, DicomSample.BIG_ENDIAN, DicomSample.DEFLATED, ""})
    void theMiddleImageIsDrawnInEveryEncoding(String syntax) {
        assertThat(Drawn.of(file(syntax))).isEqualTo(FROM_LOWEST_TO_HIGHEST);
    }

    @Test
    void theWindowCountsAndItsFirstValueIfThereAreSeveral() {
        DicomSample windowed =
                image("MONOCHROME2").text(0x0028_1050, "DS", "25\\1000").text(0x0028_1051, "DS", "20\\9");

        assertThat(drawn(windowed, 10, 20, 30, 40)).isEqualTo("[[0, 63], [191, 255]]");
        assertThat(drawn(
                        image("MONOCHROME2")
                                .text(0x0028_1050, "DS", "250.5e0")
                                .text(0x0028_1051, "DS", "201")
                                .text(0x0028_1052, "DS", "-100")
                                .text(0x0028_1053, "DS", "10"),
                        10,
                        25,
                        35,
                        45))
                .isEqualTo("[[0, 0], [126, 253]]");
        assertThat(drawn(
                        image("MONOCHROME2").text(0x0028_1050, "DS", "wide").text(0x0028_1051, "DS", "-1"),
                        10,
                        20,
                        30,
                        40))
                .isEqualTo(FROM_LOWEST_TO_HIGHEST);
    }

    @Test
    void theLowestValueIsWhiteIfTheFileSaysSo() {
        assertThat(drawn(image("MONOCHROME1"), 10, 20, 30, 40)).isEqualTo("[[255, 170], [85, 0]]");
        assertThat(drawn(
                        image("MONOCHROME1").text(0x0028_1050, "DS", "25").text(0x0028_1051, "DS", "20"),
                        10,
                        20,
                        30,
                        40))
                .isEqualTo("[[255, 191], [63, 0]]");
    }

    @Test
    void valuesHaveTheBitsThatTheFileSays() {
        DicomSample signed = image("MONOCHROME2")
                .number(0x0028_0101, 12)
                .number(0x0028_0102, 11)
                .number(0x0028_0103, 1);
        DicomSample high = image("MONOCHROME2").number(0x0028_0101, 8).number(0x0028_0102, 15);

        assertThat(drawn(signed, 0xFFFF, 0xF000, 1, 2)).as("-1 0 1 2").isEqualTo(FROM_LOWEST_TO_HIGHEST);
        assertThat(drawn(high, 0x00FF, 0x0100, 0x0200, 0x03FF)).as("0 1 2 3").isEqualTo(FROM_LOWEST_TO_HIGHEST);
        assertThat(drawn(image("MONOCHROME2").number(0x0028_0102, 16), 1, 2, 3, 4))
                .isEqualTo("DAMAGED");
        assertThat(drawn(image("MONOCHROME2"), 7, 7, 7, 7)).isEqualTo("[[0, 0], [0, 0]]");
    }

    /** An icon, and elements without types as some writers put them into sequences. */
    @Test
    void whatIsInSequencesIsNotTheImage() {
        byte[] file = new DicomSample(DicomSample.EXPLICIT)
                .header(0x0008_1140, "SQ", DicomSample.UNDEFINED)
                .item(DicomSample.UNDEFINED)
                .number(0x0028_0010, 77)
                .header(0x0008_1199, "SQ", DicomSample.UNDEFINED)
                .item(8)
                .raw(new byte[8])
                .sequenceEnd()
                .explicit(false)
                .text(0x0008_0100, "SH", "untyped")
                .explicit(true)
                .add(0x7FE0_0010, "OW", new byte[100])
                .itemEnd()
                .sequenceEnd()
                .image(1, 2, 2)
                .add(0x7FE0_0010, "OW", values(DicomSample.EXPLICIT, 1, 2, 3, 4))
                .file();

        assertThat(Drawn.of(file)).isEqualTo(FROM_LOWEST_TO_HIGHEST);
    }

    @Test
    void bytesAndLongWordsAreDrawnToo() {
        byte[] bytes = new DicomSample(DicomSample.EXPLICIT)
                .image(1, 2, 2)
                .number(0x0028_0100, 8)
                .add(0x7FE0_0010, "OB", new byte[] {0, 85, (byte) 170, (byte) 255})
                .file();
        byte[] words = new DicomSample(DicomSample.EXPLICIT)
                .image(1, 2, 2)
                .number(0x0028_0100, 32)
                .add(0x7FE0_0010, "OW", values(DicomSample.EXPLICIT, 0, 0, 0, 1, 0, 2, 0, 3))
                .file();

        assertThat(Drawn.of(bytes)).isEqualTo(FROM_LOWEST_TO_HIGHEST);
        assertThat(Drawn.of(words)).isEqualTo(FROM_LOWEST_TO_HIGHEST);
    }

    @Test
    void compressedImagesHaveNoPicture() {
        assertThat(Drawn.of(file(DicomSample.RLE))).isEqualTo("COMPRESSED");
        assertThat(Drawn.of(file(DicomSample.JPEG))).isEqualTo("COMPRESSED");
        assertThat(Drawn.of(new DicomSample("")
                        .image(1, 2, 2)
                        .header(0x7FE0_0010, "OB", DicomSample.UNDEFINED)
                        .item(0)
                        .file()))
                .isEqualTo("COMPRESSED");
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
            3,  MONOCHROME2, 2,    2,    16, NOT_GREY
            1,  PALETTE,     2,    2,    16, NOT_GREY
            1,  MONOCHROME2, 2,    2,    1,  NOT_GREY
            1,  MONOCHROME2, 0,    2,    16, NO_IMAGE
            1,  MONOCHROME2, 4097, 2,    16, TOO_LARGE
            1,  MONOCHROME2, 2,    4097, 16, TOO_LARGE
            1,  MONOCHROME2, 3,    2,    16, DAMAGED
            """)
    void whatIsNotDrawnHasAReason(int samples, String photometric, int rows, int columns, int bits, String why) {
        byte[] file = new DicomSample(DicomSample.EXPLICIT)
                .number(0x0028_0002, samples)
                .text(0x0028_0004, "CS", photometric)
                .number(0x0028_0010, rows)
                .number(0x0028_0011, columns)
                .number(0x0028_0100, bits)
                .add(0x7FE0_0010, "OW", new byte[8])
                .file();

        assertThat(Drawn.of(file)).isEqualTo(why);
    }

    @Test
    void aFileThatIsCutHasNoPictureAtAnyLength() {
        byte[] whole = file(DicomSample.EXPLICIT);
        for (int length = 0; length < whole.length - 8; length++) {
            assertThat(Drawn.of(Arrays.copyOf(whole, length)))
                    .as("%d of %d bytes", length, whole.length)
                    .isIn("UNKNOWN_FORMAT", "NO_IMAGE", "DAMAGED", "NOT_GREY");
        }
        assertThat(Drawn.of(new DicomSample(DicomSample.EXPLICIT).image(1, 2, 2).file()))
                .isEqualTo("NO_IMAGE");
    }

    @Test
    void aDeepNestOfSequencesIsDamaged() {
        DicomSample nest = new DicomSample(DicomSample.EXPLICIT);
        for (int i = 0; i < 10_000; i++) {
            nest.header(0x0008_1140, "SQ", DicomSample.UNDEFINED).item(DicomSample.UNDEFINED);
        }
        byte[] noItem = new DicomSample(DicomSample.EXPLICIT)
                .header(0x0008_1140, "SQ", DicomSample.UNDEFINED)
                .number(0x0028_0010, 1)
                .file();

        assertThat(Drawn.of(nest.file())).isEqualTo("DAMAGED");
        assertThat(Drawn.of(noItem)).isEqualTo("DAMAGED");
    }
}
