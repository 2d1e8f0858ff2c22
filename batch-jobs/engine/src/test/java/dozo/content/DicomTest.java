package dozo.content;

import static dozo.content.DicomSample.BIG_ENDIAN;
import static dozo.content.DicomSample.DEFLATED;
import static dozo.content.DicomSample.EXPLICIT;
import static dozo.content.DicomSample.IMPLICIT;
import static dozo.content.DicomSample.JPEG;
import static dozo.content.DicomSample.MPEG;
import static dozo.content.DicomSample.RLE;
import static dozo.content.DicomSample.UNDEFINED;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dozo.content.Verdict.State;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Optional;
import java.util.Random;
import java.util.zip.CRC32;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class DicomTest {

    private static final String MR = "1.2.840.10008.5.1.4.1.1.4";

    private static final int PIXELS = 0x7FE0_0010;

    private static Verdict judge(byte[] content) {
        return Judged.of("a.dcm", content);
    }

    private static State state(byte[] content) {
        return judge(content).state();
    }

    private static byte[] noise(int bytes) {
        byte[] noise = new byte[bytes];
        new Random(bytes).nextBytes(noise);
        return noise;
    }

    /** Three images of 8 × 10 pixels of 16 bits, after a sequence. */
    private static DicomSample images(String syntax) {
        return nested(new DicomSample(syntax)).image(3, 8, 10).add(PIXELS, "OW", noise(480));
    }

    /** A sequence and an item of undefined length, with one of known length inside. */
    private static DicomSample nested(DicomSample sample) {
        return sample.text(0x0008_0005, "CS", "ISO_IR 100")
                .header(0x0008_0006, "SQ", UNDEFINED)
                .item(UNDEFINED)
                .text(0x0008_0100, "SH", "code")
                .header(0x0008_0104, "SQ", UNDEFINED)
                .item(8)
                .raw(new byte[8])
                .sequenceEnd()
                .itemEnd()
                .sequenceEnd();
    }

    private static byte[] jpeg(int bytes) {
        byte[] jpeg = noise(bytes);
        jpeg[0] = (byte) 0xFF;
        jpeg[1] = (byte) 0xD8;
        jpeg[bytes - 2] = (byte) 0xFF;
        jpeg[bytes - 1] = (byte) 0xD9;
        return jpeg;
    }

    private static DicomSample fragments(String syntax, int frames) {
        return new DicomSample(syntax).image(frames, 8, 10).header(PIXELS, "OB", UNDEFINED);
    }

    /** Three compressed images with a table of their offsets. */
    private static DicomSample compressed(String syntax) {
        DicomSample sample = fragments(syntax, 3).item(12).raw(table(0, 108, 316));
        for (int bytes : new int[] {100, 200, 300}) {
            sample.item(bytes).raw(jpeg(bytes));
        }
        return sample;
    }

    private static byte[] table(int... offsets) {
        ByteBuffer table = ByteBuffer.allocate(4 * offsets.length).order(ByteOrder.LITTLE_ENDIAN);
        for (int offset : offsets) {
            table.putInt(offset);
        }
        return table.array();
    }

    @ParameterizedTest
    @ValueSource(strings = {IMPLICIT, EXPLICIT, BIG_ENDIAN, DEFLATED, "1.2.3.4", ""})
    void imagesOfFullLengthAreWholeInEveryTransferSyntax(String syntax) {
        assertThat(judge(images(syntax).file())).isEqualTo(new Verdict(State.WHOLE, "DICOM", ""));
    }

    @ParameterizedTest
    @ValueSource(strings = {IMPLICIT, EXPLICIT, BIG_ENDIAN})
    void aDataSetWithoutPreambleIsKnown(String syntax) {
        DicomSample bare = new DicomSample(syntax).image(3, 8, 10).add(PIXELS, "OW", noise(480));
        assertThat(state(bare.bare())).isEqualTo(State.WHOLE);
        assertThat(state(Arrays.copyOf(bare.bare(), 300))).isEqualTo(State.BROKEN);

        DicomSample few = new DicomSample(syntax).text(0x0008_0016, "UI", "1.2.840.10008.5.1.4.1.1.88.11");
        few.text(0x0020_4000, "LT", "made here").text(0x0028_0004, "CS", "RGB");
        assertThat(state(few.bare())).isEqualTo(State.WHOLE);

        byte[] meta = images(syntax).file();
        assertThat(state(Arrays.copyOfRange(meta, 132, meta.length))).isEqualTo(State.WHOLE);
    }

    @ParameterizedTest
    @ValueSource(strings = {IMPLICIT, EXPLICIT, BIG_ENDIAN, DEFLATED})
    void aFileThatIsCutAnywhereIsNotWhole(String syntax) {
        byte[] whole = images(syntax).file();
        for (int length = 133; length < whole.length; length++) {
            State state = state(Arrays.copyOf(whole, length));
            boolean certain = length > whole.length - 480 || syntax.equals(DEFLATED);
            assertThat(state).as("of %d bytes", length).isNotEqualTo(State.WHOLE);
            assertThat(certain && state != State.BROKEN)
                    .as("of %d bytes", length)
                    .isFalse();
        }
    }

    @Test
    void numbersThatLookLikeElementsAreUnknown() {
        ByteBuffer numbers = ByteBuffer.allocate(8_005).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < 1_000; i++) {
            numbers.putLong(8 + i);
        }
        assertThat(judge(numbers.array())).isEqualTo(Verdict.UNKNOWN);
    }

    @Test
    void theImageWhereTheFileEndsIsNamed() {
        byte[] whole = images(EXPLICIT).file();

        assertThat(judge(Arrays.copyOf(whole, whole.length - 161)).why())
                .isEqualTo("it ends after %,d bytes, in the middle of image 2 of 3".formatted(whole.length - 161));
    }

    @Test
    void aHeaderThatDescribesAnImageIsSuspectWithoutIt() {
        byte[] header = new DicomSample(EXPLICIT).image(3, 8, 10).file();
        byte[] empty = new DicomSample(EXPLICIT)
                .image(3, 8, 10)
                .add(PIXELS, "OW", new byte[0])
                .file();

        assertThat(judge(header).why()).isEqualTo("its header describes an image, but there is no image data");
        assertThat(state(header)).isEqualTo(State.SUSPECT);
        assertThat(state(empty)).isEqualTo(State.SUSPECT);
    }

    @Test
    void anObjectWithoutImageIsWhole() {
        DicomSample report = nested(new DicomSample(EXPLICIT)).text(0x0008_0016, "UI", "1.2.840.10008.5.1.4.1.1.88.11");
        assertThat(state(report.file())).isEqualTo(State.WHOLE);
        assertThat(state(report.raw(new byte[100]).file())).isEqualTo(State.WHOLE);

        DicomSample spectra = new DicomSample(EXPLICIT).image(1, 8, 8).add(0x5600_0020, "OF", noise(100));
        assertThat(state(spectra.file())).isEqualTo(State.WHOLE);
    }

    @ParameterizedTest
    @ValueSource(strings = {IMPLICIT, EXPLICIT, BIG_ENDIAN})
    void zerosInPlaceOfTheEndAreBrokenUnlessTheyBeginInTheImage(String syntax) {
        DicomSample kind = nested(new DicomSample(syntax)).text(0x0008_0016, "UI", "1.2.840.10008.5.1.4.1.1.4");
        int known = kind.file().length;
        byte[] whole = nested(new DicomSample(syntax))
                .image(3, 100, 100)
                .add(PIXELS, "OW", noise(60_000))
                .file();
        int pixels = whole.length - 60_000;
        for (int from = known; from < pixels - 3; from++) {
            byte[] zeros = whole.clone();
            Arrays.fill(zeros, from, whole.length, (byte) 0);
            // Within the two letters of a type, it could be one that nobody knows.
            boolean halfType = syntax.equals(EXPLICIT) && from == pixels - 7;
            assertThat(state(zeros)).as("from byte %d", from).isEqualTo(halfType ? State.SUSPECT : State.BROKEN);
        }
        Arrays.fill(whole, pixels + 100, whole.length, (byte) 0);
        assertThat(state(whole)).isEqualTo(State.WHOLE);
    }

    @Test
    void manyZerosInPlaceOfAnImageAreBroken() {
        DicomSample start = new DicomSample(EXPLICIT).text(0x0008_0016, "UI", "1.2.840.10008.5.1.4.1.1.4");
        assertThat(judge(start.raw(new byte[5_000]).file()).why()).contains("zeros in place of its image data");

        DicomSample report = new DicomSample(EXPLICIT).text(0x0008_0016, "UI", "1.2.840.10008.5.1.4.1.1.88.11");
        assertThat(state(report.raw(new byte[5_000]).file())).isEqualTo(State.SUSPECT);
    }

    @Test
    void imageDataMustBeAsLongAsTheHeaderSays() {
        DicomSample start = new DicomSample(EXPLICIT).image(3, 8, 10);
        assertThat(state(start.add(PIXELS, "OW", noise(600)).file())).isEqualTo(State.WHOLE);

        Verdict shorter = judge(new DicomSample(EXPLICIT)
                .image(3, 8, 10)
                .add(PIXELS, "OW", noise(478))
                .file());
        assertThat(shorter)
                .isEqualTo(new Verdict(State.BROKEN, "DICOM", "its header says 480 bytes of image data, it has 478"));

        // Whole images, the last byte, and a file that does not declare how it is encoded.
        for (int bytes : new int[] {320, 479}) {
            byte[] file = new DicomSample(EXPLICIT)
                    .image(3, 8, 10)
                    .add(PIXELS, "OW", noise(bytes))
                    .file();
            assertThat(state(file)).as("%d bytes", bytes).isEqualTo(State.SUSPECT);
        }
        DicomSample undeclared = new DicomSample("").image(3, 8, 10).add(PIXELS, "OW", noise(100));
        assertThat(state(undeclared.file())).isEqualTo(State.SUSPECT);
    }

    @Test
    void samplesAreCountedAsTheirKindSays() {
        assertThat(state(kind(1, 1, "MONOCHROME2", 3, 23))).isEqualTo(State.WHOLE);
        assertThat(state(kind(1, 1, "MONOCHROME2", 3, 20))).isEqualTo(State.BROKEN);
        assertThat(state(kind(3, 8, "YBR_FULL_422", 1, 120))).isEqualTo(State.WHOLE);
        assertThat(state(kind(3, 8, "RGB", 1, 120))).isEqualTo(State.BROKEN);
        assertThat(state(kind(1, 12, "MONOCHROME2", 1, 90))).isEqualTo(State.WHOLE);
        assertThat(state(kind(1, 16, "MONOCHROME2", 0, 90))).isEqualTo(State.WHOLE);
    }

    private static byte[] kind(int samples, int bits, String photometric, int frames, int bytes) {
        return new DicomSample(EXPLICIT)
                .number(0x0028_0002, samples)
                .text(0x0028_0004, "CS", photometric)
                .text(0x0028_0008, "IS", frames == 0 ? "many" : String.valueOf(frames))
                .number(0x0028_0010, 6)
                .number(0x0028_0011, 10)
                .number(0x0028_0100, bits)
                .add(PIXELS, "OB", noise(bytes))
                .file();
    }

    @Test
    void whatFollowsTheImageIsNoAlarm() {
        assertThat(state(images(EXPLICIT)
                        .header(0xFFFC_FFFC, "OB", 1_000_000)
                        .raw(new byte[10])
                        .file()))
                .isEqualTo(State.WHOLE);
        assertThat(state(images(EXPLICIT).raw(new byte[1_000]).file())).isEqualTo(State.WHOLE);
        assertThat(state(images(EXPLICIT).text(0xE029_0010, "LO", "private").file()))
                .isEqualTo(State.WHOLE);
        assertThat(state(images(EXPLICIT).itemEnd().sequenceEnd().file())).isEqualTo(State.WHOLE);
        assertThat(state(images(EXPLICIT)
                        .raw("some text that is longer".getBytes(US_ASCII))
                        .file()))
                .isEqualTo(State.SUSPECT);
        assertThat(state(images(EXPLICIT).item(8).raw(new byte[8]).file())).isEqualTo(State.SUSPECT);
        assertThat(state(images(EXPLICIT).raw(new byte[] {10}).file())).isEqualTo(State.SUSPECT);
        assertThat(state(images(EXPLICIT).header(0x7FE1_1010, "OB", 1_000).file()))
                .isEqualTo(State.BROKEN);
    }

    @Test
    void sequencesMayBeEncodedInManyWays() {
        DicomSample unknownType = new DicomSample(EXPLICIT)
                .header(0x0009_1001, "UN", UNDEFINED)
                .item(UNDEFINED)
                .explicit(false)
                .text(0x0008_0100, "SH", "code")
                .itemEnd()
                .sequenceEnd()
                .explicit(true);
        assertThat(state(unknownType.image(1, 2, 2).add(PIXELS, "OW", noise(8)).file()))
                .isEqualTo(State.WHOLE);

        DicomSample withoutTypes = new DicomSample(EXPLICIT)
                .header(0x0008_1140, "SQ", UNDEFINED)
                .item(UNDEFINED)
                .explicit(false)
                .text(0x0008_0100, "SH", "code")
                .sequenceEnd()
                .explicit(true)
                .text(0x0010_0010, "PN", "Phantom");
        assertThat(state(withoutTypes.add(PIXELS, "OW", noise(8)).file())).isEqualTo(State.WHOLE);

        DicomSample withoutDelimiter = new DicomSample(EXPLICIT)
                .header(0x0008_1140, "SQ", UNDEFINED)
                .item(4)
                .raw(new byte[4])
                .text(0x0010_0010, "PN", "Phantom");
        assertThat(state(withoutDelimiter.add(PIXELS, "OW", noise(8)).file())).isEqualTo(State.WHOLE);

        DicomSample declaredOtherwise =
                new DicomSample(EXPLICIT).explicit(false).image(1, 2, 2);
        assertThat(state(declaredOtherwise.add(PIXELS, "OW", noise(8)).file())).isEqualTo(State.WHOLE);
    }

    @Test
    void anElementWithoutTypeMakesLaterFaultsSuspect() {
        DicomSample blanks = new DicomSample(EXPLICIT)
                .image(1, 2, 2)
                .header(0x0028_0120, "  ", 2)
                .raw((byte) 0, (byte) 0);
        assertThat(state(blanks.add(PIXELS, "OW", noise(8)).file())).isEqualTo(State.WHOLE);

        DicomSample strange = new DicomSample(EXPLICIT).image(1, 2, 2).header(0x0028_0120, "  ", 9_000);
        assertThat(state(strange.file())).isEqualTo(State.SUSPECT);
    }

    @Test
    void textInPlaceOfAnElementIsBroken() {
        for (String text : new String[] {"Ax DWI TENSOR R2", "2 3 \0\0\0\0", "\u0030\0SIGNA Pioneer "}) {
            DicomSample sample = new DicomSample(EXPLICIT).image(1, 2, 2).raw(text.getBytes(US_ASCII));
            assertThat(state(sample.file())).as(text).isEqualTo(State.BROKEN);
        }
    }

    @Test
    void anItemOutsideOfASequenceIsSuspect() {
        for (String syntax : new String[] {EXPLICIT, IMPLICIT}) {
            DicomSample sample =
                    new DicomSample(syntax).header(0x0008_1140, "SQ", 0).item(0);
            assertThat(state(sample.image(1, 2, 2).add(PIXELS, "OW", noise(8)).file()))
                    .isEqualTo(State.SUSPECT);
        }
    }

    @Test
    void aSequenceOfUnknownTypeInBigEndianIsUnknown() {
        DicomSample sample = new DicomSample(BIG_ENDIAN).header(0x0008_2112, "UN", UNDEFINED);
        assertThat(state(sample.raw(
                                (byte) 0xFE, (byte) 0xFF, (byte) 0, (byte) 0xE0, (byte) 0, (byte) 0, (byte) 0, (byte) 0)
                        .file()))
                .isEqualTo(State.UNKNOWN);
    }

    @Test
    void aSequenceThatIsTooDeepIsUnknown() {
        DicomSample deep = new DicomSample(IMPLICIT);
        for (int i = 0; i < 100; i++) {
            deep.header(0x0008_1140, "SQ", UNDEFINED).item(UNDEFINED);
        }
        assertThat(state(deep.file())).isEqualTo(State.UNKNOWN);
    }

    @Test
    void aChangedLengthDerailsTheWalk() {
        byte[] whole = images(EXPLICIT).file();
        int length = whole.length - 480 - 4;
        byte[] changed = whole.clone();
        changed[length + 1] ^= 4;
        assertThat(state(changed)).isEqualTo(State.BROKEN);

        changed = images(EXPLICIT).text(0x7FE1_1010, "LO", "private").file();
        changed[changed.length - 8 - 2] = 99;
        assertThat(state(changed)).isEqualTo(State.BROKEN);
    }

    @ParameterizedTest
    @ValueSource(strings = {JPEG, "1.2.840.10008.1.2.4.80", MPEG})
    void compressedImagesAreWhole(String syntax) {
        assertThat(judge(compressed(syntax).sequenceEnd().file())).isEqualTo(new Verdict(State.WHOLE, "DICOM", ""));
    }

    @Test
    void compressedImagesThatAreCutAreNotWhole() {
        byte[] whole = compressed(JPEG).sequenceEnd().file();
        int last = whole.length - 8 - 308;
        for (int length = last - 300; length < whole.length; length++) {
            boolean all = length >= whole.length - 8;
            Verdict verdict = judge(Arrays.copyOf(whole, length));
            assertThat(verdict.state()).as("of %d bytes", length).isEqualTo(all ? State.SUSPECT : State.BROKEN);
        }
        assertThat(judge(Arrays.copyOf(whole, last - 50)).why()).endsWith("in the middle of image 2 of 3");
        assertThat(judge(Arrays.copyOf(whole, last)).why()).isEqualTo("its header says 3 images, it has 2");
    }

    @Test
    void compressedImagesMayLackTheirEnd() {
        assertThat(state(compressed(JPEG).raw(new byte[8]).file())).isEqualTo(State.SUSPECT);
        assertThat(state(compressed(JPEG).item(UNDEFINED).file())).isEqualTo(State.SUSPECT);
        assertThat(state(compressed(JPEG).header(0xFFFE_E0DD, "", UNDEFINED).file()))
                .isEqualTo(State.WHOLE);
        assertThat(state(fragments(JPEG, 1).item(0).sequenceEnd().file())).isEqualTo(State.SUSPECT);
    }

    @Test
    void zerosInPlaceOfCompressedImagesAreBroken() {
        byte[] whole = compressed(JPEG).sequenceEnd().file();
        for (int from = whole.length - 320; from > whole.length - 600; from--) {
            byte[] zeros = whole.clone();
            Arrays.fill(zeros, from, whole.length, (byte) 0);
            assertThat(state(zeros)).as("from byte %d", from).isEqualTo(State.BROKEN);
        }
        byte[] empty = whole.clone();
        Arrays.fill(empty, whole.length - 308, whole.length - 8, (byte) 0);
        assertThat(judge(empty).why()).isEqualTo("the data of image 3 of 3 is damaged");
    }

    @Test
    void anImageMayHaveManyPartsAndVideoFewer() {
        DicomSample parts = fragments(JPEG, 1).item(0);
        byte[] whole = jpeg(300);
        parts.item(100).raw(Arrays.copyOfRange(whole, 0, 100));
        parts.item(200).raw(Arrays.copyOfRange(whole, 100, 300)).sequenceEnd();
        assertThat(state(parts.file())).isEqualTo(State.WHOLE);

        assertThat(state(fragments(MPEG, 90)
                        .item(0)
                        .item(100)
                        .raw(noise(100))
                        .sequenceEnd()
                        .file()))
                .isEqualTo(State.WHOLE);
    }

    @Test
    void theTableOfImagesMustFitThem() {
        DicomSample wrong = fragments(JPEG, 2).item(8).raw(table(0, 100));
        wrong.item(100).raw(jpeg(100)).item(50).raw(jpeg(50)).sequenceEnd();
        assertThat(judge(wrong.file()).why()).isEqualTo("its table of images does not fit its images");
        assertThat(state(wrong.file())).isEqualTo(State.SUSPECT);

        for (long second : new long[] {108, 107}) {
            byte[] offsets = ByteBuffer.allocate(16)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .putLong(0)
                    .putLong(second)
                    .array();
            DicomSample extended = new DicomSample(JPEG).image(2, 8, 10).add(0x7FE0_0001, "OV", offsets);
            extended.header(PIXELS, "OB", UNDEFINED).item(0);
            extended.item(100).raw(jpeg(100)).item(50).raw(jpeg(50)).sequenceEnd();
            assertThat(state(extended.file())).isEqualTo(second == 108 ? State.WHOLE : State.SUSPECT);
        }
    }

    @Test
    void anEndMarkMayBePaddedAndItsLackIsSuspect() {
        for (int last : new int[] {0x00, 0x20, 0xFF}) {
            byte[] padded = Arrays.copyOf(jpeg(99), 100);
            padded[99] = (byte) last;
            assertThat(state(fragments(JPEG, 1)
                            .item(0)
                            .item(100)
                            .raw(padded)
                            .sequenceEnd()
                            .file()))
                    .isEqualTo(State.WHOLE);
        }
        byte[] without = jpeg(100);
        without[98] = 0;
        assertThat(state(fragments(JPEG, 1)
                        .item(0)
                        .item(100)
                        .raw(without)
                        .sequenceEnd()
                        .file()))
                .isEqualTo(State.SUSPECT);
    }

    @Test
    void theSegmentsOfRunLengthsMustBeInside() {
        for (int offset : new int[] {64, 100}) {
            byte[] segments = Arrays.copyOf(table(1, offset), 100);
            byte[] file = fragments(RLE, 1)
                    .item(0)
                    .item(100)
                    .raw(segments)
                    .sequenceEnd()
                    .file();
            assertThat(state(file)).isEqualTo(offset == 64 ? State.WHOLE : State.BROKEN);
        }
    }

    private static Optional<Relation> instance(byte[] content) {
        Inspection inspection = new Inspection("a.dcm", content.length);
        inspection.take(ByteBuffer.wrap(content));
        inspection.verdict();
        return inspection.relation();
    }

    private static DicomSample inSeries(String syntax, String uid, String series, String number) {
        return new DicomSample(syntax)
                .text(0x0008_103E, "LO", "T1w\0head")
                .text(0x0020_000E, "UI", uid)
                .text(0x0020_0011, "IS", series)
                .text(0x0020_0013, "IS", number)
                .image(1, 2, 2)
                .add(PIXELS, "OW", noise(8));
    }

    @ParameterizedTest
    @ValueSource(strings = {EXPLICIT, IMPLICIT, BIG_ENDIAN, DEFLATED})
    void theHeaderSaysTheSeries(String syntax) {
        assertThat(instance(inSeries(syntax, "1.2.3", "7", "012").file()))
                .contains(new Instance(MR, "1.2.3.4", "1.2.3", 7, "T1w head", 12));
    }

    @ParameterizedTest
    @ValueSource(strings = {EXPLICIT, IMPLICIT, BIG_ENDIAN, DEFLATED})
    void theHeaderSaysWhichObjectItIs(String syntax) {
        assertThat(instance(identified(syntax, MR, "1.2.3.5")))
                .contains(new Instance(MR, "1.2.3.5", "", null, "", null));
    }

    @Test
    void anObjectNeedsBothUids() {
        assertThat(instance(identified(EXPLICIT, MR, "no uid"))).isEmpty();
        assertThat(instance(identified(EXPLICIT, MR, "1".repeat(66)))).isEmpty();
        assertThat(instance(identified(EXPLICIT, "", "1.2.3.4"))).isEmpty();
    }

    private static byte[] identified(String syntax, String classUid, String instanceUid) {
        return new DicomSample(syntax)
                .text(0x0008_0016, "UI", classUid)
                .text(0x0008_0018, "UI", instanceUid)
                .text(0x0010_0010, "PN", "Phantom")
                .file();
    }

    private static boolean numbered(byte[] file) {
        return instance(file).filter(said -> ((Instance) said).isNumbered()).isPresent();
    }

    @Test
    void whatIsNoNumberCountsNothing() {
        assertThat(instance(inSeries(EXPLICIT, "1.2.3", "7a", "+3").file()))
                .contains(new Instance(MR, "1.2.3.4", "1.2.3", null, "T1w head", 3));
        assertThat(numbered(inSeries(EXPLICIT, "1.2.3", "7", "-3").file())).isFalse();
        assertThat(numbered(inSeries(EXPLICIT, "1.2.3", "7", "9999999999").file()))
                .isFalse();
        assertThat(numbered(inSeries(EXPLICIT, "no uid", "7", "3").file())).isFalse();
        assertThat(numbered(images(EXPLICIT).file())).isFalse();
        assertThat(instance(Arrays.copyOf(images(EXPLICIT).file(), 140))).isEmpty();
        assertThat(instance("no DICOM".getBytes(US_ASCII))).isEmpty();
    }

    @Test
    void deflatedDataMayBeFollowedByItsChecksum() {
        byte[] file = images(DEFLATED).file();
        CRC32 crc = new CRC32();
        byte[] data = images(DEFLATED).bare();
        crc.update(data);
        byte[] trailed = Arrays.copyOf(file, file.length + 8);
        ByteBuffer.wrap(trailed)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(file.length, (int) crc.getValue())
                .putInt(file.length + 4, data.length);

        assertThat(state(Arrays.copyOf(file, file.length + 1))).isEqualTo(State.WHOLE);
        assertThat(state(trailed)).isEqualTo(State.WHOLE);
        trailed[file.length] ^= 1;
        assertThat(state(trailed)).isEqualTo(State.BROKEN);
        trailed[file.length + 4] ^= 1;
        assertThat(state(trailed)).isEqualTo(State.SUSPECT);
    }

    @Test
    void directoryRecordsPointToEachOther() {
        assertThat(state(directory(0, 0))).isEqualTo(State.WHOLE);
        assertThat(state(directory(2, 0))).isEqualTo(State.SUSPECT);
        assertThat(state(directory(0, 100))).isEqualTo(State.BROKEN);
    }

    private static byte[] directory(int shift, int missing) {
        DicomSample first = new DicomSample(EXPLICIT);
        int start = new DicomSample(EXPLICIT).file().length;
        int record = start + 24 + 12;
        first.offset(0x0004_1200, record).offset(0x0004_1202, record);
        first.header(0x0004_1220, "SQ", 2 * 32 + missing);
        first.item(24).offset(0x0004_1400, record + 32 + shift).offset(0x0004_1420, 0);
        first.item(24).offset(0x0004_1400, 0).offset(0x0004_1420, 0);
        return first.file();
    }

    @Test
    void aPreambleAloneIsBroken() {
        assertThat(state(Arrays.copyOf(images(EXPLICIT).file(), 132))).isEqualTo(State.BROKEN);
        assertThat(state(new DicomSample(EXPLICIT).file())).isEqualTo(State.BROKEN);
        assertThat(Judged.of("IM00001", new byte[1_000])).isEqualTo(Verdict.UNKNOWN);
        assertThat(state("DICM".getBytes(US_ASCII))).isEqualTo(State.UNKNOWN);
    }

    @Test
    void damagedFilesAreJudgedWithoutDefectAndInTime() {
        byte[][] samples = {
            images(IMPLICIT).file(),
            images(EXPLICIT).file(),
            images(BIG_ENDIAN).file(),
            images(DEFLATED).file(),
            compressed(JPEG).sequenceEnd().file(),
            directory(0, 0)
        };
        Random random = new Random(7);
        for (int i = 0; i < 3_000; i++) {
            byte[] damaged = samples[i % samples.length].clone();
            for (int changes = 1 + random.nextInt(4); changes > 0; changes--) {
                damaged[132 + random.nextInt(damaged.length - 132)] = (byte) random.nextInt();
            }
            if (random.nextBoolean()) {
                damaged = Arrays.copyOf(damaged, 132 + random.nextInt(damaged.length));
            }
            judge(damaged);
        }
        for (int i = 0; i < 50; i++) {
            byte[] file = images(i % 2 == 0 ? IMPLICIT : EXPLICIT).file();
            byte[] nonsense = new byte[20_000];
            random.nextBytes(nonsense);
            System.arraycopy(file, 0, nonsense, 0, 190);
            judge(nonsense);
        }
    }

    @Test
    @Timeout(10)
    void elementsWithoutValueAndDeepSequencesPassQuickly() {
        for (int repeated : new int[] {0x0010_0010, 0xFFFE_E0DD}) {
            DicomSample many = new DicomSample(IMPLICIT).text(0x0008_0005, "CS", "ISO_IR 100");
            for (int i = 0; i < 500_000; i++) {
                many.header(repeated, "PN", 0);
            }
            assertThat(state(many.file())).isEqualTo(State.UNKNOWN);
        }
    }

    @Test
    void realFilesThatAreCutAreNeverWholeInTheirImages() throws Exception {
        for (String name :
                new String[] {"MR_small.dcm", "MR_small_implicit.dcm", "MR_small_bigendian.dcm", "MR_small_RLE.dcm"}) {
            byte[] whole = Files.readAllBytes(RealFiles.folder().resolve("dicom/small_pydicom/" + name));
            assertThat(state(whole)).isEqualTo(State.WHOLE);
            for (int length = whole.length - 5_000; length < whole.length - 200; length += 37) {
                assertThat(state(Arrays.copyOf(whole, length)))
                        .as("%s of %d bytes", name, length)
                        .isEqualTo(State.BROKEN);
            }
        }
    }
}
