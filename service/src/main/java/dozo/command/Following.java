package dozo.command;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.Predicate;

/** Follows what the service works on to its end, and shows the progress on standard error. */
final class Following {

    private static final Duration POLL = Duration.ofMillis(500);

    private Following() {}

    /**
     * Returns the last state.
     *
     * @param address where the state is
     * @param line the progress; empty: nothing to show
     * @param ifInterrupted what becomes of the work if only this process ends, for example by Ctrl-C
     */
    static <T> Answer<T> end(
            Connection service,
            Answer<T> started,
            String address,
            Class<T> type,
            Predicate<T> goesOn,
            Function<T, String> line,
            String ifInterrupted)
            throws InterruptedException {
        Thread atExit = new Thread(() -> say(service.commandLine().getErr(), ifInterrupted));
        Runtime.getRuntime().addShutdownHook(atExit);
        try {
            try (Meter meter = new Meter(service.commandLine().getErr(), Meter.Manner.of(service.quiet()))) {
                Answer<T> shown = started;
                while (goesOn.test(shown.value())) {
                    meter.show(line.apply(shown.value()));
                    Thread.sleep(POLL);
                    shown = service.get(address, type);
                }
                return shown;
            }
        } finally {
            forget(atExit);
        }
    }

    private static void say(PrintWriter err, String line) {
        err.println();
        err.println("dozo: " + line);
        err.flush();
    }

    private static void forget(Thread atExit) {
        try {
            Runtime.getRuntime().removeShutdownHook(atExit);
        } catch (IllegalStateException stopping) {
            // The process is being stopped, and the line is being printed.
        }
    }
}
