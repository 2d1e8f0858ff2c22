package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.remote.TuningGrid.Cell;
import dozo.run.SiteTunings.SiteTuning;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A measurement is printed as a map: the faster, the darker. */
class TuneCommandTest {

    private static final Instant NOW = Instant.parse("2026-11-26T12:00:00Z");

    @Test
    void aMeasurementIsAMap() {
        List<Cell> cells = List.of(
                new Cell(1, 1, 20e6),
                new Cell(1, 2, 50e6),
                new Cell(1, 4, 98e6),
                new Cell(2, 1, 70e6),
                new Cell(2, 2, 100e6));
        StringWriter printed = new StringWriter();

        TuneCommand.print(
                new PrintWriter(printed), "dr", new SiteTuning(NOW, "mori", cells, cells.get(2), NOW.plusSeconds(1)));

        assertThat(printed.toString().lines().toList())
                .hasSize(8)
                .element(0)
                .asString()
                .startsWith("site dr, measured by mori at ");
        assertThat(printed.toString().lines().map(String::strip))
                .contains(
                        "lanes         1 channel        2 channels        4 channels",
                        "1      20 MB/s   ░░      50 MB/s   ▓▓      98 MB/s * ██",
                        "2      70 MB/s   ▓▓     100 MB/s   ██                 -",
                        "16                 -                 -                 -")
                .anySatisfy(line -> assertThat(line)
                        .startsWith("best: 1 lane with 4 channels on each, 98 MB/s: the fewest within 5 % of"));
    }
}
