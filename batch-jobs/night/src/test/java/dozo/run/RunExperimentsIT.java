package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dozo.file.Problem;
import dozo.ledger.Sight;
import dozo.registry.Experiments;
import dozo.registry.Projects;
import dozo.run.RunExperiments.RunExperiment;
import dozo.run.RunExperiments.State;
import dozo.run.Runs.Run;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What a run does with each experiment is listed, the worst first. */
class RunExperimentsIT extends NightAtSite {

    @BeforeEach
    void register() throws Exception {
        night.get(Projects.class).create("p", "", "test");
        night.get(Projects.class).create("q", "", "test");
        register("p", "E1");
        register("q", "E2");
    }

    @Test
    void aNightListsWhatItSentAndWhatItFoundTheWorstFirst() throws Exception {
        Files.delete(source.resolve("E2/a"));
        Files.delete(source.resolve("E2"));

        Run first = night.run();

        assertThat(listed(first))
                .extracting(RunExperiment::project, RunExperiment::code, RunExperiment::state)
                .containsExactly(tuple("q", "E2", State.FINDINGS), tuple("p", "E1", State.VERIFIED));
        RunExperiment missing = listed(first).getFirst();
        assertThat(missing.reasons()).containsExactly(Problem.SOURCE_MISSING);
        assertThat(missing.findings()).isEqualTo(1);
        assertThat(missing.files()).as("nothing was sealed").isNull();
        RunExperiment sent = listed(first).getLast();
        assertThat(List.of(sent.files(), sent.bytes(), sent.bytesPlanned(), sent.bytesVerified()))
                .containsExactly(1L, 2L, 2L, 2L);
        assertThat(sent.share()).isEqualTo(100);
        assertThat(sent.reasons()).isEmpty();
        Night.write(source.resolve("E2"), Map.of("a", "E2"));
        Run second = night.complete();
        assertThat(listed(second))
                .as("of the other, nothing was new")
                .extracting(RunExperiment::code)
                .containsExactly("E2");
    }

    @Test
    void chosenExperimentsAreListedFromTheBeginningToTheEnd() throws Exception {
        night.complete();
        Night.write(source.resolve("E1"), Map.of("new", "new"));
        Run run = night.get(Runs.class).openChosen(night.site(), new int[] {1, 2}, "test");
        assertThat(states(run)).containsExactly(State.WAITING, State.WAITING);
        night.get(NightFlows.class).of(run.id(), night.site().id()).reading().add(2);
        assertThat(states(run)).containsExactly(State.READING, State.WAITING);
        restart();

        night.operations().recover();

        assertThat(night.await(run).findings()).isZero();
        assertThat(listed(run))
                .extracting(RunExperiment::code, RunExperiment::state)
                .containsExactly(tuple("E1", State.VERIFIED), tuple("E2", State.UNCHANGED));
    }

    @Test
    void whatIsPlannedIsBeingSentAndUnfinishedWhenTheRunHasEnded() throws Exception {
        night.complete();
        Run run = night.open();
        unit(run, 1, "VERIFIED", 300);
        unit(run, 1, "PLANNED", 700);
        unit(run, 1, "CANCELLED", 1_000_000);
        unit(run, 2, "VERIFIED", 5);
        unit(run, 2, "CANCELLED", 5);

        assertThat(listed(run))
                .extracting(RunExperiment::state, RunExperiment::share)
                .containsExactly(tuple(State.SENDING, 30), tuple(State.VERIFIED, 100));
        night.update("update transfer_unit set state = 'FAILED' where state = 'PLANNED'");
        assertThat(states(run)).containsExactly(State.UNFINISHED, State.VERIFIED);
        night.operations().stop(run.id(), "test");

        assertThat(states(run))
                .as("a later run may have cancelled what this one had not sent")
                .containsExactly(State.UNFINISHED, State.UNFINISHED);
    }

    /** Nobody knows any more whether a run that could not begin would have had anything to send. */
    @Test
    void whatWasNeverReadIsUnfinished() {
        Run run = night.get(Runs.class).openChosen(night.site(), new int[] {1}, "test");

        night.operations().stop(run.id(), "test");

        assertThat(states(run)).containsExactly(State.UNFINISHED);
    }

    /** It must not look as if all of it were safe. */
    @Test
    void whatWasRetiredBeforeItWasReadIsNotCalledUnchanged() {
        Run run = night.get(Runs.class).openChosen(night.site(), new int[] {1, 2}, "test");
        retire(1);
        night.update("update run set looked_at = now()");
        assertThat(listed(run))
                .extracting(RunExperiment::code, RunExperiment::state)
                .containsExactly(tuple("E1", State.WAITING), tuple("E2", State.UNCHANGED));
        retire(2);
        night.operations().stop(run.id(), "test");
        assertThat(states(run)).as("the other was retired later").containsExactly(State.UNFINISHED, State.UNCHANGED);
        Run next = night.get(Runs.class).openChosen(night.site(), new int[] {1}, "test");
        assertThat(listed(next)).as("retired between the request and the start").isEmpty();
        night.operations().stop(next.id(), "test");
    }

    @Test
    void theOthersOfAUserAreNotListed() throws Exception {
        Run run = night.complete();

        assertThat(night.get(RunExperiments.class).page(Sight.of(Set.of("q")), run.id(), 0, 10))
                .extracting(RunExperiment::code)
                .containsExactly("E2");
        assertThat(night.get(RunExperiments.class).page(Sight.of(Set.of()), run.id(), 0, 10))
                .isEmpty();
    }

    @Test
    void whatRetentionHasDeletedIsNotCalledUnchanged() {
        Run run = night.get(Runs.class).openChosen(night.site(), new int[] {1}, "test");
        night.update("update run set looked_at = now()");
        assertThat(states(run)).containsExactly(State.UNCHANGED);

        night.update("insert into run_sum (run_id, project_id, partition_no, units) values (%d, 1, 0, 7)"
                .formatted(run.id()));

        assertThat(listed(run)).isEmpty();
        night.operations().stop(run.id(), "test");
    }

    @Test
    void manyExperimentsAreListedPageByPage() {
        night.update("""
                insert into experiment (project_id, code, source_kind, source_root, registered_at, registered_by)
                select 1, 'M' || n, 'filesystem', ('/m/' || n)::bytea, now(), 'test' from generate_series(1, 2000) n
                """);
        Run run = night.open();
        night.jdbc().sql("""
                        insert into transfer_unit (run_id, experiment_id, site_id, kind, entry_nos, length_bytes, state, partition_no)
                        select :run, experiment_id, 1, 'LARGE', '{1}', 10,
                               case when experiment_id % 10 = 0 and n > 5 then 'PLANNED' else 'VERIFIED' end, 0
                        from experiment cross join generate_series(1, 10) n where code like 'M%'
                        """).param("run", run.id()).update();
        List<RunExperiment> all = new ArrayList<>();
        List<RunExperiment> page = of(run, 0);
        while (!page.isEmpty()) {
            all.addAll(page);
            page = of(run, page.getLast().place());
        }

        assertThat(all).hasSize(2000).doesNotHaveDuplicates();
        assertThat(all.subList(0, 200)).extracting(RunExperiment::state).containsOnly(State.SENDING);
        assertThat(all.subList(0, 200)).extracting(RunExperiment::share).containsOnly(50);
        assertThat(all.subList(200, 2000)).extracting(RunExperiment::state).containsOnly(State.VERIFIED);
        night.operations().stop(run.id(), "test");
    }

    private List<RunExperiment> of(Run run, long after) {
        return night.get(RunExperiments.class).page(Sight.EVERYTHING, run.id(), after, 500);
    }

    private void unit(Run run, int experiment, String state, long bytes) {
        night.jdbc()
                .sql("""
                        insert into transfer_unit (run_id, experiment_id, site_id, kind, entry_nos, length_bytes, state, partition_no)
                        values (:run, :experiment, 1, 'LARGE', '{1}', :bytes, :state, 0)
                        """)
                .params(Map.of("run", run.id(), "experiment", experiment, "state", state, "bytes", bytes))
                .update();
    }

    private void retire(int experiment) {
        night.update("update experiment set retired_at = now(), retired_by = 'test', retired_reason = 'over'"
                + " where experiment_id = %d".formatted(experiment));
    }

    private List<State> states(Run run) {
        return listed(run).stream().map(RunExperiment::state).toList();
    }

    private List<RunExperiment> listed(Run run) {
        return night.get(RunExperiments.class).page(Sight.EVERYTHING, run.id(), 0, 10);
    }

    private void register(String project, String code) throws Exception {
        Path folder = source.resolve(code);
        Night.write(folder, Map.of("a", code));
        night.get(Experiments.class).register(project, code, "", folder, "test");
    }
}
