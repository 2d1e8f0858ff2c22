package dozo.send;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.send.Outcome.Failed;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What files are read from, created for a unit or a copy: a folder of this machine, or the verified copies or any files
 * at another site. Creating one accesses none of them.
 */
public abstract sealed class SourceFolder permits LocalFolder, CopiesAtSite, TreeAtSite {

    private final Path path;
    private final AtomicInteger slow = new AtomicInteger();

    /** An open file of a source: on this machine, or at another site. One thread at a time uses it. */
    interface OpenSource extends AutoCloseable {

        /** Returns whether the file may contain holes. */
        boolean isSparse();

        /** Fills the buffer, which reaches at most to the file's size, from this offset on, as far as the file reaches. */
        void read(ByteBuffer into, long offset) throws IOException, SourceProblem;

        /**
         * Returns whether the file has not changed since it was opened.
         *
         * @throws SourceProblem if it has content beyond its size
         */
        boolean isUnchanged() throws IOException, SourceProblem;

        @Override
        void close();
    }

    SourceFolder(Path path) {
        this.path = path;
    }

    /** Returns a folder that is opened by this path; links on the way are not followed. */
    public static SourceFolder of(Path path) {
        return new LocalFolder(path, path, false);
    }

    /** Returns a folder whose path is resolved, links included, when its first file is opened. */
    public static SourceFolder behindLinks(Path path) {
        return new LocalFolder(path, null, false);
    }

    /** Returns the path that identifies it. */
    public final Path path() {
        return path;
    }

    /** Returns whether a reader has been waiting for one of its files for some time. */
    public final boolean isSlow() {
        return slow.get() > 0;
    }

    /** Counts files with readers that have been waiting for some time. */
    final void slow(int files) {
        slow.addAndGet(files);
    }

    /** Returns whether it is a folder of this machine, on a disk or a file server that others may use, too. */
    abstract boolean isLocal();

    /**
     * Opens a file. NB: this may hang.
     *
     * @throws SourceProblem if it is not what the manifest describes
     */
    abstract OpenSource open(Entry sealed) throws IOException, SourceProblem;

    /**
     * Returns whether a file is still as the manifest describes it, and has this other name, too. Its content is not
     * read. NB: this may hang.
     */
    abstract boolean areOne(Entry sealed, Entry other) throws IOException;

    /**
     * Returns the digest that a file must have, if that is known before it is read.
     *
     * @throws SourceProblem if the source cannot be asked
     */
    abstract Optional<Digest> known(Entry file) throws SourceProblem, InterruptedException;

    /**
     * Returns the digests of the first {@code count} ranges of a file, by their numbers from 0, as far as the source
     * knows them without having the ranges read here.
     *
     * @throws SourceProblem if the source cannot be asked
     */
    Map<Integer, Digest> ranges(Entry file, long rangeBytes, int count) throws SourceProblem, InterruptedException {
        return Map.of();
    }

    /** Returns the failure of a file whose content, as read, does not have the known digest; empty if it has. */
    abstract Optional<Failed> differs(Entry file, Digest read) throws InterruptedException;
}
