package dozo.remote;

import dozo.file.FilePath;
import dozo.remote.RemoteException.Reason;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/** The limits of one listing: of its time and of what its receiver keeps, or only of answers without a name. */
final class ListingLimit implements AutoCloseable {

    private static final Duration TIME_MAX = Duration.ofMinutes(10);
    private static final int BYTES_MAX = 8 << 20;
    private static final int EMPTY_ANSWERS_MAX = 100;

    /** What a name needs in memory beside its path. */
    private static final int NAME_BYTES = 128;

    /** The bytes that the listings of all sites may keep at once. */
    private static final Semaphore BUDGET = new Semaphore(4 * BYTES_MAX);

    private final FilePath folder;
    private final @Nullable Duration time;
    private final long beginNanos = System.nanoTime();
    private int keptBytes;
    private int emptyAnswers;

    private ListingLimit(FilePath folder, @Nullable Duration time) {
        this.folder = folder;
        this.time = time;
    }

    /** Returns the limit for a receiver that keeps the names until the listing ends. */
    static ListingLimit keeping(FilePath folder) {
        return keeping(folder, TIME_MAX);
    }

    static ListingLimit keeping(FilePath folder, Duration time) {
        return new ListingLimit(folder, time);
    }

    /** Returns the limit for a receiver that passes the names on. */
    static ListingLimit passing(FilePath folder) {
        return new ListingLimit(folder, null);
    }

    /** Counts an answer. Throws PROTOCOL if too many have no name, STUCK if the time is over. */
    void answer(long names) throws RemoteException {
        emptyAnswers = names == 0 ? emptyAnswers + 1 : 0;
        if (emptyAnswers > EMPTY_ANSWERS_MAX) {
            throw new RemoteException(
                    Reason.PROTOCOL,
                    "the listing of %s at the site does not end: the last %d answers have no name"
                            .formatted(folder, emptyAnswers));
        }
        if (time != null && System.nanoTime() - beginNanos > time.toNanos()) {
            throw new RemoteException(
                    Reason.STUCK, "the listing of %s at the site did not end within %s".formatted(folder, time));
        }
    }

    /** Counts a name. Throws PROTOCOL if there are too many to keep. */
    void name(FilePath path) throws RemoteException {
        if (time == null) {
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
