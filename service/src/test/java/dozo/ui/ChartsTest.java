package dozo.ui;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.ledger.Coverage.Totals;
import dozo.ledger.PastCoverage.History;
import dozo.registry.Capacity;
import dozo.registry.Capacity.Outlook;
import dozo.registry.Capacity.Seen;
import dozo.run.Paces.Pace;
import dozo.run.Promises.Promise;
import dozo.ui.Plot.Mark;
import dozo.ui.Plot.Point;
import dozo.verify.Readings.Age;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What pictures are made of. */
class ChartsTest {

    private static final Instant NOW = Instant.parse("2026-11-01T00:00:00Z");

    @Test
    void valuesAreInAFieldOfAThousandByAHundred() {
        Plot plot = new Plot(NOW, NOW.plusSeconds(100), 50);

        assertThat(plot.bar(NOW, NOW.plusSeconds(25), 25)).isEqualTo("M0 100V50H250V100Z");
        assertThat(plot.line(List.of(new Point(NOW.plusSeconds(10), 0), new Point(NOW.plusSeconds(500), 70))))
                .as("nothing is outside")
                .isEqualTo("M100 100L1000 0");
        assertThat(plot.line(List.of(new Point(NOW, 50)))).as("a dot").isEqualTo("M0 0h0");
        assertThat(plot.line(List.of())).isEmpty();
        assertThat(new Plot(NOW, NOW, 0).bar(NOW, NOW, 0)).as("without extent").isEqualTo("M0 100V100H0V100Z");
    }

    @Test
    void aFailureToLoadAPictureIsNoFailureOfThePage() {
        assertThat(Plot.tried(() -> "loaded")).contains("loaded");
        assertThat(Plot.<String>tried(() -> {
                    throw new IllegalStateException("away");
                }))
                .isEmpty();
    }

    @Test
    void theSpeedOfARunLeavesOutWhatWasNotMeasured() {
        PaceChart chart =
                new PaceChart(List.of(new Pace(NOW, 10, 1_000, 10), new Pace(NOW.plusSeconds(90), 10, 500, 20)));

        assertThat(chart.bytes()).extracting(Mark::path).containsExactly("M0 100V0H100V100ZM900 100V50H1000V100Z");
        assertThat(chart.bytesPerSecond()).isEqualTo(75);
        assertThat(chart.bytesPerSecondMax()).isEqualTo(100);
        assertThat(chart.entriesPerSecondMax()).isEqualTo(2);
    }

    @Test
    void theForecastOfASiteEndsWhenItIsFull() {
        Capacity filling = new Capacity(NOW, 100, 40, 60, Outlook.FILLING, 4L, NOW.plus(Duration.ofDays(10)));
        CapacityChart chart = CapacityChart.of(
                List.of(new Seen(NOW.minus(Duration.ofDays(10)), 100, 80), new Seen(NOW, 100, 40)), filling);

        assertThat(chart.drawn())
                .containsExactly(
                        Mark.of("limit", "M0 0L500 0L1000 0"),
                        Mark.of("line", "M0 80L500 40"),
                        Mark.of("forecast", "M500 40L1000 0"));
    }

    @Test
    void withoutAForecastASiteHasOnlyItsPastAndOneCheckIsADot() {
        CapacityChart chart = CapacityChart.of(
                List.of(new Seen(NOW, 100, 40)), new Capacity(NOW, 100, 40, 60, Outlook.TOO_LITTLE_KNOWN, null, null));

        assertThat(chart.drawn()).containsExactly(Mark.of("limit", "M0 0L0 0"), Mark.of("line", "M0 40h0"));
    }

    @Test
    void manyChecksAreDrawnWeekByWeekWithTheLast() {
        List<Seen> year = IntStream.rangeClosed(0, 365)
                .mapToObj(day -> new Seen(NOW.plus(Duration.ofDays(day)), 1_000, 1_000 - day))
                .toList();
        CapacityChart chart =
                CapacityChart.of(year, new Capacity(NOW, 1_000, 635, 36, Outlook.NOT_FILLING, null, null));

        assertThat(chart.history())
                .hasSizeBetween(52, 54)
                .startsWith(year.getFirst())
                .endsWith(year.getLast());
    }

    @Test
    void copiesOlderThanPromisedAreMarkedAsLate() {
        AgeChart chart = new AgeChart(
                new Promise(Duration.ofDays(12).toSeconds(), NOW.minus(Duration.ofDays(30)), 3, 2, 30, 20, 0),
                List.of(
                        new Age(NOW.minus(Duration.ofDays(30)), 1, 10),
                        new Age(NOW.minus(Duration.ofHours(2)), 1, 15),
                        new Age(NOW.plusSeconds(60), 1, 5)),
                NOW);

        assertThat(chart.drawn()).extracting(Mark::kind).containsExactly("bar", "bar late", "limit");
        assertThat(chart.bytesLate()).isEqualTo(10);
        assertThat(chart.bars().getFirst())
                .as("also what was read by a clock that went ahead")
                .isEqualTo(new AgeChart.Bar(NOW.minus(Duration.ofDays(1)), NOW, false, 2, 20));
        assertThat(chart.promised()).isEqualTo(NOW.minus(Duration.ofDays(12)));
    }

    @Test
    void weeksEndAsDaysDoAndNothingIsDrawnBeforeTheHistory() {
        ZoneId berlin = ZoneId.of("Europe/Berlin");
        List<Instant> moments = CoverageChart.moments(Instant.parse("2026-10-10T00:00:00Z"), NOW, berlin);

        assertThat(moments)
                .containsExactly(
                        Instant.parse("2026-10-11T22:00:00Z"),
                        Instant.parse("2026-10-18T22:00:00Z"),
                        Instant.parse("2026-10-25T23:00:00Z"),
                        NOW);
        assertThat(CoverageChart.moments(Instant.EPOCH, NOW, berlin)).hasSize(53);
        assertThat(CoverageChart.moments(NOW, NOW, berlin)).containsExactly(NOW);
    }

    @Test
    void projectsWithTheLowestShareComeFirstAndHaveNoLineBeforeTheirFirstExperiment() {
        List<Instant> moments = List.of(NOW.minusSeconds(100), NOW);
        List<History> all = IntStream.range(0, 20)
                .mapToObj(i -> new History("P%02d".formatted(i), List.of(totals(0, 0), totals(100, 100 - i))))
                .toList();
        CoverageChart chart = CoverageChart.of(moments, all);

        assertThat(chart.projects()).hasSize(12).first().satisfies(first -> {
            assertThat(first.project()).isEqualTo("P19");
            assertThat(chart.drawn(first)).containsExactly(Mark.of("line", "M1000 19h0"));
        });
        assertThat(chart.further()).isEqualTo(8);
        assertThat(chart.whole().totals().getLast().bytes()).isEqualTo(2_000);
        assertThat(chart.columns()).containsExactly(1);
    }

    private static Totals totals(long bytes, long safe) {
        long experiments = bytes == 0 ? 0 : 1;
        return new Totals(
                null,
                bytes > 0 && bytes == safe,
                experiments,
                bytes == safe ? experiments : 0,
                1,
                1,
                bytes,
                safe,
                null,
                0);
    }
}
