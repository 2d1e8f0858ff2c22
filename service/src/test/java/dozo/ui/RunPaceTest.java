package dozo.ui;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.registry.Part;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import dozo.ui.RunSample.Lane;
import dozo.ui.RunSample.Rate;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The rates of a run and of its lanes. */
class RunPaceTest {

    private final RunPace pace = new RunPace();

    @Test
    void aRateTakesTwoSamples() {
        count(0, 500, 5, new Lane(1, 500, null));
        assertThat(pace.rate()).isNull();

        count(2, 2_500, 9, new Lane(1, 2_500, null));
        assertThat(pace.rate()).isEqualTo(new Rate(1_000, 2));
    }

    @Test
    void eachLaneHasItsOwnRateSinceItCame() {
        RunSample first = count(0, 100, 0, new Lane(1, 100, null));
        assertThat(pace.lanes(first)).containsExactly(new Lane(1, 100, null));

        RunSample second = count(1, 400, 0, new Lane(1, 300, null), new Lane(2, 100, null));
        assertThat(pace.lanes(second)).containsExactly(new Lane(1, 300, 200.0), new Lane(2, 100, null));

        RunSample third = count(2, 900, 0, new Lane(2, 600, null));
        assertThat(pace.lanes(third)).as("lane 1 is lost").containsExactly(new Lane(2, 600, 500.0));
    }

    @Test
    void whoMayNotSeeLanesSeesNone() {
        RunSample sample = sample(0, null);
        pace.count(0, 0, sample);

        assertThat(pace.lanes(sample)).isNull();
    }

    @Test
    void onlyTheLastTenSecondsCount() {
        for (int i = 0; i <= 20; i++) {
            count(i, i < 10 ? 0 : (i - 10) * 100L, 0);
        }
        assertThat(pace.rate()).isEqualTo(new Rate(100, 0));
    }

    @Test
    void anEngineThatIsOpenedAnewIsCountedAnew() {
        count(0, 5_000, 0, new Lane(1, 5_000, null));
        RunSample again = count(1, 10, 0, new Lane(1, 10, null));

        assertThat(pace.rate()).isNull();
        assertThat(pace.lanes(again)).containsExactly(new Lane(1, 10, null));
    }

    @Test
    void aLanesBarIsItsPartOfTheFastest() {
        List<Lane> lanes = List.of(new Lane(1, 0, 50.0), new Lane(2, 0, 200.0), new Lane(3, 0, null));
        RunSample sample = sample(0, lanes);

        assertThat(lanes).extracting(sample::shareOf).containsExactly(25, 100, 0);
    }

    @Test
    void lanesThatMoveNothingHaveNoBars() {
        List<Lane> lanes = List.of(new Lane(1, 10, 0.0), new Lane(2, 10, null));

        assertThat(lanes).extracting(sample(0, lanes)::shareOf).containsOnly(0);
    }

    private RunSample count(int second, long bytes, long entries, Lane... lanes) {
        RunSample sample = sample(entries, List.of(lanes));
        pace.count(TimeUnit.SECONDS.toNanos(second), bytes, sample);
        return sample;
    }

    private static RunSample sample(long entries, @Nullable List<Lane> lanes) {
        Run run = new Run(
                1,
                RunKind.NIGHTLY_BACKUP,
                "dr",
                1,
                RunState.RUNNING,
                "test",
                Instant.EPOCH,
                null,
                "",
                0,
                null,
                null,
                null,
                null,
                null,
                Part.WHOLE);
        return new RunSample(run, 0, 0, 0, entries, 0, 0, 0, List.of(), lanes, null, null);
    }
}
