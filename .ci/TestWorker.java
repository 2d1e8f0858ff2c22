import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;
import static org.junit.platform.launcher.TagFilter.includeTags;

import com.sun.management.OperatingSystemMXBean;
import dozo.db.Starts;
import java.io.IOException;
import java.io.PrintWriter;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.platform.engine.Filter;
import org.junit.platform.launcher.Launcher;
import org.junit.platform.launcher.LauncherDiscoveryRequest;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;
import org.junit.platform.launcher.listeners.TestExecutionSummary;

/**
 * Runs test classes until their queue is empty. {@code ./dozo test} starts a few workers. Maven
 * would run one module after the other, and wait at the end of each for its longest class.
 *
 * <p>The queue is a folder with an empty file for each class, named {@code NUMBER-CLASS}: the worker that deletes it
 * runs the class. The result of a class is a file of its name with a line {@code SECONDS TESTS FAILED SKIPPED CPU} and what
 * it started, and one with the failures. CPU is in seconds, of this process and of all that it started if the kernel
 * accounts for them in a group.
 */
public final class TestWorker {

    private static final int STACK_LINES = 40;

    /** Selects tests by their tags; empty: all. The property, like the others, does not begin with {@code dozo.}: that is a setting. */
    private static final String TAGS = System.getProperty("suite.tags", "");

    /** The time limit of a test. */
    private static final int MINUTES = Integer.getInteger("suite.minutes", 10);

    private TestWorker() {}

    /** Arguments: the queue, the folder for results, the folder for failures, the pipe for progress lines. */
    public static void main(String[] arguments) throws IOException {
        Path queue = Path.of(arguments[0]);
        Path results = Path.of(arguments[1]);
        Path failures = Path.of(arguments[2]);
        try (LauncherSession session = LauncherFactory.openSession();
                PrintWriter progress = new PrintWriter(arguments[3])) {
            for (String name : names(queue)) {
                if (claim(queue.resolve(name))) {
                    run(session.getLauncher(), name.substring(name.indexOf('-') + 1), results, failures, progress);
                }
            }
        }
        // Ends threads that a test has left running.
        System.exit(0);
    }

    private static List<String> names(Path queue) throws IOException {
        try (Stream<Path> files = Files.list(queue)) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private static boolean claim(Path file) throws IOException {
        try {
            Files.delete(file);
            return true;
        } catch (NoSuchFileException another) {
            return false;
        }
    }

    private static boolean isAbstract(String name) {
        try {
            return Modifier.isAbstract(Class.forName(name, false, TestWorker.class.getClassLoader()).getModifiers());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Returns the processor time in nanoseconds: of the group that {@code ./dozo test} has put this process into, else of
     * this process without its children.
     */
    private static long cpuNanos() {
        try {
            return Long.parseLong(
                    Files.readString(Path.of(System.getProperty("suite.cpu", ""))).strip());
        } catch (IOException | NumberFormatException e) {
            return ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class)
                    .getProcessCpuTime();
        }
    }

    /** Returns {@code FAILED METHOD: REASON}; the launcher lists these lines at the end. */
    private static String inOneLine(TestExecutionSummary.Failure failure) {
        String reason = String.valueOf(failure.getException()).strip().replaceAll("\\s+", " ");
        return "FAILED %s: %.300s".formatted(failure.getTestIdentifier().getDisplayName(), reason);
    }

    private static LauncherDiscoveryRequest request(String name, String... tags) {
        return LauncherDiscoveryRequestBuilder.request()
                .selectors(selectClass(name))
                .filters(tags.length == 0 ? new Filter<?>[0] : new Filter<?>[] {includeTags(tags)})
                // A hanging test fails and prints the stacks of all threads.
                .configurationParameter("junit.jupiter.execution.timeout.default", MINUTES + " m")
                .configurationParameter("junit.jupiter.execution.timeout.threaddump.enabled", "true")
                .build();
    }

    private static void run(Launcher launcher, String name, Path results, Path failures, PrintWriter progress)
            throws IOException {
        if (isAbstract(name)) {
            Files.writeString(results.resolve(name), "0 0 0 0 0%n".formatted());
            return;
        }
        LauncherDiscoveryRequest request = request(name, TAGS.isEmpty() ? new String[0] : new String[] {TAGS});
        if (!launcher.discover(request).containsTests()
                && launcher.discover(request(name)).containsTests()) {
            Files.writeString(results.resolve(name), "0 0 0 0 0%n".formatted());
            return;
        }
        SummaryGeneratingListener listener = new SummaryGeneratingListener();
        long cpu = cpuNanos();
        Map<Starts, Integer> before = Starts.counts();
        launcher.execute(request, listener);
        TestExecutionSummary summary = listener.getSummary();
        double seconds = (summary.getTimeFinished() - summary.getTimeStarted()) / 1e3;
        long tests = summary.getTestsFoundCount();
        long failed = summary.getTotalFailureCount();
        long skipped = summary.getTestsSkippedCount()
                + summary.getTestsAbortedCount()
                + summary.getContainersSkippedCount()
                + summary.getContainersAbortedCount();
        if (failed > 0 || tests + skipped == 0) {
            try (PrintWriter text = new PrintWriter(Files.newBufferedWriter(failures.resolve(name)))) {
                text.println(tests + skipped == 0 ? name + " has no test" : name);
                summary.getFailures().forEach(failure -> text.println(inOneLine(failure)));
                summary.printFailuresTo(text, STACK_LINES);
            }
        }
        progress.printf("%6.1f s %4d tests %s %s%n", seconds, tests, failed > 0 ? "FAILED" : "ok    ", name);
        progress.flush();
        String starts = Starts.counts().entrySet().stream()
                .map(entry -> " %s=%d".formatted(entry.getKey(), entry.getValue() - before.getOrDefault(entry.getKey(), 0)))
                .collect(Collectors.joining());
        Files.writeString(
                results.resolve(name),
                "%.1f %d %d %d %.1f%s%n"
                        .formatted(seconds, tests, failed, skipped, (cpuNanos() - cpu) / 1e9, starts));
    }
}
