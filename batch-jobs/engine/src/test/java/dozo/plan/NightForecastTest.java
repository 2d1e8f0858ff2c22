package dozo.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dozo.plan.Hours.Step;
import dozo.plan.NightForecast.Expected;
import dozo.plan.NightForecast.Night;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What will be safe by the morning, and how sure that is. */
class NightForecastTest {

    private static final Instant BEGIN = Instant.parse("2026-11-26T20:00:00Z");
    private static final Instant MORNING = BEGIN.plus(Duration.ofHours(10));
    private static final long HOUR_BYTES = 360_000_000_000L;
    private static final CostModel COST = new CostModel(25e6, 0);
    private static final Hours ALWAYS =
            new Hours(List.of(new Step(BEGIN, Double.POSITIVE_INFINITY)), BEGIN.plus(Duration.ofDays(14)), 100e6);

    @Test
    void nothingToSendIsSafeNow() {
        NightForecast forecast = NightForecast.of(List.of(), speed(), ALWAYS, MORNING);

        assertThat(forecast.bytesUntil().middle()).isZero();
        assertThat(forecast.safeAt().low()).isEqualTo(BEGIN);
        assertThat(forecast.safeAt().high()).isEqualTo(BEGIN);
    }

    @Test
    void aNightThatIsHalfEnoughSendsHalfOfIt() {
        NightForecast forecast = NightForecast.of(hours(5, 5, 5, 5), speed(), ALWAYS, MORNING);

        assertThat(forecast.bytes()).isEqualTo(20 * HOUR_BYTES);
        assertThat(forecast.bytesUntil().middle()).isEqualTo(10 * HOUR_BYTES);
        assertThat(forecast.bytesUntil().low()).isBetween(5 * HOUR_BYTES, 9 * HOUR_BYTES);
        assertThat(forecast.bytesUntil().high()).isBetween(11 * HOUR_BYTES, 20 * HOUR_BYTES);
        assertThat(forecast.experimentsUntil().middle()).isEqualTo(2);
        assertThat(forecast.safeAt().middle()).isEqualTo(BEGIN.plus(Duration.ofHours(20)));
        assertThat(forecast.safeAt().low()).isBefore(forecast.safeAt().middle());
        assertThat(forecast.safeAt().high()).isAfter(forecast.safeAt().middle());
        assertThat(forecast.experiments())
                .extracting(Expected::safeAt)
                .first()
                .isEqualTo(BEGIN.plus(Duration.ofHours(5)));
    }

    @Test
    void whatIsDueInTheMorningIsAsProbableAsNot() {
        List<Expected> experiments =
                NightForecast.of(hours(5, 5, 5), speed(), ALWAYS, MORNING).experiments();

        assertThat(experiments.get(0).untilProbability()).isBetween(0.9, 0.99);
        assertThat(experiments.get(1).untilProbability()).isCloseTo(0.5, within(1e-9));
        assertThat(experiments.get(2).untilProbability()).isBetween(0.05, 0.2);
        assertThat(experiments).allMatch(each -> each.deadlineProbability() == 1 && !each.atRisk());
    }

    @Test
    void aFirstCopyTakesManyNights() {
        List<Instant> ends = new ArrayList<>();
        for (int day = 0; day < 14; day++) {
            ends.add(MORNING.plus(Duration.ofDays(day)));
        }
        // Ten hours of each day are open.
        List<Step> steps = new ArrayList<>();
        for (Instant end : ends) {
            steps.add(new Step(end.minus(Duration.ofHours(10)), Double.POSITIVE_INFINITY));
            steps.add(new Step(end, 0));
        }
        Hours nightly = new Hours(steps, BEGIN.plus(Duration.ofDays(14)), 100e6);

        List<Night> nights = NightForecast.nights(hours(25, 20), speed(), nightly, ends.stream());

        assertThat(nights)
                .extracting(night -> night.verified().middle() / HOUR_BYTES)
                .startsWith(10L, 20L, 30L, 40L, 45L, 45L);
        assertThat(nights).extracting(night -> night.safe().middle()).startsWith(0, 0, 1, 1, 2);
        assertThat(nights.getLast().safe().low()).isEqualTo(2);
        assertThat(nights.get(nights.size() - 2).safe().low()).isLessThan(2);
        assertThat(NightForecast.nights(hours(250), speed(), nightly, ends.stream()))
                .hasSize(14);
    }

    @Test
    void afterMoreNightsNeverLessIsVerified() {
        List<Pending> unseen = List.of(
                new Pending(1, 1, 10, new Work(8 * HOUR_BYTES, 1), 1, null),
                new Pending(2, 1, 10, new Work(30 * HOUR_BYTES, 1), 0.5, null));

        List<Night> nights = NightForecast.nights(
                unseen, speed(), ALWAYS, Stream.iterate(MORNING, end -> end.plus(Duration.ofHours(5))));

        assertThat(nights).extracting(night -> night.verified().low()).isSorted();
        assertThat(nights).extracting(night -> night.verified().middle()).isSorted();
        assertThat(nights).extracting(night -> night.verified().high()).isSorted();
        assertThat(nights.getLast().verified().middle()).isEqualTo(38 * HOUR_BYTES);
        assertThat(nights.getLast().verified().low()).isLessThan(30 * HOUR_BYTES);
    }

    @Test
    void moreNightsMakeItNarrowerAndUnsteadyOnesWider() {
        Speed steady = Speed.of(COST, 4, Collections.nCopies(26, 1.02));
        Speed unsteady = Speed.of(COST, 4, List.of(3.0, 0.4, 2.5, 0.3));

        assertThat(width(steady)).isLessThan(width(speed()) / 2);
        assertThat(width(unsteady)).isGreaterThan(width(speed()));
        assertThat(Speed.of(COST, 4, List.of(1e9))).isEqualTo(Speed.of(COST, 4, List.of(4.0)));
    }

    @Test
    void sizesThatAreEstimatesMakeItWider() {
        List<Pending> unseen = List.of(new Pending(1, 1, 10, new Work(8 * HOUR_BYTES, 1), 1, null));
        NightForecast sure = NightForecast.of(hours(8), speed(), ALWAYS, MORNING.plus(Duration.ofDays(9)));
        NightForecast unsure = NightForecast.of(unseen, speed(), ALWAYS, MORNING.plus(Duration.ofDays(9)));

        assertThat(sure.bytesUntil().low()).isEqualTo(8 * HOUR_BYTES);
        assertThat(sure.bytesUntil().high()).isEqualTo(8 * HOUR_BYTES);
        assertThat(unsure.bytesUntil().low()).isLessThan(4 * HOUR_BYTES);
        assertThat(unsure.bytesUntil().high()).isGreaterThan(16 * HOUR_BYTES);
        assertThat(unsure.safeAt().high()).isAfter(sure.safeAt().high());
    }

    @Test
    void anExperimentThatIsDeletedTooSoonIsAtRisk() {
        List<Pending> two = List.of(
                new Pending(1, 1, 10, new Work(HOUR_BYTES, 1), 0, BEGIN.plus(Duration.ofHours(9))),
                new Pending(2, 1, 10, new Work(8 * HOUR_BYTES, 1), 0, BEGIN.plus(Duration.ofHours(9))));
        List<Expected> experiments =
                NightForecast.of(two, speed(), ALWAYS, MORNING).experiments();

        assertThat(experiments.get(0).atRisk()).isFalse();
        assertThat(experiments.get(1).atRisk()).isTrue();
        assertThat(experiments.get(1).deadlineProbability()).isCloseTo(0.5, within(1e-9));
    }

    @Test
    void whileTheSiteIsClosedNothingBecomesSafe() {
        Hours closed = new Hours(
                List.of(new Step(BEGIN, 0), new Step(MORNING, Double.POSITIVE_INFINITY)),
                MORNING.plus(Duration.ofHours(3)),
                100e6);
        NightForecast forecast = NightForecast.of(hours(1, 5), speed(), closed, MORNING);

        assertThat(forecast.bytesUntil().high()).isZero();
        assertThat(forecast.experiments()).allMatch(each -> each.untilProbability() == 0);
        assertThat(forecast.experiments().get(0).safeAt()).isEqualTo(MORNING.plus(Duration.ofHours(1)));
        assertThat(forecast.experiments().get(1).safeAt()).isNull();
    }

    /** The factors of simulated nights have the deviation that the earlier ones had. */
    @Test
    void theRangeHoldsInFourOfFiveNights() {
        Random random = new Random(3);
        int holds = 0;
        int nights = 2_000;
        for (int i = 0; i < nights; i++) {
            double deviation = 0.1 + 0.4 * random.nextDouble();
            List<Double> factors = new ArrayList<>();
            for (int n = 0; n < 10; n++) {
                factors.add(Math.exp(deviation * random.nextGaussian()));
            }
            NightForecast forecast = NightForecast.of(hours(8), Speed.of(COST, 4, factors), ALWAYS, MORNING);
            Instant safe = BEGIN.plusSeconds(Math.round(8 * 3_600 * Math.exp(deviation * random.nextGaussian())));
            if (!safe.isBefore(forecast.safeAt().low())
                    && !safe.isAfter(forecast.safeAt().high())) {
                holds++;
            }
        }
        // The prior belief makes it a little wider for steady sites.
        assertThat(holds / (double) nights).isBetween(NightForecast.RANGE - 0.02, NightForecast.RANGE + 0.06);
    }

    @Test
    void anUncertaintyIsANumber() {
        assertThatThrownBy(() -> new Pending(1, 1, 0, Work.NONE, 0, null)).hasMessage("invalid priority: 0");
        assertThatThrownBy(() -> new Pending(1, 1, 10, Work.NONE, Double.NaN, null))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static long width(Speed speed) {
        var safeAt = NightForecast.of(hours(8), speed, ALWAYS, MORNING).safeAt();
        return Duration.between(safeAt.low(), safeAt.high()).toSeconds();
    }

    private static Speed speed() {
        return Speed.of(COST, 4, List.of());
    }

    private static List<Pending> hours(int... hours) {
        List<Pending> all = new ArrayList<>();
        for (int i = 0; i < hours.length; i++) {
            all.add(new Pending(i + 1, 1, 10, new Work(hours[i] * HOUR_BYTES, 1), 0, null));
        }
        return all;
    }
}
