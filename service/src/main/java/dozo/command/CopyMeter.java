package dozo.command;

import dozo.command.Pace.Rate;
import dozo.copy.Copy;
import dozo.copy.Copy.Progress;
import dozo.file.Size;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Shows the progress of a copy: on a terminal in one line that is overwritten, otherwise in a new line now and then.
 * All other output during the copy goes through this meter, so that lines do not mix.
 */
final class CopyMeter implements AutoCloseable {

    /** How often and in which form to show progress. */
    enum Manner {
        NOTHING(Duration.ofDays(1)),
        LINES(Duration.ofSeconds(10)),
        TERMINAL(Duration.ofMillis(250));

        private final Duration pause;

        Manner(Duration pause) {
            this.pause = pause;
        }

        static Manner of(boolean quiet) {
            return quiet ? NOTHING : Terminal.takesErrors() ? TERMINAL : LINES;
        }
    }

    private static final String CLEAR = "\r\u001b[K";

    private final Copy copy;
    private final PrintWriter err;
    private final Manner manner;
    private final Pace pace = new Pace();
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition over = lock.newCondition();
    private boolean closed;

    private CopyMeter(Copy copy, PrintWriter err, Manner manner) {
        this.copy = copy;
        this.err = err;
        this.manner = manner;
        pace.add(System.nanoTime(), 0, 0);
    }

    /** Starts to show progress, until the meter is closed. */
    static CopyMeter of(Copy copy, PrintWriter err, Manner manner) {
        CopyMeter meter = new CopyMeter(copy, err, manner);
        if (manner != Manner.NOTHING) {
            Thread.ofPlatform().daemon().name("progress").start(meter::tell);
        }
        return meter;
    }

    /** Prints a line of its own. */
    void say(String line) {
        lock.lock();
        try {
            clear();
            err.println(line);
            err.flush();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            if (!closed) {
                clear();
                err.flush();
            }
            closed = true;
            over.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void tell() {
        try {
            while (waited()) {
                // NB: without this meter's lock, because the copy may hold its own lock while it prints through this
                // meter.
                Progress progress = copy.progress();
                String line = line(progress);
                lock.lock();
                try {
                    show(line);
                } finally {
                    lock.unlock();
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until the next line is due; returns false if there is none. */
    private boolean waited() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            long left = manner.pause.toNanos();
            while (!closed && left > 0) {
                left = over.awaitNanos(left);
            }
            return !closed;
        } finally {
            lock.unlock();
        }
    }

    private void show(String line) {
        if (closed) {
            return;
        }
        clear();
        if (manner == Manner.TERMINAL) {
            err.print(line);
        } else {
            err.println(line);
        }
        err.flush();
    }

    private void clear() {
        if (manner == Manner.TERMINAL) {
            err.print(CLEAR);
        }
    }

    private String line(Progress progress) {
        return line(progress, pace.add(System.nanoTime(), progress.bytesMoved(), progress.entriesVerified()));
    }

    /** Returns the progress and these rates in less than the 80 columns of a narrow terminal. */
    static String line(Progress progress, Rate rate) {
        // A large file is verified only at its end, and existing files are never moved. The larger number is closer to
        // the real progress.
        long done = Math.min(progress.bytes(), Math.max(progress.bytesVerified(), progress.bytesMoved()));
        return "%s%s of %s%s  %s/s  %,d entries/s%s  %d %s"
                .formatted(
                        progress.counted() ? "%3d%%  ".formatted(percent(progress, done)) : "",
                        Size.text(done),
                        Size.text(progress.bytes()),
                        progress.counted() ? "" : " so far",
                        Size.text(rate.bytes()),
                        rate.entries(),
                        progress.counted() ? rate.left(progress.bytes() - done) : "",
                        progress.lanes(),
                        progress.lanes() == 1 ? "lane" : "lanes");
    }

    /** Returns the progress in percent: 100 only if everything is verified. */
    private static long percent(Progress progress, long done) {
        if (progress.complete()) {
            return 100;
        }
        double part = progress.bytes() > 0
                ? (double) done / progress.bytes()
                : (double) progress.entriesVerified() / Math.max(1, progress.entries());
        return Math.min(99, (long) (100 * part));
    }
}
