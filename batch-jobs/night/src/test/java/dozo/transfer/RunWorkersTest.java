package dozo.transfer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dozo.db.TestDatabase;
import dozo.ledger.Ledger;
import java.sql.Connection;
import java.sql.Statement;
import java.time.InstantSource;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** Who may work on a run, and what becomes of the work of those who do not any more. */
class RunWorkersTest {

    private final HikariDataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private final RunWorkers workers = new RunWorkers(jdbc, new Ledger(jdbc, InstantSource.system()));
    private final TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(database));

    @Test
    void aTakeoverDoesNotWaitLongForTheTransactionOfADeadWorker() throws Exception {
        seed();
        long service = workers.enlist(1, "service", false);
        long dead = workers.enlist(1, "w1", true);
        jdbc.sql("""
                insert into transfer_unit (experiment_id, site_id, kind, entry_nos, length_bytes, state, run_id, partition_no, worker_id)
                values (1, 1, 'BUNDLE', '{1}', 1, 'PLANNED', 1, 0, :dead)
                """).param("dead", dead).update();
        jdbc.sql("update run_worker set lease_until = now() - interval '1 second' where worker_id = :dead")
                .param("dead", dead)
                .update();
        try (Connection left = database.getConnection();
                Statement statement = left.createStatement()) {
            left.setAutoCommit(false);
            statement.execute("update transfer_unit set attempts = 1");

            assertThatThrownBy(() -> takeOver(service)).hasMessageContaining("lock timeout");
            assertThat(workers.renew(service, 0, 0, "")).as("its own lease").isPresent();
            assertThat(workers.others(1, service).lost()).isEqualTo(1);
            left.rollback();
        }
        takeOver(service);
        assertThat(workers.others(1, service).lost()).isZero();
        assertThat(workers.renew(dead, 0, 0, "")).isEmpty();
        assertThat(jdbc.sql("select count(*) from transfer_unit where worker_id is null")
                        .query(Integer.class)
                        .single())
                .isEqualTo(1);
    }

    @Test
    void nobodyJoinsARunThatItsServiceHasLeft() {
        seed();
        long service = workers.enlist(1, "service", false);
        assertThat(workers.open()).isEqualTo(1);
        assertThat(workers.enlist(1, "w1", true)).isGreaterThan(service);

        transaction.executeWithoutResult(_ -> workers.leave(service));
        assertThat(workers.open()).as("its service has left").isZero();
        transaction.executeWithoutResult(_ -> workers.endAll(1));
        assertThat(workers.open()).isZero();
        assertThat(workers.enlist(1, "w2", true)).isZero();

        assertThat(workers.enlist(1, "service", false)).isPositive();
        assertThat(workers.open()).as("the service has begun again").isEqualTo(1);
        jdbc.sql("update run set state = 'FAILED', ended_at = now()").update();
        assertThat(workers.enlist(1, "w2", true)).isZero();
    }

    private void seed() {
        jdbc.sql("""
                insert into project (code, title, created_at) values ('P1', '', now());
                insert into experiment (project_id, code, title, source_kind, source_root, registered_at, registered_by)
                values (1, 'E1', '', 'filesystem', '/x', now(), 'x');
                insert into site (name, host, port, login, root, host_key, identity_file, updated_at)
                values ('dr', 'h', 22, 'u', '/x', 'ssh-ed25519 AAAA', '/k', now());
                insert into run (kind, site_id, state, requested_by, started_at) values ('nightlyBackup', 1, 'RUNNING', 'x', now());
                """).update();
    }

    private void takeOver(long by) {
        transaction.executeWithoutResult(_ -> workers.takeOver(1, by));
    }
}
