package dozo.start;

import dozo.db.ActiveService;
import dozo.db.ActiveService.Holder;
import dozo.db.EmbeddedDatabase;
import dozo.db.LostDatabase;
import dozo.run.Equipment;
import dozo.run.TransferSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.web.server.context.WebServerApplicationContext;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The service's database: the one at the configured address, or an embedded one. While it is open, this service is
 * the active one of the database, or stands by.
 */
@Component
class Database implements AutoCloseable {

    private static final Duration PAUSE = Duration.ofSeconds(1);

    private static final Logger LOG = LoggerFactory.getLogger(Database.class);

    private final DatabaseLogin login;
    private final @Nullable EmbeddedDatabase embedded;
    private final Role role;
    private final Lease lease;
    private final ActiveService active;
    private final Presence presence;

    /** Opens the database. A program with pages is a service; another one says what it is, or is a command. */
    Database(Settings settings, ApplicationContext program, Optional<Role> given, Likeness likeness)
            throws IOException {
        role = given.orElse(program instanceof WebServerApplicationContext ? Role.SERVICE : Role.COMMAND);
        if (role == Role.WORKER && settings.db().url().isEmpty()) {
            throw new StartFailure(
                    StartFailure.CONFIGURATION,
                    "dozo.db.url (DOZO_DB_URL) is missing: a worker needs the database of its service");
        }
        embedded = settings.db().url().isEmpty() ? start(settings) : null;
        try {
            if (embedded != null) {
                embedded.requireSpace();
            }
            login = embedded == null ? DatabaseLogin.of(settings.db()) : new DatabaseLogin(embedded.login());
            active = new ActiveService(settings.service().nameHere(), embedded == null);
            lease = new Lease(login, settings.service().url(), schema(settings), active, settings.lease());
            begin(settings, role);
        } catch (SQLException e) {
            stop();
            throw new StartFailure(
                    StartFailure.UNAVAILABLE,
                    "cannot connect to the database %s: %s"
                            .formatted(
                                    settings.db(),
                                    String.valueOf(e.getMessage()).replaceAll("\\s+", " ")),
                    e);
        } catch (RuntimeException e) {
            stop();
            throw e;
        }
        requireLikeness(likeness);
        presence = new Presence(lease, embedded);
        presence.start();
        if (embedded != null) {
            embedded.supervise(lost -> presence.end(String.valueOf(lost.getMessage())));
        }
    }

    /** Before anything is generated, and before this service could take over. */
    private void requireLikeness(Likeness likeness) {
        try {
            Holder other = active.holder();
            if (other != null && !active.isHere()) {
                likeness.require(role, JdbcClient.create(login), other);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            lease.close();
            throw new StartFailure(StartFailure.UNAVAILABLE, "the start was interrupted", e);
        } catch (RuntimeException e) {
            lease.close();
            throw e;
        }
    }

    private Schema schema(Settings settings) {
        Optional<DatabaseLogin> owner = embedded == null
                ? DatabaseLogin.owner(settings.db())
                : Optional.of(new DatabaseLogin(embedded.owner()));
        String user = embedded == null ? settings.db().user() : embedded.login().user();
        return new Schema(
                login, owner.map(known -> new Schema.Owner(known, user)).orElse(null));
    }

    /** Returns the watch over the database: whether it answers and belongs to this service alone. */
    Presence presence() {
        return presence;
    }

    /** Becomes active or stands by. Waits for a database that starts or is upgraded later than this service. */
    private void begin(Settings settings, Role role) throws SQLException {
        long end = System.nanoTime() + settings.db().startWait().toNanos();
        for (boolean told = false; ; ) {
            try {
                refuseSharedSessions();
                if (lease.begin(role)) {
                    return;
                }
                if (System.nanoTime() > end) {
                    throw role == Role.WORKER ? Lease.unfit() : Lease.undecided();
                }
                pause(null);
            } catch (SQLException e) {
                if (!LostDatabase.isBehind(e) || System.nanoTime() > end) {
                    throw e;
                }
                if (!told) {
                    told = true;
                    LOG.warn(
                            "the database {} does not answer yet; waiting up to {} s",
                            settings.db(),
                            settings.db().startWait().toSeconds());
                }
                pause(e);
            }
        }
    }

    private void refuseSharedSessions() throws SQLException {
        if (embedded == null && login.sharesSessions()) {
            throw new StartFailure(
                    StartFailure.CONFIGURATION,
                    "a pooler before the database gives one session to several connections; expected pool_mode = session"
                            + " for Dozo's database, or a DOZO_DB_URL without the pooler");
        }
    }

    private static void pause(@Nullable SQLException failure) throws SQLException {
        try {
            Thread.sleep(PAUSE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw failure == null ? Presence.gone(false) : failure;
        }
    }

    /** Stops everything. Spring closes this bean after all beans that use it. */
    @Override
    public void close() throws IOException {
        try {
            presence.close();
            lease.close();
            stop();
        } finally {
            active.end();
        }
    }

    private void stop() throws IOException {
        if (embedded != null) {
            embedded.close();
        }
    }

    private static EmbeddedDatabase start(Settings settings) {
        Path folder = settings.embedded();
        if (Files.notExists(folder)) {
            LOG.info(
                    "creating an embedded database in {} because DOZO_DB_URL is not set; this takes some seconds",
                    folder);
        }
        return OpenDatabase.start(settings);
    }

    /**
     * Has the others know every 10 s what this process has in common with them. On a thread of its own: a file server that does not
     * respond must not hold up the lease.
     */
    @Component
    static class Announcement implements SmartInitializingSingleton, AutoCloseable {

        private static final Duration INTERVAL = Duration.ofSeconds(10);

        private final Database database;
        private final Likeness likeness;
        private final JdbcClient jdbc;
        private final Thread telling =
                Thread.ofPlatform().daemon().name("equipment").unstarted(this::tell);

        Announcement(Database database, Likeness likeness, JdbcClient jdbc) {
            this.database = database;
            this.likeness = likeness;
            this.jdbc = jdbc;
        }

        @Override
        public void afterSingletonsInstantiated() {
            if (database.role != Role.COMMAND && database.embedded == null) {
                telling.start();
            }
        }

        private void tell() {
            try {
                for (boolean told = false; ; ) {
                    try {
                        Equipment own = likeness.of(database.role, jdbc);
                        // Not before a first start has generated its keys.
                        told = told || Likeness.isComplete(own);
                        if (told) {
                            database.lease.equip(own);
                        }
                    } catch (RuntimeException e) {
                        // NB: a defect must not end the thread either, because nothing would be told any more.
                        LOG.debug("keys and settings cannot be told now", e);
                    }
                    Thread.sleep(told ? INTERVAL : PAUSE);
                }
            } catch (InterruptedException closing) {
                // The service is closing.
            }
        }

        @Override
        public void close() {
            telling.interrupt();
        }
    }

    @Configuration
    static class Pool {

        @Bean
        ActiveService activeService(Database database) {
            return database.active;
        }

        @Bean
        DataSource dataSource(Database database, Settings settings, TransferSettings transfer) {
            return new Pools(
                    database.presence,
                    database.lease,
                    database.login,
                    transfer.partitions(),
                    settings.db().requestLimit());
        }
    }
}
