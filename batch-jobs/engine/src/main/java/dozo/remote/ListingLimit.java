package dozo.remote;

import dozo.file.FilePath;
import dozo.remote.RemoteException.Reason;
import java.time.Duration;
import java.util.concurrent.Semaphore;

/** The limits of one listing: of its time, of answers without a name, and of what its receiver keeps. */
final class ListingLimit implements AutoCloseable {

    private static final Duration TIME_MAX = Duration.ofMinutes(10);

    /** A receiver that passes the names on has more time for more names, at the speed of the slowest acceptable site. */
    private static final Duration TIME_PER_NAME = Duration.ofMillis(200);

    private static final Duration PASSING_MAX = Duration.ofDays(1);
    private static final int BYTES_MAX = 8 << 20;
    private static final int EMPTY_ANSWERS_MAX = 100;

    /** What a name needs in memory beside its path. */
    private static final int NAME_BYTES = 128;

    /** The bytes that the listings of all sites may keep at once. */
    private static final Semaphore BUDGET = new Semaphore(4 * BYTES_MAX);

    private final FilePath folder;
    private final boolean keeps;
    private final Duration time;
    private final Duration timeMax;
    private final long beginNanos = System.nanoTime();
    private int keptBytes;
    private long names;
    private int emptyAnswers;

    private ListingLimit(FilePath folder, boolean keeps, Duration time, Duration timeMax) {
        this.folder = folder;
        this.keeps = keeps;
        this.time = time;
        this.timeMax = timeMax;
    }

    /** Returns the limit for a receiver that keeps the names until the listing ends. */
    static ListingLimit keeping(FilePath folder) {
        return keeping(folder, TIME_MAX);
    }

    static ListingLimit keeping(FilePath folder, Duration time) {
        return new ListingLimit(folder, true, time, time);
    }

    /** Returns the limit for a receiver that passes the names on. */
    static ListingLimit passing(FilePath folder) {
        return passing(folder, TIME_MAX, PASSING_MAX);
    }

    static ListingLimit passing(FilePath folder, Duration time, Duration timeMax) {
        return new ListingLimit(folder, false, time, timeMax);
    }

    /** Counts an answer. Throws PROTOCOL if too many have no name, STUCK if the time is over. */
    void answer(long names) throws RemoteException {
        this.names += names;
        emptyAnswers = names == 0 ? emptyAnswers + 1 : 0;
        if (emptyAnswers > EMPTY_ANSWERS_MAX) {
            throw new RemoteException(
                    Reason.PROTOCOL,
                    "the listing of %s at the site does not end: the last %d answers have no name"
                            .formatted(folder, emptyAnswers));
        }
        Duration allowed = allowed();
        if (System.nanoTime() - beginNanos > allowed.toNanos()) {
            throw new RemoteException(
                    Reason.STUCK, "the listing of %s at the site did not end within %s".formatted(folder, allowed));
        }
    }

    /** Returns the time for a listing that has had so many names. */
    private Duration allowed() {
        boolean more = names < timeMax.dividedBy(TIME_PER_NAME);
        Duration allowed = more ? time.plus(TIME_PER_NAME.multipliedBy(names)) : timeMax;
        return allowed.compareTo(timeMax) < 0 ? allowed : timeMax;
    }

    /** Counts a name. Throws PROTOCOL if there are too many to keep. */
    void name(FilePath path) throws RemoteException {
        if (!keeps) {
            return;
        }
        int bytes = path.bytes().length + NAME_BYTES;
        if (keptBytes + bytes > BYTES_MAX || !BUDGET.tryAcquire(bytes)) {
            throw new RemoteException(
                    Reason.PROTOCOL,
                    "the listing of %s at the site has too many names: expected at most %d MiB, and %d MiB in all listings"
                            .formatted(folder, BYTES_MAX >> 20, (4 * BYTES_MAX) >> 20));
        }
        keptBytes += bytes;
    }

    @Override
    public void close() {
        BUDGET.release(keptBytes);
    }
}
