package dozo.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

/** The cost of reading is learnt from measurements, and never estimated below them. */
class ReadingCostTest {

    @Test
    void nothingIsAssumedWhereNothingWasMeasured() {
        assertThat(ReadingCost.of(List.of())).isEmpty();
    }

    @Test
    void bothPartsAreFoundWhereMeasurementsDiffer() {
        CostModel disk = new CostModel(200e6, 0.004);
        List<Measurement> measured = new ArrayList<>();
        for (long files : new long[] {1, 10, 1_000, 20_000, 50_000}) {
            measured.add(measured(disk, new Work(40_000_000_000L, files), 1));
        }

        CostModel cost = ReadingCost.of(measured).orElseThrow();

        assertThat(cost.bytesPerSecond()).isCloseTo(200e6, Percentage.withPercentage(10));
        assertThat(cost.secondsPerEntry()).isCloseTo(0.004, within(0.0008));
    }

    @Test
    void nineOfTenMeasurementsTookNoLongerThanIsSaid() {
        for (int seed = 0; seed < 200; seed++) {
            Random random = new Random(seed);
            CostModel disk = new CostModel(1e6 * (10 + random.nextInt(1_000)), random.nextDouble() / 100);
            List<Measurement> measured = new ArrayList<>();
            for (int i = 0; i < 1 + random.nextInt(40); i++) {
                Work work = new Work(1 + random.nextLong(1_000_000_000_000L), 1 + random.nextInt(1_000_000));
                measured.add(measured(disk, work, 0.5 + random.nextDouble()));
            }

            CostModel cost = ReadingCost.of(measured).orElseThrow();

            long within = measured.stream()
                    .filter(each -> each.seconds() <= cost.seconds(each.work()) * 1.000001)
                    .count();
            assertThat(within).as("seed %d", seed).isGreaterThanOrEqualTo((long) Math.ceil(0.9 * measured.size()));
        }
    }

    private static Measurement measured(CostModel disk, Work work, double noise) {
        return new Measurement(work, 1, noise * disk.seconds(work));
    }
}
