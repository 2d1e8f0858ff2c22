package dozo.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dozo.plan.Hours.Step;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A slower time leaves less, a closed one nothing. */
class HoursTest {

    private static final Instant BEGIN = Instant.parse("2026-11-26T20:00:00Z");
    private static final double FULL = 100e6;

    /** An hour without a limit, one with half the rate, one closed, then ten without a limit. */
    private final Hours hours = new Hours(
            List.of(
                    new Step(BEGIN, Double.POSITIVE_INFINITY),
                    new Step(at(1), FULL / 2),
                    new Step(at(2), 0),
                    new Step(at(3), FULL * 2)),
            at(13),
            FULL);

    @Test
    void whatIsUsableGrowsWithTheRate() {
        assertThat(hours.usableUntil(BEGIN)).isZero();
        assertThat(hours.usableUntil(BEGIN.minusSeconds(1))).isZero();
        assertThat(hours.usableUntil(at(1))).isCloseTo(3_600, within(1e-6));
        assertThat(hours.usableUntil(at(2))).isCloseTo(5_400, within(1e-6));
        assertThat(hours.usableUntil(at(3))).isCloseTo(5_400, within(1e-6));
        assertThat(hours.usableUntil(at(4))).isCloseTo(9_000, within(1e-6));
        assertThat(hours.usableUntil(at(99))).isCloseTo(5_400 + 36_000, within(1e-6));
    }

    @Test
    void afterIsItsInverse() {
        assertThat(hours.after(0, 1)).contains(BEGIN);
        assertThat(hours.after(1_800, 1)).contains(BEGIN.plus(Duration.ofMinutes(30)));
        assertThat(hours.after(4_500, 1)).contains(BEGIN.plus(Duration.ofMinutes(90)));
        assertThat(hours.after(5_401, 1)).contains(at(3).plusSeconds(1));
        assertThat(hours.after(5_400 + 36_000, 1)).contains(at(13));
        assertThat(hours.after(5_400 + 36_001, 1)).isEmpty();
    }

    @Test
    void closedFromTheBeginningStartsAtTheOpening() {
        Hours closed = new Hours(List.of(new Step(BEGIN, 0), new Step(at(1), Double.POSITIVE_INFINITY)), at(2), FULL);

        assertThat(closed.begin()).isEqualTo(BEGIN);
        assertThat(closed.after(1, 1)).contains(at(1).plusSeconds(1));
        assertThat(closed.after(3_601, 1)).isEmpty();
    }

    @Test
    void aLimitHoldsAtAnySpeed() {
        // Twice as fast: only while there is no limit. Half as fast: the limit of half the rate does not matter.
        assertThat(hours.usableUntil(at(1), 2)).isCloseTo(7_200, within(1e-6));
        assertThat(hours.usableUntil(at(2), 2)).isCloseTo(9_000, within(1e-6));
        assertThat(hours.usableUntil(at(2), 0.5)).isCloseTo(3_600, within(1e-6));
        assertThat(hours.after(9_000, 2)).contains(at(2));
        assertThat(hours.after(3_600, 0.5)).contains(at(2));
    }

    @Test
    void aWindowEndsWhenTheSiteSlowsDownOrTheNextNightBeginsOrAfterADay() {
        Optional<Instant> night = Optional.of(at(20));

        assertThat(hours.windowEnd(BEGIN, night)).isEqualTo(at(1));
        assertThat(hours.windowEnd(at(1), night)).isEqualTo(at(2));
        assertThat(hours.windowEnd(at(2), night)).isEqualTo(at(20));
        assertThat(hours.windowEnd(at(2), Optional.of(at(27)))).isEqualTo(at(26));
        assertThat(hours.windowEnd(at(2), Optional.empty())).isEqualTo(at(26));
    }

    @Test
    void withoutABeginningOrARateThereAreNone() {
        assertThatThrownBy(() -> new Hours(List.of(), at(1), FULL)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> new Hours(List.of(new Step(BEGIN, 1)), at(1), Double.NaN))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static Instant at(int hours) {
        return BEGIN.plus(Duration.ofHours(hours));
    }
}
