package dozo.send;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.random.RandomGenerator;

/**
 * Chooses how much of a file server or a link may be used at once, so that others who use it hardly notice: more while answers
 * take little longer than without load, less when they take longer (ADR 0079). Pure arithmetic, not thread-safe; times are
 * those of {@link System#nanoTime}.
 *
 * <p>From time to time it measures: it falls to a low number for a moment, so that the answers show how long they take without
 * Dozo's own load.
 */
final class Yielding {

    /** Answers may take this many times as long as without load, and {@link Bounds#allowanceNanos} longer. */
    static final double TARGET = 1.25;

    private static final long SECOND = 1_000_000_000;

    /** Answers of at least so long are compared; longer if there are few. */
    static final long INTERVAL_NANOS = SECOND / 2;

    private static final long INTERVAL_NANOS_MAX = 4 * SECOND;
    private static final int INTERVAL_ANSWERS = 16;

    /** Of fewer answers the median says too little. */
    private static final int ANSWERS_MIN = 4;

    private static final int ANSWERS_MAX = 256;

    /** The longest time at the low number, if there are few answers. */
    private static final long MEASURING_NANOS_MAX = SECOND;

    private static final long MEASURING_NANOS_WITHOUT_ANSWERS = 10 * SECOND;

    /** From one measurement to the next, at least; and so many times as long as the measurement took. */
    private static final long MEASURE_EVERY_NANOS = 10 * SECOND;

    private static final int MEASURE_EVERY = 19;

    /** The latest measurements that count: those of a quarter of an hour to half an hour. */
    private static final int MEASUREMENTS = 90;

    /** Between this share of what is allowed and all of it, the number stays as it is. */
    private static final double ENOUGH = 0.9;

    private static final double LOWER_AT_ONCE = 0.5;
    private static final double HIGHER_AT_ONCE = 0.1;

    /** A change by this factor is reported, at most once in {@link #REPORT_EVERY_NANOS}. */
    private static final double REPORTED = 2;

    private static final long REPORT_EVERY_NANOS = 30 * SECOND;

    private final Bounds bounds;
    private final RandomGenerator dice;
    private final Map<Integer, Kind> kinds = new HashMap<>();
    private double number;

    /** The number used last before answers took too long; up to it, the number is doubled. */
    private double threshold;

    private boolean measuring;
    private long beganNanos;
    private long measureNanos;
    private int answers;
    private boolean waited;
    private double reported;
    private long reportedNanos;

    /**
     * The limits of the number.
     *
     * @param least also if answers never become faster
     * @param alone while it is measured how long answers take without load
     * @param measured answers that are enough for that
     * @param allowanceNanos longer answers that nobody notices, or that busy processors are the reason for
     */
    record Bounds(double least, double alone, double most, int measured, long allowanceNanos) {}

    /** Another number that is worth a line in the log, and what it follows from. */
    record Change(double before, double after, long tookNanos, long baseNanos) {}

    /** Requests whose answers take about as long as each other's. */
    private static final class Kind {

        private final long[] took = new long[ANSWERS_MAX];
        private int count;
        private final Deque<Long> bases = new ArrayDeque<>();

        void add(long nanos) {
            took[count++ % ANSWERS_MAX] = nanos;
        }

        int held() {
            return Math.min(count, ANSWERS_MAX);
        }

        long median() {
            long[] sorted = Arrays.copyOf(took, held());
            Arrays.sort(sorted);
            return sorted[sorted.length / 2];
        }

        void measured() {
            if (held() >= ANSWERS_MIN) {
                bases.addLast(median());
                if (bases.size() > MEASUREMENTS) {
                    bases.removeFirst();
                }
            }
        }

        /** Returns the lower quartile: others may have been there most of the time, and the fastest may be chance. */
        long base() {
            return bases.stream()
                    .sorted()
                    .skip((bases.size() - 1) / 4)
                    .findFirst()
                    .orElse(0L);
        }

        boolean tells() {
            return !bases.isEmpty() && held() >= ANSWERS_MIN;
        }
    }

    Yielding(Bounds bounds, RandomGenerator dice, long nowNanos) {
        this.bounds = bounds;
        this.dice = dice;
        this.number = bounds.alone;
        this.threshold = bounds.most;
        this.reported = bounds.alone;
        this.reportedNanos = nowNanos;
        this.measureNanos = nowNanos;
        measure(nowNanos);
    }

    /** Returns how much may be used at once. Below 1, a request is followed by a pause. */
    double number() {
        return measuring ? Math.min(number, bounds.alone) : number;
    }

    /** Returns since when the number has been low for a measurement; empty if it is not. */
    Optional<Long> measuringSince() {
        return measuring ? Optional.of(beganNanos) : Optional.empty();
    }

    /** Notes that a request had to wait: a higher number would be used. */
    void waited() {
        waited = true;
    }

    /**
     * Takes an answer.
     *
     * @param kind answers of the same kind are compared with each other
     * @param alone whether nothing else of Dozo was under way: only such answers count while it is measured
     * @return a change that is worth a line in the log
     */
    Optional<Change> answered(int kind, long tookNanos, boolean alone, long nowNanos) {
        if (!measuring || alone) {
            kinds.computeIfAbsent(kind, _ -> new Kind()).add(tookNanos);
            answers++;
        }
        long lasted = nowNanos - beganNanos;
        if (measuring) {
            boolean enough = answers >= bounds.measured || (lasted >= MEASURING_NANOS_MAX && answers >= ANSWERS_MIN);
            if (enough || lasted >= MEASURING_NANOS_WITHOUT_ANSWERS) {
                kinds.values().forEach(Kind::measured);
                measuring = false;
                double often = 0.75 + dice.nextDouble() / 2;
                measureNanos = nowNanos + (long) (often * Math.max(MEASURE_EVERY_NANOS, MEASURE_EVERY * lasted));
                begin(nowNanos);
            }
            return Optional.empty();
        }
        if (lasted < INTERVAL_NANOS || (answers < INTERVAL_ANSWERS && lasted < INTERVAL_NANOS_MAX)) {
            return Optional.empty();
        }
        Optional<Change> change = decide(nowNanos);
        measure(nowNanos);
        return change;
    }

    private Optional<Change> decide(long nowNanos) {
        double share = 0;
        int all = 0;
        long took = 0;
        long base = 0;
        int most = 0;
        for (Kind kind : kinds.values()) {
            if (kind.tells()) {
                int held = kind.held();
                share += held * kind.median() / (TARGET * kind.base() + bounds.allowanceNanos);
                all += held;
                if (held > most) {
                    most = held;
                    took = kind.median();
                    base = kind.base();
                }
            }
        }
        if (all == 0) {
            return Optional.empty();
        }
        share /= all;
        if (share > 1) {
            number = Math.max(bounds.least, number * Math.max(LOWER_AT_ONCE, 1 / share));
            threshold = number;
        } else if (share < ENOUGH && waited) {
            double more = number < threshold ? number : Math.max(bounds.least, HIGHER_AT_ONCE * number);
            number = Math.min(bounds.most, number + more);
        }
        return report(took, base, nowNanos);
    }

    private Optional<Change> report(long took, long base, long nowNanos) {
        boolean far = number >= REPORTED * reported || number <= reported / REPORTED;
        if (!far || nowNanos - reportedNanos < REPORT_EVERY_NANOS) {
            return Optional.empty();
        }
        Change change = new Change(reported, number, took, base);
        reported = number;
        reportedNanos = nowNanos;
        return Optional.of(change);
    }

    private void measure(long nowNanos) {
        measuring = nowNanos - measureNanos >= 0;
        begin(nowNanos);
    }

    private void begin(long nowNanos) {
        kinds.values().forEach(kind -> kind.count = 0);
        answers = 0;
        waited = false;
        beganNanos = nowNanos;
    }
}
