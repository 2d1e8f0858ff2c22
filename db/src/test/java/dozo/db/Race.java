package dozo.db;

import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.function.BooleanSupplier;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.function.ThrowingSupplier;

/** Two transactions at the same time: the second begins while the first is open, and has to wait for it. */
public final class Race {

    private Race() {}

    /**
     * Commits the first transaction when the second waits for one of its locks, or has ended without.
     *
     * @return the result of the second
     */
    public static <T> Future<T> behind(DataSource database, ThrowingSupplier<?> first, ThrowingSupplier<T> second) {
        TransactionTemplate transaction = new TransactionTemplate(new JdbcTransactionManager(database));
        FutureTask<T> behind = new FutureTask<>(() -> transaction.execute(_ -> second.get()));
        transaction.executeWithoutResult(_ -> {
            first.get();
            Thread.startVirtualThread(behind);
            await(() -> behind.isDone() || isWaiting(database));
        });
        return behind;
    }

    /** Waits until a session of a database waits for a lock. */
    public static void awaitWaiting(DataSource database) {
        await(() -> isWaiting(database));
    }

    // NB: in a thread without a transaction, because within one, PostgreSQL shows all sessions as they were at the
    // first look.
    private static void await(BooleanSupplier condition) {
        Awaitility.await().atMost(Duration.ofMinutes(5)).until(condition::getAsBoolean);
    }

    private static boolean isWaiting(DataSource database) {
        return JdbcClient.create(database).sql("""
                        select exists (select from pg_stat_activity
                                       where datname = current_database() and wait_event_type = 'Lock')
                        """).query(Boolean.class).single();
    }
}
