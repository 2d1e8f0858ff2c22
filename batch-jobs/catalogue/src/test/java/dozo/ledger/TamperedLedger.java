package dozo.ledger;

import java.sql.Timestamp;
import java.time.Instant;
import javax.sql.DataSource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** A ledger that the owner of its database can change. */
public final class TamperedLedger {

    private final JdbcClient jdbc;
    private final TransactionTemplate transaction;

    public TamperedLedger(DataSource database) {
        this.jdbc = JdbcClient.create(database);
        this.transaction = new TransactionTemplate(new JdbcTransactionManager(database));
    }

    public JdbcClient jdbc() {
        return jdbc;
    }

    /** Appends rows as Dozo does, with all kinds of text, a second apart. */
    public void append(int rows) {
        jdbc.sql("""
                        insert into ledger (at, actor, action, subject, detail)
                        select :first::timestamptz + n * interval '1.000001 s',
                               (array['dozo', 'hanako', '鈴木 花子', '😀'])[1 + n % 4],
                               (array['run.started', 'manifest.sealed', 'experiment.settled'])[1 + n % 3],
                               'p/E' || n || case n % 5 when 0 then chr(31) || '3:x' when 1 then 'é😀' else '' end,
                               jsonb_build_object('n', n::text, 'z', E'"\\\\\\n\\t' || chr(31), '鍵', '値', 'a', repeat('x', n % 50))
                        from generate_series(1, :rows) as n
                        """)
                .param("first", Timestamp.from(Instant.parse("2026-01-31T23:59:58.999999Z")))
                .param("rows", rows)
                .update();
    }

    /** Runs statements as the owner can: with the triggers disabled. */
    public void tamper(String... statements) {
        transaction.executeWithoutResult(status -> {
            jdbc.sql("alter table ledger disable trigger all").update();
            for (String statement : statements) {
                jdbc.sql(statement).update();
            }
            jdbc.sql("alter table ledger enable trigger all").update();
        });
    }

    /** Rewrites the chain from a row on, with correct numbers and hashes: afterwards it has no breach. */
    public void rewriteFrom(long seq) {
        transaction.executeWithoutResult(status -> {
            jdbc.sql("create temporary table kept on commit drop as select * from ledger where seq >= " + seq)
                    .update();
            tamper("delete from ledger where seq >= " + seq);
            jdbc.sql("""
                            insert into ledger (at, actor, action, subject, detail)
                            select at, actor, action, subject, detail from kept order by seq
                            """).update();
            jdbc.sql("drop table kept").update();
        });
    }

    /** Does something and rolls back its changes to the database. */
    public void undone(Runnable work) {
        transaction.executeWithoutResult(status -> {
            work.run();
            status.setRollbackOnly();
        });
    }
}
