import dozo.db.EmbeddedDatabase;
import dozo.ledger.Chain;
import dozo.ledger.Chain.Checked;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import org.flywaydb.core.Flyway;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Measures how fast the ledger's chain is checked, alternating with PostgreSQL's own check of the same rows, on its own
 * embedded PostgreSQL. The given heap is the memory limit to test: keep it small.
 *
 * <pre>java -Xmx64m -cp LIBRARIES LedgerRate.java WORK_FOLDER ROWS ROUNDS</pre>
 *
 * Prints a line {@code NAME ROWS SECONDS} for each round.
 */
final class LedgerRate {

    private LedgerRate() {}

    public static void main(String[] arguments) throws IOException {
        int rows = Integer.parseInt(arguments[1]);
        Path folder = Path.of(arguments[0], "ledger-database");
        try (EmbeddedDatabase server = EmbeddedDatabase.start(folder)) {
            var database = new SingleConnectionDataSource(server.url(), server.user(), server.password(), true);
            Flyway.configure().dataSource(database).load().migrate();
            JdbcClient jdbc = JdbcClient.create(database);
            var transaction = new TransactionTemplate(new JdbcTransactionManager(database));
            print("append", rows, () -> jdbc.sql("""
                            insert into ledger (at, actor, action, subject, detail)
                            select now() + n * interval '1 second', 'dozo', 'experiment.settled', 'P001/S' || n || '#3',
                                   jsonb_build_object('run', '12', 'files', n::text, 'files_safe', n::text, 'bytes',
                                       (n * 4711::bigint)::text, 'manifest_sha256', encode(sha256(n::text::bytea), 'hex'))
                            from generate_series(1, :rows) as n
                            """).param("rows", rows).update());
            for (int i = 0; i < Integer.parseInt(arguments[2]); i++) {
                print("verify", rows, () -> {
                    Checked checked = transaction.execute(status -> new Chain(jdbc).check());
                    if (checked.rows() != rows || checked.breachesCount() > 0) {
                        throw new IllegalStateException(checked.toString());
                    }
                });
                print("postgresql", rows, () -> jdbc.sql("""
                                select count(*) from (select *, lag(hash, 1, ''::bytea) over (order by seq) as previous
                                                      from ledger) l
                                where hash <> ledger_hash(previous, seq, at, actor, action, subject, detail)
                                """).query(Long.class).single());
            }
        }
        try (var files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    private static void print(String name, int rows, Runnable work) {
        long begin = System.nanoTime();
        work.run();
        System.out.printf("%s %d %.2f%n", name, rows, (System.nanoTime() - begin) / 1e9);
    }
}
