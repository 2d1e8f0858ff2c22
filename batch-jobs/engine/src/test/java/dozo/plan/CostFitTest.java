package dozo.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

/** A site's constants are fitted to measured sendings. */
class CostFitTest {

    /** A lane of 600 Mbit/s, 10 ms per file. */
    private static final CostModel FAR = new CostModel(75e6, 0.010);

    @Test
    void withoutMeasurementsNothingIsLearnt() {
        assertThat(CostFit.of(CostModel.DEFAULT, List.of())).isEqualTo(CostModel.DEFAULT);
    }

    @Test
    void oneNightTellsHowFastButNotOfWhat() {
        Work work = new Work(1_000_000_000, 1_000);

        CostModel learnt = CostFit.of(CostModel.DEFAULT, List.of(took(FAR, work, 4)));

        assertThat(learnt.seconds(work)).isCloseTo(FAR.seconds(work), within(1e-6));
        assertThat(learnt.bytesPerSecond() * learnt.secondsPerEntry())
                .as("bytes and files keep their proportion")
                .isCloseTo(
                        CostModel.DEFAULT.bytesPerSecond() * CostModel.DEFAULT.secondsPerEntry(),
                        Percentage.withPercentage(0.001));
    }

    @Test
    void nightsOfDifferentMixesTellBothConstants() {
        CostModel learnt = CostFit.of(CostModel.DEFAULT, nights(new Random(1), 20, 0));

        assertThat(learnt.bytesPerSecond()).isCloseTo(FAR.bytesPerSecond(), Percentage.withPercentage(10));
        assertThat(learnt.secondsPerEntry()).isCloseTo(FAR.secondsPerEntry(), Percentage.withPercentage(10));
    }

    @Test
    void noiseAndStalledNightsDoNotMoveItFar() {
        List<Measurement> nights = nights(new Random(2), 20, 0.15);
        nights.add(new Measurement(new Work(1_000_000, 10), 4, 30_000));
        nights.add(new Measurement(new Work(1_000_000_000_000L, 10), 4, 2));

        CostModel learnt = CostFit.of(CostModel.DEFAULT, nights);

        Work night = new Work(500_000_000_000L, 700_000);
        assertThat(learnt.seconds(night)).isCloseTo(FAR.seconds(night), Percentage.withPercentage(20));
    }

    @Test
    void whateverWasMeasuredAModelComesOfIt() {
        long seed = System.nanoTime();
        Random dice = new Random(seed);
        for (int i = 0; i < 1_000; i++) {
            List<Measurement> odd = new ArrayList<>();
            for (int j = 0; j <= dice.nextInt(10); j++) {
                odd.add(new Measurement(
                        new Work((long) Math.pow(10, dice.nextDouble(17)), 1 + dice.nextLong(1L << 40)),
                        1 + dice.nextInt(64),
                        Math.pow(10, dice.nextDouble(-9, 9))));
            }
            CostModel learnt = CostFit.of(CostModel.DEFAULT, odd);
            assertThat(learnt.bytesPerSecond()).as("seed %d", seed).isFinite();
        }
    }

    @Test
    void nonsenseIsRefused() {
        Work work = new Work(1, 1);
        assertThatThrownBy(() -> new Measurement(Work.NONE, 1, 1)).isInstanceOf(IllegalArgumentException.class);
        for (double seconds : new double[] {0, -1, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThatThrownBy(() -> new Measurement(work, 1, seconds)).isInstanceOf(IllegalArgumentException.class);
        }
        for (int lanes : new int[] {0, 65}) {
            assertThatThrownBy(() -> new Measurement(work, lanes, 1)).isInstanceOf(IllegalArgumentException.class);
        }
        for (double rate : new double[] {0, -1, 999, 1.1e12, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThatThrownBy(() -> new CostModel(rate, 0)).isInstanceOf(IllegalArgumentException.class);
        }
        for (double entry : new double[] {-1, 3_601, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThatThrownBy(() -> new CostModel(1e6, entry)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    private static List<Measurement> nights(Random dice, int count, double noise) {
        List<Measurement> nights = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Work work = new Work(dice.nextLong(1_000_000_000L, 1_000_000_000_000L), dice.nextLong(1_000, 2_000_000));
            CostModel odd =
                    new CostModel(FAR.bytesPerSecond() * (1 + noise * dice.nextGaussian()), FAR.secondsPerEntry());
            nights.add(took(odd, work, 4));
        }
        return nights;
    }

    private static Measurement took(CostModel model, Work work, int lanes) {
        return new Measurement(work, lanes, model.seconds(work) / lanes);
    }
}
