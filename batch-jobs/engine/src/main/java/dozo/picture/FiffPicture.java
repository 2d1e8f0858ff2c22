package dozo.picture;

import dozo.picture.NoPicture.Why;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The first {@value #SECONDS} seconds of a continuous recording in FIFF, at most {@value #LANES_MAX} of its channels, each from
 * its lowest to its highest value. MEG channels come first.
 */
final class FiffPicture {

    /** The first tag: the kind "file id" and its type. */
    static final long BEGINNING = 100L << Integer.SIZE | 31;

    private static final int SECONDS = 10;
    private static final int LANES_MAX = 16;
    private static final int LANE_HEIGHT = 40;
    private static final int MARGIN = 3;
    private static final int WHITE = 255;

    private static final int HEADER_BYTES = 16;
    private static final int CHANNELS = 200;
    private static final int RATE = 201;
    private static final int CHANNEL_INFO = 203;
    private static final int CHANNEL_INFO_BYTES = 12;
    private static final int DATA = 300;
    private static final int MEG = 1;
    private static final int CHANNELS_MAX = 10_000;
    private static final int SAMPLES_MAX = 200_000;

    private final InputStream in;
    private int channels;
    private double rate;
    private final List<Integer> meg = new ArrayList<>();
    private int infos;
    private int[] lanes = new int[0];
    private float[][] samples = new float[0][];
    private int count;

    private FiffPicture(InputStream in) {
        this.in = in;
    }

    static Picture of(InputStream in) throws IOException, NoPicture {
        return new FiffPicture(in).drawn();
    }

    private Picture drawn() throws IOException, NoPicture {
        byte[] header = in.readNBytes(HEADER_BYTES);
        while (header.length == HEADER_BYTES && !isEnough()) {
            ByteBuffer tag = ByteBuffer.wrap(header);
            take(tag.getInt(0), tag.getInt(4), tag.getInt(8));
            header = in.readNBytes(HEADER_BYTES);
        }
        if (count < 2) {
            throw new NoPicture(Why.NO_IMAGE);
        }
        return lines();
    }

    private boolean isEnough() {
        return samples.length > 0 && count == samples[0].length;
    }

    private void take(int kind, int type, int bytes) throws IOException, NoPicture {
        if (bytes < 0) {
            throw new EOFException();
        }
        switch (kind) {
            case CHANNELS -> channels = value(bytes, Integer.BYTES).getInt(0);
            case RATE -> rate = value(bytes, Float.BYTES).getFloat(0);
            case CHANNEL_INFO -> {
                if (value(bytes, CHANNEL_INFO_BYTES).getInt(8) == MEG && infos < CHANNELS_MAX) {
                    meg.add(infos);
                }
                infos++;
            }
            case DATA -> data(type, bytes);
            default -> in.skipNBytes(bytes);
        }
    }

    /** Reads a tag's value, and returns the beginning of it. */
    private ByteBuffer value(int bytes, int needed) throws IOException, NoPicture {
        if (bytes < needed) {
            throw new EOFException();
        }
        ByteBuffer value = Numbers.read(in, needed, ByteOrder.BIG_ENDIAN);
        in.skipNBytes(bytes - needed);
        return value;
    }

    private void data(int type, int bytes) throws IOException, NoPicture {
        if (channels < 1 || channels > CHANNELS_MAX || !(rate > 0)) {
            throw new NoPicture(Why.DAMAGED);
        }
        Numbers numbers = switch (type) {
            case 2, 16 -> Numbers.SIGNED_16;
            case 3 -> Numbers.SIGNED_32;
            case 4 -> Numbers.FLOAT_32;
            case 5 -> Numbers.FLOAT_64;
            default -> throw new NoPicture(Why.NOT_GREY);
        };
        if (samples.length == 0) {
            choose();
        }
        ByteBuffer data = Numbers.read(in, bytes, ByteOrder.BIG_ENDIAN);
        int more = bytes / (channels * numbers.bytes());
        for (int i = 0; i < more && !isEnough(); i++, count++) {
            for (int lane = 0; lane < lanes.length; lane++) {
                samples[lane][count] = (float) numbers.at(data, i * channels + lanes[lane]);
            }
        }
    }

    private void choose() {
        List<Integer> known = meg.stream().filter(each -> each < channels).toList();
        List<Integer> all =
                known.isEmpty() ? IntStream.range(0, channels).boxed().toList() : known;
        int shown = Math.min(all.size(), LANES_MAX);
        lanes = IntStream.range(0, shown)
                .map(i -> all.get(i * all.size() / shown))
                .toArray();
        samples = new float[shown][(int) Math.clamp(rate * SECONDS, 2, SAMPLES_MAX)];
    }

    private Picture lines() {
        Picture drawn = new Picture(Picture.SHOWN_MAX, lanes.length * LANE_HEIGHT);
        for (int y = 0; y < drawn.height(); y++) {
            for (int x = 0; x < drawn.width(); x++) {
                drawn.set(x, y, WHITE);
            }
        }
        for (int lane = 0; lane < lanes.length; lane++) {
            line(drawn, lane);
        }
        return drawn;
    }

    /** Draws a channel: in each column from the lowest to the highest of its values, and of the one before. */
    private void line(Picture drawn, int lane) {
        double low = Double.POSITIVE_INFINITY;
        double high = Double.NEGATIVE_INFINITY;
        for (int i = 0; i < count; i++) {
            low = Math.min(low, samples[lane][i]);
            high = Math.max(high, samples[lane][i]);
        }
        for (int x = 0; x < drawn.width(); x++) {
            int last = (int) ((long) (x + 1) * (count - 1) / drawn.width());
            int top = LANE_HEIGHT - 1;
            int bottom = 0;
            for (int i = (int) ((long) x * (count - 1) / drawn.width()); i <= last; i++) {
                int y = height(samples[lane][i], low, high);
                top = Math.min(top, y);
                bottom = Math.max(bottom, y);
            }
            for (int y = top; y <= bottom; y++) {
                drawn.set(x, lane * LANE_HEIGHT + y, 0);
            }
        }
    }

    private static int height(double value, double low, double high) {
        double share = (high - value) / (high - low);
        // A constant channel is a line in the middle; undefined values are, too.
        return MARGIN
                + (int) ((LANE_HEIGHT - 1 - 2 * MARGIN) * (Double.isFinite(share) ? Math.clamp(share, 0, 1) : 0.5));
    }
}
