package dozo.send;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.Problem;
import dozo.remote.RemoteException;
import dozo.send.Gauges.Gauge;
import dozo.send.Outcome.Failed;
import dozo.send.SourceThreads.Turn;
import dozo.send.SourceYielding.Pass;
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
 * An open file of a manifest, checked to be the one that the manifest describes.
 *
 * <p>Its requests to the file system run on {@link SourceThreads}. Callers wait for them, and can be interrupted while
 * a file server does not answer: the request then goes on without them, reads into a buffer of its own, and closes the
 * file when it ends. The same happens if there is no answer within the engine's {@link SourcePatience}: the caller then
 * gets a problem. To save requests, files are read ahead, and a small file is opened, read, compared and closed in one
 * request (ADR 0047).
 */
final class SourceFile implements AutoCloseable {

    private static final int DIGEST_BYTES = 128 << 10;

    /**
     * A source without an answer for this long is slow; others may then use the permit for an open file at the site.
     */
    private static final Duration SLOW = Duration.ofSeconds(2);

    /** The same if another file of the source is slow already: otherwise a bundle would wait 2 s for each 64 files. */
    private static final Duration SLOW_TOO = Duration.ofMillis(100);

    private final SourceFolder folder;
    private final Entry sealed;
    private final String name;
    private final SourceThreads threads;
    private final Gauge reading;
    private final SourcePatience patience;
    private final @Nullable Semaphore permits;

    /** Whether the caller goes on without this file if the source is slow. */
    private final boolean leftWhenSlow;

    /** If not null, the caller's thread sends the requests, and another thread calls this if one is slow. */
    private final @Nullable Runnable stuck;

    // Used by the caller and by the thread that runs the request, never by both at once.
    private @Nullable OpenSource file;
    private @Nullable ByteBuffer ahead;

    private long aheadOffset;
    private int aheadBytes;
    private int answeredBytes;
    private boolean unchanged;
    private boolean sparse;

    /** When the current request last made progress; before that, when it was made. */
    private volatile long movedNanos;

    /** Whether a thread runs the request; false while it waits for one. */
    private volatile boolean begun;

    // Guarded by this.
    private boolean asking;
    private boolean waitedFor;
    private boolean closed;
    private boolean slow;
    private Turn turn = Turn.NORMAL;
    private @Nullable Pass pass;
    private @Nullable Room held;
    private CompletableFuture<@Nullable Void> answer = new CompletableFuture<>();

    /** The source cannot be used as the manifest describes it. */
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

        /** Returns a problem of the whole source. */
        static SourceProblem ofSource(Problem problem, String message) {
            return new SourceProblem(problem, message, true);
        }

        Problem problem() {
            return problem;
        }

        /** Returns the failure of an entry for this reason. */
        Failed failed(Entry entry) {
            return new Failed(entry, problem, String.valueOf(getMessage()), ofSource);
        }
    }

    /** The source is slow, and the caller does not wait for it. */
    static final class Slow extends SourceProblem {

        private static final long serialVersionUID = 1L;

        private Slow(String name) {
            super(Problem.UNREADABLE, name + ": the source is slow");
        }
    }

    /** A request to the file system; it may take long. */
    private interface Question {
        void ask() throws IOException, SourceProblem;
    }

    private SourceFile(
            SourceFolder folder,
            Entry sealed,
            Gauge reading,
            SourcePatience patience,
            @Nullable Semaphore permits,
            boolean leftWhenSlow,
            @Nullable Runnable stuck) {
        this.reading = reading;
        this.leftWhenSlow = leftWhenSlow;
        this.stuck = stuck;
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
     * @param sealed the manifest's entry of the file
     * @param reading counts the callers that wait for the source
     * @param permits the caller holds one of these; it is released for others during a long wait
     * @throws SourceProblem if it cannot be opened, or is not what the manifest describes
     */
    static SourceFile open(
            SourceFolder folder, Entry sealed, Gauge reading, SourcePatience patience, @Nullable Semaphore permits)
            throws SourceProblem, InterruptedException {
        SourceFile source = new SourceFile(folder, sealed, reading, patience, permits, false, null);
        try {
            source.ask(source::begin);
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
        try (SourceFile source = new SourceFile(folder, sealed, reading, patience, permits, false, null)) {
            source.ask(() -> same[0] = folder.areOne(sealed, other));
        }
        return same[0];
    }

    /**
     * Begins to open a file for a caller who does not wait for a slow source: every request then fails with
     * {@link Slow}.
     *
     * @param over called by any thread when {@link #awaitOpen} no longer waits; the file must be closed then
     */
    static void beginOpening(
            SourceFolder folder, Entry sealed, Gauge reading, SourcePatience patience, Consumer<SourceFile> over)
            throws InterruptedException {
        SourceFile source = new SourceFile(folder, sealed, reading, patience, null, true, null);
        Pass pass;
        try {
            pass = source.enter();
        } catch (InterruptedException e) {
            source.close();
            throw e;
        }
        CompletableFuture<@Nullable Void> asked = source.asking(Turn.NORMAL, pass);
        Stay stay = reading.enter();
        var _ = asked.whenComplete((_, _) -> {
            stay.close();
            source.waitNoMore();
            over.accept(source);
        });
        if (source.threads.isSilent()) {
            leave(pass);
            source.answered();
            asked.completeExceptionally(new Slow(source.name));
        } else {
            source.threads.run(() -> source.answer(source::begin, asked, pass));
        }
    }

    /**
     * Returns a file that is opened and read by the caller's own thread, which saves handing over every request. Only
     * for a {@linkplain SourceThreads#isFast fast} source, and for a platform thread that nobody else needs.
     *
     * @param stuck called by another thread if the source is slow after all: the caller's thread is in the kernel then,
     *     until the source answers, and gets {@link Slow}
     */
    static SourceFile here(SourceFolder folder, Entry sealed, Gauge reading, SourcePatience patience, Runnable stuck) {
        return new SourceFile(folder, sealed, reading, patience, null, true, stuck);
    }

    /** Returns when the file is open; at once after {@link #beginOpening} is over. */
    void awaitOpen() throws SourceProblem, InterruptedException {
        if (stuck == null) {
            await(answer);
        } else {
            ask(this::begin);
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
            ask(() -> readAhead(room, offset));
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

    /** Reads the file up to {@code sizeBytes}, only for its digest. */
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

    /** Checks that the file has not changed since it was opened. Call it after the last byte is read. */
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
                // NB: the request may be in the kernel with the file's number. Its thread closes the file.
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
        OpenSource opened = folder.open(sealed);
        moved();
        file = opened;
        sparse = opened.isSparse();
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

    /**
     * Reads at least {@code bytes} from this offset on. NB: never into the caller's buffer, which has another owner
     * after an interrupt.
     */
    private void readOn(long offset, int bytes, @Nullable Room holding) throws SourceProblem, InterruptedException {
        if (ahead == null) {
            ahead = SourceBuffers.take();
        }
        ByteBuffer room = ahead != null ? ahead : ByteBuffer.allocate(bytes);
        synchronized (this) {
            held = holding;
        }
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
        answeredBytes = aheadBytes;
        if (room.hasRemaining() || aheadBytes == left) {
            compare();
        }
    }

    private void compare() throws IOException, SourceProblem {
        if (!requireNonNull(file).isUnchanged()) {
            throw new SourceProblem(
                    Problem.CHANGED, name + ": changed while it was read; the next run sends the new content");
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
        if (stuck != null) {
            askHere(question);
            return;
        }
        Turn mine = threads.turn();
        if (mine == Turn.NONE) {
            throw silent(threads.silence());
        }
        try {
            Pass mayAsk = enter();
            CompletableFuture<@Nullable Void> asked = asking(mine, mayAsk);
            try (Stay _ = reading.enter()) {
                threads.run(() -> answer(question, asked, mayAsk));
                await(asked);
            }
        } finally {
            if (mine == Turn.PROBE) {
                threads.probed();
            }
            waitNoMore();
        }
    }

    private void askHere(Question question) throws SourceProblem, InterruptedException {
        Pass mayAsk = enter();
        CompletableFuture<@Nullable Void> asked = asking(Turn.NORMAL, mayAsk);
        try (Stay _ = reading.enter()) {
            answer(question, asked, mayAsk);
            await(asked);
        } finally {
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

    /** Waits while others use the source, if the engine yields to them. */
    private @Nullable Pass enter() throws InterruptedException {
        return folder.isLocal() ? patience.yielding().enter(threads::place, patience) : null;
    }

    private static void leave(@Nullable Pass pass) {
        if (pass != null) {
            pass.end();
        }
    }

    private synchronized CompletableFuture<@Nullable Void> asking(Turn mine, @Nullable Pass mayAsk) {
        answer = new CompletableFuture<>();
        turn = mine;
        pass = mayAsk;
        begun = false;
        asking = true;
        waitedFor = true;
        moved();
        return answer;
    }

    /** Runs the request, on its thread. */
    private void answer(Question question, CompletableFuture<@Nullable Void> asked, @Nullable Pass mayAsk) {
        Throwable failure = null;
        long now = System.nanoTime();
        try {
            // The caller may have gone while all threads were busy.
            if (!isClosed()) {
                moved();
                begun = true;
                boolean opens = file == null;
                answeredBytes = 0;
                question.ask();
                threads.answered(now);
                if (mayAsk != null) {
                    mayAsk.answered(SourceYielding.kind(opens, answeredBytes), System.nanoTime() - now);
                    threads.locate(folder.path());
                }
            }
        } catch (IOException | SourceProblem e) {
            threads.answered(now);
            failure = e;
        } catch (Throwable e) {
            failure = e;
        }
        leave(mayAsk);
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
     * Ends the caller's wait if there was no answer for too long. While the request waits for a thread, any answer of
     * the source counts.
     */
    synchronized void giveUpStuck(long nowNanos) {
        if (!waitedFor || answer.isDone()) {
            return;
        }
        long moved = movedNanos;
        long since = begun || moved - threads.answeredNanos() > 0 ? moved : threads.answeredNanos();
        long quietNanos = nowNanos - since;
        if (!slow && quietNanos > (folder.isSlow() ? SLOW_TOO : SLOW).toNanos()) {
            slow = true;
            folder.slow(1);
            threads.slow();
            // Others may ask: this answer may never come.
            leave(pass);
            if (leftWhenSlow) {
                answer.completeExceptionally(new Slow(name));
                if (stuck != null) {
                    stuck.run();
                }
                return;
            }
            if (permits != null) {
                permits.release();
            }
            if (held != null) {
                held.giveBack();
            }
        }
        if (patience.leaves(quietNanos)) {
            answer.completeExceptionally(new InterruptedException("the source does not answer, and the run ends"));
        } else if (quietNanos > limit().toNanos()) {
            SourceProblem problem = threads.giveUp(since, limit())
                    .map(this::silent)
                    .orElseGet(() -> new SourceProblem(
                            Problem.UNREADABLE,
                            "%s: cannot be read: no answer for %d s, although other files of the source can be read; check its disk"
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
            held = null;
            if (!slow) {
                return;
            }
            slow = false;
        }
        folder.slow(-1);
        if (permits != null) {
            // NB: uninterruptible, also for an interrupted caller, who releases the permit at once.
            permits.acquireUninterruptibly();
        }
    }

    private SourceProblem silent(Duration silence) {
        return new SourceProblem(
                Problem.UNREADABLE,
                "%s: cannot be read: the source has not answered for %d s; check its file server"
                        .formatted(name, silence.toSeconds()),
                true);
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    /** Called by the request's thread before its caller gets the answer. */
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

    /** Returns the problem that a file is not the one that the manifest describes. */
    static SourceProblem replaced(Entry sealed) {
        return new SourceProblem(
                Problem.CHANGED,
                sealed.path() + ": changed since the manifest was sealed; the next run sends the new content");
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
