package dozo.start;

import com.zaxxer.hikari.HikariDataSource;
import dozo.db.EmbeddedDatabase;
import dozo.run.TransferSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
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

    /** Connections for pages, REST and the job itself; every partition of a run holds one more while it works. */
    private static final int BESIDE_PARTITIONS = 12;

    private static final Logger LOG = LoggerFactory.getLogger(Database.class);

    private final PGSimpleDataSource login = new PGSimpleDataSource();
    private final @Nullable EmbeddedDatabase embedded;
    private final SoleUse soleUse;

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
            soleUse.take();
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
    }

    /** Another service must not work on our database at the same time. */
    SoleUse soleUse() {
        return soleUse;
    }

    /** Spring closes this after everything that uses it. */
    @Override
    public void close() throws IOException {
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
        DataSource dataSource(Database database, TransferSettings transfer) {
            HikariDataSource pool = new HikariDataSource();
            pool.setPoolName("dozo");
            pool.setDataSource(database.login);
            pool.setMaximumPoolSize(transfer.partitions() + BESIDE_PARTITIONS);
            pool.setMinimumIdle(2);
            // A plan for whatever is asked cannot use the index of what is (ADR 0034).
            pool.setConnectionInitSql("set plan_cache_mode = force_custom_plan");
            return pool;
        }
    }
}
