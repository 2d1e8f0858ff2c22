package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;

/** A small separate file system; only root can mount one, so these tests do not run without root. */
public final class Tmpfs implements AutoCloseable {

    private final Path folder;

    /** Mounts one with these options of {@code mount -o}. */
    public Tmpfs(Path folder, String options) throws Exception {
        this.folder = Files.createDirectories(folder);
        String failure = failure("mount", "-t", "tmpfs", "-o", options, "tmpfs", folder.toString());
        assumeTrue(failure.isEmpty(), "only root can mount a small file system: " + failure);
    }

    public void remount(String options) throws Exception {
        assertThat(failure("mount", "-o", "remount," + options, folder.toString()))
                .isEmpty();
    }

    @Override
    public void close() throws Exception {
        assertThat(failure("umount", "-l", folder.toString())).isEmpty();
    }

    /** Returns the error of a command; empty if it succeeds. */
    private static String failure(String... command) throws Exception {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes());
        int status = process.waitFor();
        return status == 0 ? "" : "%s ended with %d: %s".formatted(command[0], status, output);
    }
}
