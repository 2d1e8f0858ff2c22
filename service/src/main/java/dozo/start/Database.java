package dozo.start;

import dozo.db.EmbeddedDatabase;
import dozo.db.LostDatabase;
import dozo.run.TransferSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.stereotype.Component;

/** The database of the service, ours alone while it is open: given by its address, or the embedded one. */
@Component
class Database implements AutoCloseable {

    private static final Duration PAUSE = Duration.ofSeconds(1);

    private static final Logger LOG = LoggerFactory.getLogger(Database.class);

    private final Login login = new Login();
    private final @Nullable EmbeddedDatabase embedded;
    private final SoleUse soleUse;
    private final Presence presence;

    /** The server's name and ours. */
    private static final class Login extends PGSimpleDataSource {

        private static final long serialVersionUID = 1L;
        private static final int LIMIT_SECONDS = 10;

        Login() {
            super.setLoginTimeout(LIMIT_SECONDS);
        }

        /** NB: each pool would set it to how long a request of its own waits, for all that log in here. */
        @Override
        public void setLoginTimeout(int seconds) {
            // It stays.
        }
    }

    Database(Settings settings) throws IOException {
        embedded = settings.db().url().isEmpty() ? start(settings) : null;
        try {
            if (embedded == null) {
                login.setUrl(settings.db().url());
                login.setUser(settings.db().user());
                login.setPassword(settings.db().secret());
            } else {
                login.setUrl(embedded.url());
                login.setUser(embedded.user());
                login.setPassword(embedded.password());
            }
            login.setApplicationName("dozo");
            login.setTcpKeepAlive(true);
            soleUse = new SoleUse(login);
            take(settings);
        } catch (SQLException e) {
            stop();
            throw new StartFailure(
                    StartFailure.UNAVAILABLE,
                    "the database %s cannot be used: %s"
                            .formatted(
                                    settings.db(),
                                    String.valueOf(e.getMessage()).replaceAll("\\s+", " ")),
                    e);
        } catch (RuntimeException e) {
            stop();
            throw e;
        }
        presence = new Presence(soleUse);
        presence.start();
        if (embedded != null) {
            embedded.supervise(lost -> presence.end(String.valueOf(lost.getMessage())));
        }
    }

    /** Whether it answers, and is ours alone. */
    Presence presence() {
        return presence;
    }

    /** A database of others may start later than we do. */
    private void take(Settings settings) throws SQLException {
        long end = System.nanoTime() + settings.db().startWait().toNanos();
        for (boolean told = false; ; told = true) {
            try {
                soleUse.take();
                return;
            } catch (SQLException e) {
                if (!LostDatabase.isBehind(e) || System.nanoTime() > end) {
                    throw e;
                }
                if (!told) {
                    LOG.warn(
                            "the database {} does not answer yet; the start waits for it, {} s at most",
                            settings.db(),
                            settings.db().startWait().toSeconds());
                }
                pause(e);
            }
        }
    }

    private static void pause(SQLException failure) throws SQLException {
        try {
            Thread.sleep(PAUSE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failure;
        }
    }

    /** Spring closes this after everything that uses it. */
    @Override
    public void close() throws IOException {
        presence.close();
        soleUse.close();
        stop();
    }

    private void stop() throws IOException {
        if (embedded != null) {
            embedded.close();
        }
    }

    private static EmbeddedDatabase start(Settings settings) {
        Path folder = settings.workFolder().resolve("postgres");
        if (Files.notExists(folder)) {
            LOG.info("making a database in {}, as DOZO_DB_URL names none; this once takes some seconds", folder);
        }
        try {
            return EmbeddedDatabase.start(folder);
        } catch (IOException e) {
            throw new StartFailure(StartFailure.UNAVAILABLE, String.valueOf(e.getMessage()), e);
        }
    }

    @Configuration
    static class Pool {

        @Bean
        DataSource dataSource(Database database, Settings settings, TransferSettings transfer) {
            return new Pools(
                    database.presence,
                    database.login,
                    transfer.partitions(),
                    settings.db().requestLimit());
        }
    }
}
