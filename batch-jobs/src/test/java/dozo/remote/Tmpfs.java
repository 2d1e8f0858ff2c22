package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Files;
import java.nio.file.Path;

/** A small file system of its own; only root can make one, so that without root these tests do not run. */
public final class Tmpfs implements AutoCloseable {

    private final Path folder;

    public Tmpfs(Path folder, String options) throws Exception {
        this.folder = Files.createDirectories(folder);
        assumeTrue(
                run("mount", "-t", "tmpfs", "-o", options, "tmpfs", folder.toString()) == 0,
                "only root can mount a small file system");
    }

    public void makeReadOnly() throws Exception {
        assertThat(run("mount", "-o", "remount,ro", folder.toString())).isZero();
    }

    @Override
    public void close() throws Exception {
        assertThat(run("umount", "-l", folder.toString())).isZero();
    }

    private static int run(String... command) throws Exception {
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
    }
}
