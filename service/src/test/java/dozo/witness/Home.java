package dozo.witness;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dozo.alert.Condition;
import dozo.certificate.Checkpoints;
import dozo.certificate.Checkpoints.Made;
import dozo.certificate.LogKeys;
import dozo.certificate.SigningKey;
import dozo.certificate.TrustedLogs;
import dozo.certificate.Witnesses;
import dozo.db.ActiveService;
import dozo.db.TestDatabase;
import dozo.ledger.Chain;
import dozo.ledger.Ledger;
import dozo.ledger.LedgerTree;
import dozo.start.WitnessSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import javax.sql.DataSource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** A ledger of its own, whose service makes checkpoints and asks witnesses. */
final class Home implements AutoCloseable {

    final HikariDataSource database = TestDatabase.fresh();
    final Rows rows = new Rows(database);
    final Ledger ledger;
    final LedgerTree tree = new LedgerTree(rows.jdbc());
    final Checkpoints checkpoints;
    final Witnesses witnesses;
    final WitnessSchedule schedule;

    /** The ledger of an owner who can change it. */
    record Rows(JdbcClient jdbc, TransactionTemplate transaction) {

        Rows(DataSource database) {
            this(JdbcClient.create(database), new TransactionTemplate(new JdbcTransactionManager(database)));
        }

        void append(int rows) {
            jdbc.sql("insert into ledger (at, actor, action, subject) select now(), 'dozo', 'run.started', 'row ' || n"
                            + " from generate_series(1, :rows) as n")
                    .param("rows", rows)
                    .update();
        }

        /** Runs statements with the triggers disabled. */
        void tamper(String... statements) {
            transaction.executeWithoutResult(_ -> {
                jdbc.sql("alter table ledger disable trigger all").update();
                for (String statement : statements) {
                    jdbc.sql(statement).update();
                }
                jdbc.sql("alter table ledger enable trigger all").update();
            });
        }

        /** Gives rows right numbers and hashes again: afterwards the chain has no breach. */
        void rewriteFrom(long seq) {
            transaction.executeWithoutResult(_ -> {
                jdbc.sql("create temporary table kept on commit drop as select * from ledger where seq >= " + seq)
                        .update();
                tamper("delete from ledger where seq >= " + seq);
                jdbc.sql("insert into ledger (at, actor, action, subject, detail)"
                                + " select at, actor, action, subject, detail from kept order by seq")
                        .update();
            });
        }
    }

    Home(Path keys, String origin, InstantSource clock) {
        LogKeys own = new LogKeys(
                new SigningKey(keys.resolve("checkpoint-key")), new SigningKey(keys.resolve("witness-key")), origin);
        own.create();
        ledger = new Ledger(rows.jdbc(), clock);
        checkpoints = new Checkpoints(rows.jdbc(), ledger, tree, own);
        witnesses = new Witnesses(rows.jdbc(), ledger, checkpoints);
        schedule = schedule(this, checkpoints, clock);
    }

    static WitnessSchedule schedule(Home home, Checkpoints checkpoints, InstantSource clock) {
        return new WitnessSchedule(
                checkpoints,
                home.witnesses,
                new TrustedLogs(
                        home.rows.jdbc(),
                        new TransactionTemplate(new JdbcTransactionManager(home.database)),
                        home.ledger,
                        checkpoints),
                new WitnessSettings("", Duration.ofDays(3)),
                ActiveService.alone(),
                clock);
    }

    /** A night: some rows, and the checkpoint of the last one. */
    Made night(int more) {
        rows.append(more);
        return checkpoint();
    }

    Made checkpoint() {
        checkpoints.origin();
        return checkpoints.make(ledger.head().orElseThrow());
    }

    List<Condition> ask() throws InterruptedException {
        schedule.askAll();
        return schedule.now();
    }

    /** Returns whether the verification of the ledger alone finds something. */
    boolean isBroken() {
        return new Chain(rows.jdbc()).check().breachesCount() > 0
                || !tree.check().isEmpty();
    }

    void sql(String... statements) {
        for (String statement : statements) {
            rows.jdbc().sql(statement).update();
        }
    }

    void assertIntact() {
        assertThat(isBroken()).isFalse();
    }

    @Override
    public void close() {
        schedule.close();
        database.close();
    }
}
