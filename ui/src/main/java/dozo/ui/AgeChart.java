package dozo.ui;

import dozo.run.Promises.Promise;
import dozo.ui.Plot.Mark;
import dozo.ui.Plot.Point;
import dozo.verify.Readings.Age;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * How much of a site was last read how long ago, in parts of the promised age. It shows the present only, because
 * earlier states are not stored.
 *
 * @param ages by day
 */
record AgeChart(Promise promise, List<Age> ages, Instant now) {

    private static final int STEPS = 12;

    /** All that is older than promised is one bar. */
    private static final int LATE = STEPS + 1;

    /** What was last read between two moments. */
    public record Bar(Instant from, Instant until, boolean late, long files, long bytes) {}

    /** Returns the bars, the latest readings first. */
    public List<Bar> bars() {
        Map<Integer, List<Age>> bySteps =
                ages.stream().collect(Collectors.groupingBy(this::steps, TreeMap::new, Collectors.toList()));
        return bySteps.entrySet().stream()
                .map(part -> new Bar(
                        ago(part.getKey()),
                        ago(part.getKey() - 1),
                        part.getKey() == LATE,
                        part.getValue().stream().mapToLong(Age::files).sum(),
                        part.getValue().stream().mapToLong(Age::bytes).sum()))
                .toList();
    }

    private int steps(Age age) {
        return Math.clamp(Duration.between(age.lastReadAt(), now).dividedBy(step()) + 1, 1, LATE);
    }

    public long bytesMax() {
        return bars().stream().mapToLong(Bar::bytes).max().orElse(0);
    }

    public long bytesLate() {
        return bars().stream().filter(Bar::late).mapToLong(Bar::bytes).sum();
    }

    /** Returns the first moment that is not late. */
    public Instant promised() {
        return ago(STEPS);
    }

    /** Draws the bars, and a line where the promise ends. */
    public List<Mark> drawn() {
        Plot plot = new Plot(ago(LATE), now, bytesMax());
        Duration gap = step().dividedBy(20);
        Stream<Mark> bars = bars().stream()
                .map(bar -> Mark.of(
                        bar.late ? "bar late" : "bar",
                        plot.bar(bar.from.plus(gap), bar.until.minus(gap), (double) bar.bytes)));
        Mark limit =
                plot.line("limit", Stream.of(new Point(promised(), 0), new Point(promised(), (double) bytesMax())));
        return Stream.concat(bars, Stream.of(limit)).toList();
    }

    private Instant ago(int steps) {
        return now.minus(step().multipliedBy(steps));
    }

    private Duration step() {
        return Duration.ofSeconds(promise.maxAgeSeconds()).dividedBy(STEPS);
    }
}
