package dozo.send;

import dozo.remote.RemoteException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;

/**
 * Does what several threads ask for at the same time as one piece of work: what is asked for while such work is under way waits
 * for the next. If the work for several fails, it is repeated for each by itself.
 */
final class Together<Q, A> {

    /** Those who begin at the same time ask within this time. It is short beside the start of a command at a site. */
    private static final Duration GATHERING = Duration.ofMillis(5);

    private final Workers workers;
    private final int atOnce;
    private final int most;
    private final Work<Q, A> work;
    private final Deque<Asked<Q, A>> waiting = new ArrayDeque<>();
    private int underWay;

    interface Work<Q, A> {

        /** Returns an answer for each question, in their order. */
        List<A> on(List<Q> questions) throws RemoteException, InterruptedException;
    }

    private record Asked<Q, A>(Q question, CompletableFuture<A> answer) {}

    /**
     * Creates it.
     *
     * @param atOnce so many pieces of work may be under way
     * @param most the most questions of one of them
     */
    Together(Workers workers, int atOnce, int most, Work<Q, A> work) {
        this.workers = workers;
        this.atOnce = atOnce;
        this.most = most;
        this.work = work;
    }

    A ask(Q question) throws RemoteException, InterruptedException {
        CompletableFuture<A> answer = new CompletableFuture<>();
        if (add(new Asked<>(question, answer))) {
            try {
                var _ = workers.begin(() -> {
                    workAll();
                    return question;
                });
            } catch (RemoteException closed) {
                failAll(closed);
            }
        }
        return Workers.join(answer);
    }

    /** Returns how many questions nobody works on yet. */
    synchronized int waiting() {
        return waiting.size();
    }

    private synchronized boolean add(Asked<Q, A> asked) {
        waiting.add(asked);
        boolean begins = underWay < atOnce;
        underWay += begins ? 1 : 0;
        return begins;
    }

    private synchronized List<Asked<Q, A>> next() {
        List<Asked<Q, A>> next = new ArrayList<>();
        while (next.size() < most && !waiting.isEmpty()) {
            next.add(waiting.remove());
        }
        underWay -= next.isEmpty() ? 1 : 0;
        return next;
    }

    private synchronized void failAll(RemoteException why) {
        underWay--;
        waiting.forEach(asked -> asked.answer.completeExceptionally(why));
        waiting.clear();
    }

    private void workAll() {
        // Ends early if the thread is interrupted, and the work ends then, too.
        LockSupport.parkNanos(GATHERING.toNanos());
        for (List<Asked<Q, A>> some = next(); !some.isEmpty(); some = next()) {
            workOn(some);
        }
    }

    private void workOn(List<Asked<Q, A>> some) {
        try {
            List<A> answers = work.on(some.stream().map(Asked::question).toList());
            for (int i = 0; i < some.size(); i++) {
                some.get(i).answer.complete(answers.get(i));
            }
        } catch (Throwable e) {
            if (some.size() > 1 && e instanceof RemoteException site && !site.retryable()) {
                some.forEach(one -> workOn(List.of(one)));
            } else {
                some.forEach(one -> one.answer.completeExceptionally(e));
            }
        }
    }
}
