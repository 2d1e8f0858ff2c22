package dozo.send;

import static java.util.Objects.requireNonNull;

import dozo.file.Entry;
import dozo.file.Problem;
import dozo.remote.RemoteException;
import dozo.send.Gauges.Gauge;
import dozo.send.SourceFolder.OpenSource;
import dozo.send.SourceRequests.Caller;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An open file of a manifest, checked to be the one that the manifest describes.
 *
 * <p>Callers can be interrupted while a file server does not answer: the request then goes on without them, reads into a
 * buffer of its own, and closes the file when it ends. To save requests, files are read ahead, and a small file is
 * opened, read, compared and closed in one request (ADR 0047).
 */
final class SourceFile implements AutoCloseable {

    private static final int DIGEST_BYTES = 128 << 10;

    private final SourceFolder folder;
    private final Entry sealed;
    private final SourceRequests requests;

    // Used by the caller and by the thread that runs the request, never by both at once.
    private @Nullable OpenSource file;
    private @Nullable ByteBuffer ahead;

    private long aheadOffset;
    private int aheadBytes;
    private boolean unchanged;
    private boolean sparse;

    private SourceFile(SourceFolder folder, Entry sealed, Caller caller) {
        this.folder = folder;
        this.sealed = sealed;
        this.requests = new SourceRequests(folder, sealed, caller, this::letGo);
    }

    /**
     * Opens a file.
     *
     * @param sealed the manifest's entry of the file
     * @param reading counts the callers that wait for the source
     * @param permits the caller holds one of these; it is released for others during a long wait
     * @throws SourceProblem if it cannot be opened, or is not what the manifest describes
     */
    static SourceFile open(
            SourceFolder folder, Entry sealed, Gauge reading, SourcePatience patience, @Nullable Semaphore permits)
            throws SourceProblem, InterruptedException {
        SourceFile source = new SourceFile(folder, sealed, new Caller(reading, patience, permits, false, null));
        try {
            source.requests.ask(true, source::begin, null);
            return source;
        } catch (SourceProblem | InterruptedException | RuntimeException e) {
            source.close();
            throw e;
        }
    }

    /**
     * Returns whether a file is still as the manifest describes it, and has this other name, too. Its content is not
     * read.
     *
     * @param permits as for {@link #open}
     * @throws SourceProblem if one of the two cannot be opened
     */
    static boolean isAlso(
            Entry other, SourceFolder folder, Entry sealed, Gauge reading, SourcePatience patience, Semaphore permits)
            throws SourceProblem, InterruptedException {
        boolean[] same = new boolean[1];
        try (SourceFile source = new SourceFile(folder, sealed, new Caller(reading, patience, permits, false, null))) {
            source.requests.ask(
                    true,
                    () -> {
                        same[0] = folder.areOne(sealed, other);
                        return 0;
                    },
                    null);
        }
        return same[0];
    }

    /**
     * Begins to open a file for a caller who does not wait for a slow source: every request then fails with
     * {@link SourceProblem.Slow}.
     *
     * @param over called by any thread when {@link #awaitOpen} no longer waits; the file must be closed then
     */
    static void beginOpening(
            SourceFolder folder, Entry sealed, Gauge reading, SourcePatience patience, Consumer<SourceFile> over)
            throws InterruptedException {
        SourceFile source = new SourceFile(folder, sealed, new Caller(reading, patience, null, true, null));
        try {
            source.requests.begin(source::begin, () -> over.accept(source));
        } catch (InterruptedException e) {
            source.close();
            throw e;
        }
    }

    /**
     * Returns a file that is opened and read by the caller's own thread, which saves handing over every request. Only
     * for a {@linkplain SourceThreads#isFast fast} source, and for a platform thread that nobody else needs.
     *
     * @param stuck called by another thread if the source is slow after all: the caller's thread is in the kernel then,
     *     until the source answers, and gets {@link SourceProblem.Slow}
     */
    static SourceFile here(SourceFolder folder, Entry sealed, Gauge reading, SourcePatience patience, Runnable stuck) {
        return new SourceFile(folder, sealed, new Caller(reading, patience, null, true, stuck));
    }

    /** Returns when the file is open; at once after {@link #beginOpening} is over. */
    void awaitOpen() throws SourceProblem, InterruptedException {
        if (requests.isHere()) {
            requests.ask(true, this::begin, null);
        } else {
            requests.await();
        }
    }

    Entry entry() {
        return sealed;
    }

    /** Reads ahead from this offset, if a buffer is free. Call it before taking anything that others wait for. */
    void fetch(long offset) throws SourceProblem, InterruptedException {
        if (ahead == null) {
            ahead = SourceBuffers.take();
        }
        ByteBuffer room = ahead;
        if (room != null && offset < sealed.facts().sizeBytes() && !isAhead(offset)) {
            requests.ask(false, () -> readAhead(room, offset), null);
        }
    }

    /** Fills a block from this offset on, as far as the file reaches. Others use its room while the source is slow. */
    void read(Room room, long offset) throws SourceProblem, RemoteException, InterruptedException {
        boolean full = false;
        while (!full) {
            full = read(room.content(), offset, room);
        }
    }

    /** Fills the buffer from this offset on, as far as the file reaches. */
    void read(ByteBuffer into, long offset) throws SourceProblem, InterruptedException {
        read(into, offset, null);
    }

    /** Does so; returns false if the buffer's room was given back meanwhile, so that it has another owner. */
    private boolean read(ByteBuffer into, long offset, @Nullable Room room) throws SourceProblem, InterruptedException {
        int n = 1;
        for (long at = offset; into.hasRemaining() && at < sealed.facts().sizeBytes() && n > 0; at += n) {
            n = takeAhead(into, at);
            if (n == 0) {
                readOn(at, into.remaining(), room);
                if (room != null && !room.isHeld()) {
                    return false;
                }
                n = takeAhead(into, at);
            }
        }
        if (ahead != null && !ahead.isDirect()) {
            ahead = null;
            aheadBytes = 0;
        }
        return true;
    }

    /** Returns whether the file occupies less space than its length, so that it may contain holes. */
    boolean isSparse() {
        return sparse;
    }

    /** Passes on a range of the file, as far as it reaches, in parts. */
    void read(long offset, long length, Consumer<ByteBuffer> content) throws SourceProblem, InterruptedException {
        long end = offset + length;
        ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(length, DIGEST_BYTES));
        for (long at = offset; at < end; at += bytes.limit()) {
            bytes.clear().limit((int) Math.min(bytes.capacity(), end - at));
            read(bytes, at);
            if (!bytes.flip().hasRemaining()) {
                break;
            }
            content.accept(bytes);
        }
    }

    /** Checks that the file has not changed since it was opened. Call it after the last byte is read. */
    void checkUnchanged() throws SourceProblem, InterruptedException {
        if (!unchanged) {
            requests.ask(false, this::compare, null);
        }
    }

    @Override
    public void close() {
        if (!requests.close()) {
            // NB: a request may be in the kernel with the file's number. Its thread closes the file.
            return;
        }
        if (file == null) {
            letGo();
        } else {
            requests.run(this::letGo);
        }
    }

    private int begin() throws IOException, SourceProblem {
        OpenSource opened = folder.open(sealed);
        requests.moved();
        file = opened;
        sparse = opened.isSparse();
        ByteBuffer room = SourceBuffers.take();
        ahead = room;
        if (room == null) {
            return 0;
        }
        int bytes = readAhead(room, 0);
        if (unchanged && aheadBytes == sealed.facts().sizeBytes()) {
            file = null;
            opened.close();
        }
        return bytes;
    }

    /**
     * Reads at least {@code bytes} from this offset on. NB: never into the caller's buffer, which has another owner
     * after an interrupt.
     */
    private void readOn(long offset, int bytes, @Nullable Room holding) throws SourceProblem, InterruptedException {
        if (ahead == null) {
            ahead = SourceBuffers.take();
        }
        ByteBuffer room = ahead != null ? ahead : ByteBuffer.allocate(bytes);
        requests.ask(false, () -> readAhead(room, offset), holding);
    }

    /** Returns the number of bytes read. */
    private int readAhead(ByteBuffer room, long offset) throws IOException, SourceProblem {
        long left = Math.max(0, sealed.facts().sizeBytes() - offset);
        room.clear().limit((int) Math.min(room.capacity(), left));
        unchanged = false;
        aheadBytes = 0;
        requireNonNull(file).read(room, offset);
        requests.moved();
        ahead = room;
        aheadOffset = offset;
        aheadBytes = room.position();
        if (room.hasRemaining() || aheadBytes == left) {
            compare();
        }
        return aheadBytes;
    }

    private int compare() throws IOException, SourceProblem {
        if (!requireNonNull(file).isUnchanged()) {
            throw new SourceProblem(
                    Problem.CHANGED, sealed.path() + ": changed while it was read; the next run sends the new content");
        }
        unchanged = true;
        return 0;
    }

    private boolean isAhead(long offset) {
        return offset >= aheadOffset && offset < aheadOffset + aheadBytes;
    }

    private int takeAhead(ByteBuffer into, long offset) {
        ByteBuffer there = ahead;
        if (there == null || !isAhead(offset)) {
            return 0;
        }
        int from = (int) (offset - aheadOffset);
        int n = Math.min(into.remaining(), aheadBytes - from);
        into.put(into.position(), there, from, n);
        into.position(into.position() + n);
        return n;
    }

    private void letGo() {
        if (file != null) {
            file.close();
        }
        if (ahead != null && ahead.isDirect()) {
            SourceBuffers.giveBack(ahead);
        }
        requests.leave();
    }
}
