package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dozo.plan.Measurement;
import dozo.plan.NightForecast.Range;
import dozo.plan.Work;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A copy's time is forecast from earlier copies, with a range that is wider the less they say. */
class CopyForecastTest {

    private static final long GB = 1_000_000_000;
    private static final Work LARGE = new Work(4 * GB, 10);
    private static final Work SMALL = new Work(GB, 10_000);

    @Test
    void withoutEarlierCopiesThereIsNone() {
        assertThat(CopyForecast.of(List.of(), LARGE, 0)).isEmpty();
    }

    @Test
    void theSameAgainTakesTheSame() {
        Range<Double> once = seconds(List.of(took(LARGE, 33)), LARGE, 0);
        Range<Double> often = seconds(Collections.nCopies(20, took(LARGE, 33)), LARGE, 0);

        assertThat(once.middle()).isCloseTo(33, within(0.1));
        assertThat(once.low()).isBetween(15.0, 25.0);
        assertThat(once.high()).isBetween(45.0, 60.0);
        assertThat(often.middle()).isCloseTo(33, within(0.1));
        assertThat(often.low()).isBetween(26.0, 32.0);
        assertThat(often.high()).isBetween(34.0, 42.0);
    }

    @Test
    void twiceAsMuchTakesTwiceAsLongBesideTheStart() {
        assertThat(seconds(List.of(took(LARGE, 33)), new Work(8 * GB, 20), 0).middle())
                .isCloseTo(65, within(0.1));
        assertThat(seconds(List.of(took(LARGE, 33)), Work.NONE, 0)).isEqualTo(new Range<>(1.0, 1.0, 1.0));
    }

    @Test
    void otherSizesOfFilesWidenTheRange() {
        Range<Double> alike = seconds(List.of(took(LARGE, 33)), LARGE, 0);
        Range<Double> unlike = seconds(List.of(took(LARGE, 33)), SMALL, 0);
        Range<Double> both = seconds(List.of(took(LARGE, 33), took(SMALL, 12)), SMALL, 0);

        assertThat(unlike.high() / unlike.low()).isGreaterThan(1.1 * alike.high() / alike.low());
        assertThat(both.middle()).isCloseTo(12, within(1.0));
    }

    @Test
    void changingRatesWidenTheRange() {
        List<Measurement> steady = Collections.nCopies(6, took(LARGE, 33));
        List<Measurement> changing = List.of(
                took(LARGE, 33), took(LARGE, 100), took(LARGE, 20), took(LARGE, 70), took(LARGE, 33), took(LARGE, 120));

        assertThat(seconds(changing, LARGE, 0).high()
                        / seconds(changing, LARGE, 0).low())
                .isGreaterThan(2
                        * seconds(steady, LARGE, 0).high()
                        / seconds(steady, LARGE, 0).low());
    }

    @Test
    void aLimitIsTheLeast() {
        Range<Double> limited = seconds(List.of(took(LARGE, 33)), LARGE, 100_000_000);

        assertThat(limited.low()).isEqualTo(41);
        assertThat(limited.middle()).isEqualTo(41);
        assertThat(limited.high()).isGreaterThan(41);
    }

    @Test
    void aCopyShorterThanTheStartIsNoMeasurementOfNothing() {
        assertThat(seconds(List.of(took(LARGE, 0.5)), LARGE, 0).middle()).isCloseTo(1.25, within(0.01));
    }

    private static Measurement took(Work work, double seconds) {
        return new Measurement(work, 1, seconds);
    }

    private static Range<Double> seconds(List<Measurement> earlier, Work work, long limit) {
        return CopyForecast.of(earlier, work, limit).orElseThrow().seconds();
    }
}
