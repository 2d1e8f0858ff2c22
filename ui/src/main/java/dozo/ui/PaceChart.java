package dozo.ui;

import dozo.run.Paces.Pace;
import dozo.ui.Plot.Mark;
import java.util.List;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/** How fast a run went from its beginning to its end, as far as that was measured. */
record PaceChart(List<Pace> paces) {

    /** Returns the speed while it was measured, in bytes a second. */
    public double bytesPerSecond() {
        return paces.stream().mapToLong(Pace::bytes).sum()
                / paces.stream().mapToDouble(Pace::seconds).sum();
    }

    public double bytesPerSecondMax() {
        return max(Pace::bytesPerSecond);
    }

    public double entriesPerSecondMax() {
        return max(Pace::entriesPerSecond);
    }

    public List<Mark> bytes() {
        return drawn(Pace::bytesPerSecond);
    }

    public List<Mark> entries() {
        return drawn(Pace::entriesPerSecond);
    }

    /** Draws all intervals in one path: what was not measured stays empty. */
    private List<Mark> drawn(ToDoubleFunction<Pace> value) {
        Plot plot = new Plot(paces.getFirst().beganAt(), paces.getLast().endedAt(), max(value));
        return List.of(Mark.of(
                "bar",
                paces.stream()
                        .map(pace -> plot.bar(pace.beganAt(), pace.endedAt(), value.applyAsDouble(pace)))
                        .collect(Collectors.joining())));
    }

    private double max(ToDoubleFunction<Pace> value) {
        return paces.stream().mapToDouble(value).max().orElse(0);
    }
}
