package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dozo.copy.Trees;
import dozo.file.Problem;
import dozo.ledger.Coverage;
import dozo.ledger.Findings.KeptFinding;
import dozo.loopback.LoopbackSite;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

/** A replication is requested, interrupted and continued like a night. */
class ReplicationRunIT extends NightAtTwoSites {

    /** More units than are under way at once, however fast those are. */
    private static final String[] ONE_AT_A_TIME = {
        WAIT, "dozo.transfer.chunk=2", "dozo.transfer.partitions=1", "dozo.transfer.bundle-entries=5"
    };

    @Test
    void aKilledReplicationGoesOnAndSendsNothingProvenAgain() throws Exception {
        for (int i = 0; i < 400; i++) {
            Night.write(source, Map.of("many/" + i, "x".repeat(40_000) + i));
        }
        Files.write(source.resolve("large"), Trees.random(30 << 20));
        safeAtFirst();
        Run opened = night.get(Runs.class)
                .openReplication(new ReplicationRequest("dr", "second", "p", null, false), "operator");
        night.close();
        NightProcess.start(256, folder.resolve("child.log"), site.address(), database, ONE_AT_A_TIME)
                .killWhen(() -> done() >= 3);
        long before = done();
        night = new Night(database, site.address(), ONE_AT_A_TIME);
        assertThat(before).isLessThan(night.count("select count(*) from transfer_unit where site_id = 2"));

        night.operations().recover();

        assertThat(night.await(opened).state()).isEqualTo(RunState.COMPLETE);
        assertThat(night.count("""
                select count(*) from entry_receipt a join entry_receipt b using (experiment_id, site_id, entry_no)
                where a.receipt_id < b.receipt_id
                """)).as("nothing was proven twice").isZero();
        assertSameAtSecond();
    }

    @Test
    void aSiteThatIsAwayWhileItIsReadIsWaitedFor() throws Exception {
        for (int i = 0; i < 60; i++) {
            Files.write(source.resolve("file" + i), Trees.random(300_000));
        }
        Files.write(source.resolve("large"), Trees.random(40 << 20));
        safeAtFirst();
        restart(ONE_AT_A_TIME);
        int port = site.address().port();
        // The first receipts wait, and nothing more is read meanwhile. NB: other locks are waited for before the site
        // is connected to.
        Run started = night.whileHolding("lock table receipt in share mode", () -> {
            Run run = start("dr", "second", null, "p/E1", false);
            night.awaitHeldUp("relation = 'receipt'::regclass");
            site.close();
            return run;
        });
        Run waiting = Awaitility.await()
                .atMost(Duration.ofMinutes(2))
                .until(
                        () -> night.find(started),
                        run -> !run.goesOn() || run.message().startsWith("waiting for site dr since "));
        assertThat(waiting.goesOn())
                .as("%s %s %s", waiting.state(), waiting.message(), night.findings(waiting))
                .isTrue();

        site = LoopbackSite.openSsh(folder.resolve("sshd"), root, port);

        Run end = night.await(started);
        night.assertComplete(end);
        assertSameAtSecond();
    }

    @Test
    void aRemovedSiteCanStillBeReadAndOnlyWhatHasNoSourceIsChosen() throws Exception {
        Night.write(source, Map.of("a", "1"));
        Path there = Files.createDirectory(folder.resolve("there"));
        Night.write(there, Map.of("b", "2"));
        night.register("E1", source);
        night.register("E2", there);
        night.complete();
        Files.move(source, kept);
        night.run();
        night.get(Sites.class).remove("dr", true, "test");

        Run run = night.await(start("dr", "second", null, null, true));

        assertThat(run.state()).isEqualTo(RunState.COMPLETE);
        assertThat(secondRoot.resolve("p/E1/data/a")).hasContent("1");
        assertThat(secondRoot.resolve("p/E2")).doesNotExist();
        assertThat(night.await(start("dr", "second", "p", null, false)).state()).isEqualTo(RunState.COMPLETE);
        assertThat(secondRoot.resolve("p/E2/data/b")).hasContent("2");
        assertThat(night.get(Coverage.class).all(2).safe()).isTrue();
    }

    @Test
    void whatHasNoCopyAtTheFirstSiteIsAFinding() throws Exception {
        safe(Map.of("a", "1", "unreadable", "2"));
        Night.write(source, Map.of("new", "was never sent"));
        sealWithoutSending();
        Files.move(source, kept);

        Run run = replicate("p/E1");

        assertThat(run.state()).isEqualTo(RunState.FINDINGS);
        assertThat(night.findings(run))
                .extracting(finding -> String.valueOf(finding.path()), KeptFinding::reason, KeptFinding::message)
                .containsExactly(tuple("new", Problem.UNPROVEN, "new: has no verified copy at site dr"));
        assertThat(secondRoot.resolve("p/E1/data/a")).hasContent("1");
    }

    @Test
    void invalidRequestsAreRefusedAtTheirFields() throws Exception {
        register(Map.of("a", "1"));
        assertRefused(start("nowhere", "second"), "from", "site \"nowhere\" does not exist");
        assertRefused(start("dr", "nowhere"), "to", "site \"nowhere\" does not exist");
        assertRefused(start("dr", "dr"), "to", "expected a site other than dr, which is read");
        assertRefused(() -> start("dr", "second", null, "p/E9", false), "experiment", "experiment p/E9 does not exist");
        assertRefused(() -> start("dr", "second", null, "E1", false), "experiment", "experiment E1 does not exist");
        assertRefused(() -> start("dr", "second", "q", null, false), "project", "project q does not exist");
        assertRefused(
                () -> start("dr", "second", "p", "p/E1", false),
                "experiment",
                "choose an experiment or a project, not both");
        assertRefused(
                () -> start("dr", "second", null, null, false),
                "experiment",
                "choose an experiment, a project, or all whose source is gone");
        assertRefused(start("dr", "second"), "experiment", "site dr has no verified copies of experiment p/E1");
        assertRefused(
                () -> start("dr", "second", "p", null, false),
                "from",
                "there is no such experiment with verified copies at site dr that is incomplete at site second");
        assertThat(night.count("select count(*) from run")).isZero();
    }

    private interface Starting {
        Run run();
    }

    private Starting start(String from, String to) {
        return () -> start(from, to, null, "p/E1", false);
    }

    private static void assertRefused(Starting start, String field, String message) {
        assertThatThrownBy(start::run).isInstanceOfSatisfying(Refusal.class, refusal -> {
            assertThat(refusal.field()).isEqualTo(field);
            assertThat(refusal).hasMessage(message);
        });
    }

    private void sealWithoutSending() throws Exception {
        Run run = night.open();
        night.get(Looking.class).look(night.get(NightFlows.class).of(run.id(), run.siteId()));
        night.get(NightFlows.class).close(run.id());
        night.get(Runs.class).close(run.id(), RunState.FAILED, "killed");
    }

    private long done() {
        return JdbcClient.create(database)
                .sql("select count(*) from transfer_unit where site_id = 2 and state = 'VERIFIED'")
                .query(Long.class)
                .single();
    }
}
