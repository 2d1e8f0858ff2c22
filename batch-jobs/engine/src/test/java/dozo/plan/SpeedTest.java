package dozo.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import dozo.plan.NightForecast.Range;
import org.junit.jupiter.api.Test;

/** The time of some work is a range around what the cost model says. */
class SpeedTest {

    private static final Speed SPEED = new Speed(new CostModel(1e6, 0), 2, 0.3, 4, 1);
    private static final Work WORK = new Work(20_000_000, 1);

    @Test
    void theRangeIsStudents() {
        Range<Double> range = SPEED.range(WORK);

        // The 90th percentile of Student's t-distribution with four degrees of freedom is 1.533.
        assertThat(range.middle()).isEqualTo(10);
        assertThat(range.high()).isCloseTo(10 * Math.exp(0.3 * 1.533), within(0.01));
        assertThat(range.low()).isCloseTo(10 / Math.exp(0.3 * 1.533), within(0.01));
    }

    @Test
    void unlikeWorkHasAWiderRange() {
        assertThat(SPEED.deviating(0)).isEqualTo(SPEED);
        assertThat(SPEED.deviating(0.4).deviation()).isCloseTo(0.5, within(1e-9));
    }
}
