package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dozo.db.ChildJava;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A second, read-only view of a folder by a slow user-space file server, which handles any number of requests at the
 * same time, or hangs for a while. Nothing is cached. Only root can mount one, so these tests do not run without root.
 */
public final class SlowMount implements AutoCloseable {

    private final Path mounted;
    private final Process server;
    private final PrintWriter orders;
    private final BufferedReader answers;

    /** Shows a folder at another, existing one; each answer is delayed. */
    public SlowMount(Path shown, Path at, Duration delay) throws Exception {
        mounted = at;
        server = ChildJava.of(SlowFileServer.class)
                .options("-Xmx64m")
                .arguments(shown.toString(), at.toString(), String.valueOf(delay.toNanos()))
                .process()
                .redirectErrorStream(true)
                .start();
        orders = new PrintWriter(server.outputWriter(StandardCharsets.US_ASCII), true);
        answers = server.inputReader(StandardCharsets.US_ASCII);
        String said = answers.readLine();
        assumeTrue("mounted".equals(said), "only root, where there is FUSE, can mount a file system: " + said);
    }

    /** Returns the largest number of requests that waited at the same time. */
    public int most() throws IOException {
        return ask("most");
    }

    /** Returns the same since the last call. */
    public int mostNow() throws IOException {
        return ask("mostNow");
    }

    /** Delays each later answer by so much. */
    public void delay(Duration delay) throws IOException {
        ask("delay " + delay.toNanos());
    }

    /** Answers nothing from now on, like a dead file server. */
    public void hang() throws IOException {
        ask("hang");
    }

    /** From now on does not answer reads beyond the first 256 KiB of a file. */
    public void hangLater() throws IOException {
        ask("hangLater");
    }

    /** Answers nothing from the first read beyond the first 256 KiB of a file on. */
    public void dieLater() throws IOException {
        ask("dieLater");
    }

    /** Returns how many requests wait for the file server to come back. */
    public int hanging() throws IOException {
        return ask("hanging");
    }

    /** Answers hanging requests and all later ones. */
    public void comeBack() throws IOException {
        ask("comeBack");
    }

    /** Returns how many of its files this process has open. */
    public int open() throws IOException {
        try (Stream<Path> open = Files.list(Path.of("/proc/self/fd"))) {
            return (int) open.filter(each -> Fuse.target(each).startsWith(mounted + "/"))
                    .count();
        }
    }

    /** Ends the file server; requests that still wait fail. */
    @Override
    public void close() throws Exception {
        orders.close();
        assertThat(server.waitFor(10, TimeUnit.SECONDS)).isTrue();
        Tmpfs.unmount(mounted);
    }

    private synchronized int ask(String order) throws IOException {
        orders.println(order);
        return Integer.parseInt(answers.readLine());
    }
}
