package dozo.db;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A PostgreSQL server of our own on loopback, with real server binaries, that keeps its data folder when it is closed.
 * For demonstrations, tests and small sites; a centre gives the address of its own server instead.
 *
 * <p>One process at a time may use a folder. A server that a killed process left behind on it is stopped first. The
 * login needs the password kept in the folder, readable by its owner only.
 */
public final class EmbeddedDatabase implements AutoCloseable {

    private static final Duration START_LIMIT = Duration.ofSeconds(60);
    private static final Duration STOP_LIMIT = Duration.ofSeconds(30);
    private static final String USER = "postgres";

    private final FileChannel lock;
    private final EmbeddedPostgres server;
    private final String password;

    private EmbeddedDatabase(FileChannel lock, EmbeddedPostgres server, String password) {
        this.lock = lock;
        this.server = server;
        this.password = password;
    }

    /**
     * Starts a server on a folder, which is made when missing and recovered when its last server was killed.
     *
     * @throws IOException if none could be started, with what to do about it
     */
    public static EmbeddedDatabase start(Path folder) throws IOException {
        return start(folder, true);
    }

    /** @param durable else a power cut may lose all of it: for tests, whose data nobody needs again */
    static EmbeddedDatabase start(Path folder, boolean durable) throws IOException {
        Path home = folder.toAbsolutePath();
        Path data = home.resolve("data");
        Files.createDirectories(data);
        // The library unpacks the server for all to write: nobody else may come this far.
        Files.setPosixFilePermissions(home, PosixFilePermissions.fromString("rwx------"));
        FileChannel lock = lock(home.resolve("lock"));
        try {
            stopLeftBehind(data);
            String password = password(home.resolve("password"));
            boolean locked = Files.exists(home.resolve("locked"));
            // Before it is demanded, any password will do.
            EmbeddedPostgres server = server(data, home.resolve("server"), password, durable);
            if (!locked) {
                demandPassword(server, data, password);
                Files.createFile(home.resolve("locked"));
            }
            return new EmbeddedDatabase(lock, server, password);
        } catch (IOException | IllegalStateException | IllegalArgumentException | SQLException e) {
            lock.close();
            throw new IOException(
                    "no embedded PostgreSQL could be started on %s: %s".formatted(home, e.getMessage()), e);
        }
    }

    /** The JDBC address of its database. */
    public String url() {
        return "jdbc:postgresql://127.0.0.1:%d/postgres".formatted(server.getPort());
    }

    public String user() {
        return USER;
    }

    public String password() {
        return password;
    }

    /** Stops the server; the data stays. */
    @Override
    public void close() throws IOException {
        server.close();
        lock.close();
    }

    private static FileChannel lock(Path file) throws IOException {
        FileChannel channel = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        try {
            if (channel.tryLock() != null) {
                return channel;
            }
        } catch (OverlappingFileLockException heldByThisProcess) {
            // The same answer as for another process: below.
        }
        channel.close();
        throw new IOException("another Dozo is using %s. Stop it, or name another folder.".formatted(file.getParent()));
    }

    private static EmbeddedPostgres server(Path data, Path binaries, String password, boolean durable)
            throws IOException {
        return EmbeddedPostgres.builder()
                .setDataDirectory(data)
                // Unpacked beside the data, not into the common temporary folder that others may clean up.
                .setOverrideWorkingDirectory(binaries.toFile())
                .setCleanDataDirectory(false)
                // Who started it stops it, after everything that still writes; a hook would not wait for that.
                .setRegisterShutdownHook(false)
                .setPGStartupWait(START_LIMIT)
                // The library starts servers for tests, which wait for no disk: a receipt must survive a power cut.
                .setServerConfig("fsync", durable ? "on" : "off")
                .setServerConfig("synchronous_commit", durable ? "on" : "off")
                .setServerConfig("listen_addresses", "127.0.0.1")
                .setServerConfig("max_connections", durable ? "100" : "400")
                .setServerConfig("shared_buffers", "256MB")
                // As for solid-state disks: with the usual 4, whole tables are read where a few rows by an index would
                // do.
                .setServerConfig("random_page_cost", "1.1")
                .setConnectConfig("password", password)
                .start();
    }

    /** initdb lets every local user in; from here on the password is asked for, over the socket file too. */
    private static void demandPassword(EmbeddedPostgres server, Path data, String password)
            throws SQLException, IOException {
        try (Connection connection = server.getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("alter user " + USER + " password '" + password + "'");
            Files.writeString(
                    data.resolve("pg_hba.conf"),
                    "local all all scram-sha-256\nhost all all 127.0.0.1/32 scram-sha-256\n");
            statement.execute("select pg_reload_conf()");
        }
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

    /**
     * Stops the server that a killed process left on this folder. We hold the folder's lock, so it has no owner; that it
     * is the folder's server is seen from its command line, because process ids are used again.
     */
    private static void stopLeftBehind(Path data) throws IOException {
        Path pidFile = data.resolve("postmaster.pid");
        if (!Files.exists(pidFile)) {
            return;
        }
        List<String> lines = Files.readAllLines(pidFile);
        ProcessHandle server = lines.isEmpty()
                ? null
                : ProcessHandle.of(Long.parseLong(lines.getFirst().strip())).orElse(null);
        if (server == null || !server.info().commandLine().orElse("").contains(data.toString())) {
            return;
        }
        server.destroy();
        try {
            server.onExit().get(STOP_LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (TimeoutException | ExecutionException e) {
            throw new IOException("the server left behind as process %d does not stop".formatted(server.pid()), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted while stopping the server left behind", e);
        }
    }
}
