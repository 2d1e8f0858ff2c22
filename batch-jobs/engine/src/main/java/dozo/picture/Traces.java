package dozo.picture;

import dozo.picture.NoPicture.Why;
import java.awt.Color;
import java.awt.Graphics2D;
import java.awt.image.BufferedImage;
import java.util.Arrays;
import java.util.DoubleSummaryStatistics;
import java.util.List;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;

/**
 * The beginning of a recording: a black line for each of some channels, from its lowest to its highest value, above an axis in
 * seconds. At most {@value #SECONDS} seconds of {@value #CHANNELS_MAX} channels, which are spread over all that may be shown.
 */
final class Traces {

    static final int SECONDS = 10;
    private static final int CHANNELS_MAX = 30;
    /** In samples a second. */
    private static final int RATE_MAX = 20_000;

    private static final int WIDTH = Picture.SHOWN_MAX;
    private static final int LANE = 32;
    private static final int MARGIN = 2;
    private static final int AXIS = 20;

    /** Digits of 3 × 5 squares, row by row: a server may have no fonts. */
    private static final int[] DIGITS = {0x7B6F, 0x2C97, 0x73E7, 0x73CF, 0x5BC9, 0x79CF, 0x79EF, 0x7249, 0x7BEF, 0x7BCF
    };

    private static final int SQUARE = 2;
    final int[] channels;
    final float[][] samples;
    private final double rate;
    private int count;

    /** Begins without samples. The kinds are of all channels, by number; shown is the first wanted one that there is. */
    Traces(List<Integer> kinds, double rate, Integer... wanted) throws NoPicture {
        Integer kind = Arrays.stream(wanted).filter(kinds::contains).findFirst().orElse(null);
        int[] all = IntStream.range(0, kinds.size())
                .filter(i -> kinds.get(i).equals(kind))
                .toArray();
        if (all.length == 0 || !(rate >= 1 && rate <= RATE_MAX)) {
            throw new NoPicture(Why.NO_IMAGE);
        }
        int lanes = Math.min(all.length, CHANNELS_MAX);
        channels =
                IntStream.range(0, lanes).map(i -> all[i * all.length / lanes]).toArray();
        samples = new float[lanes][(int) (rate * SECONDS)];
        this.rate = rate;
    }

    boolean isFull() {
        return count == samples[0].length;
    }

    /** Adds a sample of each channel, by the channel's number. */
    void add(IntToDoubleFunction sample) {
        for (int lane = 0; lane < channels.length; lane++) {
            samples[lane][count] = (float) sample.applyAsDouble(channels[lane]);
        }
        count++;
    }

    BufferedImage drawn() throws NoPicture {
        if (count < 2) {
            throw new NoPicture(Why.NO_IMAGE);
        }
        int height = samples.length * LANE;
        BufferedImage drawn = new BufferedImage(WIDTH, height + AXIS, BufferedImage.TYPE_BYTE_GRAY);
        Graphics2D pen = drawn.createGraphics();
        pen.setBackground(Color.WHITE);
        pen.clearRect(0, 0, WIDTH, drawn.getHeight());
        for (int second = 0; second <= (count - 1) / rate; second++) {
            int x = (int) (second * rate * (WIDTH - 1) / (count - 1));
            pen.setColor(Color.LIGHT_GRAY);
            pen.drawLine(x, 0, x, drawn.getHeight());
            pen.setColor(Color.BLACK);
            digit(pen, second, x + 2 * SQUARE, height + 2 * SQUARE);
        }
        pen.drawLine(0, height, WIDTH, height);
        int[] x = IntStream.range(0, count)
                .map(i -> (int) ((long) i * (WIDTH - 1) / (count - 1)))
                .toArray();
        for (int lane = 0; lane < samples.length; lane++) {
            pen.drawPolyline(x, heights(lane), count);
        }
        return drawn;
    }

    private static void digit(Graphics2D pen, int digit, int x, int y) {
        for (int i = 0; i < 15; i++) {
            if ((DIGITS[digit] >> (14 - i) & 1) == 1) {
                pen.fillRect(x + i % 3 * SQUARE, y + i / 3 * SQUARE, SQUARE, SQUARE);
            }
        }
    }

    /** Constant channels and undefined values are in the middle of a lane. */
    private int[] heights(int lane) {
        float[] values = samples[lane];
        DoubleSummaryStatistics range = IntStream.range(0, count)
                .mapToDouble(i -> values[i])
                .filter(Double::isFinite)
                .summaryStatistics();
        return IntStream.range(0, count)
                .map(i -> {
                    double share = (range.getMax() - values[i]) / (range.getMax() - range.getMin());
                    double inside = Double.isFinite(share) ? Math.clamp(share, 0, 1) : 0.5;
                    return lane * LANE + MARGIN + (int) ((LANE - 1 - 2 * MARGIN) * inside);
                })
                .toArray();
    }
}
