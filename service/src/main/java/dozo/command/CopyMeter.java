package dozo.command;

import dozo.command.Meter.Manner;
import dozo.copy.Copy;
import dozo.copy.Copy.Progress;
import dozo.plan.Work;
import java.io.PrintWriter;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Shows the progress of a copy, from a thread of its own. */
final class CopyMeter implements AutoCloseable {

    private static final long POLL_MILLIS = 250;

    private final Copy copy;
    private final Meter meter;
    private final @Nullable Work expected;
    private final Pace pace = new Pace();
    private final CountDownLatch over = new CountDownLatch(1);

    private CopyMeter(Copy copy, Meter meter, @Nullable Work expected) {
        this.copy = copy;
        this.meter = meter;
        this.expected = expected;
        pace.add(System.nanoTime(), 0, 0);
    }

    /**
     * Starts to show progress, until the meter is closed.
     *
     * @param expected how much there is; null: what the copy has found so far
     */
    static CopyMeter of(Copy copy, PrintWriter err, boolean quiet, @Nullable Work expected) {
        Manner manner = Manner.of(quiet);
        CopyMeter meter = new CopyMeter(copy, new Meter(err, manner), expected);
        if (manner != Manner.NOTHING) {
            Thread.ofPlatform().daemon().name("progress").start(meter::tell);
        }
        return meter;
    }

    /** Prints a line of its own. */
    void say(String line) {
        meter.say(line);
    }

    /** Does something at the terminal, without progress meanwhile. */
    <T extends @Nullable Object> T without(Supplier<T> work) {
        meter.pause(true);
        try {
            return work.get();
        } finally {
            meter.pause(false);
        }
    }

    @Override
    public void close() {
        over.countDown();
        meter.close();
    }

    private void tell() {
        try {
            while (!over.await(POLL_MILLIS, TimeUnit.MILLISECONDS)) {
                // NB: without the meter's lock, because the copy may hold its own lock while it prints through this
                // meter.
                Progress progress = copy.progress();
                meter.show(done(progress, expected)
                        .line(pace.add(System.nanoTime(), progress.bytesMoved(), progress.entriesVerified())));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    static Done done(Progress progress, @Nullable Work expected) {
        Work all = progress.counted() || expected == null ? new Work(progress.bytes(), progress.entries()) : expected;
        // A large file is verified only at its end, and existing files are never moved. The larger number is closer to
        // the real progress.
        long done = Math.min(all.bytes(), Math.max(progress.bytesVerified(), progress.bytesMoved()));
        boolean counted = progress.counted() || expected != null;
        return new Done(
                "", progress.entriesVerified(), all.entries(), done, all.bytes(), counted, progress.complete(), "");
    }
}
