package dozo.ui;

import dozo.drill.RestoreForecasts.Compared;
import dozo.ui.Plot.Mark;
import dozo.ui.Plot.Point;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.stream.DoubleStream;
import org.jspecify.annotations.Nullable;

/** How long drills took, and what the drills before each of them had forecast. */
record DrillChart(List<Compared> drills) {

    /** In the order of their times, which is not that of the drills if the clock was set back. */
    DrillChart {
        drills = drills.stream().sorted(Comparator.comparing(Compared::endedAt)).toList();
    }

    public Instant from() {
        return drills.getFirst().endedAt();
    }

    public Instant until() {
        return drills.getLast().endedAt();
    }

    /** Returns the longest time, measured or forecast. */
    public double secondsMax() {
        return drills.stream()
                .flatMapToDouble(drill -> DoubleStream.of(drill.seconds(), forecast(drill)))
                .max()
                .orElse(0);
    }

    /** Returns the median error of the forecasts in percent; null if there was none. */
    public @Nullable Long errorPercent() {
        List<Double> errors = drills.stream()
                .filter(drill -> drill.forecastSeconds() != null)
                .map(drill -> Math.abs(forecast(drill) / drill.seconds() - 1))
                .sorted()
                .toList();
        return errors.isEmpty() ? null : Math.round(100 * errors.get(errors.size() / 2));
    }

    /** Draws the measured times as a line, and the forecasts as a broken one. */
    public List<Mark> drawn() {
        Plot plot = new Plot(from(), until(), secondsMax());
        return List.of(
                plot.line("line", drills.stream().map(drill -> new Point(drill.endedAt(), drill.seconds()))),
                plot.line(
                        "forecast",
                        drills.stream()
                                .filter(drill -> drill.forecastSeconds() != null)
                                .map(drill -> new Point(drill.endedAt(), forecast(drill)))));
    }

    private static double forecast(Compared drill) {
        return Objects.requireNonNullElse(drill.forecastSeconds(), 0.0);
    }
}
