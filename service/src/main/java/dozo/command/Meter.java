package dozo.command;

import java.io.PrintWriter;
import java.util.concurrent.TimeUnit;

/**
 * Shows lines of progress: on a terminal in one line that is overwritten, otherwise in a new line now and then if
 * something has changed. All other output meanwhile goes through this meter, so that lines do not mix. Thread-safe.
 */
public final class Meter implements AutoCloseable {

    /** Where progress goes. */
    enum Manner {
        NOTHING,
        LINES,
        TERMINAL;

        static Manner of(boolean quiet) {
            return quiet ? NOTHING : Terminal.takesErrors() ? TERMINAL : LINES;
        }
    }

    private static final String CLEAR = "\r\u001b[K";

    /** Fits a narrow terminal. A line that is broken there cannot be overwritten. */
    private static final int NARROW = 79;

    /** Between two lines that stay, and before the first. */
    private static final long PAUSE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private final PrintWriter out;
    private final Manner manner;
    private String last = "";
    private long dueAt = System.nanoTime() + PAUSE_NANOS;
    private boolean closed;
    private boolean paused;

    Meter(PrintWriter out, Manner manner) {
        this.out = out;
        this.manner = manner;
    }

    /** Returns a meter on standard output. */
    public static Meter on(PrintWriter out) {
        return new Meter(out, Terminal.takesOutput() ? Manner.TERMINAL : Manner.LINES);
    }

    /** Shows how far the work is; ignored after the meter was closed. */
    public void show(String line) {
        show(line, System.nanoTime());
    }

    synchronized void show(String line, long nanos) {
        if (closed || paused || manner == Manner.NOTHING || line.isEmpty()) {
            return;
        }
        if (manner == Manner.TERMINAL) {
            out.print(CLEAR + line.substring(0, Math.min(line.length(), NARROW)));
        } else if (!line.equals(last) && nanos - dueAt >= 0) {
            out.println(line);
            last = line;
            dueAt = nanos + PAUSE_NANOS;
        }
        out.flush();
    }

    /** Prints a line of its own. */
    synchronized void say(String line) {
        clear();
        out.println(line);
        out.flush();
    }

    /**
     * Shows no progress from now on, or again. NB: whoever asks at the terminal meanwhile must not hold this meter's
     * lock, because Ctrl-C closes the meter.
     */
    synchronized void pause(boolean begin) {
        paused = begin;
        clear();
        out.flush();
    }

    @Override
    public synchronized void close() {
        if (!closed) {
            clear();
            out.flush();
        }
        closed = true;
    }

    private void clear() {
        if (manner == Manner.TERMINAL) {
            out.print(CLEAR);
        }
    }
}
