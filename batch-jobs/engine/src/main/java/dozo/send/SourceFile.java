package dozo.send;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.Problem;
import dozo.send.Gauges.Gauge;
import dozo.source.OpenFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.jspecify.annotations.Nullable;

/**
 * An open file of a manifest, and whether what is read of it is what the manifest means.
 *
 * <p>The file system is asked by {@link SourceThreads}. Whoever calls waits for them, and may be interrupted although a file server
 * does not answer: what is asked then goes on without them, reads into room of its own, and closes the file when it ends. To ask
 * seldom, it is read ahead, and a small file is opened, read, compared and closed at once (ADR 0047).
 */
final class SourceFile implements AutoCloseable {

    private static final int DIGEST_BYTES = 128 << 10;

    private final Path root;
    private final Entry sealed;
    private final String name;
    private final SourceThreads threads;
    private final Gauge reading;

    // Used by whoever calls and by the thread that is asked, but never by both at the same time.
    private @Nullable OpenFile file;
    private @Nullable ByteBuffer ahead;

    private long aheadOffset;
    private int aheadBytes;
    private boolean unchanged;
    private boolean sparse;

    // Guarded by this.
    private boolean asking;
    private boolean closed;

    /** The source cannot be used as the manifest has it. */
    static final class SourceProblem extends Exception {

        private static final long serialVersionUID = 1L;

        private final Problem problem;

        SourceProblem(Problem problem, String message) {
            super(message);
            this.problem = problem;
        }

        Problem problem() {
            return problem;
        }
    }

    /** What a file system is asked; it may take its time. */
    private interface Question {
        void ask() throws IOException, SourceProblem;
    }

    private SourceFile(Path root, Entry sealed, Gauge reading) {
        this.reading = reading;
        this.root = root;
        this.sealed = sealed;
        this.name = sealed.path().toString();
        this.threads = SourceThreads.enter(root);
    }

    /**
     * Opens a file.
     *
     * @param root the source's folder
     * @param sealed what the manifest says of the file
     * @param reading counts who waits for the source
     * @throws SourceProblem when it cannot be opened, or is not what the manifest says
     */
    static SourceFile open(Path root, Entry sealed, Gauge reading) throws SourceProblem, InterruptedException {
        SourceFile source = new SourceFile(root, sealed, reading);
        try {
            source.ask(source::begin);
            return source;
        } catch (SourceProblem | InterruptedException | RuntimeException e) {
            source.close();
            throw e;
        }
    }

    /** Reads ahead what is at this place, where there is room: call it before something is taken that others wait for. */
    void fetch(long offset) throws SourceProblem, InterruptedException {
        if (ahead == null) {
            ahead = SourceBuffers.take();
        }
        ByteBuffer room = ahead;
        if (room != null && offset < sealed.facts().sizeBytes() && !isAhead(offset)) {
            ask(() -> readAhead(room, offset));
        }
    }

    /** Fills the buffer from this place on, as far as the file reaches. */
    void read(ByteBuffer into, long offset) throws SourceProblem, InterruptedException {
        int n = 1;
        for (long at = offset; into.hasRemaining() && at < sealed.facts().sizeBytes() && n > 0; at += n) {
            n = takeAhead(into, at);
            if (n == 0) {
                readOn(at, into.remaining());
                n = takeAhead(into, at);
            }
        }
        if (ahead != null && !ahead.isDirect()) {
            ahead = null;
            aheadBytes = 0;
        }
    }

    /** Whether it takes less room than it is long: there may be holes in it. */
    boolean isSparse() {
        return sparse;
    }

    /** Reads it all, as far as {@code sizeBytes}, for its digest alone. */
    Digest digest(long sizeBytes) throws SourceProblem, InterruptedException {
        MessageDigest digest = Digest.algorithm();
        ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(sizeBytes, DIGEST_BYTES));
        for (long at = 0; at < sizeBytes; at += bytes.position()) {
            bytes.clear().limit((int) Math.min(bytes.capacity(), sizeBytes - at));
            read(bytes, at);
            if (bytes.position() == 0) {
                break;
            }
            digest.update(bytes.array(), 0, bytes.position());
        }
        checkUnchanged();
        return Digest.of(digest.digest());
    }

    /** Makes sure that the file has not changed since it was opened: call it after the last byte is read. */
    void checkUnchanged() throws SourceProblem, InterruptedException {
        if (!unchanged) {
            ask(this::compare);
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            if (asking) {
                // NB: in the kernel perhaps, with the file's number. The thread that is asked lets go of it.
                return;
            }
        }
        if (file == null) {
            letGo();
        } else {
            threads.run(this::letGo);
        }
    }

    private void begin() throws IOException, SourceProblem {
        OpenFile opened;
        try {
            opened = OpenFile.open(root, sealed.path());
        } catch (OpenFile.NoFile e) {
            throw replaced(name);
        }
        file = opened;
        sparse = opened.isSparse();
        if (!opened.factsWhenOpened().sameContentAs(sealed.facts())) {
            throw replaced(name);
        }
        ByteBuffer room = SourceBuffers.take();
        ahead = room;
        if (room != null) {
            readAhead(room, 0);
            if (unchanged && aheadBytes == sealed.facts().sizeBytes()) {
                file = null;
                opened.close();
            }
        }
    }

    /** Reads from this place on, so much at least. NB: never into the caller's buffer, which is another's after an interrupt. */
    private void readOn(long offset, int bytes) throws SourceProblem, InterruptedException {
        if (ahead == null) {
            ahead = SourceBuffers.take();
        }
        ByteBuffer room = ahead != null ? ahead : ByteBuffer.allocate(bytes);
        ask(() -> readAhead(room, offset));
    }

    private void readAhead(ByteBuffer room, long offset) throws IOException, SourceProblem {
        long left = Math.max(0, sealed.facts().sizeBytes() - offset);
        room.clear().limit((int) Math.min(room.capacity(), left));
        unchanged = false;
        aheadBytes = 0;
        requireNonNull(file).read(room, offset);
        ahead = room;
        aheadOffset = offset;
        aheadBytes = room.position();
        if (room.hasRemaining() || aheadBytes == left) {
            compare();
        }
    }

    private void compare() throws IOException, SourceProblem {
        OpenFile open = requireNonNull(file);
        if (!open.facts().equals(open.factsWhenOpened())) {
            throw new SourceProblem(
                    Problem.CHANGED, name + ": changed while it was read; the next run takes it as it is then");
        }
        unchanged = true;
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

    private void ask(Question question) throws SourceProblem, InterruptedException {
        FutureTask<@Nullable Void> asked = new FutureTask<>(() -> {
            try {
                // Whoever asked may have gone while all threads were busy.
                if (!isClosed()) {
                    question.ask();
                }
            } finally {
                answered();
            }
            return null;
        });
        asking();
        threads.run(asked);
        try (Stay _ = reading.enter()) {
            asked.get();
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case SourceProblem problem -> throw problem;
                case IOException unreadable -> throw unreadable(name, unreadable);
                case RuntimeException bug -> throw bug;
                case Error error -> throw error;
                case null, default -> throw new IllegalStateException(e.getCause());
            }
        }
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    private synchronized void asking() {
        asking = true;
    }

    /** Told by the thread that was asked, before anybody hears the answer. */
    private void answered() {
        synchronized (this) {
            asking = false;
            if (!closed) {
                return;
            }
        }
        letGo();
    }

    private void letGo() {
        if (file != null) {
            file.close();
        }
        if (ahead != null && ahead.isDirect()) {
            SourceBuffers.giveBack(ahead);
        }
        threads.leave();
    }

    private static SourceProblem replaced(String name) {
        return new SourceProblem(
                Problem.CHANGED, name + ": not what the manifest says any more; the next run takes it as it is then");
    }

    private static SourceProblem unreadable(String name, IOException cause) {
        if (cause instanceof NoSuchFileException) {
            return new SourceProblem(Problem.VANISHED, name + ": gone since the manifest was sealed");
        }
        String why = cause instanceof AccessDeniedException
                ? "permission denied; let the service's user read it"
                : cause instanceof FileSystemException system && system.getReason() != null
                        ? system.getReason()
                        : String.valueOf(cause.getMessage());
        return new SourceProblem(Problem.UNREADABLE, name + ": cannot be read: " + why);
    }
}
