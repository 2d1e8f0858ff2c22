package dozo.plan;

import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** When a site may be used in the time to come, and how fast. Immutable. */
public final class Hours {

    private static final double NANOS = 1e9;
    private static final Duration WINDOW_MAX = Duration.ofDays(1);

    private final List<Step> steps;
    private final Instant end;
    private final double bytesPerSecond;

    /**
     * What holds from a moment to the next step's.
     *
     * @param bytesPerSecondMax 0: closed; {@link Double#POSITIVE_INFINITY}: no limit
     */
    public record Step(Instant from, double bytesPerSecondMax) {}

    /**
     * Creates hours.
     *
     * @param steps in order of time, at least one; the first is where the time begins
     * @param end until when they are known
     * @param bytesPerSecond the rate without a limit, above 0
     */
    public Hours(List<Step> steps, Instant end, double bytesPerSecond) {
        if (steps.isEmpty() || !(bytesPerSecond > 0)) {
            throw new IllegalArgumentException("%s at %s bytes a second".formatted(steps, bytesPerSecond));
        }
        this.steps = List.copyOf(steps);
        this.end = end;
        this.bytesPerSecond = bytesPerSecond;
    }

    public Instant begin() {
        return steps.getFirst().from;
    }

    /**
     * Returns the seconds at the full rate that a moment leaves from the beginning: those of a slower time count less.
     *
     * @param speed as a multiple of the full rate: what is faster than a limit counts as the limit
     */
    public double usableUntil(Instant moment, double speed) {
        double usable = 0;
        for (int i = 0; i < steps.size() && steps.get(i).from.isBefore(moment); i++) {
            Instant to = endOf(i).isBefore(moment) ? endOf(i) : moment;
            usable += Math.max(0, seconds(steps.get(i).from, to)) * share(i, speed);
        }
        return usable;
    }

    /** Returns the same at the full rate. */
    public double usableUntil(Instant moment) {
        return usableUntil(moment, 1);
    }

    /** Returns when so many seconds at the full rate have been used at this speed; empty: not before the end. */
    public Optional<Instant> after(double usable, double speed) {
        double left = usable;
        for (int i = 0; i < steps.size(); i++) {
            double here = seconds(steps.get(i).from, endOf(i)) * share(i, speed);
            if (left <= here) {
                double seconds = left == 0 ? 0 : left / share(i, speed);
                return Optional.of(steps.get(i).from.plusNanos(Math.round(seconds * NANOS)));
            }
            left -= here;
        }
        return Optional.empty();
    }

    /**
     * Returns when a window that begins at a moment, or at the next opening, ends: when the site closes or slows down, or the next
     * night begins, or after a day.
     *
     * @param nextNight after the moment; empty: none is planned
     */
    public Instant windowEnd(Instant begin, Optional<Instant> nextNight) {
        Instant latest = begin.plus(WINDOW_MAX);
        return IntStream.range(1, steps.size())
                .filter(i -> steps.get(i).bytesPerSecondMax < steps.get(i - 1).bytesPerSecondMax)
                .mapToObj(i -> steps.get(i).from)
                .filter(end -> end.isAfter(begin) && end.isBefore(latest))
                .findFirst()
                .or(() -> nextNight.filter(latest::isAfter))
                .orElse(latest);
    }

    /**
     * Returns the ends of at most this many windows, one after the other.
     *
     * @param nextNight after a moment; empty: none is planned
     */
    public Stream<Instant> windowEnds(Function<Instant, Optional<Instant>> nextNight, long most) {
        UnaryOperator<Instant> end = begin -> windowEnd(begin, nextNight.apply(begin));
        return Stream.iterate(end.apply(begin()), end).limit(most);
    }

    private Instant endOf(int step) {
        return step + 1 < steps.size() ? steps.get(step + 1).from : end;
    }

    private double share(int step, double speed) {
        return Math.min(speed, steps.get(step).bytesPerSecondMax / bytesPerSecond);
    }

    private static double seconds(Instant from, Instant to) {
        return Duration.between(from, to).toNanos() / NANOS;
    }
}
