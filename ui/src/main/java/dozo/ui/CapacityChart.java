package dozo.ui;

import dozo.registry.Capacity;
import dozo.registry.Capacity.Seen;
import dozo.ui.Plot.Mark;
import dozo.ui.Plot.Point;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * How full a site was, and when it will be full. The forecast is drawn for a year at most: a longer one would leave no
 * room for the past.
 *
 * @param history by time; at most one check a day, or a week if there are many
 */
record CapacityChart(List<Seen> history, Capacity capacity) {

    /** How far the picture goes back. */
    static final Duration PAST = Duration.ofDays(365);

    private static final Duration FUTURE = Duration.ofDays(365);
    private static final int CHECKS_MAX = 60;
    private static final double DAY_SECONDS = 86_400;

    static CapacityChart of(List<Seen> history, Capacity capacity) {
        return new CapacityChart(history.size() > CHECKS_MAX ? weekly(history) : history, capacity);
    }

    /** Returns the first check, the last one, and others with a week between them. */
    private static List<Seen> weekly(List<Seen> history) {
        List<Seen> kept = new ArrayList<>(history.subList(0, 1));
        for (Seen seen : history) {
            if (!seen.at().isBefore(kept.getLast().at().plus(Duration.ofDays(7))) || seen.equals(history.getLast())) {
                kept.add(seen);
            }
        }
        return kept;
    }

    public long bytesMax() {
        return history.stream().mapToLong(Seen::totalBytes).max().orElse(0);
    }

    /** Returns the end of the picture: when the site will be full, if that is not too far away. */
    public Instant until() {
        Instant last = history.getLast().at();
        if (capacity.bytesPerDay() == null) {
            return last;
        }
        Instant end = last.plus(FUTURE);
        return capacity.fullAt() != null && capacity.fullAt().isBefore(end) ? capacity.fullAt() : end;
    }

    /** Returns the size of the file system, the used part of it, and the forecast of this. */
    public List<Mark> drawn() {
        Plot plot = new Plot(history.getFirst().at(), until(), bytesMax());
        List<Mark> marks = new ArrayList<>();
        Seen last = history.getLast();
        Stream<Point> sizes = history.stream().map(seen -> new Point(seen.at(), seen.totalBytes()));
        marks.add(plot.line("limit", Stream.concat(sizes, Stream.of(new Point(until(), last.totalBytes())))));
        marks.add(plot.line("line", history.stream().map(seen -> new Point(seen.at(), seen.usedBytes()))));
        Long perDay = capacity.bytesPerDay();
        if (perDay != null) {
            double days = Duration.between(last.at(), until()).toSeconds() / DAY_SECONDS;
            Point end = new Point(until(), last.usedBytes() + perDay * days);
            marks.add(plot.line("forecast", Stream.of(new Point(last.at(), last.usedBytes()), end)));
        }
        return marks;
    }
}
