package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.ledger.Findings;
import dozo.ledger.Findings.KeptFinding;
import dozo.ledger.Sight;
import dozo.loopback.LoopbackSite;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import dozo.transfer.TransferUnits.PartitionProgress;
import dozo.transfer.TransferUnits.Progress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Years of nights leave no more rows than the last nights within the retention, and every receipt. */
class RetentionIT {

    private static final int NIGHTS = 30;

    /** The days between two nights: ten nights are younger than the retention of 100 days. */
    private static final int DAYS_APART = 10;

    private static final List<String> BOUNDED = List.of("""
            transfer_unit run_worker run_forecast_experiment finding
            run_finding batch_job_instance batch_job_execution batch_job_execution_params
            batch_job_execution_context batch_step_execution batch_step_execution_context
            """.strip().split("\\s+"));

    @TempDir
    Path folder;

    @Test
    void thirtyNightsLeaveWhatFifteenLeave() throws Exception {
        try (LoopbackSite site =
                        LoopbackSite.openSsh(folder.resolve("sshd"), Files.createDirectory(folder.resolve("dr")), 0);
                Night night = Night.on(site.address(), "dozo.retention.runs=100d")) {
            Path source = Files.createDirectory(folder.resolve("E1"));
            Path gone = Files.createDirectory(folder.resolve("E2"));
            night.register("E1", source);
            night.register("E2", gone);
            Files.delete(gone);
            Map<String, Long> afterFifteen = Map.of();
            long first = 0;
            Progress firstProgress = null;
            List<PartitionProgress> firstPartitions = List.of();
            long last = 0;
            for (int n = 1; n <= NIGHTS; n++) {
                Night.write(source, Map.of("f" + n, "night " + n));
                Run run = night.run();
                assertThat(run.state()).isEqualTo(RunState.FINDINGS);
                assertThat(night.findings(run)).hasSize(1);
                last = run.id();
                if (n == 1) {
                    first = run.id();
                    firstProgress = night.get(Runs.class)
                            .progress(Sight.EVERYTHING, run.id())
                            .recorded();
                    firstPartitions = night.get(Runs.class).partitions(Sight.EVERYTHING, run.id());
                }
                if (n == 15) {
                    afterFifteen = counts(night);
                }
                night.jdbc()
                        .sql("update run set started_at = started_at - make_interval(days => :apart),"
                                + " ended_at = ended_at - make_interval(days => :apart)")
                        .param("apart", DAYS_APART)
                        .update();
                night.jdbc()
                        .sql("update batch_job_execution set create_time = create_time - make_interval(days => :apart)")
                        .param("apart", DAYS_APART)
                        .update();
            }

            assertThat(counts(night)).isEqualTo(afterFifteen);
            assertThat(night.count("select count(*) from receipt")).isEqualTo(NIGHTS);
            assertThat(night.count("select count(*) from coverage")).isGreaterThanOrEqualTo(NIGHTS);
            assertThat(night.coverage().filesSafe()).isEqualTo(NIGHTS);
            NightlyBackupIT.assertChecks(folder.resolve("dr/p/E1"));
            KeptFinding standing = night.get(Findings.class).latest(2, 10).getFirst();
            assertThat(standing.run()).isEqualTo(first);
            assertThat(standing.lastRun()).isEqualTo(last);
            assertThat(firstProgress).isNotNull();
            assertThat(firstProgress.units()).isEqualTo(1);
            Runs runs = night.get(Runs.class);
            assertThat(runs.progress(Sight.EVERYTHING, first)).isEqualTo(firstProgress);
            assertThat(runs.partitions(Sight.EVERYTHING, first)).isEqualTo(firstPartitions);
            assertThat(runs.progress(Sight.of(List.of("other")), first).units()).isZero();
            assertThat(runs.find(first).orElseThrow().findings()).isEqualTo(1);
            assertThat(night.count("select count(*) from run_finding where run_id = " + first))
                    .isZero();
        }
    }

    private static Map<String, Long> counts(Night night) {
        Map<String, Long> counts = new TreeMap<>();
        BOUNDED.forEach(table -> counts.put(table, night.count("select count(*) from " + table)));
        return counts;
    }
}
