package dozo.plan;

import org.jspecify.annotations.Nullable;

/**
 * The limits for reading stored copies again.
 *
 * @param bytesPerSecond the limit of the rate, 1 and more; null: as fast as the site reads
 * @param secondsADay the reading time per day, without a break, 60 to 86,400
 */
public record ReadingBudget(@Nullable Long bytesPerSecond, int secondsADay) {

    public static final int DAY_SECONDS = 86_400;

    private static final int SECONDS_MIN = 60;

    public ReadingBudget {
        if ((bytesPerSecond != null && bytesPerSecond < 1) || secondsADay < SECONDS_MIN || secondsADay > DAY_SECONDS) {
            throw new IllegalArgumentException(
                    "invalid budget: %s bytes per second (expected 1 or more), %d s per day (expected 60 to 86400)"
                            .formatted(bytesPerSecond, secondsADay));
        }
    }

    ReadingBudget withBytesPerSecond(@Nullable Long other) {
        return new ReadingBudget(other, secondsADay);
    }

    ReadingBudget withSecondsADay(int other) {
        return new ReadingBudget(bytesPerSecond, other);
    }

    /**
     * Returns how long reading takes by the clock if it begins at the worst moment: just after the day's reading time
     * has ended.
     */
    double clockSeconds(double readingSeconds) {
        return readingSeconds + Math.ceil(readingSeconds / secondsADay) * (DAY_SECONDS - secondsADay);
    }
}
