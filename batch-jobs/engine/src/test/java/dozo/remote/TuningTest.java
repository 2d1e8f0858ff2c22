package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Chooses lanes and channels by the round trip and by measurement. */
class TuningTest {

    private static final long NEAR = TimeUnit.MICROSECONDS.toNanos(200);
    private static final long FAR = TimeUnit.MILLISECONDS.toNanos(30);

    @Test
    void nearTheCoresDecide() {
        assertThat(lanesAndChannels(NEAR, 64, 1)).isEqualTo("2 lanes, 1 channels");
        assertThat(lanesAndChannels(NEAR, 64, 6)).isEqualTo("6 lanes, 1 channels");
        assertThat(lanesAndChannels(NEAR, 64, 96)).isEqualTo("8 lanes, 1 channels");
        assertThat(lanesAndChannels(0, 64, 4)).isEqualTo("4 lanes, 1 channels");
    }

    @Test
    void farTheWindowsDecide() {
        assertThat(lanesAndChannels(TimeUnit.MILLISECONDS.toNanos(5), 64, 96)).isEqualTo("4 lanes, 1 channels");
        assertThat(lanesAndChannels(FAR, 64, 96)).isEqualTo("4 lanes, 1 channels");
        assertThat(lanesAndChannels(3 * FAR, 64, 1)).isEqualTo("4 lanes, 3 channels");
        assertThat(lanesAndChannels(10 * FAR, 64, 1)).isEqualTo("4 lanes, 4 channels");
    }

    @Test
    void neverMoreLanesThanAllowed() {
        assertThat(new Tuning(NEAR, 3, 96).lanes()).isEqualTo(3);
        Tuning one = new Tuning(10 * FAR, 1, 96);
        one.measured(1e12);
        assertThat(one.lanes()).isEqualTo(1);
    }

    @Test
    void lanesAreAddedAsLongAsTheyHelp() {
        Tuning tuning = new Tuning(FAR, 64, 4);
        double each = (double) tuning.channels() * Tuning.WINDOW_BYTES / FAR * 1e9;

        tuning.measured(4 * each * 0.4);
        assertThat(tuning.lanes()).as("the windows do not hold it up").isEqualTo(4);
        tuning.measured(4 * each);
        assertThat(tuning.lanes()).isEqualTo(6);
        tuning.measured(6 * each);
        assertThat(tuning.lanes()).isEqualTo(9);
        tuning.measured(6 * each * 1.05);
        tuning.measured(64 * each);
        assertThat(tuning.lanes())
                .as("the last step did not help: no more of them")
                .isEqualTo(9);
    }

    @Test
    void growthEndsAtTheLimit() {
        Tuning tuning = new Tuning(FAR, 10, 4);
        for (double rate = 1e9; rate < 1e14; rate *= 2) {
            tuning.measured(rate);
        }
        assertThat(tuning.lanes()).isEqualTo(10);
    }

    private static String lanesAndChannels(long roundTripNanos, int lanesMax, int cores) {
        Tuning tuning = new Tuning(roundTripNanos, lanesMax, cores);
        return tuning.lanes() + " lanes, " + tuning.channels() + " channels";
    }
}
