package dozo.db;

import static java.util.Objects.requireNonNull;

import io.zonky.test.db.postgres.embedded.DefaultPostgresBinaryResolver;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import io.zonky.test.db.postgres.embedded.PgBinaryResolver;
import java.io.Closeable;
import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A PostgreSQL server on loopback, with real server binaries, that keeps its data folder when it is closed. For
 * demonstrations, tests and small sites; a centre gives the address of its own server instead.
 *
 * <p>One process at a time may use a folder. A server that a killed process left behind on it is stopped first. A
 * login needs its password, kept in the folder and readable by its owner only. While supervised, a server that ends
 * unexpectedly is started again on the same port (ADR 0048).
 *
 * <p>The unpacked servers of earlier versions of Dozo stay in the folder, so that data of an earlier major version of PostgreSQL can be
 * read: see {@link EmbeddedFolder}.
 *
 * <p>It has two roles: the owner, a superuser, creates and upgrades the schema; the service logs in as the other one, which
 * has no rights but those that the owner grants (ADR 0098).
 */
public final class EmbeddedDatabase implements AutoCloseable {

    private static final Duration START_LIMIT = Duration.ofSeconds(60);

    /** With less space, a file system is as good as full: the server ends when it cannot write. */
    public static final long FREE_BYTES_MIN = 100_000_000;

    private static final int RESTARTS_MAX = 5;

    /** The pause before the first restart; doubled before each further one. */
    private static final Duration FIRST_PAUSE = Duration.ofMillis(500);

    /** A server that has run this long since its last start has all its restarts again. */
    private static final Duration STEADY = Duration.ofMinutes(1);

    private static final String OWNER = "postgres";
    private static final String OWNER_PASSWORD = "password";
    private static final String USER = "dozo";
    private static final String USER_PASSWORD = "service-password";

    /** The index of the line with the port in a server's pid file. */
    private static final int PORT_LINE = 3;

    private final Path data;
    private final Closeable lock;
    private final EmbeddedPostgres server;
    private final Path control;
    private final String ownerPassword;
    private final String userPassword;
    private volatile boolean closed;
    private @Nullable Thread supervisor;

    private EmbeddedDatabase(
            Path data,
            Closeable lock,
            EmbeddedPostgres server,
            Path control,
            String ownerPassword,
            String userPassword) {
        this.data = data;
        this.lock = lock;
        this.server = server;
        this.control = control;
        this.ownerPassword = ownerPassword;
        this.userPassword = userPassword;
    }

    /**
     * The data is of another major version of PostgreSQL than this program's server, which cannot read it. Nothing was changed.
     */
    public static final class OtherMajor extends IOException {

        private static final long serialVersionUID = 1L;

        OtherMajor(Path data, int found, int here) {
            super(
                    found < here
                            ? "%s is of PostgreSQL %d, and this version of Dozo has PostgreSQL %d. Nothing was changed. Upgrade it: dozo upgrade-database"
                                    .formatted(data, found, here)
                            : "%s is of PostgreSQL %d, and this version of Dozo has PostgreSQL %d. Nothing was changed. Install the later version of Dozo, or return to the database before the upgrade: dozo upgrade-database --back"
                                    .formatted(data, found, here));
        }
    }

    /**
     * Starts a server on a folder, which is created if missing and recovered if its last server was killed.
     *
     * @throws OtherMajor if the data is of another major version of PostgreSQL
     * @throws IOException if none could be started, with what to do about it
     */
    public static EmbeddedDatabase start(Path folder) throws IOException {
        return start(folder, true, DefaultPostgresBinaryResolver.INSTANCE);
    }

    /**
     * @param durable whether data survives a power cut; false for tests, whose data nobody needs again
     * @param programs of the server
     */
    static EmbeddedDatabase start(Path folder, boolean durable, PgBinaryResolver programs) throws IOException {
        EmbeddedFolder held = EmbeddedFolder.hold(folder);
        try {
            return on(held, held.current(), durable, programs, held);
        } catch (IOException | RuntimeException e) {
            held.close();
            throw e;
        }
    }

    /** @param held closed after the server, and by the caller if there is none */
    static EmbeddedDatabase on(
            EmbeddedFolder folder, Path data, boolean durable, PgBinaryResolver programs, Closeable held)
            throws IOException {
        Path home = folder.home();
        try {
            Files.createDirectories(data);
            ServerProcesses.stopLeftBehind(data);
            String ownerPassword = password(home.resolve(OWNER_PASSWORD));
            String userPassword = password(home.resolve(USER_PASSWORD));
            EmbeddedPostgres server = server(folder, data, ownerPassword, durable, new Bundled(folder, programs));
            try (Connection connection = server.getPostgresDatabase(Map.of("password", ownerPassword))
                            .getConnection();
                    Statement statement = connection.createStatement()) {
                createUser(statement, userPassword);
                if (Files.notExists(home.resolve("locked"))) {
                    requirePasswords(statement, data, ownerPassword);
                    Files.createFile(home.resolve("locked"));
                }
            }
            return new EmbeddedDatabase(data, held, server, ServerProcesses.control(data), ownerPassword, userPassword);
        } catch (InterruptedException e) {
            throw ServerProcesses.interrupted(e);
        } catch (UncheckedIOException e) {
            throw e.getCause();
        } catch (IOException | IllegalStateException | IllegalArgumentException | SQLException e) {
            throw new IOException("cannot start the embedded PostgreSQL in %s: %s".formatted(home, e.getMessage()), e);
        }
    }

    /** Notes which of the unpacked servers is the program's: the library names its folder by the archive's digest. */
    private static final class Bundled implements PgBinaryResolver {

        private final EmbeddedFolder folder;
        private final PgBinaryResolver archives;
        private @Nullable MessageDigest digest;

        Bundled(EmbeddedFolder folder, PgBinaryResolver archives) {
            this.folder = folder;
            this.archives = archives;
        }

        @Override
        public InputStream getPgBinary(String system, String machine) throws IOException {
            try {
                digest = MessageDigest.getInstance("MD5");
            } catch (NoSuchAlgorithmException e) {
                throw new IllegalStateException("every Java has MD5", e);
            }
            return new DigestInputStream(archives.getPgBinary(system, machine), digest);
        }

        /** Compares the versions. Called when the server is unpacked and the folder has data, before the server starts. */
        void refuseOther(File data) {
            try {
                int found = EmbeddedFolder.major(data.toPath());
                int here = EmbeddedFolder.majorOf(folder.servers()
                        .resolve("PG-"
                                + HexFormat.of()
                                        .formatHex(requireNonNull(digest).digest())));
                if (found != here) {
                    // The library has opened and locked it, and does not close it when its start fails.
                    Files.deleteIfExists(data.toPath().resolve("epg-lock"));
                    throw new OtherMajor(data.toPath(), found, here);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /** How to log in to a server. */
    public record Access(String url, String user, String password) {}

    /**
     * Returns how to log in to the server that another process runs on a folder now.
     *
     * @return empty if none runs
     * @throws IOException if the folder belongs to another user, for example
     */
    public static Optional<Access> access(Path folder) throws IOException {
        Path data = folder.toAbsolutePath().resolve("data");
        if (!Files.exists(data) || ServerProcesses.running(data).isEmpty()) {
            return Optional.empty();
        }
        List<String> facts = Files.readAllLines(ServerProcesses.pidFile(data));
        if (facts.size() <= PORT_LINE) {
            return Optional.empty();
        }
        String url = url(Integer.parseInt(facts.get(PORT_LINE).strip()));
        Path password = folder.resolve(USER_PASSWORD);
        // Without the file, the server was started by an earlier version, which has only the owner.
        return Optional.of(
                Files.exists(password)
                        ? new Access(url, USER, password(password))
                        : new Access(url, OWNER, password(folder.resolve(OWNER_PASSWORD))));
    }

    private static String url(int port) {
        return "jdbc:postgresql://127.0.0.1:%d/postgres".formatted(port);
    }

    /** Returns how the owner of the schema logs in at a server on one of these folder. */
    static Access owner(EmbeddedFolder folder, int port) throws IOException {
        return new Access(url(port), OWNER, password(folder.home().resolve(OWNER_PASSWORD)));
    }

    /** Returns the JDBC address of its database. */
    public String url() {
        return url(server.getPort());
    }

    /** Returns how the service logs in: as a role that owns nothing. */
    public Access login() {
        return new Access(url(), USER, userPassword);
    }

    /** Returns how the owner of the schema logs in, who is a superuser. */
    public Access owner() {
        return new Access(url(), OWNER, ownerPassword);
    }

    /**
     * Checks that there is space on its disk.
     *
     * @throws SQLException if there is not, as {@link LostDatabase#isFull} says, or if that is unknown
     */
    public void requireSpace() throws SQLException {
        long free;
        try {
            free = Files.getFileStore(data).getUsableSpace();
        } catch (IOException e) {
            throw new SQLException("the disk of %s cannot be examined: %s".formatted(data, e.getMessage()), e);
        }
        if (free < FREE_BYTES_MIN) {
            throw new SQLTransientConnectionException(
                    "the disk of %s is full: expected at least %d MB of free space, found %d MB; free some space there"
                            .formatted(data, FREE_BYTES_MIN / 1_000_000, free / 1_000_000),
                    LostDatabase.DISK_FULL);
        }
    }

    /**
     * Restarts the server whenever it ends without being closed: at most five times in a row, with growing pauses.
     *
     * @param lost called once, with the reason, if it could not be restarted; it is not supervised any more then
     */
    public void supervise(Consumer<IOException> lost) {
        supervise(FIRST_PAUSE, lost);
    }

    /** Does the same with another pause before the first restart. */
    synchronized void supervise(Duration firstPause, Consumer<IOException> lost) {
        if (supervisor == null) {
            supervisor =
                    Thread.ofPlatform().daemon().name("postgres-supervisor").start(() -> keepRunning(firstPause, lost));
        }
    }

    /** Stops the server; the data stays. */
    @Override
    public void close() throws IOException {
        closed = true;
        try {
            endSupervision();
        } finally {
            server.close();
            lock.close();
        }
    }

    private synchronized void endSupervision() {
        Thread watching = supervisor;
        if (watching == null) {
            return;
        }
        watching.interrupt();
        try {
            watching.join(ServerProcesses.STOP_LIMIT);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void keepRunning(Duration firstPause, Consumer<IOException> lost) {
        int restarts = 0;
        try {
            while (!closed) {
                long since = System.nanoTime();
                while (ServerProcesses.running(data).isPresent()) {
                    Thread.sleep(ServerProcesses.POLL);
                }
                if (System.nanoTime() - since > STEADY.toNanos()) {
                    restarts = 0;
                }
                String failure = "it ended repeatedly within %d s of its start".formatted(STEADY.toSeconds());
                for (boolean started = false; !started; restarts++) {
                    if (closed) {
                        return;
                    }
                    if (restarts == RESTARTS_MAX) {
                        lost.accept(new IOException(
                                "the embedded PostgreSQL in %s ended and could not be restarted (%d attempts): %s"
                                        .formatted(data, RESTARTS_MAX, failure)));
                        return;
                    }
                    Thread.sleep(firstPause.multipliedBy(1L << restarts));
                    try {
                        restart();
                        started = true;
                    } catch (IOException e) {
                        failure = String.valueOf(e.getMessage());
                    }
                }
            }
        } catch (InterruptedException closing) {
            // The closing thread stops the server.
        }
    }

    /** Starts the server as before: its options, including its port, are in its data folder. */
    private void restart() throws IOException, InterruptedException {
        ServerProcesses.stopLeftBehind(data);
        ServerControl.run(control, data, "restart");
    }

    private static EmbeddedPostgres server(
            EmbeddedFolder folder, Path data, String ownerPassword, boolean durable, Bundled programs)
            throws IOException {
        EmbeddedPostgres.Builder builder = EmbeddedPostgres.builder();
        if (!durable) {
            // A log that only covers this server's own life, and small.
            builder.setServerConfig("wal_level", "minimal")
                    .setServerConfig("max_wal_senders", "0")
                    .setServerConfig("full_page_writes", "off")
                    // Each of the many test connections derives a key; C1 code is slow at that.
                    .setServerConfig("scram_iterations", "1")
                    .setServerConfig("max_wal_size", "256MB");
        }
        return builder.setPort(ServerPort.choose())
                .setDataDirectory(data)
                // Unpacked beside the data, not into the shared temporary folder, which others may clean up.
                .setOverrideWorkingDirectory(folder.servers().toFile())
                .setPgBinaryResolver(programs)
                .setDataDirectoryCustomizer(programs::refuseOther)
                // NB: options of initdb, whatever they are about. Without these two it lets every local user in.
                .setLocaleConfig("auth", "scram-sha-256")
                .setLocaleConfig("pwfile", folder.home().resolve(OWNER_PASSWORD).toString())
                .setCleanDataDirectory(false)
                // The caller stops it, after everything that still writes; a hook would not wait for that.
                .setRegisterShutdownHook(false)
                .setPGStartupWait(START_LIMIT)
                // The library starts servers for tests, which do not wait for the disk; but a receipt must survive a
                // power cut.
                .setServerConfig("fsync", durable ? "on" : "off")
                .setServerConfig("synchronous_commit", durable ? "on" : "off")
                .setServerConfig("listen_addresses", "127.0.0.1")
                .setServerConfig("max_connections", durable ? "100" : "400")
                .setServerConfig("shared_buffers", "256MB")
                // For solid-state disks: with the default of 4, whole tables are read instead of a few rows by an
                // index.
                .setServerConfig("random_page_cost", "1.1")
                .setConnectConfig("password", ownerPassword)
                .start();
    }

    /** Creates the service's role, also in folder of earlier versions, and gives it the password of its file. */
    private static void createUser(Statement statement, String password) throws SQLException {
        statement.execute("""
                do $$
                begin
                    if not exists (select from pg_roles where rolname = 'dozo') then
                        create role dozo;
                    end if;
                end
                $$
                """);
        statement.execute(
                "alter role dozo login nosuperuser nocreatedb nocreaterole noreplication nobypassrls password '%s'"
                        .formatted(password));
    }

    /** Requires passwords in a folder whose first start, by an earlier version, was interrupted: initdb let every local user in. */
    private static void requirePasswords(Statement statement, Path data, String ownerPassword)
            throws SQLException, IOException {
        statement.execute("alter role " + OWNER + " password '" + ownerPassword + "'");
        Files.writeString(
                data.resolve("pg_hba.conf"), "local all all scram-sha-256\nhost all all 127.0.0.1/32 scram-sha-256\n");
        statement.execute("select pg_reload_conf()");
    }

    private static String password(Path file) throws IOException {
        if (!Files.exists(file)) {
            byte[] secret = new byte[24];
            new SecureRandom().nextBytes(secret);
            Path fresh = Files.createTempFile(
                    file.getParent(),
                    ".password",
                    "",
                    PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
            Files.writeString(fresh, HexFormat.of().formatHex(secret));
            Files.move(fresh, file);
        }
        return Files.readString(file).strip();
    }
}
