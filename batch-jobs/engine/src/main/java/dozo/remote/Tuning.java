package dozo.remote;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Chooses the number of lanes and of channels on each: first from the round trip and the rate, then by measurement, up
 * and down (ADR 0077). A channel carries at most its server's window per round trip, 2 MiB with OpenSSH, so a long
 * distance needs many channels; a short one needs lanes for the cores at both ends. Each change is a trial: if it does
 * not help, it is taken back. Pure arithmetic, not thread-safe.
 */
final class Tuning {

    /** OpenSSH's channel window (CHAN_SES_WINDOW_DEFAULT). */
    static final long WINDOW_BYTES = 2 << 20;

    /** Channels of a lane for files; a stock sshd allows ten in all (MaxSessions), and commands need some. */
    static final int CHANNELS_MAX = 4;

    /** Measurements whose mean counts. */
    static final int MEASUREMENTS = 5;

    /** Measurements after which more are first tried again, if they were no faster before. */
    static final int WAIT_FIRST = 60;

    /** Measurements after which more are tried again at the latest: half an hour. */
    private static final int WAIT_LONGEST = 1800;

    /** The rate assumed before any measurement: 1 Gbit/s, with half as much again. */
    private static final double ASSUMED_BYTES_PER_SECOND = 1.5 * 125e6;

    /** Lanes over a long distance: with packet loss a single connection is slow, however many channels it has. */
    private static final int LANES_FAR = 4;

    /** With 0.1 % of loss at 36 ms, 16 connections carry nearly twice as much as 4. More are tried only if the windows ask for them. */
    private static final int LANES_LOSSY_MAX = 16;

    private static final int LANES_NEAR_MIN = 2;
    private static final int LANES_NEAR_MAX = 8;
    private static final long FAR_NANOS = TimeUnit.MILLISECONDS.toNanos(5);

    /** If the channels could carry less than twice the measured rate, they may be the bottleneck. */
    private static final double HELD_UP_SHARE = 0.5;

    /** If more are not faster by at least this factor, they are given up. */
    private static final double WORTH_IT = 1.1;

    /** If a trial changes the rate by this factor, one measurement is enough. */
    private static final double CLEAR = 1.3;

    /** Measurements from which more are tried for the first time. */
    private static final int MEASUREMENTS_FIRST = 2;

    /** A rate below this share of the highest one has dropped. */
    private static final double DROPPED_SHARE = 0.5;

    /** Means in a row that must have dropped. */
    private static final int DROPPED_MEANS = 3;

    /** If the rate changes by this factor, the results of earlier trials no longer count. */
    private static final double CHANGED = 1.25;

    private final int lanesMax;
    private final long roundTripNanos;
    private final TuningReason first;
    private final boolean far;
    private int channelsMax = CHANNELS_MAX;
    private Shape shape;

    /** The shape that was in use before the rate dropped. */
    private Shape usual;

    private @Nullable Trial trial;
    private int channelsOpen;

    // The measurements since the last decision or mean. The first one after a change is left out.
    private int count;
    private double sum;
    private boolean fresh = true;

    /** Whether the last step up helped, or there was none: the next one need not wait. */
    private boolean climbing = true;

    private boolean channelsUseless;
    private boolean lanesUseless;
    private double uselessAt;
    private double slowerAt;
    private double loweredAt;
    private double highest;
    private int droppedMeans;
    private int waited;
    private int wait = WAIT_FIRST;
    private boolean saidEnough;

    /** Numbers of lanes, and of channels on each. */
    record Shape(int lanes, int channels) {

        int all() {
            return lanes * channels;
        }
    }

    /** Other numbers that are in use to see whether they help, and what was measured before. */
    private record Trial(Shape before, double rate, int channelsOpen, boolean up) {}

    /** A decision: its reason, and the rate that it follows from. */
    record Step(TuningReason reason, double bytesPerSecond) {}

    /**
     * Makes the first choice.
     *
     * @param lanesMax the limit of lanes
     * @param cores processors of this machine
     */
    Tuning(long roundTripNanos, int lanesMax, int cores, TuningStart start) {
        this.lanesMax = lanesMax;
        this.roundTripNanos = Math.max(1, roundTripNanos);
        this.far = roundTripNanos >= FAR_NANOS;
        int fewest = Math.min(lanesMax, far ? LANES_FAR : Math.clamp(cores, LANES_NEAR_MIN, LANES_NEAR_MAX));
        switch (start) {
            case TuningStart.Unknown() -> {
                this.first = TuningReason.ASSUMED_RATE;
                // NB: channels only: logins have their price, and measuring follows.
                this.shape = shape(fewest, windows(ASSUMED_BYTES_PER_SECOND));
            }
            case TuningStart.Carried(double carried) -> {
                this.first = TuningReason.EARLIER_RATE;
                int windows = windows(carried);
                this.shape = shape(Math.clamp(Math.ceilDiv(windows, CHANNELS_MAX), fewest, lanesMax), windows);
            }
            case TuningStart.Chosen(TuningGrid.Cell best) -> {
                this.first = TuningReason.TUNED;
                this.shape = new Shape(Math.min(best.lanes(), lanesMax), Math.min(best.channels(), CHANNELS_MAX));
            }
        }
        this.usual = shape;
    }

    private int windows(double bytesPerSecond) {
        double windows = Math.ceil(bytesPerSecond * seconds(roundTripNanos) / WINDOW_BYTES);
        return (int) Math.min((double) lanesMax * CHANNELS_MAX, windows);
    }

    private static Shape shape(int lanes, int windows) {
        return new Shape(lanes, Math.clamp(Math.ceilDiv(windows, lanes), 1, CHANNELS_MAX));
    }

    int lanes() {
        return shape.lanes;
    }

    int channels() {
        return shape.channels;
    }

    /** Returns the reason of the first choice. */
    TuningReason first() {
        return first;
    }

    /**
     * Takes a rate that was measured while all {@link #lanes()} were open and busy.
     *
     * @param channelsOpen of all lanes together; a site may allow fewer than wanted
     * @return the decision that follows from it, if any
     */
    Optional<Step> measured(double bytesPerSecond, int channelsOpen) {
        waited++;
        if (fresh) {
            fresh = false;
            return Optional.empty();
        }
        this.channelsOpen = channelsOpen;
        count++;
        sum += bytesPerSecond;
        Trial trying = trial;
        if (trying != null) {
            return trying.up ? triedMore(trying) : triedFewer(trying);
        }
        return holding();
    }

    /** Notes that the site has refused further lanes several times while this many were open, at least one. */
    Optional<Step> refused(int lanesOpen) {
        if (lanesOpen >= shape.lanes) {
            return Optional.empty();
        }
        double rate = trial != null ? trial.rate : highest;
        shape = new Shape(lanesOpen, shape.channels);
        if (trial == null || shape.lanes <= trial.before.lanes) {
            trial = null;
            usual = shape;
        }
        lanesUseless = true;
        uselessAt = Double.POSITIVE_INFINITY;
        waitLonger();
        begin();
        return Optional.of(new Step(TuningReason.SITE_LIMIT, rate));
    }

    private Optional<Step> holding() {
        double rate = sum / count;
        if (count >= (climbing ? MEASUREMENTS_FIRST : MEASUREMENTS)) {
            Optional<Step> more = more(rate);
            if (more.isPresent()) {
                return more;
            }
        }
        if (count < MEASUREMENTS) {
            return Optional.empty();
        }
        count = 0;
        sum = 0;
        highest = Math.max(highest, rate);
        droppedMeans = rate < DROPPED_SHARE * highest ? droppedMeans + 1 : 0;
        Optional<Step> fewer = fewer(rate);
        if (fewer.isPresent() || saidEnough) {
            return fewer;
        }
        saidEnough = true;
        return Optional.of(new Step(TuningReason.ENOUGH, rate));
    }

    private Optional<Step> more(double rate) {
        boolean again = waited >= wait;
        if (again || rate >= CHANGED * uselessAt) {
            channelsUseless = false;
            lanesUseless = false;
        }
        boolean lowered = shape.all() < usual.all();
        boolean risen = lowered && rate >= CHANGED * loweredAt;
        if (isHeldUp(rate, channelsOpen)) {
            Optional<Shape> larger = larger();
            if (larger.isPresent()) {
                return Optional.of(attempt(larger.get(), rate, TuningReason.WINDOWS));
            }
        }
        // Over a short distance the windows do not show that lanes are missing.
        if ((risen || (lowered && again)) && !lanesUseless) {
            return Optional.of(attempt(backTowardsUsual(), rate, risen ? TuningReason.RISEN : TuningReason.AGAIN));
        }
        int lossy = Math.min(LANES_LOSSY_MAX, lanesMax);
        if (far && !lowered && (climbing || again) && !lanesUseless && shape.lanes < lossy) {
            Shape doubled = new Shape(Math.min(lossy, 2 * shape.lanes), shape.channels);
            return Optional.of(attempt(doubled, rate, TuningReason.LOSS));
        }
        return Optional.empty();
    }

    private Optional<Step> fewer(double rate) {
        boolean wasSlower = slowerAt > 0 && rate > slowerAt / CHANGED && waited < wait;
        if (droppedMeans < DROPPED_MEANS || shape.all() == 1 || wasSlower) {
            return Optional.empty();
        }
        Shape fewer = shape.lanes > 1
                ? new Shape(Math.max(1, shape.lanes * 2 / 3), shape.channels)
                : new Shape(1, shape.channels / 2);
        // Otherwise the windows would soon ask for more again.
        return isHeldUp(rate, Math.min(channelsOpen, fewer.all()))
                ? Optional.empty()
                : Optional.of(attempt(fewer, rate, TuningReason.DROPPED));
    }

    private Optional<Step> triedMore(Trial trying) {
        double rate = sum / count;
        if (shape.channels > trying.before.channels && channelsOpen <= trying.channelsOpen) {
            channelsMax = trying.before.channels;
            return Optional.of(takeBack(trying, rate, TuningReason.SITE_LIMIT));
        }
        if (rate >= trying.rate * CLEAR || (count >= MEASUREMENTS && rate >= trying.rate * WORTH_IT)) {
            climbing = true;
            channelsUseless = false;
            lanesUseless = false;
            uselessAt = 0;
            loweredAt = 0;
            wait = WAIT_FIRST;
            if (shape.all() >= usual.all()) {
                usual = shape;
            }
            return Optional.of(keep(rate, TuningReason.MORE_FASTER));
        }
        if (count < MEASUREMENTS) {
            return Optional.empty();
        }
        if (shape.channels > trying.before.channels) {
            channelsUseless = true;
        } else {
            lanesUseless = true;
        }
        waitLonger();
        uselessAt = trying.rate;
        loweredAt = trying.rate;
        return Optional.of(takeBack(trying, rate, TuningReason.MORE_NO_FASTER));
    }

    private Optional<Step> triedFewer(Trial trying) {
        double rate = sum / count;
        if (rate < trying.rate / CLEAR || (count >= MEASUREMENTS && rate < trying.rate / WORTH_IT)) {
            slowerAt = trying.rate;
            waitLonger();
            return Optional.of(takeBack(trying, rate, TuningReason.FEWER_SLOWER));
        }
        if (count < MEASUREMENTS) {
            return Optional.empty();
        }
        slowerAt = 0;
        loweredAt = rate;
        waited = 0;
        return Optional.of(keep(rate, TuningReason.FEWER_AS_FAST));
    }

    private Step attempt(Shape next, double rate, TuningReason reason) {
        trial = new Trial(shape, rate, channelsOpen, next.all() > shape.all());
        highest = Math.max(highest, rate);
        saidEnough = true;
        climbing = false;
        shape = next;
        begin();
        return new Step(reason, rate);
    }

    private Step keep(double rate, TuningReason reason) {
        trial = null;
        highest = Math.max(highest, rate);
        begin();
        return new Step(reason, rate);
    }

    private Step takeBack(Trial trying, double rate, TuningReason reason) {
        shape = trying.before;
        trial = null;
        begin();
        return new Step(reason, rate);
    }

    private void begin() {
        count = 0;
        sum = 0;
        fresh = true;
        droppedMeans = 0;
    }

    private void waitLonger() {
        waited = 0;
        wait = Math.min(WAIT_LONGEST, 2 * wait);
    }

    private boolean isHeldUp(double rate, int channelsOpen) {
        return rate >= HELD_UP_SHARE * channelsOpen * WINDOW_BYTES / seconds(roundTripNanos);
    }

    /** Channels first: they need no login. */
    private Optional<Shape> larger() {
        if (shape.channels < channelsMax && !channelsUseless) {
            return Optional.of(new Shape(shape.lanes, Math.min(channelsMax, 2 * shape.channels)));
        }
        return shape.lanes < lanesMax && !lanesUseless
                ? Optional.of(new Shape(Math.min(lanesMax, shape.lanes + (shape.lanes + 1) / 2), shape.channels))
                : Optional.empty();
    }

    private Shape backTowardsUsual() {
        return shape.lanes < usual.lanes
                ? new Shape(Math.min(usual.lanes, shape.lanes + (shape.lanes + 1) / 2), shape.channels)
                : new Shape(shape.lanes, Math.min(usual.channels, 2 * shape.channels));
    }

    private static double seconds(long nanos) {
        return nanos / 1e9;
    }
}
