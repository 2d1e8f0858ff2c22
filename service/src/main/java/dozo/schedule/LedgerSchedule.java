package dozo.schedule;

import dozo.db.ActiveService;
import dozo.verify.LedgerChecks;
import dozo.verify.LedgerVerification.Verdict;
import dozo.verify.LedgerVerification.Verified;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** Verifies the ledger once a day. A broken one becomes a condition that people are told about. */
@Component
class LedgerSchedule {

    private static final Logger LOG = LoggerFactory.getLogger(LedgerSchedule.class);

    private final LedgerChecks checks;
    private final ActiveService active;
    private final AtomicBoolean busy = new AtomicBoolean();

    LedgerSchedule(LedgerChecks checks, ActiveService active) {
        this.checks = checks;
        this.active = active;
    }

    /** Begins a verification if it is due. It has its own thread, because a site that does not answer takes its time. */
    @Scheduled(initialDelay = 120_000, fixedDelay = 600_000)
    void look() {
        if (active.isHere() && busy.compareAndSet(false, true)) {
            Thread.ofVirtual().name("ledger check").start(this::check);
        }
    }

    private void check() {
        try {
            if (checks.isDue()) {
                Verified verified = checks.run();
                if (verified.verdict() == Verdict.BROKEN) {
                    LOG.error("the ledger is broken: run dozo ledger verify");
                }
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
