package dozo.plan;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.LongPredicate;
import org.jspecify.annotations.Nullable;

/**
 * Whether everything stored at a site can be read again before any copy is older than promised, reading the oldest
 * first. Never optimistic: a day's reading begins at the worst moment, and nothing is promised without a known cost of
 * reading.
 *
 * @param stored bytes and files; folders and links cost nothing
 * @param maxAgeSeconds the promised age: since a copy was last read
 * @param cost the cost of reading at the site; null if unknown: all results then assume a site that reads in no time
 * @param bytesPerSecondNeeded the rate needed during reading time, without any loss
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

    /** The lowest age that can be promised. */
    public static final Duration MAX_AGE_MIN = Duration.ofHours(1);

    /** The highest age that can be promised: nobody would be there to see it. */
    public static final Duration MAX_AGE_MAX = Duration.ofDays(3_660);

    /** A higher limit has no effect. */
    private static final long BYTES_PER_SECOND_MAX = 1_000_000_000_000_000L;

    /** The result for the promise. */
    public enum Verdict {
        /** Kept from now on. */
        KEPT,
        /** Some copies get older in the first round; kept from then on. */
        LATE_AT_FIRST,
        /** A round takes longer. */
        BROKEN,
        /** The cost of reading there is unknown, and the budget alone does not break the promise. */
        UNKNOWN
    }

    /** What a scrub that begins now has to read. */
    public enum Need {
        NOTHING,
        /** Copies whose last reading is older than four fifths of the promised age. */
        DUE,
        /** All copies, oldest first: there are so many that those falling due at once could not be read in time. */
        EVERYTHING
    }

    /** A copy is due from this part of the promised age on. */
    private static final double DUE = 0.8;

    /** While the cost of reading is unknown, everything is due from this part on: the first scrub finds out, early. */
    private static final double DUE_UNKNOWN = 0.1;

    /**
     * Copies that were last read at about the same time.
     *
     * @param lastReadAt the oldest of their readings
     */
    public record Layer(Instant lastReadAt, Work work) {}

    /**
     * The result of reading everything round after round. A round reads everything once.
     *
     * @param readingSeconds the reading time of one round
     * @param seconds the greatest age at which a copy is read again after the first round
     * @param firstAgeSeconds the greatest age of a copy in the first round
     * @param firstAgeAt when a copy has that age, at the latest
     */
    public record Rounds(double readingSeconds, double seconds, double firstAgeSeconds, Instant firstAgeAt) {}

    /**
     * Changes that would each be enough; null if that change alone is not. If a round takes too long, they are for the
     * rounds after the first, except the age.
     *
     * @param bytesPerSecond the lowest limit
     * @param secondsADay the shortest reading time per day
     * @param maxAgeSeconds the lowest age that could be promised
     */
    public record Remedy(
            @Nullable Long bytesPerSecond, @Nullable Integer secondsADay, long maxAgeSeconds) {}

    /**
     * Makes a forecast.
     *
     * @param layers what is stored, oldest first; read some hundred times
     * @throws IllegalArgumentException if the age cannot be promised
     * @throws ArithmeticException if the total exceeds 2⁶³ − 1 bytes
     */
    public static ScrubForecast of(
            List<Layer> layers, Instant now, Duration maxAge, ReadingBudget budget, @Nullable CostModel cost) {
        if (maxAge.compareTo(MAX_AGE_MIN) < 0 || maxAge.compareTo(MAX_AGE_MAX) > 0) {
            throw new IllegalArgumentException("promised age must be 1 h to 3660 d: %s".formatted(maxAge));
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
     * Returns what to read, if reading begins once a day.
     *
     * @param oldest the age of the oldest reading
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
            // A clock that was set back makes nothing younger than now.
            double age = in + Math.max(0, seconds(Duration.between(layer.lastReadAt(), now)));
            if (age > greatest) {
                greatest = age;
                greatestIn = in;
            }
        }
        return new Rounds(read, seconds(read, budget), greatest, now.plusMillis((long) Math.ceil(1_000 * greatestIn)));
    }

    /**
     * Rounds follow each other without a pause, but after a round that ends within a day's reading, the next begins on
     * the next day.
     */
    private static double seconds(double readingSeconds, ReadingBudget budget) {
        double begun = readingSeconds == 0 ? 0 : ReadingBudget.DAY_SECONDS;
        return Math.max(
                budget.clockSeconds(readingSeconds), begun + Math.min(readingSeconds, ReadingBudget.DAY_SECONDS));
    }

    /** A layer that is read slowly does not compensate for one that must not be read faster. */
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

    /** Returns the lowest number that is enough, if every higher one is, too; null if not even the highest is. */
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
