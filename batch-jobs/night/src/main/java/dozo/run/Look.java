package dozo.run;

import dozo.manifest.Ingest;
import dozo.manifest.Known;
import dozo.manifest.SourceLook;
import dozo.registry.Experiments.Experiment;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** One look at a source in its own platform thread, because a file system that hangs blocks the thread. */
final class Look {

    private final Next next;
    private final LongAdder told = new LongAdder();
    private final Thread thread;
    private volatile @Nullable Throwable failure;
    private volatile boolean unchanged;
    private volatile boolean waiting;
    private volatile boolean over;
    private long toldBefore;
    private long answeredNanos = System.nanoTime();

    /** Guarded by this: whether it was given up, and whether it stores its result and can no longer be given up. */
    private boolean givenUp;

    private boolean keeping;

    /**
     * An experiment to look at.
     *
     * @param safe whether its current manifest is completely safe: if the source is also unchanged, there is nothing to
     * do
     * @param waits whether copies of it are not verified since the catalogue was rebuilt
     */
    record Next(Experiment experiment, Known known, boolean safe, boolean waits) {}

    /**
     * Begins a look.
     *
     * @param keep stores what is new, in this look's thread
     * @param ended is told when the thread ends, however it ends
     */
    Look(Next next, Ingest ingest, BiConsumer<Look, SourceLook> keep, Consumer<Look> ended) {
        this.next = next;
        this.thread = Thread.ofPlatform()
                .name("look-" + next.experiment.id())
                .daemon()
                .unstarted(() -> run(ingest, keep, ended));
        thread.start();
    }

    private void run(Ingest ingest, BiConsumer<Look, SourceLook> keep, Consumer<Look> ended) {
        try (SourceLook look = ingest.look(next.experiment, next.known, told)) {
            unchanged = next.safe && look.isUnchanged();
            if (!unchanged && mayKeep()) {
                keep.accept(this, look);
            }
        } catch (InterruptedException e) {
            // An interrupt without giveUp() has an unknown reason, and the source was not read.
            failure = mayKeep() ? e : null;
        } catch (Throwable e) {
            failure = e;
        } finally {
            over = true;
            waiting = false;
            ended.accept(this);
        }
    }

    private synchronized boolean mayKeep() {
        keeping = !givenUp;
        return keeping;
    }

    /** Returns what grows while the source responds. */
    LongAdder told() {
        return told;
    }

    Experiment experiment() {
        return next.experiment;
    }

    /** Returns whether the source was unchanged and everything of it safe, so that nothing was stored. */
    boolean isUnchanged() {
        return unchanged;
    }

    /** Returns false if it is too late, because the result is being stored. */
    synchronized boolean giveUp() {
        if (keeping) {
            return false;
        }
        givenUp = true;
        thread.interrupt();
        return true;
    }

    /** Notes that the source is read, and that what was found waits to be stored with what others find. */
    void waits() {
        waiting = true;
    }

    boolean isWaiting() {
        return waiting;
    }

    boolean hasEnded() {
        return over;
    }

    /** Gives it up if it is unfinished, because others repeat it; waits for it if it is storing its result. */
    void leave() throws InterruptedException {
        if (!giveUp()) {
            thread.join();
        }
    }

    /** Returns whether the source has reported nothing for this long. */
    boolean isStuck(Duration patience) {
        long now = System.nanoTime();
        if (told.sum() != toldBefore) {
            toldBefore = told.sum();
            answeredNanos = now;
        }
        return now - answeredNanos > patience.toNanos();
    }

    void rethrow() {
        Throwable why = failure;
        if (why instanceof RuntimeException defect) {
            throw defect;
        }
        if (why instanceof Error error) {
            throw error;
        }
        if (why != null) {
            throw new IllegalStateException(why);
        }
    }
}
