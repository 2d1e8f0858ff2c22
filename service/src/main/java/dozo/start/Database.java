package dozo.start;

import com.zaxxer.hikari.HikariDataSource;
import dozo.db.EmbeddedDatabase;
import dozo.run.TransferSettings;
import java.io.IOException;
import java.sql.SQLException;
import java.util.List;
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

    /** Opens it, when all that is set has been found to be in order. */
    Database(Settings settings, TransferSettings transfer, List<EarlySetting> others) throws IOException {
        LOG.debug("{} and {} more settings are in order", transfer, others.size());
        embedded = settings.db().url().isEmpty() ? start(settings) : null;
        try {
            if (embedded == null) {
                setUrl(settings.db());
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

    private void setUrl(Settings.Db db) {
        try {
            login.setUrl(db.url());
        } catch (IllegalArgumentException e) {
            throw new StartFailure(
                    StartFailure.CONFIGURATION,
                    "dozo.db.url (DOZO_DB_URL) cannot be understood: jdbc:postgresql://host:port/database is allowed",
                    e);
        }
    }

    private static EmbeddedDatabase start(Settings settings) {
        try {
            return EmbeddedDatabase.start(settings.workFolder().resolve("postgres"));
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
