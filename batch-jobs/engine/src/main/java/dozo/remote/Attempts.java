package dozo.remote;

import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** The attempts to open lanes to a site, with pauses after failures. Guarded by the lock of its {@link Lanes}. */
final class Attempts {

    /** OpenSSH drops logins at random when ten are in progress (its default), and other clients log in, too. */
    private static final int UNDER_WAY_MAX = 4;

    private static final int FAILURES_MAX = 4;
    private static final long PAUSE_FIRST_NANOS = TimeUnit.MILLISECONDS.toNanos(250);
    private static final long PAUSE_LONGEST_NANOS = TimeUnit.SECONDS.toNanos(30);

    private int begun;
    private int underWay;
    private int failuresInARow;
    private long noneBefore = System.nanoTime();
    private @Nullable RemoteException trouble;

    int underWay() {
        return underWay;
    }

    boolean mayBegin() {
        return underWay < UNDER_WAY_MAX;
    }

    boolean isPauseOver() {
        return noneBefore - System.nanoTime() <= 0;
    }

    /** Returns how long, in nanoseconds, to wait at most for the end of an attempt or of the pause. */
    long waitNanos() {
        return underWay > 0 ? PAUSE_LONGEST_NANOS : noneBefore - System.nanoTime();
    }

    /** Returns the number of a new attempt, from 1. */
    int begin() {
        underWay++;
        return ++begun;
    }

    void ended(boolean opened, @Nullable RemoteException failed) {
        underWay--;
        trouble = failed;
        if (opened) {
            failuresInARow = 0;
        } else {
            long pause = PAUSE_FIRST_NANOS << Math.min(failuresInARow, 7);
            noneBefore = System.nanoTime() + Math.min(pause, PAUSE_LONGEST_NANOS);
            failuresInARow++;
        }
    }

    /** Returns why the last attempt failed, if it did. */
    Optional<RemoteException> trouble() {
        return Optional.ofNullable(trouble);
    }

    /** Returns whether the site has refused several in a row. */
    boolean areRefused() {
        return trouble != null && failuresInARow >= FAILURES_MAX;
    }

    /** Forgets earlier failures: they say nothing about the next attempt. */
    void beginAnew() {
        failuresInARow = 0;
        noneBefore = System.nanoTime();
    }

    void throwIfHopeless() throws RemoteException {
        RemoteException failed = trouble;
        if (failed != null && underWay == 0 && (!failed.retryable() || areRefused())) {
            throw failed.again();
        }
    }
}
