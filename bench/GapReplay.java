import dozo.db.EmbeddedDatabase;
import dozo.ledger.Ledger;
import dozo.source.dicom.PseudonymousCode;
import dozo.worklist.Bookings;
import dozo.worklist.Gaps;
import dozo.worklist.Lateness;
import dozo.worklist.Replay;
import dozo.registry.Scanners;
import dozo.worklist.Studies;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import org.flywaydb.core.Flyway;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Measures which faults in a generated season of bookings the gap list finds, on its own embedded PostgreSQL.
 *
 * <pre>java -cp LIBRARIES:REPLAY GapReplay WORK_FOLDER BOOKINGS FAULTS SEED</pre>
 *
 * Prints a line {@code KIND SEEDED FOUND RIGHT} for each kind of gap, and {@code seconds SECONDS} for the list.
 */
final class GapReplay {

    private GapReplay() {}

    public static void main(String[] arguments) throws Exception {
        PseudonymousCode codes = new PseudonymousCode("a key for measurements only".getBytes(StandardCharsets.US_ASCII));
        int bookings = Integer.parseInt(arguments[1]);
        int faults = Integer.parseInt(arguments[2]);
        Replay replay = new Replay(Long.parseLong(arguments[3]), bookings, faults, codes);
        InstantSource clock = InstantSource.fixed(Instant.parse("2026-06-01T00:00:00Z"));
        try (EmbeddedDatabase server = EmbeddedDatabase.start(Path.of(arguments[0], "gap-database"))) {
            var database = new SingleConnectionDataSource(server.url(), server.user(), server.password(), true);
            Flyway.configure().dataSource(database).load().migrate();
            JdbcClient jdbc = JdbcClient.create(database);
            var transactions = new JdbcTransactionManager(database);
            Ledger ledger = new Ledger(jdbc, clock);
            new TransactionTemplate(transactions)
                    .executeWithoutResult(status -> replay.play(
                            new Scanners(jdbc, ledger),
                            new Bookings(jdbc, ledger, codes, clock, transactions),
                            new Studies(jdbc)));
            jdbc.sql("analyze").update();
            Gaps gaps = new Gaps(jdbc, new Lateness(Duration.ofHours(24), Replay.ZONE));
            long begin = System.nanoTime();
            var scores = replay.score(gaps);
            double seconds = (System.nanoTime() - begin) / 1e9;
            scores.forEach((kind, score) ->
                    System.out.printf("%s %d %d %d%n", kind.word(), score.seeded(), score.found(), score.right()));
            System.out.printf("seconds %.3f%n", seconds);
        }
    }
}
