package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.db.TestDatabase;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Acknowledgement;
import dozo.ledger.Findings.Finding;
import dozo.registry.RegisteredRows;
import dozo.verify.Receipts;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;

/** What is deleted of runs that ended longer ago than the retention, and what never is. */
class RetentionTest {

    private static final InstantSource CLOCK = InstantSource.system();

    private final DataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private final Findings findings = new Findings(new JdbcTemplate(database), CLOCK);
    private final Retention retention = new Retention(jdbc, new RetentionSettings(Duration.ofDays(400)), CLOCK);

    /** Inserts run 1, which ended long ago, and a manifest. */
    @BeforeEach
    void register() {
        RegisteredRows.insert(jdbc);
        jdbc.sql("update run set started_at = now() - interval '500 days'").update();
        jdbc.sql("""
                insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe, bytes_safe,
                                        entries_safe, counted_at)
                values (1, 1, 1, 1, 1, 1, 1, 1, 1, now())
                """).update();
        end(1, 401);
    }

    @Test
    void unitsOfOldRunsGoAndWhatTheyAddUpToStays() {
        unit(1, 0, "VERIFIED", 1);
        unit(1, 0, "VERIFIED", 1);
        unit(1, 1, "VERIFIED", 1);
        unit(1, 1, "CANCELLED", 0);
        long recent = run();
        end(recent, 399);
        unit(recent, 0, "VERIFIED", 1);
        settle();

        retention.prune(() -> true);

        assertThat(count("transfer_unit where run_id = 1")).isZero();
        assertThat(count("transfer_unit")).isEqualTo(1);
        assertThat(texts(
                        "select concat_ws(' ', project_id, partition_no, units, units_done, units_failed, bytes, bytes_done,"
                                + " entries_done) from run_sum order by partition_no"))
                .containsExactly("1 0 2 2 0 20 20 4", "1 1 1 1 0 10 10 2");
        retention.prune(() -> true);
        assertThat(count("run_sum")).as("done twice").isEqualTo(2);
    }

    @Test
    void theUnitsOfARunThatHasNotEndedStayHoweverOldItIs() {
        end(1, 500);
        long dead = run();
        unit(dead, 0, "VERIFIED", 1);
        unit(dead, 0, "PLANNED", 1);
        worker(dead);
        settle();

        retention.prune(() -> true);

        assertThat(count("transfer_unit")).isEqualTo(2);
        assertThat(count("run_worker")).isEqualTo(1);
    }

    @Test
    void whatTheNextSettlingHasToKnowStaysAndNoMoreOfIt() {
        unit(1, 0, "VERIFIED", 1);
        settle();
        long settled = settledUnit();
        unit(1, 0, "CANCELLED", 1);
        unit(1, 0, "CANCELLED", 3);
        unit(1, 0, "CANCELLED", 0);
        unit(1, 0, "FAILED", 1);

        retention.prune(() -> true);

        assertThat(texts("select concat_ws(' ', state, attempts) from transfer_unit order by unit_id"))
                .containsExactly("FAILED 1");
        jdbc.sql("update transfer_unit set state = 'CANCELLED'").update();
        retention.prune(() -> true);
        assertThat(count("transfer_unit")).as("something may be left half done").isEqualTo(1);
        settle();
        assertThat(settledUnit()).isEqualTo(settled + 4);
        retention.prune(() -> true);
        assertThat(count("transfer_unit")).isZero();
        settle();
        assertThat(settledUnit()).as("it never goes down").isEqualTo(settled + 4);
    }

    @Test
    void receiptsStayAsTheyAre() {
        unit(1, 0, "VERIFIED", 1);
        receipt();
        settle();
        String before =
                jdbc.sql("select r::text from receipt r").query(String.class).single();

        retention.prune(() -> true);

        assertThat(count("transfer_unit")).isZero();
        assertThat(jdbc.sql("select r::text from receipt r").query(String.class).single())
                .isEqualTo(before);
    }

    @Test
    void findingsThatAreSupersededGoUnlessSomebodyAcknowledgedThem() {
        find(1, "gone", "acknowledged", "standing");
        findings.acknowledge(id("acknowledged"), new Acknowledgement("admin", Instant.EPOCH, "known"));
        long again = run();
        find(again, "standing", "young");
        findings.supersede(again);
        end(again, 401);
        long recent = run();
        find(recent, "standing");
        jdbc.sql("update finding set superseded_by = :run where path = 'young'")
                .param("run", recent)
                .update();
        end(recent, 1);

        retention.prune(() -> true);

        assertThat(texts("select convert_from(path, 'UTF8') from finding order by finding_id"))
                .containsExactly("acknowledged", "standing", "young");
        assertThat(count("acknowledgement")).isEqualTo(1);
        assertThat(jdbc.sql("select run_id from run_finding").query(Long.class).list())
                .containsExactly(recent);
        assertThat(texts("select concat_ws(' ', run_id, project_id, findings) from run_sum order by run_id"))
                .containsExactly("1 1 3", again + " 1 2");
    }

    @Test
    void workersOfOldRunsGo() {
        worker(1);
        long recent = run();
        worker(recent);
        end(recent, 1);

        retention.prune(() -> true);

        assertThat(jdbc.sql("select run_id from run_worker").query(Long.class).list())
                .containsExactly(recent);
    }

    @Test
    void theSpeedOfOldRunsGoes() {
        long recent = run();
        Paces paces = new Paces(jdbc);
        for (long run : List.of(1L, recent)) {
            paces.add(run, new Paces.Pace(Instant.EPOCH, 1, 1, 1));
        }
        end(recent, 1);

        retention.prune(() -> true);

        assertThat(paces.of(1)).isEmpty();
        assertThat(paces.of(recent)).hasSize(1);
    }

    @Test
    void readingsGoThatHaveALaterOne() {
        unit(1, 0, "VERIFIED", 1);
        receipt();
        unit(1, 0, "VERIFIED", 1);
        receipt();
        reading(1, 900);
        reading(1, 600);
        reading(1, 300);
        reading(1, 1);
        reading(2, 900);

        retention.prune(() -> true);

        assertThat(
                        texts(
                                "select concat_ws(' ', receipt_id, extract(day from now() - read_at)) from reading order by reading_id"))
                .containsExactly("1 300", "1 1", "2 900");
    }

    @Test
    void theDatabaseItselfLetsNoOtherReadingGo() {
        unit(1, 0, "VERIFIED", 1);
        receipt();
        reading(1, 200);
        reading(1, 80);
        reading(1, 70);

        for (String refused : List.of(
                "delete from reading where reading_id = 2",
                "delete from reading where reading_id = 3",
                "delete from reading",
                "update reading set bytes = 2",
                "truncate reading")) {
            assertThatThrownBy(() -> jdbc.sql(refused).update())
                    .as(refused)
                    .isInstanceOf(DataAccessException.class)
                    .hasMessageContaining("rows of reading are evidence");
        }
        assertThat(jdbc.sql("delete from reading where reading_id = 1").update())
                .isEqualTo(1);
    }

    @Test
    void whatTheFrameworkKeepsOfOldRunsGoesAndNothingThatHasNotEnded() {
        job(1, 1, true);
        job(2, 1, false);
        long recent = run();
        end(recent, 1);
        job(3, recent, true);
        long paused = run();
        job(4, paused, true);

        retention.prune(() -> true);

        for (String table : List.of("batch_job_instance", "batch_job_execution")) {
            assertThat(jdbc.sql("select job_instance_id from " + table + " order by 1")
                            .query(Long.class)
                            .list())
                    .as(table)
                    .containsExactly(2L, 3L, 4L);
        }
        for (String table : List.of(
                "batch_job_execution_params",
                "batch_job_execution_context",
                "batch_step_execution",
                "batch_step_execution_context")) {
            assertThat(count(table)).as(table).isEqualTo(3);
        }
    }

    @Test
    void whatIsManyGoesInBatchesAndWhoeverIsToStopDoesNoMore() {
        jdbc.sql("""
                insert into transfer_unit (experiment_id, site_id, kind, entry_nos, length_bytes, state, run_id, partition_no)
                select 1, 1, 'BUNDLE', '{1}', 1, 'VERIFIED', 1, 0 from generate_series(1, 25000)
                """).update();
        settle();

        retention.prune(() -> false);
        assertThat(count("transfer_unit")).isEqualTo(25_000);
        retention.prune(() -> true);
        assertThat(count("transfer_unit")).isZero();
        assertThat(jdbc.sql("select units from run_sum").query(Long.class).single())
                .isEqualTo(25_000);
    }

    @Test
    void aFailureIsTheNextNights() {
        worker(1);
        unit(1, 0, "VERIFIED", 1);
        settle();
        jdbc.sql("alter table transfer_unit rename to away").update();
        retention.prune(() -> true);
        assertThat(count("run_worker")).as("the rest went").isZero();

        jdbc.sql("alter table away rename to transfer_unit").update();
        retention.prune(() -> true);
        assertThat(count("transfer_unit")).isZero();
    }

    private long run() {
        return jdbc.sql("""
                        insert into run (kind, site_id, state, requested_by, started_at)
                        values ('nightlyBackup', 1, 'RUNNING', 'test', now() - interval '500 days') returning run_id
                        """).query(Long.class).single();
    }

    private void end(long run, int daysAgo) {
        jdbc.sql(
                        "update run set state = 'COMPLETE', ended_at = now() - make_interval(days => :ago) where run_id = :run")
                .param("ago", daysAgo)
                .param("run", run)
                .update();
    }

    private void unit(long run, int partition, String state, int attempts) {
        jdbc.sql("""
                        insert into transfer_unit (experiment_id, site_id, kind, entry_nos, length_bytes, state, run_id, partition_no,
                                                   attempts)
                        values (1, 1, 'BUNDLE', '{1,2}', 10, :state, :run, :partition, :attempts)
                        """)
                .param("state", state)
                .param("run", run)
                .param("partition", partition)
                .param("attempts", attempts)
                .update();
    }

    /** A receipt of the latest unit. */
    private void receipt() {
        jdbc.sql("""
                insert into receipt (experiment_id, site_id, unit_id, run_id, entry_nos, digests, method, worker, verified_at)
                select 1, 1, max(unit_id), 1, '{1,2}', decode(repeat('00', 64), 'hex'), 'm', 'w', now() from transfer_unit
                """).update();
    }

    private void reading(long receipt, int daysAgo) {
        jdbc.sql("""
                        insert into reading (receipt_id, run_id, read_at, bytes, copies, cold, method)
                        values (:receipt, 1, now() - make_interval(days => :ago), 1, 1, false, 'm')
                        """).param("receipt", receipt).param("ago", daysAgo).update();
    }

    private void worker(long run) {
        jdbc.sql("insert into run_worker (run_id, host, began_at, lease_until) values (:run, 'h', now(), now())")
                .param("run", run)
                .update();
    }

    private void job(long id, long run, boolean ended) {
        jdbc.sql("""
                        insert into batch_job_instance values (:id, 0, 'nightlyBackup', :id::text);
                        insert into batch_job_execution (job_execution_id, job_instance_id, create_time, end_time, status)
                        select :id, :id, started_at, case when :ended then now() end, 'COMPLETED' from run where run_id = :run;
                        insert into batch_job_execution_params values (:id, 'run', 'java.lang.Long', :run::text, 'Y');
                        insert into batch_job_execution_context values (:id, '', null);
                        insert into batch_step_execution (step_execution_id, version, step_name, job_execution_id, create_time)
                        values (:id, 0, 'anchor', :id, now());
                        insert into batch_step_execution_context values (:id, '', null);
                        """).param("id", id).param("run", run).param("ended", ended).update();
    }

    private void find(long run, String... paths) {
        findings.add(
                run,
                List.of(paths).stream()
                        .map(path -> new Finding(1, Problem.UNREADABLE, FilePath.of(path), "a message"))
                        .toList());
    }

    private long id(String path) {
        return jdbc.sql("select finding_id from finding where path = convert_to(:path, 'UTF8')")
                .param("path", path)
                .query(Long.class)
                .single();
    }

    /** Settles as a night does when the bag's tag files list every receipt. */
    private void settle() {
        new Receipts(jdbc, CLOCK).settled(new int[] {1}, 1);
    }

    private long settledUnit() {
        return new Receipts(jdbc, CLOCK).settledUnits(new int[] {1}, 1).get(1);
    }

    private List<String> texts(String sql) {
        return jdbc.sql(sql).query(String.class).list();
    }

    private long count(String from) {
        return jdbc.sql("select count(*) from " + from).query(Long.class).single();
    }
}
