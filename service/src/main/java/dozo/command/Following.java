package dozo.command;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.function.Function;
import java.util.function.Predicate;

/** Follows what the service works on to its end, and shows the progress on standard error. */
final class Following {

    private static final Duration POLL = Duration.ofMillis(500);
    private static final String CLEAR = "\r\u001b[K";

    /** The columns of a narrow terminal. A line that is broken there cannot be overwritten. */
    private static final int NARROW = 80;

    private Following() {}

    /**
     * Returns the last state.
     *
     * @param address where the state is
     * @param line the progress; on a terminal, if it is short, in one line that is overwritten; else in a new line when it changes
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
            PrintWriter err = service.progress();
            boolean terminal = Terminal.attached();
            Answer<T> shown = started;
            String last = "";
            while (goesOn.test(shown.value())) {
                String text = line.apply(shown.value());
                if (terminal && text.length() < NARROW) {
                    err.print(CLEAR + text);
                } else if (!text.equals(last)) {
                    err.println((terminal ? CLEAR : "") + text);
                }
                err.flush();
                last = text;
                Thread.sleep(POLL);
                shown = service.get(address, type);
            }
            if (terminal) {
                err.print(CLEAR);
                err.flush();
            }
            return shown;
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
