package dozo.ui;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.drill.RestoreForecasts.Compared;
import dozo.ledger.Coverage.Totals;
import dozo.ledger.PastCoverage.History;
import dozo.registry.Capacity;
import dozo.registry.Capacity.Outlook;
import dozo.registry.Capacity.Seen;
import dozo.run.Paces.Pace;
import dozo.run.Promises.Promise;
import dozo.ui.Charts.Ages;
import dozo.ui.Charts.Coverages;
import dozo.ui.Charts.Space;
import dozo.ui.Charts.Speed;
import dozo.verify.Readings.Age;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The tables that pictures are drawn from. */
class ChartsTest {

    private static final Instant NOW = Instant.parse("2026-11-01T00:00:00Z");
    private static final Duration DAY = Duration.ofDays(1);

    @Test
    void aFailureToLoadAPictureIsNoFailureOfThePage() {
        assertThat(Charts.tried(() -> "loaded")).contains("loaded");
        assertThat(Charts.<String>tried(() -> {
                    throw new IllegalStateException("away");
                }))
                .isEmpty();
    }

    @Test
    void theSpeedOfARunLeavesOutWhatWasNotMeasured() {
        Speed speed = new Speed(List.of(new Pace(NOW, 10, 1_000, 10), new Pace(NOW.plusSeconds(90), 10, 500, 20)));

        assertThat(speed.bytesPerSecond()).isEqualTo(75);
        assertThat(speed.bytesPerSecondMax()).isEqualTo(100);
    }

    @Test
    void theForecastOfASiteEndsWhenItIsFull() {
        Capacity filling = new Capacity(NOW, 100, 40, 60, Outlook.FILLING, 4L, NOW.plus(DAY.multipliedBy(10)));

        assertThat(Charts.space(
                        List.of(new Seen(NOW.minus(DAY.multipliedBy(10)), 100, 80), new Seen(NOW, 100, 40)), filling))
                .containsExactly(
                        new Space(NOW.minus(DAY.multipliedBy(10)), 20L, null, 100),
                        new Space(NOW, 60L, 60L, 100),
                        new Space(NOW.plus(DAY.multipliedBy(10)), null, 100L, 100));
    }

    @Test
    void aForecastThatIsFarAwayIsShownForAYear() {
        Capacity far = new Capacity(NOW, 10_000, 9_000, 10, Outlook.FAR, 2L, null);

        assertThat(Charts.space(List.of(new Seen(NOW, 10_000, 9_000)), far))
                .last()
                .isEqualTo(new Space(NOW.plus(DAY.multipliedBy(365)), null, 1_730L, 10_000));
    }

    @Test
    void withoutAForecastASiteHasOnlyItsPast() {
        assertThat(Charts.space(
                        List.of(new Seen(NOW, 100, 40)),
                        new Capacity(NOW, 100, 40, 60, Outlook.TOO_LITTLE_KNOWN, null, null)))
                .containsExactly(new Space(NOW, 60L, null, 100));
    }

    @Test
    void manyChecksAreShownWeekByWeekWithTheLast() {
        List<Seen> year = IntStream.rangeClosed(0, 365)
                .mapToObj(day -> new Seen(NOW.plus(DAY.multipliedBy(day)), 1_000, 1_000 - day))
                .toList();
        List<Space> shown = Charts.space(year, new Capacity(NOW, 1_000, 635, 36, Outlook.NOT_FILLING, null, null));

        assertThat(shown).hasSize(53).last().isEqualTo(new Space(year.getLast().at(), 365L, null, 1_000));
    }

    @Test
    void copiesOlderThanPromisedAreOneBarOfTheirOwn() {
        Promise promise =
                new Promise(DAY.multipliedBy(12).toSeconds(), NOW.minus(Duration.ofDays(30)), 3, 2, 30, 20, 0);
        Ages ages = Ages.of(
                promise,
                List.of(
                        new Age(NOW.minus(Duration.ofDays(30)), 1, 10),
                        new Age(NOW.minus(Duration.ofHours(2)), 1, 15),
                        new Age(NOW.plusSeconds(60), 1, 5)),
                NOW);

        assertThat(ages.bars()).hasSize(13).filteredOn(Ages.Bar::overdue).hasSize(1);
        assertThat(ages.bytesOverdue()).isEqualTo(10);
        assertThat(ages.bars().getLast())
                .as("also what was read by a clock that went ahead")
                .isEqualTo(new Ages.Bar(NOW.minus(DAY), NOW, false, 2, 20));
        assertThat(ages.promised()).isEqualTo(NOW.minus(DAY.multipliedBy(12)));
        assertThat(ages.isEmpty()).isFalse();
        assertThat(Ages.of(promise, List.of(), NOW).isEmpty()).isTrue();
    }

    @Test
    void weeksEndAsDaysDoAndNothingIsShownBeforeTheHistory() {
        ZoneId berlin = ZoneId.of("Europe/Berlin");
        List<Instant> moments = Coverages.moments(Instant.parse("2026-10-10T00:00:00Z"), NOW, berlin);

        assertThat(moments)
                .containsExactly(
                        Instant.parse("2026-10-11T22:00:00Z"),
                        Instant.parse("2026-10-18T22:00:00Z"),
                        Instant.parse("2026-10-25T23:00:00Z"),
                        NOW);
        assertThat(Coverages.moments(Instant.EPOCH, NOW, berlin)).hasSize(53);
        assertThat(Coverages.moments(NOW, NOW, berlin)).containsExactly(NOW);
    }

    @Test
    void allProjectsTogetherComeFirstThenThoseWithTheLowestShare() {
        List<Instant> moments = List.of(NOW.minusSeconds(100), NOW);
        List<History> all = IntStream.range(0, 20)
                .mapToObj(i -> new History("P%02d".formatted(i), List.of(totals(0, 0), totals(100, 100 - i))))
                .toList();
        Coverages shown = Coverages.of(moments, all);

        assertThat(shown.histories()).hasSize(13);
        assertThat(shown.histories().getFirst().totals().getLast().bytes()).isEqualTo(2_000);
        assertThat(shown.histories().get(1).project()).isEqualTo("P19");
        assertThat(shown.further()).isEqualTo(8);
        assertThat(Coverages.of(moments, List.of()).further()).isZero();
    }

    @Test
    void theErrorOfForecastsIsThatOfTheMiddleOne() {
        assertThat(Charts.errorPercent(List.of(drill(10, null)))).isEmpty();
        assertThat(Charts.errorPercent(List.of(drill(10, 11.0), drill(10, null), drill(10, 5.0), drill(10, 10.0))))
                .contains(10L);
    }

    private static Compared drill(double seconds, @Nullable Double forecast) {
        return new Compared(1, "P1", "P1/S1", NOW, 1, 1, seconds, forecast);
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
