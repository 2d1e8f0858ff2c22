package dozo.picture;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The picture of a recording is a line for each of some channels over its first seconds. */
class FiffPictureTest {

    private static final int LANE = 40;

    private static ByteBuffer tag(ByteBuffer file, int kind, int type, int bytes) {
        return file.putInt(kind).putInt(type).putInt(bytes).putInt(0);
    }

    private static ByteBuffer begun(int channels, float rate) {
        ByteBuffer file = ByteBuffer.allocate(1 << 20);
        tag(file, 100, 31, 20).put(new byte[20]);
        tag(file, 200, 3, 4).putInt(channels);
        return tag(file, 201, 4, 4).putFloat(rate);
    }

    private static byte[] ended(ByteBuffer file) {
        return Arrays.copyOf(file.array(), file.position());
    }

    /** Returns 30 seconds of two channels: one is a step up after a second, the other one is constant. */
    static byte[] recording() {
        ByteBuffer file = begun(2, 100);
        for (int second = 0; second < 30; second++) {
            tag(file, 300, 16, 400);
            for (int i = 0; i < 100; i++) {
                file.putShort((short) (second == 0 ? -5 : 5)).putShort((short) 3);
            }
        }
        return ended(file);
    }

    /** Returns the first and the last dark point of a column. */
    private static String dark(Picture picture, int x, int lane) {
        int[] dark = IntStream.range(lane * LANE, (lane + 1) * LANE)
                .filter(y -> picture.at(x, y) == 0)
                .map(y -> y - lane * LANE)
                .toArray();
        return dark[0] + " to " + dark[dark.length - 1];
    }

    @Test
    void eachChannelIsALineOverTenSeconds() throws NoPicture {
        Picture picture = DrawingProcess.draw(recording());

        assertThat(picture.width()).isEqualTo(1_024);
        assertThat(picture.height()).isEqualTo(2 * LANE);
        assertThat(dark(picture, 50, 0)).isEqualTo("36 to 36");
        assertThat(dark(picture, 102, 0)).isEqualTo("3 to 36");
        assertThat(dark(picture, 500, 0)).isEqualTo("3 to 3");
        assertThat(dark(picture, 1_023, 0)).isEqualTo("3 to 3");
        assertThat(dark(picture, 500, 1)).isEqualTo("19 to 19");
    }

    @Test
    void megChannelsComeFirstAndAtMostSixteenAreDrawn() throws NoPicture {
        ByteBuffer file = begun(3, 2);
        for (int kind : new int[] {2, 1, 1}) {
            tag(file, 203, 30, 96).putInt(0).putInt(0).putInt(kind).put(new byte[84]);
        }
        tag(file, 300, 4, 24)
                .putFloat(0)
                .putFloat(1)
                .putFloat(2)
                .putFloat(5)
                .putFloat(6)
                .putFloat(7);
        ByteBuffer many = begun(300, 2);
        tag(many, 300, 3, 2 * 300 * 4).put(new byte[2 * 300 * 4]);

        assertThat(DrawingProcess.draw(ended(file)).height()).isEqualTo(2 * LANE);
        assertThat(DrawingProcess.draw(ended(many)).height()).isEqualTo(16 * LANE);
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
            2,     100,  5,  32, true,  IMAGE
            2,     100,  30, 32, true,  NOT_GREY
            0,     100,  4,  32, true,  DAMAGED
            10001, 100,  4,  32, true,  DAMAGED
            2,     0,    4,  32, true,  DAMAGED
            2,     NaN,  4,  32, true,  DAMAGED
            2,     100,  4,  0,  true,  NO_IMAGE
            2,     100,  4,  8,  true,  NO_IMAGE
            2,     100,  4,  -1, true,  DAMAGED
            2,     100,  4,  99, true,  DAMAGED
            2,     100,  4,  32, false, NO_IMAGE
            """)
    void whatIsNotDrawnHasAReason(int channels, float rate, int type, int bytes, boolean continuous, String why) {
        ByteBuffer file = begun(channels, rate);
        tag(file, continuous ? 300 : 302, type, bytes).put(new byte[32]);

        assertThat(Drawn.of(ended(file)).replaceFirst("^\\[\\[.*", "IMAGE")).isEqualTo(why);
    }

    @Test
    void aTagThatIsTooShortIsDamaged() {
        ByteBuffer file = ByteBuffer.allocate(100);
        tag(file, 100, 31, 20).put(new byte[20]);
        tag(file, 200, 3, 2).putShort((short) 2);

        assertThat(Drawn.of(ended(file))).isEqualTo("DAMAGED");
    }

    /** More samples than are kept: of a rate that no machine has. */
    @Test
    void anImpossibleRateTakesNoMoreMemory() throws NoPicture {
        ByteBuffer file = begun(1, Float.MAX_VALUE);
        tag(file, 300, 16, 4).putInt(0x0001_0002);

        assertThat(DrawingProcess.draw(ended(file)).height()).isEqualTo(LANE);
    }
}
