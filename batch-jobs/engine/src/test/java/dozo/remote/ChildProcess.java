package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dozo.db.ChildJava;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;

/** Work with a site in a separate process, for tests that kill it or limit its memory. */
public final class ChildProcess implements AutoCloseable {

    private static final int SITE_ARGUMENTS = 6;
    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final Duration POLL = Duration.ofMillis(2);

    private final Process process;
    private final Path log;

    /**
     * Starts a test class that has a {@code main}; it exits at once when out of memory.
     *
     * @param log receives its output
     */
    public ChildProcess(Class<?> main, int heapMegabytes, Path log, SiteAddress site, String... arguments)
            throws IOException {
        this.log = log;
        this.process = ChildJava.of(main)
                .options("-Xmx%dm".formatted(heapMegabytes), "-XX:+ExitOnOutOfMemoryError")
                .arguments(words(site))
                .arguments(arguments)
                .process()
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                .start();
    }

    /** Returns the first arguments of a child, for {@link #site}. */
    public static List<String> words(SiteAddress site) {
        return List.of(
                site.host(),
                String.valueOf(site.port()),
                site.user(),
                site.root(),
                site.identity().toString(),
                site.hostKey());
    }

    /** Returns the site that the child was started with. Called in the child. */
    public static SiteAddress site(String[] all) {
        return new SiteAddress(all[0], Integer.parseInt(all[1]), all[2], all[3], Path.of(all[4]), all[5]);
    }

    /** Returns the other arguments. Called in the child. */
    public static String[] arguments(String[] all) {
        return Arrays.copyOfRange(all, SITE_ARGUMENTS, all.length);
    }

    /** Sends a signal such as {@code STOP} to a process of the test. One that has ended needs no {@code CONT}. */
    public static void signal(ProcessHandle process, String name) throws IOException, InterruptedException {
        String[] kill = {"kill", "-" + name, String.valueOf(process.pid())};
        if (new ProcessBuilder(kill).start().waitFor() != 0 && (process.isAlive() || !name.equals("CONT"))) {
            throw new IllegalStateException(
                    "expected that %s can be sent to process %d".formatted(name, process.pid()));
        }
    }

    /** Sends it a signal such as {@code STOP} or {@code CONT}. */
    void signal(String name) throws IOException, InterruptedException {
        signal(process.toHandle(), name);
    }

    /** Kills it as soon as something is so. It fails if the process has ended before. */
    public void killWhen(Callable<Boolean> condition) throws Exception {
        try (ChildProcess _ = this) {
            awaitInWork(condition);
        }
    }

    /** Waits until something is so. It fails if the process has ended before. */
    public void awaitInWork(Callable<Boolean> condition) throws IOException {
        await().atMost(LIMIT).pollInterval(POLL).until(() -> condition.call() || !isAlive());
        assertAlive();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    public void assertAlive() throws IOException {
        assertThat(isAlive()).as(Files.readString(log)).isTrue();
    }

    /** Waits for its end, which must be successful. */
    public void assertEndsWell(Duration limit) throws Exception {
        assertThat(process.waitFor(limit)).isTrue();
        assertThat(process.exitValue()).as(Files.readString(log)).isZero();
    }

    /** Kills it, as by {@code kill -9}, and waits until it is dead. */
    @Override
    public void close() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }
}
