package dozo.send;

import dozo.file.Entry;
import dozo.file.Problem;
import dozo.send.Gauges.Gauge;
import dozo.send.SourceProblem.Slow;
import dozo.send.SourceThreads.Turn;
import dozo.send.SourceYielding.Pass;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * The requests for one file to its source, one at a time. They run on {@link SourceThreads}, and the caller waits. If
 * there is no answer within the engine's {@link SourcePatience}, the caller gets a problem and the request goes on
 * without it (ADR 0047).
 */
final class SourceRequests {

    /**
     * A source without an answer for this long is slow; others may then use the permit for an open file at the site.
     */
    private static final Duration SLOW = Duration.ofSeconds(2);

    /** The same if another file of the source is slow already: otherwise a bundle would wait 2 s for each 64 files. */
    private static final Duration SLOW_TOO = Duration.ofMillis(100);

    private final SourceFolder folder;
    private final String name;
    private final SourceThreads threads;
    private final Caller caller;

    /** Frees what the file uses, if it was closed during a request. */
    private final Runnable letGo;

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

    /**
     * Who asks.
     *
     * @param reading counts the callers that wait for the source
     * @param permits the caller holds one of these; it is released for others during a long wait
     * @param leftWhenSlow whether the caller goes on without this file if the source is slow
     * @param stuck if not null, the caller's thread sends the requests, and another thread calls this if one is slow
     */
    record Caller(
            Gauge reading,
            SourcePatience patience,
            @Nullable Semaphore permits,
            boolean leftWhenSlow,
            @Nullable Runnable stuck) {}

    /** A request to the file system, which may take long. Returns the number of bytes read. */
    interface Question {
        int ask() throws IOException, SourceProblem;
    }

    SourceRequests(SourceFolder folder, Entry sealed, Caller caller, Runnable letGo) {
        this.folder = folder;
        this.name = sealed.path().toString();
        this.caller = caller;
        this.letGo = letGo;
        this.threads = SourceThreads.enter(folder.path(), this);
    }

    /** Returns whether the caller's thread sends the requests. */
    boolean isHere() {
        return caller.stuck != null;
    }

    /**
     * Sends a request without waiting for the answer. Of a silent source there is none.
     *
     * @param over called by any thread when there is an answer, or the caller is not to wait any more
     */
    void begin(Question question, Runnable over) throws InterruptedException {
        Pass mayAsk = enter();
        CompletableFuture<@Nullable Void> asked = asking(Turn.NORMAL, mayAsk, null);
        Stay stay = caller.reading.enter();
        var _ = asked.whenComplete((_, _) -> {
            stay.close();
            waitNoMore();
            over.run();
        });
        if (threads.isSilent()) {
            leave(mayAsk);
            answered();
            asked.completeExceptionally(new Slow(name));
        } else {
            threads.run(() -> answer(true, question, asked, mayAsk));
        }
    }

    /** Waits for the answer to the last request. */
    void await() throws SourceProblem, InterruptedException {
        await(answer);
    }

    /**
     * Sends a request, and waits for the answer.
     *
     * @param opens whether it opens a file
     * @param holding others use this room while the source is slow
     */
    void ask(boolean opens, Question question, @Nullable Room holding) throws SourceProblem, InterruptedException {
        Turn mine = caller.stuck == null ? threads.turn() : Turn.NORMAL;
        if (mine == Turn.NONE) {
            throw silent(threads.silence());
        }
        try {
            Pass mayAsk = enter();
            CompletableFuture<@Nullable Void> asked = asking(mine, mayAsk, holding);
            try (Stay _ = caller.reading.enter()) {
                if (caller.stuck == null) {
                    threads.run(() -> answer(opens, question, asked, mayAsk));
                } else {
                    answer(opens, question, asked, mayAsk);
                }
                await(asked);
            }
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
                case IOException unreadable -> throw SourceProblem.unreadable(name, unreadable);
                case RuntimeException bug -> throw bug;
                case Error error -> throw error;
                case null, default -> throw new IllegalStateException(e.getCause());
            }
        }
    }

    /** Waits while others use the source, if the engine yields to them. */
    private @Nullable Pass enter() throws InterruptedException {
        return folder.isLocal() ? caller.patience.yielding().enter(threads::place, caller.patience) : null;
    }

    private static void leave(@Nullable Pass pass) {
        if (pass != null) {
            pass.end();
        }
    }

    private synchronized CompletableFuture<@Nullable Void> asking(
            Turn mine, @Nullable Pass mayAsk, @Nullable Room holding) {
        answer = new CompletableFuture<>();
        turn = mine;
        pass = mayAsk;
        held = holding;
        begun = false;
        asking = true;
        waitedFor = true;
        moved();
        return answer;
    }

    /** Runs the request, on its thread. */
    private void answer(
            boolean opens, Question question, CompletableFuture<@Nullable Void> asked, @Nullable Pass mayAsk) {
        Throwable failure = null;
        long now = System.nanoTime();
        try {
            // The caller may have gone while all threads were busy.
            if (!isClosed()) {
                moved();
                begun = true;
                int bytes = question.ask();
                threads.answered(now);
                if (mayAsk != null) {
                    mayAsk.answered(SourceYielding.kind(opens, bytes), System.nanoTime() - now);
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

    /** Records that the request makes progress. */
    void moved() {
        movedNanos = System.nanoTime();
    }

    /** Runs the work on a thread of the source. */
    void run(Runnable work) {
        threads.run(work);
    }

    /**
     * Sends no further requests. Returns whether the caller is to free what the file uses; otherwise the thread of a
     * request does that, or it is done.
     */
    synchronized boolean close() {
        boolean free = !closed && !asking;
        closed = true;
        return free;
    }

    /** Ends the use of the source's threads. */
    void leave() {
        threads.leave(this);
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
            if (caller.leftWhenSlow) {
                answer.completeExceptionally(new Slow(name));
                if (caller.stuck != null) {
                    caller.stuck.run();
                }
                return;
            }
            if (caller.permits != null) {
                caller.permits.release();
            }
            if (held != null) {
                held.giveBack();
            }
        }
        if (caller.patience.leaves(quietNanos)) {
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
        Duration limit = caller.patience.limit();
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
        if (caller.permits != null) {
            // NB: uninterruptible, also for an interrupted caller, who releases the permit at once.
            caller.permits.acquireUninterruptibly();
        }
    }

    private SourceProblem silent(Duration silence) {
        return SourceProblem.ofSource(
                Problem.UNREADABLE,
                "%s: cannot be read: the source has not answered for %d s; check its file server"
                        .formatted(name, silence.toSeconds()));
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
        letGo.run();
    }
}
