package dozo.broker;

import static org.awaitility.Awaitility.await;

import dozo.db.Starts;
import dozo.loopback.Ports;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.springframework.util.FileSystemUtils;

/**
 * A real RabbitMQ from Debian's package, on loopback with its own ports and folder. All tests of a process use the same
 * one.
 */
public final class RabbitBroker {

    private static final Duration LIMIT = Duration.ofMinutes(5);

    private final Path folder;
    private final int port = Ports.free();
    private final Map<String, String> environment;
    private Process server;

    private static final class Holder {
        private static final RabbitBroker BROKER = first();
    }

    private RabbitBroker(Path folder) throws IOException {
        this.folder = folder;
        // NB: the node's name is its identity. The port makes it the only one of its kind on this machine.
        environment = Map.ofEntries(
                Map.entry("HOME", folder.toString()),
                Map.entry("ERL_EPMD_PORT", String.valueOf(Ports.free())),
                Map.entry("ERL_EPMD_ADDRESS", "127.0.0.1"),
                // It may be ended before it knows that the broker is dead.
                Map.entry("ERL_EPMD_RELAXED_COMMAND_CHECK", "true"),
                Map.entry("RABBITMQ_NODENAME", "dozo%d@localhost".formatted(port)),
                Map.entry("RABBITMQ_NODE_IP_ADDRESS", "127.0.0.1"),
                Map.entry("RABBITMQ_NODE_PORT", String.valueOf(port)),
                Map.entry("RABBITMQ_DIST_PORT", String.valueOf(Ports.free())),
                Map.entry("RABBITMQ_MNESIA_BASE", folder.resolve("db").toString()),
                Map.entry("RABBITMQ_LOG_BASE", folder.resolve("log").toString()),
                Map.entry(
                        "RABBITMQ_ENABLED_PLUGINS_FILE",
                        folder.resolve("plugins").toString()),
                Map.entry("RABBITMQ_CONFIG_FILE", folder.resolve("none").toString()));
        server = start();
    }

    /** Returns the broker. Starts it again if an earlier test has killed it. */
    public static RabbitBroker running() throws IOException {
        if (!Holder.BROKER.server.isAlive()) {
            Holder.BROKER.restart();
        }
        return Holder.BROKER;
    }

    private static RabbitBroker first() {
        try {
            RabbitBroker broker = new RabbitBroker(Files.createTempDirectory("dozo-test-broker"));
            Runtime.getRuntime().addShutdownHook(new Thread(broker::end));
            return broker;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public String url() {
        return "amqp://127.0.0.1:" + port;
    }

    /** Returns the settings of a process that uses it. */
    public BrokerSettings settings() {
        return new BrokerSettings(url(), "", "");
    }

    /** Kills it. */
    public void kill() throws InterruptedException {
        Stream.concat(server.descendants(), Stream.of(server.toHandle())).forEach(ProcessHandle::destroyForcibly);
        server.waitFor();
    }

    /** Starts it again with the same port and data. */
    public void restart() throws IOException {
        server = start();
    }

    /** Raises the alarm of a full disk, or ends it. */
    public void disk(boolean full) throws IOException, InterruptedException {
        run("rabbitmqctl", "set_disk_free_limit", full ? "1000000GB" : "1MB");
    }

    private Process start() throws IOException {
        Starts.SERVER.count();
        Process started = command("rabbitmq-server").start();
        await().atMost(LIMIT)
                .failFast("it has ended; see its log in " + folder, () -> !started.isAlive())
                .until(() -> Files.readString(folder.resolve("output")).contains("completed with"));
        return started;
    }

    private void run(String... words) throws IOException, InterruptedException {
        Process process = command(words).start();
        if (!process.waitFor(LIMIT.toSeconds(), TimeUnit.SECONDS) || process.exitValue() != 0) {
            throw new AssertionError(Files.readString(folder.resolve("output")));
        }
    }

    private ProcessBuilder command(String... words) {
        String program = Stream.of("/usr/lib/rabbitmq/bin/", "/usr/sbin/", "")
                .map(place -> place + words[0])
                .filter(each -> Files.isExecutable(Path.of(each)))
                .findFirst()
                .orElseThrow(() -> new AssertionError("install the package rabbitmq-server"));
        ProcessBuilder builder = new ProcessBuilder(
                Stream.concat(Stream.of(program), List.of(words).stream().skip(1))
                        .toList());
        builder.environment().putAll(environment);
        // It leaves a dump of its memory there when it is killed.
        builder.directory(folder.toFile());
        return builder.redirectErrorStream(true)
                .redirectOutput(
                        words.length > 1
                                ? Redirect.appendTo(folder.resolve("output").toFile())
                                : Redirect.to(folder.resolve("output").toFile()));
    }

    private void end() {
        try {
            kill();
            ProcessBuilder end = new ProcessBuilder("epmd", "-kill");
            end.environment().putAll(environment);
            end.redirectErrorStream(true)
                    .redirectOutput(Redirect.DISCARD)
                    .start()
                    .waitFor();
            FileSystemUtils.deleteRecursively(folder);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
