package dozo.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dozo.db.ActiveService;
import dozo.db.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** The watch of the database outlives a defect; if it cannot, the service ends. */
class PresenceTest {

    private static final Duration LIMIT = Duration.ofMinutes(5);

    private final HikariDataSource pool = TestDatabase.fresh();
    private final Breaking database = new Breaking();
    private Lease lease;
    private Presence presence;

    /** A database whose connections cannot be opened because of a defect. */
    private final class Breaking extends AbstractDataSource {

        private volatile @Nullable Throwable defect;

        @Override
        public Connection getConnection() throws SQLException {
            switch (defect) {
                case Error error -> throw error;
                case RuntimeException exception -> throw exception;
                case null, default -> {}
            }
            return new DriverManagerDataSource(
                            String.valueOf(pool.getJdbcUrl()),
                            String.valueOf(pool.getUsername()),
                            String.valueOf(pool.getPassword()))
                    .getConnection();
        }

        @Override
        public Connection getConnection(String user, String password) throws SQLException {
            return getConnection();
        }
    }

    @BeforeEach
    void start() throws SQLException {
        lease = new Lease(
                database,
                "https://one.example.org",
                new Schema(pool),
                new ActiveService("one", true),
                Duration.ofMinutes(10));
        assertThat(lease.begin(Role.SERVICE)).isTrue();
        presence = new Presence(lease, null);
        presence.start();
    }

    @AfterEach
    void stop() {
        presence.close();
        lease.close();
    }

    @Test
    void aDefectIsLoggedAndTheWatchGoesOn() {
        try (CapturedLog log = new CapturedLog(Presence.class.getName())) {
            breakBy(new IllegalStateException("planted"));
            await().atMost(LIMIT).until(() -> log.count("a look at the database failed") == 1);
            assertThat(presence.isAway()).isTrue();

            database.defect = null;

            await().atMost(LIMIT).until(() -> !presence.isAway());
            assertThat(log.count("a look at the database failed")).isEqualTo(1);
            assertThat(log.count("answers again")).isEqualTo(1);
        }
    }

    @Test
    void anErrorEndsTheService() {
        AtomicReference<String> over = new AtomicReference<>();
        presence.whenOver(over::set);

        breakBy(new StackOverflowError("planted"));

        await().dontCatchUncaughtExceptions().atMost(LIMIT).until(() -> over.get() != null);
        assertThat(over.get()).contains("ended unexpectedly");
        assertThat(presence.isAway()).isTrue();
    }

    /** Cuts the watch's connection, so that it opens another one. */
    private void breakBy(Throwable defect) {
        database.defect = defect;
        JdbcClient.create(pool)
                .sql(
                        "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()")
                .query()
                .listOfRows();
    }
}
