package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
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
import org.awaitility.Awaitility;
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

        Run started = operations().start("dr", "operator");

        assertThat(started.state()).isEqualTo(RunState.RUNNING);
        assertThat(run(scrub).state()).isEqualTo(RunState.STOPPED);
        assertThat(night.await(started.id()).state()).isEqualTo(RunState.COMPLETE);
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
        Callable<Run> start = () -> operations().start("dr", "operator");
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
        assertThat(run(scrub).state()).isEqualTo(RunState.STOPPED);
        assertThat(night.count("select count(*) from ledger where action = 'run.stopping'"))
                .as("the scrub is asked once")
                .isEqualTo(1);
        night.await(night.get(Runs.class).latest().orElseThrow().id());
    }

    @Test
    void aScrubThatEndsByItselfMeanwhileIsNoHindrance() throws Exception {
        protect(1);
        for (int i = 0; i < 3; i++) {
            Run scrub = operations().startScrub(request(0), "test");

            Run started = operations().start("dr", "operator");

            assertThat(run(scrub).state()).isIn(RunState.COMPLETE, RunState.STOPPED);
            assertThat(night.await(started.id()).state()).isEqualTo(RunState.COMPLETE);
        }
    }

    @Test
    void waitingHasAnEndAndTheScrubIsStoppedAllTheSame() throws Exception {
        Run scrub = slowScrub();

        assertThatThrownBy(() -> operations().start("dr", "operator", Duration.ZERO))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("try again");

        assertThat(night.await(scrub.id()).state()).isEqualTo(RunState.STOPPED);
        night.complete();
    }

    /** An accepted request to stop is final, even if the process dies before it has stopped. */
    @Test
    void aRunWhoseProcessDiedAfterItWasAskedToStopIsNotGoneOnWith() throws Exception {
        Run scrub = slowScrub();
        night.close();
        night = new Night(database, site.address());
        night.get(Runs.class).stop(scrub.id(), "operator");

        operations().recover();

        assertThat(run(scrub).state()).isEqualTo(RunState.STOPPED);
        assertThat(run(scrub).stoppedBy()).isEqualTo("operator");
        assertThat(operations().isWorking()).isFalse();
    }

    @Test
    void aScrubWhoseProcessEndedAfterItWasAskedMakesWayToo() throws Exception {
        Run scrub = slowScrub();
        operations().stop(scrub.id(), "operator");
        night.close();
        night = new Night(database, site.address());

        Run started = operations().start("dr", "operator");

        assertThat(run(scrub).state()).isEqualTo(RunState.STOPPED);
        assertThat(night.await(started.id()).state()).isEqualTo(RunState.COMPLETE);
    }

    @Test
    void aScrubThatAProcessLeftIsNotWaitedFor() throws Exception {
        Run scrub = slowScrub();
        night.close();
        night = new Night(database, site.address());
        assertThat(run(scrub).state()).isEqualTo(RunState.RUNNING);

        Run started = operations().start("dr", "operator", Duration.ofSeconds(5));

        assertThat(run(scrub).state()).isEqualTo(RunState.STOPPED);
        assertThat(night.await(started.id()).state()).isEqualTo(RunState.COMPLETE);
    }

    @Test
    void aNightThatWasOpenedAndNotBegunIsBegunByTheNextStart() throws Exception {
        protect(1);
        Run opened = night.get(Runs.class)
                .open(RunKind.NIGHTLY_BACKUP, night.get(Sites.class).find("dr").orElseThrow(), "operator");
        night.close();
        night = new Night(database, site.address());

        operations().recover();

        assertThat(night.await(opened.id()).state()).isEqualTo(RunState.COMPLETE);
    }

    @Test
    void aScrubStopsNoNight() throws Exception {
        protect(1);
        Run opened = night.get(Runs.class)
                .open(RunKind.NIGHTLY_BACKUP, night.get(Sites.class).find("dr").orElseThrow(), "operator");

        assertThatThrownBy(() -> operations().startScrub(request(0), "test")).isInstanceOf(Refusal.class);
        assertThatThrownBy(() -> operations().start("dr", "another")).isInstanceOf(Refusal.class);

        assertThat(run(opened).state()).isEqualTo(RunState.RUNNING);
    }

    @Test
    void whatNobodyWorksOnHasEndedWhenItIsStopped() throws Exception {
        protect(1);
        Run opened = night.get(Runs.class)
                .open(RunKind.NIGHTLY_BACKUP, night.get(Sites.class).find("dr").orElseThrow(), "operator");

        operations().stop(opened.id(), "operator");

        assertThat(run(opened).state()).isEqualTo(RunState.STOPPED);
    }

    /** A scrub that has read some copies, and waits for its budget before it reads others. */
    private Run slowScrub() throws IOException {
        protect(FILES);
        Run scrub = operations().startScrub(request(SLOW), "test");
        Awaitility.await().atMost(Duration.ofMinutes(5)).until(() -> night.count("select count(*) from reading") > 0);
        assertThat(run(scrub).state()).isEqualTo(RunState.RUNNING);
        return scrub;
    }

    private void protect(int files) throws IOException {
        for (int i = 0; i < files; i++) {
            Files.write(source.resolve("file" + i), new byte[1 << 20]);
        }
        night.register("E1", source);
        night.run();
    }

    private Run run(Run run) {
        return night.get(Runs.class).find(run.id()).orElseThrow();
    }

    private Operations operations() {
        return night.get(Operations.class);
    }

    private static ScrubRequest request(long bytesPerSecond) {
        return new ScrubRequest(null, Duration.ofDays(1), true, bytesPerSecond, null, false);
    }
}
