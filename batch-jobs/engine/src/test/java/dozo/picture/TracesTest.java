package dozo.picture;

import static dozo.picture.Recordings.value;
import static org.assertj.core.api.Assertions.assertThat;

import dozo.content.RealFiles;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.assertj.core.data.Offset;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The picture of a recording is a line for each of some channels over its first seconds. */
class TracesTest {

    private static final int LANE = 32;
    private static final int AXIS = 20;
    private static final int WHITE = 255;

    private static final Offset<Float> ROUNDING = Offset.offset(1e-4f);

    private static ByteBuffer big(byte[] bytes) {
        return ByteBuffer.wrap(bytes);
    }

    private static Traces fiff(byte[] content) throws IOException, NoPicture {
        return new FiffPicture(new ByteArrayInputStream(content)).read();
    }

    private static Traces kit(byte[] content) throws NoPicture {
        return KitPicture.of(ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN));
    }

    /** Returns the first and the last dark point of a column. */
    private static String dark(BufferedImage picture, int x, int lane) {
        int[] dark = IntStream.range(lane * LANE, (lane + 1) * LANE)
                .filter(y -> picture.getRaster().getSample(x, y, 0) == 0)
                .map(y -> y - lane * LANE)
                .toArray();
        return dark[0] + " to " + dark[dark.length - 1];
    }

    private static String result(byte[] content, int headerBytes, boolean cut) {
        try {
            return "%d lanes"
                    .formatted(DrawingProcess.draw(content, headerBytes, cut).getHeight() / LANE);
        } catch (NoPicture none) {
            return none.why().name();
        }
    }

    static byte[] joined(byte[] header, byte[] data) {
        return ByteBuffer.allocate(header.length + data.length)
                .put(header)
                .put(data)
                .array();
    }

    @Test
    void eachChannelIsALineFromItsLowestToItsHighestValueAboveSeconds() throws NoPicture {
        Traces traces = new Traces(List.of(5, 5), 200, 5);
        for (int i = 0; !traces.isFull(); i++) {
            boolean first = i < 1_000;
            traces.add(channel -> channel == 1 ? 7 : first ? -1e-13 : 1e-13);
        }

        BufferedImage picture = traces.drawn();

        assertThat(picture.getWidth()).isEqualTo(1_024);
        assertThat(picture.getHeight()).isEqualTo(2 * LANE + AXIS);
        assertThat(dark(picture, 200, 0)).isEqualTo("29 to 29");
        assertThat(dark(picture, 511, 0)).isEqualTo("2 to 29");
        assertThat(dark(picture, 800, 0)).isEqualTo("2 to 2");
        assertThat(dark(picture, 200, 1)).isEqualTo("15 to 15");
        // Ten marks, of which the first digits are below the lines.
        assertThat(IntStream.range(0, 1_024)
                        .filter(x -> picture.getRaster().getSample(x, 1, 0) != WHITE)
                        .count())
                .isEqualTo(10);
        assertThat(picture.getRaster().getSample(4, 2 * LANE + 4, 0)).isZero();
    }

    @Test
    void undefinedValuesAreInTheMiddle() throws NoPicture {
        Traces traces = new Traces(List.of(1), 1, 1);
        for (double value : new double[] {0, Double.NaN, Double.POSITIVE_INFINITY, 1}) {
            traces.add(channel -> value);
        }

        assertThat(dark(traces.drawn(), 500, 0)).isEqualTo("15 to 15");
    }

    @Test
    void atMostThirtyOfTheWantedChannelsAreSpreadOverAll() throws NoPicture {
        assertThat(new Traces(Collections.nCopies(300, 1), 1_000, 1).channels)
                .hasSize(30)
                .startsWith(0, 10, 20)
                .endsWith(290);
        assertThat(new Traces(List.of(9, 2, 1, 9, 1), 1_000, 1, 2).channels).containsExactly(2, 4);
        assertThat(new Traces(List.of(9, 2, 3), 1_000, 1, 2).channels).containsExactly(1);
        assertThat(new Traces(List.of(1), 20_000, 1).samples[0]).hasSize(200_000);
    }

    @Test
    void aRecordingInFiffIsReadSampleBySample() throws Exception {
        Traces traces = fiff(Recordings.fiff(11));

        assertThat(traces.channels).containsExactly(1, 3);
        assertThat(traces.samples[0]).hasSize(1_000).startsWith(value(1, 0), value(1, 1));
        assertThat(traces.samples[1]).endsWith(value(3, 999));
        assertThat(result(Recordings.fiff(11), 0, false)).isEqualTo("2 lanes");
        assertThat(result(NiftiPictureTest.gzip(Recordings.fiff(11)), 0, false)).isEqualTo("2 lanes");
    }

    @Test
    void aRecordingInFiffEndsBeforeAGap() throws Exception {
        ByteBuffer file = Recordings.fiff(100, 1);
        for (int i = 1; i <= 3; i++) {
            Recordings.tag(file, 301, 3, 4).putInt(1);
            Recordings.tag(file, 300, 4, 8).putFloat(i).putFloat(i);
        }

        assertThat(fiff(Recordings.end(file)).samples[0]).startsWith(1, 1, 0, 0);
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 3, 4, 5, 16})
    void numbersOfAllTypesAreRead(int type) throws Exception {
        ByteBuffer file = Recordings.fiff(100, 1);
        for (double value : new double[] {-3, 4}) {
            switch (type) {
                case 3 -> Recordings.tag(file, 300, type, 4).putInt((int) value);
                case 4 -> Recordings.tag(file, 300, type, 4).putFloat((float) value);
                case 5 -> Recordings.tag(file, 300, type, 8).putDouble(value);
                default -> Recordings.tag(file, 300, type, 2).putShort((short) value);
            }
        }

        assertThat(fiff(Recordings.end(file)).samples[0]).startsWith(-3, 4);
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
            100,   300, 16, 32, 1 lanes
            100,   300, 30, 32, NOT_GREY
            100,   300, 16, 31, DAMAGED
            100,   300, 16, -4, NO_IMAGE
            100,   300, 16, 99998, 1 lanes
            100,   300, 16, 2,  NO_IMAGE
            0.5,   300, 16, 32, NO_IMAGE
            20001, 300, 16, 32, NO_IMAGE
            NaN,   300, 16, 32, NO_IMAGE
            100,   302, 16, 32, NO_IMAGE
            100,   201, 4,  2,  DAMAGED
            100,   203, 30, 8,  DAMAGED
            100,   203, 30, -9, DAMAGED
            """)
    void whatIsNotDrawnHasAReason(float rate, int kind, int type, int bytes, String expected) {
        ByteBuffer file = Recordings.fiff(rate, 1);
        Recordings.tag(file, kind, type, bytes).put(new byte[32]);

        assertThat(result(Recordings.end(file), 0, false)).isEqualTo(expected);
    }

    @Test
    void theFirstTrialOfACtfRecordingIsReadChannelByChannel() throws Exception {
        Traces traces = CtfPicture.of(big(Recordings.res4(50, 100, 0, 5, 5)), big(Recordings.meg4(50, 3, 2)));

        assertThat(traces.channels).containsExactly(1, 2);
        assertThat(Arrays.copyOf(traces.samples[0], 50)).startsWith(value(1, 0)).endsWith(value(1, 49));
        assertThat(Arrays.copyOf(traces.samples[1], 51)).endsWith(value(2, 48), value(2, 49), 0);
    }

    /** Only the first channels of a long trial are in what is kept of the file. */
    @Test
    void ofALongTrialTheChannelsThatAreThereAreDrawn() throws Exception {
        byte[] header = Recordings.res4(3_000, 100, 0, 5, 5, 5);
        byte[] data = Recordings.meg4(3_000, 4, 1);
        byte[] beginning = Arrays.copyOf(data, 8 + 4 * (2 * 3_000 + 1_000));

        assertThat(CtfPicture.of(big(header), big(data)).samples[2]).endsWith(value(3, 999));
        assertThat(CtfPicture.of(big(header), big(beginning)).channels).containsExactly(1, 2);
        assertThat(CtfPicture.of(big(header), big(Arrays.copyOf(data, beginning.length - 1))).channels)
                .containsExactly(1);
        assertThat(result(joined(header, Arrays.copyOf(data, 12_000)), header.length, true))
                .isEqualTo("TOO_LARGE");
    }

    @ParameterizedTest
    @CsvSource({"0, 100, 5", "-1, 100, 5", "50, 0, 5", "50, NaN, 5", "50, 100, 7", "2147483647, 100, 5"})
    void aCtfRecordingWithAnImpossibleHeaderIsNotDrawn(int samples, double rate, int kind) {
        byte[] header = Recordings.res4(samples, rate, kind);

        assertThat(result(joined(header, Recordings.meg4(50, 1, 1)), header.length, false))
                .isIn("DAMAGED", "NO_IMAGE");
    }

    @Test
    void ctfSamplesAreDrawnOnlyWithTheirHeader() {
        byte[] header = Recordings.res4(50, 100, 5);
        byte[] data = Recordings.meg4(50, 1, 1);

        assertThat(result(joined(header, data), header.length, false)).isEqualTo("1 lanes");
        assertThat(result(data, 0, false)).isEqualTo("UNKNOWN_FORMAT");
        assertThat(result(header, 0, false)).isEqualTo("UNKNOWN_FORMAT");
        assertThat(result(joined(data, header), header.length, false)).isEqualTo("UNKNOWN_FORMAT");
        assertThat(result(joined(Arrays.copyOf(header, 1_000), data), 1_000, false))
                .isEqualTo("DAMAGED");
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 4})
    void aRecordingOfKitIsReadSampleBySample(int bytes) throws Exception {
        Traces traces = kit(Recordings.kit(20, bytes));

        assertThat(traces.channels).containsExactly(1, 2);
        assertThat(Arrays.copyOf(traces.samples[1], 21)).startsWith(value(2, 0)).endsWith(value(2, 19), 0);
        assertThat(result(Recordings.kit(20, bytes), 0, false)).isEqualTo("2 lanes");
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
            144, 0,     NO_IMAGE
            144, -1,    DAMAGED
            144, 99999, DAMAGED
            148, 3,     NO_IMAGE
            156, 2,     NO_IMAGE
            460, 0,     NO_IMAGE
            460, -1,    NO_IMAGE
            460, 10001, NO_IMAGE
            64,  -99,   DAMAGED
            28,  2,     UNKNOWN_FORMAT
            """)
    void aDamagedRecordingOfKitHasAReason(int at, int value, String expected) {
        byte[] file = Recordings.kit(20, 2);
        ByteBuffer.wrap(file).order(ByteOrder.LITTLE_ENDIAN).putInt(at, value);

        assertThat(result(file, 0, false)).isEqualTo(expected);
    }

    @Test
    void whatIsNotInTheBeginningOfAFileIsTooLarge() {
        byte[] fiff = Recordings.fiff(11);
        byte[] nifti = NiftiPictureTest.image(1, ByteOrder.LITTLE_ENDIAN);

        assertThat(result(Arrays.copyOf(fiff, fiff.length / 2), 0, true)).isEqualTo("2 lanes");
        assertThat(result(Arrays.copyOf(fiff, 100), 0, true)).isEqualTo("TOO_LARGE");
        assertThat(result(Arrays.copyOf(nifti, 355), 0, true)).isEqualTo("TOO_LARGE");
        assertThat(result(Arrays.copyOf(nifti, 355), 0, false)).isEqualTo("DAMAGED");
        assertThat(result(new byte[600], 0, true)).isEqualTo("UNKNOWN_FORMAT");
    }

    /** The expected values are those of MNE-Python, without the factors of the channels. */
    @Test
    void realRecordingsHaveTheValuesOfAnotherReader() throws Exception {
        Path folder = RealFiles.folder().resolve("meg");
        Traces fiff = fiff(Files.readAllBytes(folder.resolve("fif_mne_python/test_ctf_comp_raw.fif")));
        Traces kit = kit(Files.readAllBytes(folder.resolve("kit_mne_python/test.sqd")));

        assertThat(fiff.channels).hasSize(30).contains(32, 123, 296);
        assertThat(at(fiff, 0, 0, 100, 240))
                .containsExactly(new float[] {7.712262f, -134.60435f, -77.12516f}, ROUNDING);
        assertThat(at(fiff, 10, 0, 100, 240))
                .containsExactly(new float[] {-2.377387f, -270.37216f, 336.6959f}, ROUNDING);
        assertThat(at(fiff, 29, 0, 100, 240)).containsExactly(new float[] {-4.4529f, 330.64523f, -38.19211f}, ROUNDING);
        assertThat(kit.channels).hasSize(30).contains(0, 52, 151);
        assertThat(at(kit, 0, 0, 1_000, 1_999)).containsExactly(72, -51, 18);
        assertThat(at(kit, 10, 0, 1_000, 1_999)).containsExactly(-36, 57, -27);
        assertThat(at(kit, 29, 0, 1_000, 1_999)).containsExactly(-1, -8, -8);
    }

    private static float[] at(Traces traces, int lane, int... samples) {
        float[] values = new float[samples.length];
        for (int i = 0; i < samples.length; i++) {
            values[i] = traces.samples[lane][samples[i]];
        }
        return values;
    }

    /** Markers and lists of events are no recordings. */
    @Test
    void realFilesWithoutSamplesHaveNoImage() throws IOException {
        for (String name : List.of("kit_mne_python/test_mrk.sqd", "fif_mne_python/test-eve.fif")) {
            Path file = RealFiles.folder().resolve("meg").resolve(name);
            assertThat(result(Files.readAllBytes(file), 0, false)).isEqualTo("NO_IMAGE");
        }
    }
}
