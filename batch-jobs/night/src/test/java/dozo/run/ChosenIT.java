package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.file.Problem;
import dozo.ledger.Sight;
import dozo.registry.Experiments;
import dozo.registry.Part;
import dozo.registry.Projects;
import dozo.registry.Refusal;
import dozo.registry.Retirements;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A backup of chosen experiments has these, and no others. */
class ChosenIT extends NightAtSite {

    @BeforeEach
    void register() throws Exception {
        night.get(Projects.class).create("p", "", "test");
        night.get(Projects.class).create("q", "", "test");
        register("p", "E1");
        register("p", "E2");
        register("q", "E3");
    }

    @Test
    void onlyTheChosenExperimentsAreReadAndSent() throws Exception {
        Run run = chosen("q/E3", "p/E1", "q/E3");

        assertThat(run.kind()).isEqualTo(RunKind.CHOSEN);
        assertThat(run.state()).isEqualTo(RunState.COMPLETE);
        assertThat(root.resolve("p/E1/data/a")).content().isEqualTo("E1");
        assertThat(root.resolve("q/E3/data/a")).exists();
        NightlyBackupIT.assertChecks(root.resolve("q/E3"));
        assertThat(root.resolve("p/E2")).doesNotExist();
        assertThat(night.count("select count(*) from manifest")).isEqualTo(2);
        assertThat(night.get(Retries.class).count(Sight.EVERYTHING, run.id())).isEqualTo(2);
        assertThat(night.get(Retries.class).count(Sight.of(Set.of("p")), run.id()))
                .isEqualTo(1);
        assertThat(night.count("select count(*) from ledger where action = 'run.started' and actor = 'misaki'"
                        + " and detail->>'kind' = 'chosen'"))
                .isEqualTo(1);
        assertThat(night.complete().part()).isEqualTo(Part.WHOLE);
        assertThat(root.resolve("p/E2/data/a")).exists();
    }

    /** Otherwise a backup of one experiment in the evening would replace the night of all. */
    @Test
    void itIsNoNight() throws Exception {
        chosen("p/E1");

        Instant now = Instant.now();
        assertThat(night.get(RunTimes.class).lastNight(night.site().id(), Part.WHOLE, now))
                .isEmpty();
        assertThat(night.get(RunTimes.class).lastNight(now)).isEmpty();
        assertThat(night.count("select count(*) from night")).isZero();
    }

    @Test
    void findingsOfOthersStandAndThoseOfTheChosenAreCheckedAgain() throws Exception {
        for (String each : List.of("E1", "E2")) {
            Files.delete(source.resolve(each).resolve("a"));
            Files.delete(source.resolve(each));
        }
        Run first = night.run();
        assertThat(first.findings()).isEqualTo(2);
        Night.write(source.resolve("E1"), Map.of("a", "E1"));

        assertThat(chosen("p/E1").state()).isEqualTo(RunState.COMPLETE);

        assertThat(night.jdbc()
                        .sql("select experiment_id from finding where reason = :reason and superseded_by is null")
                        .param("reason", Problem.SOURCE_MISSING.name())
                        .query(Integer.class)
                        .list())
                .containsExactly(2);
    }

    @Test
    void whatADeadProcessLeftIsOfTheSameExperiments() throws Exception {
        Run run = night.get(Runs.class).openChosen(night.site(), new int[] {1}, "misaki");
        restart();

        night.operations().recover();

        assertThat(night.await(run).state()).isEqualTo(RunState.COMPLETE);
        assertThat(root.resolve("p/E1/data/a")).exists();
        assertThat(root.resolve("p/E2")).doesNotExist();
    }

    @Test
    void theOverviewReturnsToTheNightWhenItHasEnded() throws Exception {
        Runs runs = night.get(Runs.class);
        Run only = chosen("p/E1");
        assertThat(runs.latestBackup(Sight.EVERYTHING)).map(Run::id).hasValue(only.id());
        Run whole = night.complete();
        Run opened = runs.openChosen(night.site(), new int[] {1}, "misaki");
        assertThat(runs.latestBackup(Sight.EVERYTHING)).map(Run::id).hasValue(opened.id());

        night.operations().stop(opened.id(), "test");

        assertThat(runs.latestBackup(Sight.EVERYTHING)).map(Run::id).hasValue(whole.id());
    }

    @Test
    void whatCannotBeBackedUpIsRefusedBeforeAScrubIsStopped() throws Exception {
        night.complete();
        night.get(Retirements.class)
                .retire(Retirements.Kind.EXPERIMENT, "p/E2", new Retirements.Asked("closed", false, "test"));
        Run scrub =
                night.operations().startScrub(new ScrubRequest("dr", Duration.ofDays(1), true, 1, null, false), "test");

        refused("experiment q/E3 does not exist", "p/E1", "q/E3");
        refused("experiment p/E1/ does not exist", "p/E1/");
        refused("experiment p does not exist", "p");
        refused("experiment p/E2 is retired; bring it back first, or leave it out", "p/E2");
        refused("expected 1 to 1000 experiments, each as project/experiment");
        refused(
                "expected 1 to 1000 experiments, each as project/experiment",
                Collections.nCopies(Retries.CHOSEN_MAX + 1, "p/E1").toArray(String[]::new));
        assertThatThrownBy(() -> night.operations().backUp("other", List.of("p/E1"), Sight.EVERYTHING, "misaki"))
                .isInstanceOf(Refusal.class)
                .hasMessage("site \"other\" does not exist");
        assertThat(night.count("select count(*) from ledger where action = 'run.stopping'"))
                .isZero();

        Run run = night.operations().backUp(null, List.of("p/E1"), Sight.of(Set.of("p")), "misaki");

        assertThat(night.await(scrub).endedAt()).isNotNull();
        assertThat(night.await(run).state()).isEqualTo(RunState.COMPLETE);
    }

    @Test
    void onlyOneRunGoesOn() {
        Run opened = night.open();

        refused("another run is active; only one can run at a time; try again when it has ended", "p/E1");

        assertThat(night.count("select count(*) from run_experiment")).isZero();
        night.operations().stop(opened.id(), "test");
    }

    private void refused(String why, String... names) {
        assertThatThrownBy(() -> night.operations().backUp("dr", List.of(names), Sight.of(Set.of("p")), "misaki"))
                .isInstanceOf(Refusal.class)
                .hasMessage(why);
    }

    private Run chosen(String... names) throws Exception {
        return night.await(night.operations().backUp("dr", List.of(names), Sight.EVERYTHING, "misaki"));
    }

    private void register(String project, String code) throws Exception {
        Path folder = source.resolve(code);
        Night.write(folder, Map.of("a", code));
        night.get(Experiments.class).register(project, code, "", folder, "test");
    }
}
