package dozo.ui;

import dozo.plan.NightForecast.Night;
import dozo.plan.NightForecast.Range;
import dozo.ui.Plot.Mark;
import dozo.ui.Plot.Point;
import java.time.Instant;
import java.util.List;
import java.util.function.ToLongFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What will be verified after each night to come.
 *
 * @param from when the first one begins
 * @param bytes of everything that is to be sent
 * @param nights at least one
 */
record NightsChart(Instant from, long bytes, int experiments, List<Night> nights) {

    public Instant until() {
        return nights.getLast().untilAt();
    }

    /** Returns after how many nights everything is probably safe; 0: after more than are shown. */
    public int enough() {
        return IntStream.rangeClosed(1, nights.size())
                .filter(night -> nights.get(night - 1).safe().middle() == experiments)
                .findFirst()
                .orElse(0);
    }

    public List<Mark> drawn() {
        Plot plot = new Plot(from, until(), bytes);
        return List.of(
                line(plot, "forecast", Range::low),
                line(plot, "forecast", Range::high),
                line(plot, "line", Range::middle));
    }

    private Mark line(Plot plot, String kind, ToLongFunction<Range<Long>> value) {
        return plot.line(
                kind,
                Stream.concat(
                        Stream.of(new Point(from, 0)),
                        nights.stream().map(night -> new Point(night.untilAt(), value.applyAsLong(night.verified())))));
    }
}
