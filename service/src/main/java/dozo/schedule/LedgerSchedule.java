package dozo.schedule;

import dozo.db.ActiveService;
import dozo.ledger.Ledger;
import dozo.ledger.Verification;
import dozo.run.Timetable;
import dozo.verify.LedgerVerification;
import dozo.verify.LedgerVerification.Verdict;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/**
 * Verifies the whole ledger after each night: when a run has written an anchor since the last time, at most twice a day, or at once
 * if the last one was incomplete. Without anchors, it does so once a day. A broken one becomes a condition that people are told about.
 */
@Component
class LedgerSchedule {

    private static final Logger LOG = LoggerFactory.getLogger(LedgerSchedule.class);

    private static final Duration EVERY = Duration.ofDays(1);

    /** After a complete one, an anchor waits until this time has passed: a ledger of ten years takes seconds. */
    private static final Duration REST = Duration.ofHours(12);

    private final Ledger ledger;
    private final LedgerVerification verification;
    private final InstantSource clock;
    private final ActiveService active;
    private final AtomicBoolean busy = new AtomicBoolean();

    LedgerSchedule(Ledger ledger, LedgerVerification verification, InstantSource clock, ActiveService active) {
        this.ledger = ledger;
        this.verification = verification;
        this.clock = clock;
        this.active = active;
    }

    /** Begins a verification if it is due. It has its own thread, because a site that does not answer takes its time. */
    @Scheduled(initialDelay = 120_000, fixedDelay = 600_000)
    void look() {
        if (active.isHere() && busy.compareAndSet(false, true)) {
            Thread.ofVirtual().name("ledger check").start(this::check);
        }
    }

    boolean isDue() {
        Instant now = clock.instant();
        return ledger.lastVerification()
                .map(last -> Timetable.isAhead(last.beganAt(), now)
                        || last.beganAt().plus(EVERY).isBefore(now)
                        || mayProveMore(last, now))
                .orElse(true);
    }

    private boolean mayProveMore(Verification last, Instant now) {
        boolean incomplete = last.verdict().equals(Verification.INCOMPLETE);
        return (incomplete || last.beganAt().plus(REST).isBefore(now)) && ledger.isAnchoredSince(last.beganAt());
    }

    private void check() {
        try {
            if (isDue() && verification.verify().verdict() == Verdict.BROKEN) {
                LOG.error("the ledger is broken: run dozo ledger verify");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException e) {
            LOG.warn("the ledger could not be verified; the next try is in 10 minutes: {}", e.getMessage());
        } finally {
            busy.set(false);
        }
    }
}
