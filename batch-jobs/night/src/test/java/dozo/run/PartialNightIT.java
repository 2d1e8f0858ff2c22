package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.KeptFinding;
import dozo.ledger.Sight;
import dozo.registry.Experiments;
import dozo.registry.Part;
import dozo.registry.Projects;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.util.FileSystemUtils;

/** A night of a project or an origin has its experiments, and no others. */
class PartialNightIT extends NightAtSite {

    private static final Part Q = Part.ofProject("q");

    @BeforeEach
    void register() throws Exception {
        night.get(Projects.class).create("p", "", "test");
        night.get(Projects.class).create("q", "", "test");
        register("p", "E1");
        register("q", "E2");
    }

    @Test
    void onlyTheExperimentsOfTheProjectAreReadAndSent() throws Exception {
        Run run = partial(Q);

        assertThat(run.state()).isEqualTo(RunState.COMPLETE);
        assertThat(run.part()).isEqualTo(Q);
        assertThat(root.resolve("q/E2/data/a")).content().isEqualTo("E2");
        assertThat(root.resolve("p")).doesNotExist();
        assertThat(night.count("select count(*) from manifest")).isEqualTo(1);
        assertThat(night.count("select count(*) from ledger where action = 'run.started' and subject = '%d'"
                                .formatted(run.id())
                        + " and detail->>'part' = 'project q'"))
                .isEqualTo(1);
        assertThat(night.get(Forecasts.class).of(run.id()))
                .as("forecasts are of whole nights")
                .isEmpty();

        assertThat(night.complete().part()).isEqualTo(Part.WHOLE);
        assertThat(root.resolve("p/E1/data/a")).exists();
    }

    @Test
    void onlyTheExperimentsCollectedFromTheOriginAreReadAndSent() throws Exception {
        night.update("""
                        insert into origin (name, kind, address, spool, active, updated_at)
                        values ('pacs', 'dicomweb', 'http://localhost:1', '/spool', false, now());
                        insert into arrival (origin_id, item, state, code, waiting, first_seen_at, changed_at, experiment_id)
                        values (1, '1.2.3', 'COMPLETE', 'E1', false, now(), now(), 1)
                        """);

        Run run = partial(Part.ofOrigin("pacs"));

        assertThat(run.state()).isEqualTo(RunState.COMPLETE);
        assertThat(root.resolve("p/E1/data/a")).exists();
        assertThat(root.resolve("q")).doesNotExist();
        assertThat(night.get(Runs.class)
                        .find(Sight.of(Set.of("p")), run.id())
                        .orElseThrow()
                        .part())
                .as("names of origins are for those who see everything")
                .isEqualTo(Part.WHOLE);
    }

    @Test
    void aProjectWithoutExperimentsSendsNothing() throws Exception {
        night.get(Projects.class).create("empty", "", "test");

        assertThat(partial(Part.ofProject("empty")).state()).isEqualTo(RunState.COMPLETE);

        assertThat(night.count("select count(*) from transfer_unit")).isZero();
        assertThat(root.resolve("p")).doesNotExist();
        assertThat(root.resolve("q")).doesNotExist();
    }

    @Test
    void findingsOfOtherExperimentsStand() throws Exception {
        FileSystemUtils.deleteRecursively(source.resolve("E1"));
        FileSystemUtils.deleteRecursively(source.resolve("E2"));
        Run whole = night.run();
        assertThat(whole.findings()).isEqualTo(2);
        Night.write(source.resolve("E2"), Map.of("a", "E2"));

        partial(Q);

        assertThat(night.get(Findings.class).of(Sight.EVERYTHING, whole.id(), 0, 10))
                .extracting(KeptFinding::experiment, KeptFinding::open)
                .containsExactlyInAnyOrder(
                        org.assertj.core.api.Assertions.tuple("p/E1", true),
                        org.assertj.core.api.Assertions.tuple("q/E2", false));
    }

    @Test
    void whatConcernsNoExperimentIsCheckedByAWholeNightOrTheSamePart() throws Exception {
        Run whole = night.complete();
        Run part = partial(Q);
        night.jdbc().sql("""
                        insert into finding (run_id, last_run_id, reason, message, found_at, last_found_at)
                        select run_id, run_id, 'SITE_FULL', '', now(), now() from run where run_id in (:runs)
                        """).param("runs", List.of(whole.id(), part.id())).update();

        partial(Part.ofProject("p"));
        assertThat(open(Problem.SITE_FULL)).containsExactlyInAnyOrder(whole.id(), part.id());
        partial(Q);
        assertThat(open(Problem.SITE_FULL)).containsExactly(whole.id());
        night.complete();
        assertThat(open(Problem.SITE_FULL)).isEmpty();
    }

    @Test
    void unitsOfOtherExperimentsStayPlanned() throws Exception {
        night.complete();
        night.update("update transfer_unit set state = 'FAILED'");

        partial(Q);

        assertThat(night.jdbc()
                        .sql(
                                "select e.code from transfer_unit u join experiment e using (experiment_id) where u.state = 'FAILED'")
                        .query(String.class)
                        .list())
                .containsExactly("E1");
    }

    @Test
    void aPartOfBothIsRefused() {
        assertThatThrownBy(() -> new Part("p", "pacs")).isInstanceOf(IllegalArgumentException.class);
    }

    private Run partial(Part part) throws Exception {
        return night.await(night.operations().start("dr", part, "test"));
    }

    private List<Long> open(Problem reason) {
        return night.jdbc()
                .sql("select run_id from finding where reason = :reason and superseded_by is null order by run_id")
                .param("reason", reason.name())
                .query(Long.class)
                .list();
    }

    private void register(String project, String code) throws Exception {
        Night.write(source.resolve(code), Map.of("a", code));
        night.get(Experiments.class).register(project, code, "", source.resolve(code), "test");
    }
}
