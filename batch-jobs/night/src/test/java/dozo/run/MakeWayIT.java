package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.registry.Refusal;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** A night has priority over a scrub: the scrub finishes its current work and ends, and the night starts. */
class MakeWayIT extends NightAtSite {

    /** The scrub reads a MiB in each of its partitions, and would then wait for minutes. */
    private static final long SLOW = 4_000;

    private static final int FILES = 12;

    @Test
    void aScrubThatIsUnderWayEndsAndTheNightStarts() throws Exception {
        Run scrub = slowScrub();
        Night.write(source, Map.of("new", "1"));

        Run started = night.operations().start("dr", "operator");

        assertThat(started.state()).isEqualTo(RunState.RUNNING);
        assertThat(night.find(scrub).state()).isEqualTo(RunState.STOPPED);
        assertThat(night.await(started).state()).isEqualTo(RunState.COMPLETE);
        assertThat(night.coverage().filesSafe()).isEqualTo(FILES + 1);
        assertThat(night.count("select count(*) from reading"))
                .as("what was not read is still due")
                .isBetween(1L, FILES - 1L);
        assertThat(night.count("select count(*) from ledger where action = 'run.stopping' and actor = 'operator'"))
                .isEqualTo(1);
    }

    @Test
    void ofTwoOperatorsAtOnceOneStartsTheNightAndTheOtherIsToldSo() throws Exception {
        Run scrub = slowScrub();
        Callable<Run> start = () -> night.operations().start("dr", "operator");
        List<Future<Run>> asked;
        try (var operators = Executors.newVirtualThreadPerTaskExecutor()) {
            asked = operators.invokeAll(List.of(start, start));
        }

        assertThat(asked)
                .filteredOn(each -> each.state() == Future.State.SUCCESS)
                .hasSize(1);
        Future<Run> other = asked.stream()
                .filter(each -> each.state() == Future.State.FAILED)
                .findFirst()
                .orElseThrow();
        assertThatThrownBy(other::get)
                .isInstanceOf(ExecutionException.class)
                .cause()
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("only one can run at a time");
        assertThat(night.find(scrub).state()).isEqualTo(RunState.STOPPED);
        assertThat(night.count("select count(*) from ledger where action = 'run.stopping'"))
                .as("the scrub is asked once")
                .isEqualTo(1);
        night.await(night.get(Runs.class).latest().orElseThrow());
    }

    @Test
    void aScrubThatEndsByItselfMeanwhileIsNoHindrance() throws Exception {
        protect(1);
        for (int i = 0; i < 3; i++) {
            Run scrub = night.startScrub(0);

            Run started = night.operations().start("dr", "operator");

            assertThat(night.find(scrub).state()).isIn(RunState.COMPLETE, RunState.STOPPED);
            assertThat(night.await(started).state()).isEqualTo(RunState.COMPLETE);
        }
    }

    @Test
    void waitingHasAnEndAndTheScrubIsStoppedAllTheSame() throws Exception {
        Run scrub = slowScrub();

        assertThatThrownBy(() -> night.operations().start("dr", "operator", Duration.ZERO))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("try again");

        assertThat(night.await(scrub).state()).isEqualTo(RunState.STOPPED);
        night.complete();
    }

    /** An accepted request to stop is final, even if the process dies before it has stopped. */
    @Test
    void aRunWhoseProcessDiedAfterItWasAskedToStopIsNotGoneOnWith() throws Exception {
        Run scrub = slowScrub();
        restart();
        night.get(Runs.class).stop(scrub.id(), "operator");

        night.operations().recover();

        assertThat(night.find(scrub).state()).isEqualTo(RunState.STOPPED);
        assertThat(night.find(scrub).stoppedBy()).isEqualTo("operator");
        assertThat(night.operations().isWorking()).isFalse();
    }

    @Test
    void aScrubWhoseProcessEndedAfterItWasAskedMakesWayToo() throws Exception {
        Run scrub = slowScrub();
        night.operations().stop(scrub.id(), "operator");
        restart();

        Run started = night.operations().start("dr", "operator");

        assertThat(night.find(scrub).state()).isEqualTo(RunState.STOPPED);
        assertThat(night.await(started).state()).isEqualTo(RunState.COMPLETE);
    }

    @Test
    void aScrubThatAProcessLeftIsNotWaitedFor() throws Exception {
        Run scrub = slowScrub();
        restart();
        assertThat(night.find(scrub).state()).isEqualTo(RunState.RUNNING);

        Run started = night.operations().start("dr", "operator", Duration.ofSeconds(5));

        assertThat(night.find(scrub).state()).isEqualTo(RunState.STOPPED);
        assertThat(night.await(started).state()).isEqualTo(RunState.COMPLETE);
    }

    @Test
    void aNightThatWasOpenedAndNotBegunIsBegunByTheNextStart() throws Exception {
        protect(1);
        Run opened = night.open();
        restart();

        night.operations().recover();

        assertThat(night.await(opened).state()).isEqualTo(RunState.COMPLETE);
    }

    @Test
    void aScrubStopsNoNight() throws Exception {
        protect(1);
        Run opened = night.open();

        assertThatThrownBy(() -> night.startScrub(0))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("only one can run at a time");
        assertThatThrownBy(() -> night.operations().start("dr", "another")).isInstanceOf(Refusal.class);

        assertThat(night.find(opened).state()).isEqualTo(RunState.RUNNING);
    }

    @Test
    void whatNobodyWorksOnHasEndedWhenItIsStopped() throws Exception {
        protect(1);
        Run opened = night.open();

        night.operations().stop(opened.id(), "operator");

        assertThat(night.find(opened).state()).isEqualTo(RunState.STOPPED);
    }

    /** A scrub that has read some copies, and waits for its budget before it reads others. */
    private Run slowScrub() throws IOException {
        protect(FILES);
        Run scrub = night.startScrub(SLOW);
        Night.until(() -> night.count("select count(*) from reading") > 0);
        assertThat(night.find(scrub).state()).isEqualTo(RunState.RUNNING);
        return scrub;
    }

    private void protect(int files) throws IOException {
        for (int i = 0; i < files; i++) {
            Files.write(source.resolve("file" + i), new byte[1 << 20]);
        }
        night.register("E1", source);
        night.run();
    }
}
