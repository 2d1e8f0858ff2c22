package dozo.copy;

import dozo.send.Crew;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Cuts found items into units as they come and processes several units at a time, so that the next are transferred
 * while one is verified. The caller waits if there are too many.
 */
final class Units<T> implements AutoCloseable {

    static final long LARGE_BYTES = 64 << 20;

    /** The largest file: 16 TiB, as in ext4. Its ranges are counted in memory. */
    static final long FILE_BYTES_MAX = 1L << 44;

    private static final long BUNDLE_BYTES_MAX = 64 << 20;
    private static final int BUNDLE_ENTRIES_MAX = 1_000;

    private final Crew.Work<List<T>> work;
    private final Crew crew;
    private List<T> bundle = new ArrayList<>();
    private long bundleBytes;

    /** @param work for a unit: a bundle, or one large file */
    Units(int underWayMax, Crew.Work<List<T>> work) {
        this.crew = new Crew(underWayMax);
        this.work = work;
    }

    static boolean isLarge(long sizeBytes) {
        return sizeBytes > LARGE_BYTES;
    }

    /** Returns whether no file has this size, as a site reports it: an unsigned number. */
    static boolean isTooLarge(long sizeBytes) {
        return Long.compareUnsigned(sizeBytes, FILE_BYTES_MAX) > 0;
    }

    /** Adds an item. Not to be called by two threads at once. */
    void add(T one, long sizeBytes) throws IOException, InterruptedException {
        if (isLarge(sizeBytes)) {
            start(List.of(one));
            return;
        }
        if (bundle.size() == BUNDLE_ENTRIES_MAX || bundleBytes + sizeBytes > BUNDLE_BYTES_MAX) {
            flush();
        }
        bundle.add(one);
        bundleBytes += sizeBytes;
    }

    /** Waits until everything added is done. */
    void end() throws IOException, InterruptedException {
        flush();
        crew.join();
    }

    /** Stops what is still in progress. */
    @Override
    public void close() {
        crew.close();
    }

    private void flush() throws IOException, InterruptedException {
        if (!bundle.isEmpty()) {
            start(bundle);
            bundle = new ArrayList<>();
            bundleBytes = 0;
        }
    }

    private void start(List<T> unit) throws IOException, InterruptedException {
        crew.start(() -> work.on(unit));
    }
}
