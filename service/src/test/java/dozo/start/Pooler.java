package dozo.start;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import dozo.loopback.Ports;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A PgBouncer in front of a test's database. */
public final class Pooler implements AutoCloseable {

    private static final Duration LIMIT = Duration.ofMinutes(2);

    /** It refuses to run as root. */
    private static final String USER = "nobody";

    private final Path settings;
    private final String url;
    private @Nullable Process process;

    /**
     * Starts one.
     *
     * @param mode session, transaction or statement
     */
    public Pooler(Path folder, HikariDataSource database, String mode) throws IOException {
        URI server = URI.create(String.valueOf(database.getJdbcUrl()).substring("jdbc:".length()));
        int port = Ports.free();
        settings = Files.writeString(Files.createDirectories(folder).resolve("pgbouncer.ini"), """
                [databases]
                %s = host=%s port=%d user=%s password=%s
                [pgbouncer]
                listen_addr = 127.0.0.1
                listen_port = %d
                unix_socket_dir =
                auth_type = any
                pool_mode = %s
                default_pool_size = 60
                ignore_startup_parameters = extra_float_digits
                """.formatted(
                        server.getPath().substring(1),
                        server.getHost(),
                        server.getPort(),
                        database.getUsername(),
                        database.getPassword(),
                        port,
                        mode));
        url = "jdbc:postgresql://127.0.0.1:%d%s".formatted(port, server.getPath());
        start();
    }

    public String url() {
        return url;
    }

    void start() throws IOException {
        List<String> command = new ArrayList<>(List.of(program().toString()));
        if (System.getProperty("user.name").equals("root")) {
            command.addAll(List.of("-u", USER));
        }
        command.add(settings.toString());
        process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(settings.resolveSibling("pgbouncer.log").toFile())
                .start();
        await().atMost(LIMIT).until(this::answers);
    }

    /** Kills it, with all connections. */
    void stop() throws InterruptedException {
        Process running = process;
        if (running != null) {
            running.destroyForcibly();
            assertThat(running.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        }
    }

    @Override
    public void close() throws InterruptedException {
        stop();
    }

    private boolean answers() throws IOException {
        assertThat(process)
                .as(Files.readString(settings.resolveSibling("pgbouncer.log")))
                .matches(Process::isAlive);
        try (Connection _ = DriverManager.getConnection(url, "any", "any")) {
            return true;
        } catch (SQLException notYet) {
            return false;
        }
    }

    private static Path program() {
        return List.of("/usr/sbin/pgbouncer", "/usr/bin/pgbouncer", "/usr/local/bin/pgbouncer").stream()
                .map(Path::of)
                .filter(Files::isExecutable)
                .findFirst()
                .orElseThrow(() -> new AssertionError("install pgbouncer; ./dozo test does so"));
    }
}
