package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.db.TestDatabase;
import dozo.ledger.Sight;
import dozo.registry.RegisteredRows;
import dozo.run.Nights.Night;
import dozo.run.Nights.NightSite;
import dozo.run.Nights.Proven;
import dozo.run.Runs.RunState;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

/** How the nights went, and what they proved. */
class NightsTest {

    private static final Instant DAY = Instant.parse("2026-11-01T16:00:00Z");

    private final DataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private final Nights nights = new Nights(jdbc);

    @Test
    void withoutARunThereIsNothing() {
        assertThat(nights.since(Instant.EPOCH)).isEmpty();
        assertThat(nights.sites()).isEmpty();
        assertThat(nights.proven(Sight.EVERYTHING, Instant.EPOCH)).isEmpty();
    }

    @Test
    void nightsAreBackupsOfEverythingToAnySite() {
        register();
        run(2, "nightlyBackup", 1, "FAILED", 0);
        run(3, "nightlyBackup", 2, "FINDINGS", 1);
        run(4, "retry", 2, "COMPLETE", 2);
        run(5, "scrub", 1, "COMPLETE", 3);
        run(6, "nightlyBackup", 1, "COMPLETE", 24);

        assertThat(nights.since(DAY.plusSeconds(1)))
                .containsExactly(
                        new Night(3, "dr2", RunState.FINDINGS, at(1)), new Night(6, "dr", RunState.COMPLETE, at(24)));
        assertThat(nights.since(DAY)).extracting(Night::run).containsExactly(2L, 3L, 6L);
    }

    @Test
    void aBackupOfAPartIsANightOnlyIfTheSiteHasNoOthers() {
        register();
        run(2, "nightlyBackup", 1, "COMPLETE", 1);
        run(3, "nightlyBackup", 1, "COMPLETE", 2);
        jdbc.sql("update run set part_project_id = 1 where run_id = 3").update();
        assertThat(nights.since(at(1))).extracting(Night::run).containsExactly(2L);

        jdbc.sql("insert into site_schedule (site_id, project_id, cron, since) values (1, 1, '0 0 1 * * *', now())")
                .update();
        assertThat(nights.since(at(1))).extracting(Night::run).containsExactly(2L, 3L);

        jdbc.sql("insert into site_schedule (site_id, cron, since) values (1, '0 0 2 * * *', now())")
                .update();
        assertThat(nights.since(at(1))).extracting(Night::run).containsExactly(2L);
    }

    @Test
    void aSiteHasNightsFromItsFirstOneUntilItIsRemoved() {
        register();
        jdbc.sql("delete from run").update();
        run(2, "nightlyBackup", 1, "COMPLETE", 5);
        run(3, "nightlyBackup", 1, "COMPLETE", 29);
        run(4, "nightlyBackup", 2, "COMPLETE", 30);
        run(5, "scrub", 2, "COMPLETE", 1);
        jdbc.sql("update site set removed_at = :at where site_id = 2")
                .param("at", Timestamp.from(at(40)))
                .update();

        assertThat(nights.sites())
                .containsExactly(new NightSite("dr", at(5), null), new NightSite("dr2", at(30), at(40)));
    }

    @Test
    void whatANightProvedIsKnownForEachWhoSeesSomeOfIt() {
        register();
        run(2, "nightlyBackup", 1, "COMPLETE", 0);
        total(2, 1, 100, 10);
        total(2, 2, 7, 1);
        run(3, "retry", 2, "FINDINGS", 2);
        total(3, 2, 3, 2);
        run(4, "nightlyBackup", 1, "COMPLETE", 3);
        run(5, "scrub", 1, "COMPLETE", 4);
        run(6, "nightlyBackup", 1, "RUNNING", 5);

        assertThat(nights.proven(Sight.EVERYTHING, DAY))
                .containsExactly(
                        new Proven(2, "dr", at(0), at(1), 107, 11),
                        new Proven(3, "dr2", at(2), at(3), 3, 2),
                        new Proven(4, "dr", at(3), at(4), 0, 0));
        assertThat(nights.proven(Sight.of(List.of("p")), DAY))
                .extracting(Proven::bytes)
                .containsExactly(100L, 0L, 0L);
        assertThat(nights.proven(Sight.of(List.of()), at(3))).containsExactly(new Proven(4, "dr", at(3), at(4), 0, 0));
    }

    /** The migration adds up what was stored before, also what retention has deleted. */
    @Test
    void whatEarlierRunsProvedIsKnown() {
        DataSource old = TestDatabase.empty();
        Flyway.configure().dataSource(old).target("202611250301").load().migrate();
        JdbcClient before = JdbcClient.create(old);
        RegisteredRows.insert(before);
        before.sql("""
                        update run set state = 'COMPLETE', ended_at = now();
                        insert into run (kind, site_id, state, requested_by, started_at) values ('nightlyBackup', 1, 'RUNNING', 't', now());
                        insert into transfer_unit (experiment_id, site_id, kind, entry_nos, length_bytes, state, run_id, partition_no)
                        values (1, 1, 'BUNDLE', '{1,2}', 10, 'VERIFIED', 1, 0), (1, 1, 'BUNDLE', '{3}', 100, 'FAILED', 1, 0),
                               (1, 1, 'BUNDLE', '{4}', 1000, 'VERIFIED', 2, 0);
                        insert into run_sum (run_id, project_id, partition_no, bytes_done, entries_done) values (1, 1, 0, 5, 1), (1, 1, 1, 6, 1);
                        insert into run_sum (run_id, project_id, findings) values (1, 1, 3);
                        """).update();

        Flyway.configure().dataSource(old).load().migrate();

        assertThat(before.sql("select concat_ws(' ', run_id, project_id, bytes, entries) from run_total")
                        .query(String.class)
                        .list())
                .containsExactly("1 1 21 4");
    }

    /** Two projects and two sites. */
    private void register() {
        RegisteredRows.insert(jdbc);
        jdbc.sql("""
                update run set state = 'COMPLETE', started_at = '2020-01-01Z', ended_at = '2020-01-01Z';
                insert into project (code, created_at) values ('q', now());
                insert into site (name, host, port, login, root, host_key, identity_file, updated_at)
                values ('dr2', 'dr2.example', 22, 'dozo', '/dr', 'ssh-ed25519 AAAA', '/key', now());
                """).update();
    }

    private void run(long id, String kind, int site, String state, int hours) {
        jdbc.sql("""
                        insert into run (run_id, kind, site_id, state, requested_by, started_at, ended_at, retry_of)
                        overriding system value
                        values (:id, :kind, :site, :state, 'test', :at, case when :state <> 'RUNNING' then :end::timestamptz end,
                                case when :kind = 'retry' then :id::bigint end)
                        """)
                .param("id", id)
                .param("kind", kind)
                .param("site", site)
                .param("state", state)
                .param("at", Timestamp.from(at(hours)))
                .param("end", Timestamp.from(at(hours + 1)))
                .update();
    }

    private void total(long run, int project, long bytes, long entries) {
        jdbc.sql("insert into run_total (run_id, project_id, bytes, entries) values (:run, :project, :bytes, :entries)")
                .param("run", run)
                .param("project", project)
                .param("bytes", bytes)
                .param("entries", entries)
                .update();
    }

    private static Instant at(int hours) {
        return DAY.plus(Duration.ofHours(hours));
    }
}
