package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/**
 * A mounted file system that never answers, like that of a dead file server: its user-space server is only an open
 * device. Only root can mount one, so these tests do not run without root.
 */
public final class HungMount implements AutoCloseable {

    private static final String MOUNT = """
            exec 5<>/dev/fuse && mount -i -t fuse hung "$1" -o fd=5,rootmode=40000,user_id=0,group_id=0 && echo mounted && cat
            """;

    private final Path folder;
    private final Process server;

    /** Mounts one onto an existing folder. */
    public HungMount(Path folder) throws Exception {
        this.folder = folder;
        server = new ProcessBuilder("bash", "-c", MOUNT, "hung", folder.toString())
                .redirectErrorStream(true)
                .start();
        String said = server.inputReader().readLine();
        assumeTrue("mounted".equals(said), "only root can mount a file system that hangs: " + said);
    }

    /** Closes the device: everything that hangs fails. */
    @Override
    public void close() throws Exception {
        server.getOutputStream().close();
        assertThat(server.waitFor(10, TimeUnit.SECONDS)).isTrue();
        Tmpfs.unmount(folder);
    }
}
