package dozo.run;

import dozo.file.Zoned;
import dozo.registry.Sites;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.send.Sender;
import dozo.transfer.RunWorkers;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.batch.core.job.JobInterruptedException;
import org.springframework.stereotype.Component;

/**
 * Executes a run's work at its site. If the site is lost, it waits for the site within a limit and repeats the work:
 * everything that a run does there may be done twice. The run's message says that it waits, and since when.
 */
@Component
class AtSite {

    private static final Duration PAUSE = Duration.ofSeconds(1);

    private static final Logger LOG = LoggerFactory.getLogger(AtSite.class);

    private final Senders senders;
    private final Sites sites;
    private final Runs runs;
    private final RunWorkers workers;
    private final TransferSettings settings;
    private final InstantSource clock;

    /** Since when the site of a run is away. */
    private final Map<Long, Instant> away = new ConcurrentHashMap<>();

    interface Deed<T extends @Nullable Object> {
        T with(Sender sender) throws RemoteException, SourceAway, InterruptedException;
    }

    /** The site that a replication reads cannot be used now. */
    static final class SourceAway extends Exception {

        private static final long serialVersionUID = 1L;

        private final String site;

        SourceAway(String site, String message) {
            super(message);
            this.site = site;
        }
    }

    AtSite(
            Senders senders,
            Sites sites,
            Runs runs,
            RunWorkers workers,
            TransferSettings settings,
            InstantSource clock) {
        this.senders = senders;
        this.sites = sites;
        this.runs = runs;
        this.workers = workers;
        this.settings = settings;
        this.clock = clock;
    }

    /**
     * Executes the work.
     *
     * @throws RemoteException if the site cannot be used, or it, or the site that is read, has been away for too long
     * @throws JobInterruptedException if the run is asked to stop while it waits
     */
    <T extends @Nullable Object> T of(NightFlow flow, Deed<T> deed)
            throws RemoteException, JobInterruptedException, InterruptedException {
        return of(flow, deed, true);
    }

    /**
     * Executes the first work of a run in the same way, but does not wait for a site that has not answered yet: its address
     * may be wrong. One that is lost after a login has answered.
     */
    <T extends @Nullable Object> T first(NightFlow flow, Deed<T> deed)
            throws RemoteException, JobInterruptedException, InterruptedException {
        return of(flow, deed, false);
    }

    private <T extends @Nullable Object> T of(NightFlow flow, Deed<T> deed, boolean known)
            throws RemoteException, JobInterruptedException, InterruptedException {
        boolean answered = known;
        while (true) {
            Sender sender = null;
            try {
                sender = senders.of(flow.run(), flow.site());
                T done = deed.with(sender);
                isBack(flow);
                return done;
            } catch (RemoteException e) {
                answered |= e.reason() == Reason.LOST;
                boolean away = e.reason() == Reason.LOST || e.reason() == Reason.UNREACHABLE;
                if (!answered
                        || !away
                        || !mayWait(flow, sites.find(flow.site()).orElseThrow().name(), e)) {
                    throw e;
                }
                if (sender != null) {
                    senders.drop(flow.run(), sender);
                }
            } catch (SourceAway e) {
                answered = true;
                if (!mayWait(flow, e.site, e)) {
                    throw new RemoteException(Reason.LOST, String.valueOf(e.getMessage()), e);
                }
            }
            flow.check();
            Thread.sleep(PAUSE);
            flow.requireLease();
            flow.check();
        }
    }

    private boolean mayWait(NightFlow flow, String site, Exception why) {
        Instant now = clock.instant();
        Instant since = away.putIfAbsent(flow.run(), now);
        if (since == null) {
            String words = "waiting for site %s since %s: %s".formatted(site, Zoned.text(now), why.getMessage());
            LOG.warn("run {}: {}", flow.run(), words);
            say(flow, words);
            since = now;
        }
        return now.isBefore(since.plus(settings.outage()));
    }

    private void isBack(NightFlow flow) {
        if (away.remove(flow.run()) != null) {
            LOG.info("run {}: the site is back", flow.run());
            say(flow, "");
        }
    }

    /** Removes the message of a run that ends while it still waits for its site. */
    void leave(NightFlow flow) {
        if (away.remove(flow.run()) != null && !flow.joined()) {
            runs.say(flow.run(), "");
        }
    }

    private void say(NightFlow flow, String words) {
        if (flow.joined()) {
            workers.note(flow.worker(), words);
        } else {
            runs.say(flow.run(), words);
        }
    }
}
