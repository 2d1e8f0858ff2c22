package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.KeptFinding;
import dozo.ledger.Sight;
import dozo.registry.Refusal;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** A retry includes the experiments that have open findings in a run, and no others. */
class RetryIT extends NightAtSite {

    @Test
    void whatWasRepairedIsSafeBeforeTheNightAndNothingElseIsLookedAt() throws Exception {
        Run first = nightWithAMissingSource();
        repair("E2");
        Night.write(folder.resolve("E1"), Map.of("new", "not before the night"));

        Run retry = night.operations().retry(first.id(), "operator");

        assertThat(retry.kind()).isEqualTo(RunKind.RETRY);
        assertThat(retry.retryOf()).isEqualTo(first.id());
        assertThat(retry.site()).isEqualTo("dr");
        assertThat(night.await(retry).state()).isEqualTo(RunState.COMPLETE);
        assertThat(folder.resolve("dr/p/E2/data/a")).content().isEqualTo("E2");
        NightlyBackupIT.assertChecks(folder.resolve("dr/p/E2"));
        assertThat(night.get(Retries.class).count(Sight.EVERYTHING, retry.id())).isEqualTo(1);
        assertThat(night.count("select count(*) from manifest where experiment_id = 1"))
                .as("the other was not looked at")
                .isEqualTo(1);
        assertThat(folder.resolve("dr/p/E1/data/new")).doesNotExist();
        assertThat(finding(first).open()).isFalse();
        assertThat(finding(first).supersededBy()).isEqualTo(retry.id());
        assertThat(night.count("select count(*) from ledger where action = 'run.started' and actor = 'operator'"
                        + " and detail->>'kind' = 'retry' and detail->>'retry_of' = '" + first.id() + "'"))
                .isEqualTo(1);

        night.complete();
        assertThat(folder.resolve("dr/p/E1/data/new")).exists();
    }

    @Test
    void whatIsNotRepairedStandsAndIsTriedAgainUntilItIs() throws Exception {
        Run first = nightWithAMissingSource();

        Run second = night.await(night.operations().retry(first.id(), "operator"));

        assertThat(second.state()).isEqualTo(RunState.FINDINGS);
        assertThat(finding(first).open()).isTrue();
        assertThat(finding(second)).as("the same").isEqualTo(finding(first));
        assertThat(finding(second).lastRun()).isEqualTo(second.id());
        repair("E2");
        Run third = night.await(night.operations().retry(first.id(), "operator"));
        assertThat(third.state()).isEqualTo(RunState.COMPLETE);
        assertThat(finding(second).supersededBy()).isEqualTo(third.id());
        assertThatThrownBy(() -> night.operations().retry(second.id(), "operator"))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("nothing to retry");
        assertThat(night.get(Runs.class).latest().orElseThrow().id())
                .as("nothing was opened")
                .isEqualTo(third.id());
    }

    @Test
    void whatIsAcknowledgedIsNotTriedAgainAndIsNotSafeForThat() throws Exception {
        Run first = nightWithAMissingSource();
        night.get(Acknowledgements.class).add(finding(first), " it was deleted on purpose ", "operator");

        assertThat(finding(first).open()).isFalse();
        assertThat(finding(first).acknowledgement().reason()).isEqualTo("it was deleted on purpose");
        assertThatThrownBy(() -> night.operations().retry(first.id(), "operator"))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("nothing to retry");
        assertThat(night.coverage().safe()).isFalse();
        assertThat(night.find(first).state()).isEqualTo(RunState.FINDINGS);

        Run next = night.run();
        assertThat(next.state()).isEqualTo(RunState.FINDINGS);
        assertThat(finding(next)).as("the same, of which a person has said why").isEqualTo(finding(first));
        assertThat(finding(next).open()).isFalse();
    }

    @Test
    void aRetryThatADeadProcessLeftIsOfTheSameExperiments() throws Exception {
        Run first = nightWithAMissingSource();
        Run retry = night.get(Runs.class).openRetry(night.site(), first.id(), "operator");
        restart();
        repair("E2");
        Night.write(folder.resolve("E1"), Map.of("new", "not before the night"));

        night.operations().recover();

        assertThat(night.await(retry).state()).isEqualTo(RunState.COMPLETE);
        assertThat(folder.resolve("dr/p/E2/data/a")).exists();
        assertThat(folder.resolve("dr/p/E1/data/new")).doesNotExist();
    }

    @Test
    void whatAStoppedNightLeftOfOthersIsLeftToTheNextNight() throws Exception {
        Run first = nightWithAMissingSource();
        night.jdbc().sql("""
                insert into transfer_unit (run_id, experiment_id, site_id, kind, entry_nos, length_bytes, state, partition_no)
                select :run, experiment_id, 1, 'LARGE', '{1}', 1, 'PLANNED', 0 from experiment where experiment_id in (1, 2)
                """).param("run", first.id()).update();
        repair("E2");

        night.await(night.operations().retry(first.id(), "operator"));

        assertThat(night.count("select count(*) from transfer_unit where experiment_id = 1 and state = 'PLANNED'"))
                .isEqualTo(1);
        assertThat(night.count("select count(*) from transfer_unit where experiment_id = 2 and state = 'PLANNED'"))
                .isZero();
    }

    @Test
    void aScrubIsStoppedForARetryAndNotForOneOfNothing() throws Exception {
        Run first = nightWithAMissingSource();
        ScrubRequest slow = new ScrubRequest("dr", Duration.ofDays(1), true, 1, null, false);
        Run scrub = night.operations().startScrub(slow, "test");
        assertThatThrownBy(() -> night.operations().retry(scrub.id(), "operator"))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("nothing to retry");
        assertThat(night.count("select count(*) from ledger where action = 'run.stopping'"))
                .isZero();

        Run retry = night.operations().retry(first.id(), "operator");

        assertThat(night.await(scrub).endedAt()).isNotNull();
        assertThat(night.await(retry).state()).isEqualTo(RunState.FINDINGS);
    }

    @Test
    void ofARunThatIsNotThereOrGoesOnNothingIsTriedAgain() throws Exception {
        assertThatThrownBy(() -> night.operations().retry(7, "operator"))
                .isInstanceOf(Refusal.class)
                .hasMessage("run 7 does not exist");
        Run first = nightWithAMissingSource();
        Run opened = night.open();
        assertThatThrownBy(() -> night.operations().retry(first.id(), "operator"))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("only one can run at a time");
        night.operations().stop(opened.id(), "test");
    }

    /** A night with one experiment that is safe, and one whose source is missing. */
    private Run nightWithAMissingSource() throws IOException {
        Night.write(folder.resolve("E1"), Map.of("a", "E1"));
        Files.createDirectory(folder.resolve("E2"));
        night.register("E1", folder.resolve("E1"));
        night.register("E2", folder.resolve("E2"));
        Files.delete(folder.resolve("E2"));
        Run run = night.run();
        assertThat(run.state()).isEqualTo(RunState.FINDINGS);
        assertThat(finding(run).reason()).isEqualTo(Problem.SOURCE_MISSING);
        return run;
    }

    private void repair(String experiment) throws IOException {
        Night.write(folder.resolve(experiment), Map.of("a", experiment));
    }

    /** Returns the only finding of a run. */
    private KeptFinding finding(Run run) {
        List<KeptFinding> all = night.get(Findings.class).of(Sight.EVERYTHING, run.id(), 0, 10);
        assertThat(all).hasSize(1);
        return all.getFirst();
    }
}
