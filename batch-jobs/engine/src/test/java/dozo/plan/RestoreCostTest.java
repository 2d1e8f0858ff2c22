package dozo.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dozo.plan.RestoreCost.Measured;
import dozo.plan.RestoreCost.RestoreTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

/** The time of a restore is forecast from restores that were measured, with the range of their own errors. */
class RestoreCostTest {

    private static final CostModel SITE = new CostModel(90e6, 0.0015);
    private static final double START_SECONDS = 0.8;

    @Test
    void nothingIsForecastFromTooFew() {
        assertThat(RestoreCost.of(List.of())).isEmpty();
        assertThat(RestoreCost.of(measured(RestoreCost.RESTORES_MIN - 1, 1, 0))).isEmpty();
    }

    @Test
    void unlikeRestoresAreForecastFromThoseBefore() {
        for (int seed = 0; seed < 50; seed++) {
            List<Measured> all = measured(20, seed, 0.1);
            List<Double> errors = new ArrayList<>();
            for (int i = 10; i < all.size(); i++) {
                Measured next = all.get(i);
                RestoreTime forecast =
                        RestoreCost.of(all.subList(0, i)).orElseThrow().of(1, next.work());
                errors.add(Math.abs(forecast.seconds() / next.seconds() - 1));
            }
            assertThat(errors).as("seed %d", seed).allMatch(error -> error < 0.25);
        }
    }

    @Test
    void theRangeContainsMostMeasurements() {
        List<Measured> all = measured(30, 7, 0.3);
        RestoreCost cost = RestoreCost.of(all).orElseThrow();

        long inside = all.stream()
                .filter(each -> {
                    RestoreTime forecast = cost.of(1, each.work());
                    return each.seconds() >= forecast.leastSeconds() && each.seconds() <= forecast.mostSeconds();
                })
                .count();

        assertThat(inside).isBetween(22L, 30L);
        assertThat(cost.fastest()).isLessThan(1);
        assertThat(cost.slowest()).isGreaterThan(1);
    }

    @Test
    void eachOfManyRestoresHasItsStart() {
        RestoreCost cost = RestoreCost.of(measured(10, 3, 0)).orElseThrow();

        double apart =
                cost.of(1_000, Work.NONE).seconds() - cost.of(1, Work.NONE).seconds();

        assertThat(apart).isCloseTo(999 * START_SECONDS, Percentage.withPercentage(1));
        assertThat(cost.startSeconds()).isCloseTo(START_SECONDS, within(0.01));
    }

    @Test
    void farMoreThanWasEverRestoredIsMarked() {
        RestoreCost cost = RestoreCost.of(measured(10, 3, 0)).orElseThrow();
        Work largest = cost.largest();

        assertThat(cost.of(1, largest).beyond()).isFalse();
        assertThat(cost.of(1, new Work(11 * largest.bytes() + 10, 1)).beyond()).isTrue();
        assertThat(cost.of(1, new Work(1, 11 * largest.entries() + 10)).beyond())
                .isTrue();
    }

    /** Returns restores from a site of a fixed cost, each up to {@code noise} quicker or slower. */
    private static List<Measured> measured(int count, int seed, double noise) {
        Random random = new Random(seed);
        List<Measured> measured = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Work work = new Work(
                    (long) Math.exp(15 + 8 * random.nextDouble()), (long) Math.exp(1 + 9 * random.nextDouble()));
            double factor = 1 + noise * (2 * random.nextDouble() - 1);
            measured.add(new Measured(work, START_SECONDS, START_SECONDS + factor * SITE.seconds(work)));
        }
        return measured;
    }
}
