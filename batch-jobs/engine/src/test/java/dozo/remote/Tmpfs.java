package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dozo.db.Program;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.stream.Stream;

/** A small separate file system; only root can mount one, so these tests do not run without root. */
public final class Tmpfs implements AutoCloseable {

    private final Path folder;

    /** Mounts one with these options of {@code mount -o}. */
    public Tmpfs(Path folder, String options) throws Exception {
        this.folder = Files.createDirectories(folder);
        mount("-t", "tmpfs", "-o", options, "tmpfs", folder.toString());
    }

    static void mount(String... arguments) throws Exception {
        String failure =
                failure(Stream.concat(Stream.of("mount"), Stream.of(arguments)).toArray(String[]::new));
        assumeTrue(failure.isEmpty(), "only root can mount: " + failure);
    }

    /** Waits until it succeeds: a server closes its files some time after the connection to it has ended. */
    public void remount(String options) {
        await().atMost(Duration.ofMinutes(5))
                .untilAsserted(() -> assertThat(failure("mount", "-o", "remount," + options, folder.toString()))
                        .isEmpty());
    }

    @Override
    public void close() throws Exception {
        unmount(folder);
    }

    static void unmount(Path path) throws Exception {
        assertThat(failure("umount", "-l", path.toString())).isEmpty();
    }

    /** Returns the error of a command; empty if it succeeds. */
    private static String failure(String... command) throws Exception {
        Program ended = Program.run(command);
        return ended.exitCode() == 0
                ? ""
                : "%s ended with %d: %s".formatted(command[0], ended.exitCode(), ended.output());
    }
}
