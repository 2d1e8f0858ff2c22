package dozo.remote;

import java.util.concurrent.TimeUnit;

/**
 * Chooses the number of lanes and of channels on each: first from the round trip, then by measurement. A channel
 * carries at most its server's window per round trip, 2 MiB with OpenSSH, so a long distance needs many channels; a
 * short one needs lanes for the cores at both ends. Pure arithmetic, not thread-safe.
 */
final class Tuning {

    /** OpenSSH's channel window (CHAN_SES_WINDOW_DEFAULT). */
    static final long WINDOW_BYTES = 2 << 20;

    /** Channels of a lane for files; a stock sshd allows ten in all (MaxSessions), and commands need some. */
    static final int CHANNELS_MAX = 4;

    /** The rate assumed for a distant site before any measurement: 1 Gbit/s, with half as much again. */
    private static final double FIRST_BYTES_PER_SECOND = 1.5 * 125e6;

    /** Lanes over a long distance: with packet loss a single connection is slow, however many channels it has. */
    private static final int LANES_FAR = 4;

    private static final int LANES_NEAR_MIN = 2;
    private static final int LANES_NEAR_MAX = 8;
    private static final long FAR_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** If the channels could carry less than twice the measured rate, they are the bottleneck. */
    private static final double HELD_UP_SHARE = 0.5;

    /** If more lanes are not faster by at least this factor, no more are added. */
    private static final double WORTH_IT = 1.1;

    private final int lanesMax;
    private final long roundTripNanos;
    private final int channels;
    private int lanes;
    private double rateBefore;
    private boolean enough;

    /**
     * Makes the first choice.
     *
     * @param lanesMax the limit of lanes
     * @param cores processors of this machine
     */
    Tuning(long roundTripNanos, int lanesMax, int cores) {
        this.lanesMax = lanesMax;
        this.roundTripNanos = Math.max(1, roundTripNanos);
        boolean far = roundTripNanos >= FAR_NANOS;
        this.lanes = Math.min(lanesMax, far ? LANES_FAR : Math.clamp(cores, LANES_NEAR_MIN, LANES_NEAR_MAX));
        double windows = FIRST_BYTES_PER_SECOND * seconds(this.roundTripNanos) / WINDOW_BYTES;
        this.channels = Math.clamp((long) Math.ceil(windows / lanes), 1, CHANNELS_MAX);
    }

    int lanes() {
        return lanes;
    }

    int channels() {
        return channels;
    }

    /** Takes a rate that was measured while all {@link #lanes()} were open and busy. */
    void measured(double bytesPerSecond) {
        if (enough) {
            return;
        }
        if (bytesPerSecond < rateBefore * WORTH_IT) {
            enough = true;
            return;
        }
        double carried = (double) lanes * channels * WINDOW_BYTES / seconds(roundTripNanos);
        if (bytesPerSecond >= HELD_UP_SHARE * carried && lanes < lanesMax) {
            rateBefore = bytesPerSecond;
            lanes = Math.min(lanesMax, lanes + (lanes + 1) / 2);
        }
    }

    private static double seconds(long nanos) {
        return nanos / 1e9;
    }
}
