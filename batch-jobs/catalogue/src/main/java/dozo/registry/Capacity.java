package dozo.registry;

import dozo.remote.Space;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How full a site is, and when it will be full: by a straight line through the free space of the days before.
 *
 * @param seenAt when it was last checked
 * @param freeBytes free for Dozo at that time
 * @param percentFull the used share in percent; 100 only if it is full
 * @param outlook the forecast
 * @param bytesPerDay by how much the free space shrinks per day; null: too little is known, or it does not shrink
 * @param fullAt when nothing will be free, never before now; null unless the outlook is {@link Outlook#FILLING}
 */
public record Capacity(
        Instant seenAt,
        long totalBytes,
        long freeBytes,
        int percentFull,
        Outlook outlook,
        @Nullable Long bytesPerDay,
        @Nullable Instant fullAt) {

    /** Buying disks takes time. */
    private static final Duration PRESSING = Duration.ofDays(90);

    /** Older values say little about the future. */
    static final Duration HISTORY = Duration.ofDays(28);

    /** A line through fewer days, or a shorter time, would be a guess. */
    static final int DAYS_MIN = 5;

    static final Duration SPAN_MIN = Duration.ofDays(7);

    /** A date further away than this is not reported: nobody would order disks for it. */
    static final int YEARS_MAX = 10;

    /** A file system that grew by more than this was enlarged: its earlier free space is then ignored. */
    private static final double ENLARGED = 1.01;

    private static final double DAY_SECONDS = 86_400;

    /** The forecast. */
    public enum Outlook {
        /** It will be full on a known day. */
        FILLING,
        /** Almost nothing is free. */
        FULL,
        /** It will be full in more than ten years. */
        FAR,
        /** It was checked on too few days of the last four weeks. */
        TOO_LITTLE_KNOWN,
        /** The free space did not shrink in these weeks. */
        NOT_FILLING
    }

    /** The space at one time. */
    public record Seen(Instant at, long totalBytes, long freeBytes) {

        public long usedBytes() {
            return totalBytes - freeBytes;
        }

        boolean full() {
            return new Space(totalBytes, freeBytes, Long.MAX_VALUE, false).full();
        }
    }

    /** Returns whether somebody should act now: it is full, or will be within 90 days. */
    public boolean pressing(Instant now) {
        return outlook == Outlook.FULL || (fullAt != null && fullAt.isBefore(now.plus(PRESSING)));
    }

    /**
     * Returns the forecast of a history at a time.
     *
     * @param history the oldest first, at most one a day; the last is the present state
     */
    static Capacity of(List<Seen> history, Instant now) {
        List<Seen> counting = sinceEnlarged(history.stream()
                .filter(seen -> !seen.at().isBefore(now.minus(HISTORY)))
                .toList());
        Seen last = history.getLast();
        if (last.full()) {
            return told(last, Outlook.FULL, null, null);
        }
        if (counting.size() < DAYS_MIN
                || Duration.between(counting.getFirst().at(), counting.getLast().at())
                                .compareTo(SPAN_MIN)
                        < 0) {
            return told(last, Outlook.TOO_LITTLE_KNOWN, null, null);
        }
        long bytesPerDay = Math.round(fillingPerDay(counting));
        if (bytesPerDay <= 0) {
            return told(last, Outlook.NOT_FILLING, null, null);
        }
        Instant end = now.atOffset(ZoneOffset.UTC).plusYears(YEARS_MAX).toInstant();
        double seconds = (double) last.freeBytes() / bytesPerDay * DAY_SECONDS;
        if (seconds > Duration.between(last.at(), end).toSeconds()) {
            return told(last, Outlook.FAR, bytesPerDay, null);
        }
        Instant full = last.at().plusSeconds((long) seconds);
        return told(last, Outlook.FILLING, bytesPerDay, full.isBefore(now) ? now : full);
    }

    /** Returns the slope of the least-squares line, in bytes per day; at least two times are needed. */
    private static double fillingPerDay(List<Seen> seen) {
        Instant first = seen.getFirst().at();
        double meanDay =
                seen.stream().mapToDouble(each -> days(first, each)).average().orElseThrow();
        double meanFree = seen.stream().mapToDouble(Seen::freeBytes).average().orElseThrow();
        double up = seen.stream()
                .mapToDouble(each -> (days(first, each) - meanDay) * (meanFree - each.freeBytes()))
                .sum();
        double across = seen.stream()
                .mapToDouble(each -> Math.pow(days(first, each) - meanDay, 2))
                .sum();
        return up / across;
    }

    private static double days(Instant first, Seen seen) {
        return Duration.between(first, seen.at()).toSeconds() / DAY_SECONDS;
    }

    private static List<Seen> sinceEnlarged(List<Seen> history) {
        for (int i = history.size() - 1; i > 0; i--) {
            if (history.get(i).totalBytes() > history.get(i - 1).totalBytes() * ENLARGED) {
                return history.subList(i, history.size());
            }
        }
        return history;
    }

    private static Capacity told(Seen last, Outlook outlook, @Nullable Long bytesPerDay, @Nullable Instant fullAt) {
        return new Capacity(
                last.at(), last.totalBytes(), last.freeBytes(), percentFull(last), outlook, bytesPerDay, fullAt);
    }

    private static int percentFull(Seen seen) {
        if (seen.full()) {
            return 100;
        }
        return (int) Math.min(99, Math.round(100.0 * (seen.totalBytes() - seen.freeBytes()) / seen.totalBytes()));
    }
}
