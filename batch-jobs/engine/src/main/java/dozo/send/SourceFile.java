package dozo.send;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.Problem;
import dozo.send.Gauges.Gauge;
import dozo.send.SourceThreads.Turn;
import dozo.source.OpenFile;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * An open file of a manifest, and whether what is read of it is what the manifest means.
 *
 * <p>The file system is asked by {@link SourceThreads}. Whoever calls waits for them, and may be interrupted although a file server
 * does not answer: what is asked then goes on without them, reads into room of its own, and closes the file when it ends. The same happens
 * when nothing is answered within the engine's {@link SourcePatience}: then whoever calls gets a problem. To ask seldom, it is read ahead,
 * and a small file is opened, read, compared and closed at once (ADR 0047).
 */
final class SourceFile implements AutoCloseable {

    private static final int DIGEST_BYTES = 128 << 10;

    /** A source that has not answered for so long is slow, and the permit to have a file open at the site is of use to others. */
    private static final Duration SLOW = Duration.ofSeconds(2);

    private final SourceFolder folder;
    private final Entry sealed;
    private final String name;
    private final SourceThreads threads;
    private final Gauge reading;
    private final SourcePatience patience;
    private final @Nullable Semaphore permits;

    /** Whether a caller goes on without this file when the source is slow. */
    private final boolean leftWhenSlow;

    // Used by whoever calls and by the thread that is asked, but never by both at the same time.
    private @Nullable OpenFile file;
    private @Nullable ByteBuffer ahead;

    private long aheadOffset;
    private int aheadBytes;
    private boolean unchanged;
    private boolean sparse;

    /** When something of what is asked was answered last; before that, when it was asked. */
    private volatile long movedNanos;

    /** Whether a thread is with what is asked, and it does not wait for one. */
    private volatile boolean begun;

    // Guarded by this.
    private boolean asking;
    private boolean waitedFor;
    private boolean closed;
    private boolean slow;
    private Turn turn = Turn.NORMAL;
    private CompletableFuture<@Nullable Void> answer = new CompletableFuture<>();

    /** The source cannot be used as the manifest has it. */
    static class SourceProblem extends Exception {

        private static final long serialVersionUID = 1L;

        private final Problem problem;
        private final boolean ofSource;

        SourceProblem(Problem problem, String message) {
            this(problem, message, false);
        }

        private SourceProblem(Problem problem, String message, boolean ofSource) {
            super(message);
            this.problem = problem;
            this.ofSource = ofSource;
        }

        Problem problem() {
            return problem;
        }

        /** Whether it is the whole source, and not this file. */
        boolean isOfSource() {
            return ofSource;
        }
    }

    /** The source takes its time, and whoever asked does not wait for it. */
    static final class Slow extends SourceProblem {

        private static final long serialVersionUID = 1L;

        private Slow(String name) {
            super(Problem.UNREADABLE, name + ": the source is slow");
        }
    }

    /** What a file system is asked; it may take its time. */
    private interface Question {
        void ask() throws IOException, SourceProblem;
    }

    private SourceFile(
            SourceFolder folder,
            Entry sealed,
            Gauge reading,
            SourcePatience patience,
            @Nullable Semaphore permits,
            boolean leftWhenSlow) {
        this.reading = reading;
        this.leftWhenSlow = leftWhenSlow;
        this.folder = folder;
        this.sealed = sealed;
        this.patience = patience;
        this.permits = permits;
        this.name = sealed.path().toString();
        this.threads = SourceThreads.enter(folder.path(), this);
    }

    /**
     * Opens a file.
     *
     * @param sealed what the manifest says of the file
     * @param reading counts who waits for the source
     * @param permits what the caller has one of: while it waits long it is given back, for others to use
     * @throws SourceProblem when it cannot be opened, or is not what the manifest says
     */
    static SourceFile open(
            SourceFolder folder, Entry sealed, Gauge reading, SourcePatience patience, @Nullable Semaphore permits)
            throws SourceProblem, InterruptedException {
        SourceFile source = new SourceFile(folder, sealed, reading, patience, permits, false);
        try {
            source.ask(source::begin);
            return source;
        } catch (SourceProblem | InterruptedException | RuntimeException e) {
            source.close();
            throw e;
        }
    }

    /**
     * Begins to open a file, for one who does not wait for a slow source: all that is asked of it ends in {@link Slow} then.
     *
     * @param over is told by any thread when {@link #awaitOpen} does not wait any more; this file has to be closed then
     */
    static void beginOpening(
            SourceFolder folder, Entry sealed, Gauge reading, SourcePatience patience, Consumer<SourceFile> over) {
        SourceFile source = new SourceFile(folder, sealed, reading, patience, null, true);
        CompletableFuture<@Nullable Void> asked = source.asking(Turn.NORMAL);
        Stay stay = reading.enter();
        var _ = asked.whenComplete((_, _) -> {
            stay.close();
            source.waitNoMore();
            over.accept(source);
        });
        if (source.threads.isSilent()) {
            source.answered();
            asked.completeExceptionally(new Slow(source.name));
        } else {
            source.threads.run(() -> source.answer(source::begin, asked));
        }
    }

    /** Returns when it is open, which is at once after {@link #beginOpening} is over. */
    void awaitOpen() throws SourceProblem, InterruptedException {
        await(answer);
    }

    Entry entry() {
        return sealed;
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
            opened = OpenFile.open(folder.opened(), sealed.path());
        } catch (OpenFile.NoFile e) {
            throw replaced(name);
        }
        moved();
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
        moved();
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
        Turn mine = threads.turn();
        if (mine == Turn.NONE) {
            throw silent(threads.silence());
        }
        CompletableFuture<@Nullable Void> asked = asking(mine);
        try (Stay _ = reading.enter()) {
            threads.run(() -> answer(question, asked));
            await(asked);
        } finally {
            if (mine == Turn.PROBE) {
                threads.probed();
            }
            waitNoMore();
        }
    }

    private void await(CompletableFuture<@Nullable Void> asked) throws SourceProblem, InterruptedException {
        try {
            asked.get();
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case SourceProblem problem -> throw problem;
                case InterruptedException left -> throw left;
                case IOException unreadable -> throw unreadable(name, unreadable);
                case RuntimeException bug -> throw bug;
                case Error error -> throw error;
                case null, default -> throw new IllegalStateException(e.getCause());
            }
        }
    }

    private synchronized CompletableFuture<@Nullable Void> asking(Turn mine) {
        answer = new CompletableFuture<>();
        turn = mine;
        begun = false;
        asking = true;
        waitedFor = true;
        moved();
        return answer;
    }

    /** What the thread does that is asked. */
    private void answer(Question question, CompletableFuture<@Nullable Void> asked) {
        Throwable failure = null;
        try {
            // Whoever asked may have gone while all threads were busy.
            if (!isClosed()) {
                moved();
                begun = true;
                question.ask();
                threads.answered();
            }
        } catch (IOException | SourceProblem e) {
            threads.answered();
            failure = e;
        } catch (Throwable e) {
            failure = e;
        }
        answered();
        if (failure == null) {
            asked.complete(null);
        } else {
            asked.completeExceptionally(failure);
        }
    }

    private void moved() {
        movedNanos = System.nanoTime();
    }

    /**
     * Has whoever waits go on when nothing was answered for too long. What waits for a thread is without an answer only as long as the whole
     * source is.
     */
    synchronized void giveUpStuck(long nowNanos) {
        if (!waitedFor || answer.isDone()) {
            return;
        }
        long moved = movedNanos;
        long since = begun || moved - threads.answeredNanos() > 0 ? moved : threads.answeredNanos();
        long quietNanos = nowNanos - since;
        if (!slow && quietNanos > SLOW.toNanos()) {
            slow = true;
            folder.slow(1);
            if (leftWhenSlow) {
                answer.completeExceptionally(new Slow(name));
                return;
            }
            if (permits != null) {
                permits.release();
            }
        }
        if (patience.leaves(quietNanos)) {
            answer.completeExceptionally(new InterruptedException("the source does not answer, and the run ends"));
        } else if (quietNanos > limit().toNanos()) {
            SourceProblem problem = threads.giveUp(since, limit())
                    .map(this::silent)
                    .orElseGet(() -> new SourceProblem(
                            Problem.UNREADABLE,
                            "%s: cannot be read: the source has not answered for %d s, but did for other files; is its disk damaged?"
                                    .formatted(name, limit().toSeconds())));
            answer.completeExceptionally(problem);
        }
    }

    private Duration limit() {
        Duration limit = patience.limit();
        return turn == Turn.PROBE && limit.compareTo(SourceThreads.PROBE) > 0 ? SourceThreads.PROBE : limit;
    }

    private void waitNoMore() {
        synchronized (this) {
            waitedFor = false;
            if (!slow) {
                return;
            }
            slow = false;
        }
        folder.slow(-1);
        if (permits != null) {
            // NB: also for an interrupted one, which gives it back at once.
            permits.acquireUninterruptibly();
        }
    }

    private SourceProblem silent(Duration silence) {
        return new SourceProblem(
                Problem.UNREADABLE,
                "%s: cannot be read: the source has not answered for %d s; is its file server up?"
                        .formatted(name, silence.toSeconds()),
                true);
    }

    private synchronized boolean isClosed() {
        return closed;
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
        threads.leave(this);
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
