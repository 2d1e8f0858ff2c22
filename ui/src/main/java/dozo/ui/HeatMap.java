package dozo.ui;

import dozo.remote.TuningGrid;
import dozo.remote.TuningGrid.Cell;
import dozo.run.SiteTunings.SiteTuning;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** How fast a site was with each number of lanes and channels, as a picture: the darker, the faster. */
record HeatMap(SiteTuning tuning) {

    private static final int WIDTH = 120;
    private static final int HEIGHT = 40;
    private static final int GAP = 2;

    /** The opacity of the fastest. Text must be readable on it in both colour schemes. */
    private static final double MOST = 0.55;

    /**
     * A combination.
     *
     * @param cell null: it was not measured
     * @param path its square
     * @param opacity of its colour
     * @param x the middle of its square
     * @param y the same
     */
    public record Drawn(@Nullable Cell cell, boolean best, String path, String opacity, int x, int y) {}

    /** All combinations with one number of lanes. */
    public record Row(int lanes, List<Drawn> cells) {}

    public List<Integer> channels() {
        return TuningGrid.CHANNELS;
    }

    public int width() {
        return WIDTH * TuningGrid.CHANNELS.size();
    }

    public int height() {
        return HEIGHT * TuningGrid.LANES.size();
    }

    public List<Row> rows() {
        return TuningGrid.LANES.stream()
                .map(lanes -> new Row(
                        lanes,
                        TuningGrid.CHANNELS.stream()
                                .map(channels -> drawn(lanes, channels))
                                .toList()))
                .toList();
    }

    private Drawn drawn(int lanes, int channels) {
        double highest =
                tuning.cells().stream().mapToDouble(Cell::bytesPerSecond).max().orElseThrow();
        Cell cell = tuning.cells().stream()
                .filter(each -> each.lanes() == lanes && each.channels() == channels)
                .findFirst()
                .orElse(null);
        int x = TuningGrid.CHANNELS.indexOf(channels) * WIDTH;
        int y = TuningGrid.LANES.indexOf(lanes) * HEIGHT;
        double share = cell == null ? 0 : cell.bytesPerSecond() / highest;
        return new Drawn(
                cell,
                tuning.best().equals(cell),
                "M%d %dh%dv%dh-%dZ".formatted(x + GAP, y + GAP, WIDTH - 2 * GAP, HEIGHT - 2 * GAP, WIDTH - 2 * GAP),
                String.format(Locale.ROOT, "%.2f", MOST * share),
                x + WIDTH / 2,
                y + HEIGHT / 2);
    }
}
