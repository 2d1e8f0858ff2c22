package dozo.source.dicom;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.file.FilePath;
import dozo.source.OpenFile;
import dozo.source.dicom.Damaged.Damage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.LocalDate;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Any file gives its header, or what it is instead. */
class HeaderReaderTest {

    private static final String STUDY = "1.2.3.4";
    private static final int PIXELS = 0x7FE0_0010;

    @TempDir
    Path folder;

    private final HeaderReader reader = new HeaderReader();

    private static Dataset start(Dataset dataset) {
        return dataset.text(0x0008_0016, "UI", "1.2.840.10008.5.1.4.1.1.4\0")
                .text(0x0008_0018, "UI", "1.2.3.4.5\0")
                .text(0x0008_0020, "DA", "20260417")
                .text(0x0008_0060, "CS", "MR");
    }

    private static Dataset end(Dataset dataset) {
        return dataset.text(0x0020_000D, "UI", STUDY)
                .head(0x0028_0010, "US", 2)
                .number(512, 2)
                .text(0x0040_1001, "SH", "EXP-1 ");
    }

    private static Dataset whole(Dataset dataset) {
        return end(start(dataset));
    }

    private Header header(byte[] file) throws IOException {
        return (Header) read(file);
    }

    private Damaged damaged(byte[] file) throws IOException {
        return (Damaged) read(file);
    }

    /** Reads from a file and from a stream, and expects equal results. */
    private Parsed read(byte[] file) throws IOException {
        Path path = Files.write(folder.resolve("file"), file);
        Parsed parsed = reader.read(path);
        Parsed streamed = reader.read(new ByteArrayInputStream(file));
        assertThat(streamed.toString()).isEqualTo(parsed.toString());
        return parsed;
    }

    private static void assertIsWhole(Header header) {
        assertThat(header.text(Tag.SOP_INSTANCE_UID)).contains("1.2.3.4.5");
        assertThat(header.text(Tag.STUDY_INSTANCE_UID)).contains(STUDY);
        assertThat(header.day(Tag.STUDY_DATE)).contains(LocalDate.of(2026, 4, 17));
        assertThat(header.number(Tag.ROWS)).hasValue(512);
        assertThat(header.text(Tag.REQUESTED_PROCEDURE_ID)).contains("EXP-1");
        assertThat(header.illegal()).isEmpty();
    }

    @Test
    void everyEncodingSaysTheSame() throws Exception {
        byte[] explicit = whole(Dataset.explicit()).bytes();
        byte[] implicit = whole(Dataset.implicit()).bytes();
        byte[] bigEndian = whole(Dataset.bigEndian()).bytes();

        assertIsWhole(header(Dataset.file("1.2.840.10008.1.2.1", explicit)));
        assertIsWhole(header(Dataset.file("1.2.840.10008.1.2", implicit)));
        assertIsWhole(header(Dataset.file("1.2.840.10008.1.2.2", bigEndian)));
        assertIsWhole(header(Dataset.deflated(explicit)));
        assertIsWhole(header(Dataset.file("1.2.840.10008.1.2.4.70", explicit)));
        assertIsWhole(header(explicit));
        assertIsWhole(header(implicit));
        assertIsWhole(header(bigEndian));
        assertThat(header(implicit).part10()).isFalse();
    }

    @Test
    void aTransferSyntaxThatLiesIsSeenThrough() throws Exception {
        for (String named : new String[] {"1.2.840.10008.1.2", "1.2.840.10008.1.2.1", "1.2.840.10008.1.2.2", "1.2.3"}) {
            assertIsWhole(header(Dataset.file(named, whole(Dataset.explicit()).bytes())));
            assertIsWhole(header(Dataset.file(named, whole(Dataset.implicit()).bytes())));
            assertIsWhole(header(Dataset.file(named, whole(Dataset.bigEndian()).bytes())));
        }
    }

    @Test
    void theMarkInTheMidstOfABareDataSetIsAName() throws Exception {
        Dataset dataset = start(Dataset.explicit());
        int before = 128 - dataset.bytes().length - 16;
        dataset.text(0x0008_0070, "LO", "x".repeat(before)).text(0x0008_1010, "SH", "DICM");
        byte[] file = end(dataset).bytes();
        assertThat(new String(file, 128, 4, StandardCharsets.US_ASCII)).isEqualTo("DICM");

        assertIsWhole(header(file));
        assertThat(header(file).part10()).isFalse();
    }

    @Test
    void whatIsNotWantedIsPassedOver() throws Exception {
        Dataset dataset = start(Dataset.explicit())
                .element(0x0009_0000, "UL", new byte[4])
                .element(0x0009_0010, "LO", "odd".getBytes(StandardCharsets.US_ASCII))
                .element(0x0009_1001, "OB", new byte[100_001])
                .element(0x0009_1002, "ZZ", new byte[3])
                .element(0x0009_1003, "??", new byte[2])
                .head(0x0009_1004, "SQ", 20)
                .raw(new byte[20])
                .head(0x0009_1005, "SQ", -1)
                .item(8)
                .raw(new byte[8])
                .item(-1)
                .text(0x0020_000D, "UI", "9.9.9")
                .head(0x0009_1006, "SQ", -1)
                .sequenceEnd()
                .itemEnd()
                .sequenceEnd()
                .head(0x0009_1007, "UN", -1)
                .raw(Dataset.implicit()
                        .item(-1)
                        .text(0x0020_000D, "UI", "9.9.9")
                        .itemEnd()
                        .sequenceEnd()
                        .bytes());

        assertIsWhole(header(Dataset.file(end(dataset).bytes())));
        assertIsWhole(header(Dataset.deflated(end(dataset).bytes())));
    }

    @Test
    void whatTheBookingSaidIsFoundInItsSequence() throws Exception {
        for (boolean defined : new boolean[] {true, false}) {
            byte[] inside = Dataset.explicit()
                    .text(0x0008_0005, "CS", "ISO_IR 192")
                    .element(0x0040_0007, "LO", "視覚".getBytes(StandardCharsets.UTF_8))
                    .text(0x0040_1001, "SH", "EXP-2026-0417 ")
                    .bytes();
            byte[] second = Dataset.explicit().text(0x0040_1001, "SH", "other ").bytes();
            Dataset dataset = start(Dataset.explicit()).text(0x0020_000D, "UI", STUDY);
            dataset.head(0x0040_0275, "SQ", defined ? inside.length + second.length + 16 : -1);
            dataset.item(defined ? inside.length : -1).raw(inside);
            dataset = defined ? dataset : dataset.itemEnd();
            dataset.item(second.length).raw(second);
            dataset = defined ? dataset : dataset.sequenceEnd();

            Header header =
                    header(Dataset.file(dataset.text(0x0040_1001, "SH", "top ").bytes()));

            assertThat(header.text(Tag.REQUEST_REQUESTED_PROCEDURE_ID)).contains("EXP-2026-0417");
            assertThat(header.text(Tag.REQUEST_SCHEDULED_PROCEDURE_STEP_DESCRIPTION))
                    .contains("視覚");
            assertThat(header.text(Tag.REQUESTED_PROCEDURE_ID)).contains("top");
        }
    }

    @Test
    void pixelsAreNeverReadHoweverMuchIsClaimed() throws Exception {
        byte[] file = Dataset.file(whole(Dataset.explicit())
                .head(PIXELS, "OW", 0x7FFF_FFFEL)
                .raw(new byte[100])
                .bytes());
        assertIsWhole(header(file));

        InputStream endless = new InputStream() {
            private long given;

            @Override
            public int read() {
                int at = (int) Math.min(given++, Integer.MAX_VALUE);
                assertThat(at).isLessThan(file.length + 2 * Input.AHEAD_BYTES_MAX);
                return at < file.length ? file[at] & 0xFF : 0;
            }
        };
        assertIsWhole((Header) reader.read(endless));
    }

    @Test
    void theEndMayBeFilledUp() throws Exception {
        byte[] start = Dataset.file(start(Dataset.explicit()).bytes());
        assertThat(header(Arrays.copyOf(start, start.length + 7)).text(Tag.MODALITY))
                .contains("MR");
        byte[] padding = start(Dataset.explicit())
                .element(0xFFFC_FFFC, "OB", new byte[100])
                .bytes();
        assertThat(header(Dataset.file(padding)).text(Tag.MODALITY)).contains("MR");
    }

    @ParameterizedTest
    @ValueSource(strings = {"SQ", "UN"})
    void depthIsBounded(String vr) throws Exception {
        Dataset dataset = start(Dataset.explicit());
        for (int i = 0; i < 100_000; i++) {
            if (i > 0 && vr.equals("UN")) {
                // Inside an element of unknown VR everything is implicit.
                dataset.number(0x0009, 2).number(0x1001, 2).number(-1, 4).item(-1);
            } else {
                dataset.head(0x0009_1001, vr, -1).item(-1);
            }
        }
        assertThat(damaged(Dataset.file(dataset.bytes())).damage()).isEqualTo(Damage.TOO_DEEP);
        assertThat(damaged(Dataset.file(dataset.bytes())).before().text(Tag.MODALITY))
                .contains("MR");
    }

    @Test
    void elementsAreBounded() throws Exception {
        byte[] one = Dataset.explicit().element(0x0009_1001, "LO", new byte[0]).bytes();
        Dataset dataset = start(Dataset.explicit());
        for (int i = 0; i <= HeaderReader.ELEMENTS_MAX; i++) {
            dataset.raw(one);
        }
        assertThat(damaged(Dataset.file(dataset.bytes())).damage()).isEqualTo(Damage.TOO_MUCH);
    }

    @Test
    void inflatingIsBounded() throws Exception {
        byte[] huge =
                start(Dataset.explicit()).head(0x0009_1001, "OB", 2L << 30).bytes();
        Damaged bomb = damaged(Dataset.deflated(huge, 80));
        assertThat(bomb.damage()).isEqualTo(Damage.TOO_MUCH);
        assertThat(bomb.offset())
                .isBetween(HeaderReader.INFLATED_BYTES_MAX, HeaderReader.INFLATED_BYTES_MAX + Input.AHEAD_BYTES_MAX);
    }

    @Test
    void aWantedValueIsBounded() throws Exception {
        byte[] longest = new byte[HeaderReader.VALUE_BYTES_MAX];
        Arrays.fill(longest, (byte) 'x');
        Dataset fits = start(Dataset.explicit()).element(0x0008_103E, "LO", longest);
        assertThat(header(Dataset.file(fits.bytes())).text(Tag.SERIES_DESCRIPTION))
                .contains("x".repeat(longest.length));

        byte[] tooLong = Arrays.copyOf(longest, longest.length + 1);
        Dataset doesNot = start(Dataset.explicit()).element(0x0008_103E, "LO", tooLong);
        assertThat(damaged(Dataset.file(doesNot.bytes())).damage()).isEqualTo(Damage.TOO_LONG);
    }

    @ParameterizedTest
    @CsvSource({"0x0008103E, UT", "0x00091001, OB"})
    void aClaimOfTwoGibibytesReadsNothing(String tag, String vr) throws Exception {
        Dataset dataset = start(Dataset.explicit())
                .head(Integer.decode(tag), vr, 0x8000_0000L)
                .raw(new byte[100]);
        Damaged damaged = damaged(Dataset.file(dataset.bytes()));
        assertThat(damaged.damage()).isEqualTo(Damage.CUT_OFF);
        assertThat(damaged.before().text(Tag.SOP_INSTANCE_UID)).contains("1.2.3.4.5");
    }

    @Test
    void whatIsSkippedInAFileIsNotRead() throws Exception {
        Dataset dataset = start(Dataset.explicit()).head(0x0009_1001, "OB", 1L << 30);
        Path path = Files.write(folder.resolve("sparse"), Dataset.file(dataset.bytes()));
        try (var file = Files.newByteChannel(path, StandardOpenOption.WRITE)) {
            file.position(file.size() + (1L << 30));
            file.write(java.nio.ByteBuffer.wrap(end(Dataset.explicit()).bytes()));
        }
        assertIsWhole((Header) reader.read(path));
        try (OpenFile open = OpenFile.open(folder, FilePath.of("sparse"))) {
            assertIsWhole((Header) reader.read(open));
        }
    }

    @Test
    void aFileCutOffAnywhereIsDamagedOrEndsBetweenElements() throws Exception {
        byte[] file = Dataset.file(end(start(Dataset.explicit())
                        .head(0x0009_1005, "SQ", -1)
                        .item(-1)
                        .text(0x0009_0010, "LO", "x ")
                        .itemEnd()
                        .sequenceEnd())
                .bytes());
        int whole = 0;
        for (int length = 132; length < file.length; length++) {
            Parsed parsed = read(Arrays.copyOf(file, length));
            assertThat(parsed).isNotInstanceOf(NotDicom.class);
            whole += parsed instanceof Header ? 1 : 0;
        }
        // After each of the nine elements except the last; and where the zeros at the end of a head look like padding.
        assertThat(whole).isBetween(8, 12);
        assertThat(read(Arrays.copyOf(file, 131))).isEqualTo(new NotDicom());
        assertThat(read(new byte[0])).isEqualTo(new NotDicom());
    }

    @Test
    void otherFilesAreNotDicom() throws Exception {
        assertThat(read("<html><body>DICM".repeat(100).getBytes(StandardCharsets.UTF_8)))
                .isEqualTo(new NotDicom());
        assertThat(read(new byte[1000])).isEqualTo(new NotDicom());
        Random dice = new Random(20261121);
        for (int i = 0; i < 1000; i++) {
            byte[] noise = new byte[dice.nextInt(3000)];
            dice.nextBytes(noise);
            assertThat(read(noise)).isEqualTo(new NotDicom());
            if (noise.length > 8) {
                noise[0] = 8;
                noise[1] = 0;
                noise[4] = 'C';
                noise[5] = 'S';
                assertThat(read(noise)).isEqualTo(new NotDicom());
            }
        }
    }

    @Test
    void whatIsNoElementIsSaid() throws Exception {
        Dataset garbage = start(Dataset.explicit()).raw(new byte[] {1, 2, (byte) 200, 4, 5, 6, 7, 0, 9});
        assertThat(damaged(Dataset.file(garbage.bytes())).damage()).isIn(Damage.NO_ELEMENT, Damage.CUT_OFF);
        Dataset noItem = start(Dataset.explicit()).head(0x0009_1005, "SQ", -1).raw(new byte[100]);
        assertThat(damaged(Dataset.file(noItem.bytes())).damage()).isEqualTo(Damage.NO_ELEMENT);
        Dataset outOfItem = start(Dataset.explicit())
                .head(0x0040_0275, "SQ", 18)
                .item(10)
                .head(0x0040_1001, "SH", 50)
                .raw(new byte[100]);
        assertThat(damaged(Dataset.file(outOfItem.bytes())).damage()).isEqualTo(Damage.NO_ELEMENT);
        byte[] notDeflated = start(Dataset.explicit()).bytes();
        assertThat(damaged(Dataset.file("1.2.840.10008.1.2.1.99", notDeflated)).damage())
                .isEqualTo(Damage.NOT_DEFLATED);
        byte[] deflated = Dataset.deflated(whole(Dataset.explicit()).bytes());
        assertThat(damaged(Arrays.copyOf(deflated, deflated.length - 20)).damage())
                .isEqualTo(Damage.CUT_OFF);
    }

    @ParameterizedTest
    @CsvSource({
        "3, 3",
        "3.0, 3",
        "1.4939999580383, 1.4939999580383",
        "15000, 1.5",
        "70000, 7",
        "' 7 ', 7",
        "NaN,",
        "'',",
        "7T,"
    })
    void fieldStrengthIsInTesla(String written, Double tesla) throws Exception {
        byte[] data = start(Dataset.explicit())
                .text(0x0018_0087, "DS", written == null ? "" : written)
                .bytes();
        Header header = header(Dataset.file(data));
        if (tesla == null) {
            assertThat(header.fieldStrengthTesla()).isEmpty();
        } else {
            assertThat(header.fieldStrengthTesla()).hasValue(tesla);
        }
    }

    @ParameterizedTest
    @CsvSource({
        "0x00080020, DA, 20260230, false",
        "0x00080020, DA, 2026.02.28, true",
        "0x00080020, DA, ***, false",
        "0x00080020, DA, '', true",
        "0x00080030, TM, 093000.123456, true",
        "0x00080030, TM, 09, true",
        "0x00080030, TM, 250000, false",
        "0x00080030, TM, 0930.5, false",
        "0x0020000D, UI, 1.2.3, true",
        "0x0020000D, UI, 1..3, false",
        "0x0020000D, UI, 1.02.3, false",
        "0x0020000D, UI, 1.2.x, false",
        "0x0020000D, UI, 1.2.3., false",
        "0x00200011, IS, 12, true",
        "0x00200011, IS, +12, true",
        "0x00200011, IS, 1.5, false",
        "0x00180087, DS, 1e1, true",
        "0x00180087, DS, 0x1p3, false"
    })
    void whatBreaksTheRulesIsKeptAndNamed(String number, String vr, String text, boolean legal) throws Exception {
        byte[] data = Dataset.explicit().text(Integer.decode(number), vr, text).bytes();
        Header header = header(Dataset.file(data));
        Tag tag = Tag.AT_TOP.get(Integer.decode(number));
        assertThat(header.text(tag).orElse("")).isEqualTo(text);
        assertThat(header.illegal().contains(tag)).isEqualTo(!legal);
    }

    @Test
    void aHeaderDoesNotPrintItsValues() throws Exception {
        byte[] data = start(Dataset.explicit())
                .text(0x0010_0010, "PN", "Yamada^Tarou")
                .text(0x0010_0020, "LO", "Yamada")
                .bytes();
        Header header = header(Dataset.file(data));
        assertThat(header.text(Tag.PATIENT_ID)).contains("Yamada");
        assertThat(header.toString()).contains("PATIENT_ID").doesNotContain("Yamada");
    }

    @Test
    void nothingInAHeaderDrivesATerminal() throws Exception {
        byte[] data = start(Dataset.explicit())
                .text(0x0008_1010, "SH", "a\u001b[2Jb")
                .element(0x0008_103E, "LO", "exe\u202Egpj".getBytes(StandardCharsets.UTF_8))
                .bytes();
        Header header = header(Dataset.file(data));
        assertThat(header.text(Tag.STATION_NAME)).contains("a\\x1B[2Jb");
        assertThat(header.text(Tag.SERIES_DESCRIPTION)).contains("exe\\u202Egpj");
        assertThat(header.illegal()).containsExactlyInAnyOrder(Tag.STATION_NAME, Tag.SERIES_DESCRIPTION);
    }
}
