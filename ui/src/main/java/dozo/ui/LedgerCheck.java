package dozo.ui;

import dozo.ledger.Breach;
import dozo.verify.LedgerVerification;
import dozo.verify.LedgerVerification.ComparedSite;
import dozo.verify.LedgerVerification.Verified;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.stereotype.Component;

/**
 * Verifies the ledger for its page. A verification reads every row and asks every site, which may take minutes: it runs
 * in the background, one at a time, and all readers see the same result. It is kept until the service ends.
 */
@Component
class LedgerCheck implements DisposableBean {

    /** How long a page waits for the result before it is shown without it. */
    private static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final Logger LOG = LoggerFactory.getLogger(LedgerCheck.class);

    private final LedgerVerification verification;
    private final InstantSource clock;
    private final ExecutorService executor = Executors.newVirtualThreadPerTaskExecutor();
    private @Nullable Running running;
    private volatile @Nullable Ended last;

    private record Running(Instant since, Future<?> end) {}

    /**
     * A verification that has ended.
     *
     * @param at when it began: later rows were not verified
     * @param result null: it failed, so nothing is known
     */
    record Ended(Instant at, @Nullable Verified result) {

        /** Returns the breaches of the ledger itself, then those that the sites' anchors show. */
        public List<Breach> breaches() {
            return result == null
                    ? List.of()
                    : Stream.concat(
                                    result.breaches().stream(),
                                    result.sites().stream().flatMap(site -> site.breaches().stream()))
                            .toList();
        }

        /** Returns the number of further breaches. */
        public long breachesLeftOff() {
            return result == null
                    ? 0
                    : result.breachesCount()
                            + result.sites().stream()
                                    .mapToLong(ComparedSite::breachesCount)
                                    .sum()
                            - breaches().size();
        }
    }

    LedgerCheck(LedgerVerification verification, InstantSource clock) {
        this.verification = verification;
        this.clock = clock;
    }

    /** Begins a verification unless one is running, and waits a moment for its end. */
    void begin() throws InterruptedException {
        try {
            current().end.get(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (TimeoutException stillRunning) {
            // It goes on, and the page says so.
        } catch (ExecutionException | CancellationException e) {
            throw new IllegalStateException("the ledger's verification has no result", e);
        }
    }

    /** Returns the result of the last verification that has ended; null if there is none. */
    @Nullable
    Ended last() {
        return last;
    }

    /** Returns since when a verification has been running; null if none is. */
    synchronized @Nullable Instant runningSince() {
        return running == null || running.end.isDone() ? null : running.since;
    }

    private synchronized Running current() {
        if (running == null || running.end.isDone()) {
            Instant now = clock.instant();
            running = new Running(now, executor.submit(() -> verify(now)));
        }
        return running;
    }

    private void verify(Instant now) {
        try {
            last = new Ended(now, verification.verify());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            LOG.error("the ledger could not be verified", e);
            last = new Ended(now, null);
        }
    }

    @Override
    public void destroy() {
        executor.shutdownNow();
    }
}
