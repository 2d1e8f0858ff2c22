package dozo.plan;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Whether all that is stored at a site can be read again before any copy is older than was promised, reading oldest first.
 * Never optimistic: a day's reading begins at the worst moment, and what reading costs is known or nothing is promised.
 *
 * @param stored bytes and files; folders and links cost nothing
 * @param maxAgeSeconds the age that is promised: since a copy was read last
 * @param cost what reading costs at the site; null: not known, and all that is said holds for a site that reads in no time
 * @param bytesPerSecondNeeded what must be read while it may be read, without any loss
 * @param filesPerSecondNeeded the same in files
 */
public record ScrubForecast(
        Verdict verdict,
        Work stored,
        long maxAgeSeconds,
        ReadingBudget budget,
        @Nullable CostModel cost,
        double bytesPerSecondNeeded,
        double filesPerSecondNeeded,
        Rounds rounds,
        Remedy remedy) {

    /** A younger age cannot be promised. */
    public static final Duration MAX_AGE_MIN = Duration.ofHours(1);

    /** Nor an older one: nobody would be there to see it. */
    public static final Duration MAX_AGE_MAX = Duration.ofDays(3_660);

    /** A limit above this is none. */
    private static final long BYTES_PER_SECOND_MAX = 1_000_000_000_000_000L;

    /** What is to be said of the promise. */
    public enum Verdict {
        /** It is kept, from now on. */
        KEPT,
        /** Some copies get older in the first round; from then on it is kept. */
        LATE_AT_FIRST,
        /** A round takes longer. */
        BROKEN,
        /** Nobody can say: it is not known what reading costs there, and the budget alone does not break it. */
        UNKNOWN
    }

    /** What a scrub that begins now has to read. */
    public enum Need {
        NOTHING,
        /** What was last read longer ago than four fifths of the promised age. */
        DUE,
        /** All of it, oldest first: there is so much that what comes due at once could not be read in time. */
        EVERYTHING
    }

    /** From this part of the promised age on a copy is due. */
    private static final double DUE = 0.8;

    /** And from this part on everything is, while nobody knows how long reading takes: the first scrub finds out, early. */
    private static final double DUE_UNKNOWN = 0.1;

    /**
     * So much that was read last at about the same time.
     *
     * @param lastReadAt of the oldest of it
     */
    public record Layer(Instant lastReadAt, Work work) {}

    /**
     * What reading it round and round comes to. A round reads everything once.
     *
     * @param readingSeconds how long one round reads
     * @param seconds the age at which a copy is read again when the first round is over, at most
     * @param firstAgeSeconds the greatest age that a copy reaches in the first round
     * @param firstAgeAt and when, at the latest
     */
    public record Rounds(double readingSeconds, double seconds, double firstAgeSeconds, Instant firstAgeAt) {}

    /**
     * What would do, each alone; null where it alone does not. When a round takes too long they are for the rounds after the first, but
     * for the age.
     *
     * @param bytesPerSecond the least limit
     * @param secondsADay the least reading a day
     * @param maxAgeSeconds the least age that could be promised
     */
    public record Remedy(
            @Nullable Long bytesPerSecond, @Nullable Integer secondsADay, long maxAgeSeconds) {}

    /**
     * The forecast.
     *
     * @param layers what is stored, oldest first; it is gone through some hundred times
     * @throws IllegalArgumentException when the age is none that can be promised
     * @throws ArithmeticException above 2⁶³ − 1 bytes in all
     */
    public static ScrubForecast of(
            List<Layer> layers, Instant now, Duration maxAge, ReadingBudget budget, @Nullable CostModel cost) {
        if (maxAge.compareTo(MAX_AGE_MIN) < 0 || maxAge.compareTo(MAX_AGE_MAX) > 0) {
            throw new IllegalArgumentException("an age of %s: 1 h to 3660 d can be promised".formatted(maxAge));
        }
        Work stored = layers.stream().map(Layer::work).reduce(Work.NONE, Work::plus);
        long promised = maxAge.toSeconds();
        Rounds rounds = rounds(layers, now, budget, cost);
        Verdict verdict = verdict(rounds, promised, cost != null || stored.equals(Work.NONE));
        double openSeconds = (double) promised * budget.secondsADay() / ReadingBudget.DAY_SECONDS;
        return new ScrubForecast(
                verdict,
                stored,
                promised,
                budget,
                cost,
                stored.bytes() / openSeconds,
                stored.entries() / openSeconds,
                rounds,
                remedy(layers, now, promised, budget, cost, verdict == Verdict.BROKEN));
    }

    /**
     * What is to be read, if reading begins once a day.
     *
     * @param oldest how long ago the oldest reading was
     */
    public Need need(Duration oldest) {
        if (stored.equals(Work.NONE)) {
            return Need.NOTHING;
        }
        double oldestSeconds = seconds(oldest);
        if (cost == null) {
            return oldestSeconds >= DUE_UNKNOWN * maxAgeSeconds ? Need.EVERYTHING : Need.NOTHING;
        }
        if (rounds.seconds() + ReadingBudget.DAY_SECONDS > (1 - DUE) * maxAgeSeconds) {
            return Need.EVERYTHING;
        }
        return oldestSeconds >= DUE * maxAgeSeconds ? Need.DUE : Need.NOTHING;
    }

    private static Verdict verdict(Rounds rounds, long promised, boolean known) {
        if (rounds.seconds() > promised) {
            return Verdict.BROKEN;
        }
        if (!known) {
            return Verdict.UNKNOWN;
        }
        return rounds.firstAgeSeconds() > promised ? Verdict.LATE_AT_FIRST : Verdict.KEPT;
    }

    private static Rounds rounds(List<Layer> layers, Instant now, ReadingBudget budget, @Nullable CostModel cost) {
        double read = 0;
        double greatest = 0;
        double greatestIn = 0;
        for (Layer layer : layers) {
            read += readingSeconds(layer.work(), budget.bytesPerSecond(), cost);
            double in = budget.clockSeconds(read);
            // A clock that went backwards makes nothing younger than now.
            double age = in + Math.max(0, seconds(Duration.between(layer.lastReadAt(), now)));
            if (age > greatest) {
                greatest = age;
                greatestIn = in;
            }
        }
        return new Rounds(read, seconds(read, budget), greatest, now.plusMillis((long) Math.ceil(1_000 * greatestIn)));
    }

    /** Rounds follow each other without a pause, but one that is over within a day's reading begins again on the next day. */
    private static double seconds(double readingSeconds, ReadingBudget budget) {
        double begun = readingSeconds == 0 ? 0 : ReadingBudget.DAY_SECONDS;
        return Math.max(
                budget.clockSeconds(readingSeconds), begun + Math.min(readingSeconds, ReadingBudget.DAY_SECONDS));
    }

    /** A layer that is read slowly does not make up for one that may not be read faster. */
    private static double readingSeconds(Work work, @Nullable Long bytesPerSecond, @Nullable CostModel cost) {
        return Math.max(
                bytesPerSecond == null ? 0 : work.bytes() / bytesPerSecond.doubleValue(),
                cost == null ? 0 : cost.seconds(work));
    }

    private static Remedy remedy(
            List<Layer> layers,
            Instant now,
            long promised,
            ReadingBudget budget,
            @Nullable CostModel cost,
            boolean laterRounds) {
        LongPredicate limit = bytesPerSecond ->
                isEnough(rounds(layers, now, budget.withBytesPerSecond(bytesPerSecond), cost), promised, laterRounds);
        LongPredicate open = seconds ->
                isEnough(rounds(layers, now, budget.withSecondsADay((int) seconds), cost), promised, laterRounds);
        Long bytesPerSecond = least(1, BYTES_PER_SECOND_MAX, limit);
        Long secondsADay = least(1, ReadingBudget.DAY_SECONDS / 60, minutes -> open.test(60 * minutes));
        Rounds rounds = rounds(layers, now, budget, cost);
        return new Remedy(bytesPerSecond, secondsADay == null ? null : Math.toIntExact(60 * secondsADay), (long)
                Math.ceil(Math.max(rounds.seconds(), rounds.firstAgeSeconds())));
    }

    private static boolean isEnough(Rounds rounds, long promised, boolean laterRounds) {
        return rounds.seconds() <= promised && (laterRounds || rounds.firstAgeSeconds() <= promised);
    }

    /** The least number that is enough, when each one above is too; null: not even the greatest. */
    private static @Nullable Long least(long min, long max, LongPredicate enough) {
        if (!enough.test(max)) {
            return null;
        }
        long low = min;
        long high = max;
        while (low < high) {
            long middle = low + (high - low) / 2;
            if (enough.test(middle)) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        return low;
    }

    private static double seconds(Duration duration) {
        return duration.toNanos() / 1e9;
    }
}
