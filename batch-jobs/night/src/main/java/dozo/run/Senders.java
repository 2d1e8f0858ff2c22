package dozo.run;

import dozo.db.ActiveService;
import dozo.file.Problem;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Ledger;
import dozo.manifest.IngestSettings;
import dozo.registry.Capabilities;
import dozo.registry.SiteLanes;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.remote.Lane;
import dozo.remote.Lanes;
import dozo.remote.Lanes.LaneTraffic;
import dozo.remote.Patience;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.SiteCheck;
import dozo.remote.TuningDecision;
import dozo.send.KnownSite;
import dozo.send.Load;
import dozo.send.Sender;
import dozo.send.Stay;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** The engine of each run that is active in this process. It is opened at the first use, after a check of the site. */
@Component
class Senders {

    private final Sites sites;
    private final Capabilities capabilities;
    private final Findings findings;
    private final Tunings tunings;
    private final TransferSettings settings;
    private final IngestSettings ingestSettings;
    private final SiteHours hours;
    private final ActiveService active;
    private final SiteLanes siteLanes;
    private final Map<Long, Sender> open = new ConcurrentHashMap<>();

    /** What this process may do for a run, and what others do for it; null until they are there. */
    private volatile @Nullable NightFlows flows;

    /** The bytes that those engines of a run had sent which are closed. */
    private final Map<Long, Long> movedBefore = new ConcurrentHashMap<>();

    Senders(
            Sites sites,
            Capabilities capabilities,
            Findings findings,
            Tunings tunings,
            TransferSettings settings,
            IngestSettings ingestSettings,
            SiteHours hours,
            ActiveService active,
            SiteLanes siteLanes) {
        this.sites = sites;
        this.capabilities = capabilities;
        this.findings = findings;
        this.tunings = tunings;
        this.settings = settings;
        this.ingestSettings = ingestSettings;
        this.hours = hours;
        this.active = active;
        this.siteLanes = siteLanes;
    }

    void with(NightFlows known) {
        flows = known;
    }

    /**
     * Returns the run's engine.
     *
     * @throws RemoteException if the site cannot be used, with what to do about it
     */
    synchronized Sender of(long runId, int siteId) throws RemoteException, InterruptedException {
        Sender sender = open.get(runId);
        if (sender == null) {
            sender = open(runId, sites.find(siteId).orElseThrow());
            open.put(runId, sender);
        }
        return sender;
    }

    /**
     * Closes an engine that has lost its site, unless it is closed already; the next caller of {@link #of} gets a new
     * one.
     */
    synchronized void drop(long runId, Sender lost) {
        if (open.remove(runId, lost)) {
            movedBefore.merge(runId, lost.bytesMoved(), Long::sum);
            lost.close();
        }
    }

    /** Returns the content bytes that this process and the other workers have sent for a run, since this process works on it. */
    long bytesMoved(long runId) {
        NightFlows known = flows;
        return bytesMovedHere(runId) + (known == null ? 0 : known.others(runId).bytesMoved());
    }

    /**
     * Returns the content bytes that the run's engine has sent; 0 without an engine. Never waits for one that is being
     * opened.
     */
    long bytesMovedHere(long runId) {
        return movedBefore.getOrDefault(runId, 0L) + of(runId, Sender::bytesMoved, 0L);
    }

    /** Returns the number of open lanes of the run's engine; 0 without an engine. */
    int lanes(long runId) {
        return of(runId, Sender::lanes, 0);
    }

    /** Returns what each open lane of the run's engine has moved; empty without an engine. */
    List<LaneTraffic> laneTraffic(long runId) {
        return of(runId, Sender::laneTraffic, List.of());
    }

    /** Returns the latest decisions about the number of lanes of the run's engine; empty without an engine. */
    List<TuningDecision> decisions(long runId) {
        return of(runId, Sender::decisions, List.of());
    }

    Load load(long runId) {
        return of(runId, Sender::load, Load.NONE);
    }

    /** Makes the run's engine stop waiting for sources that do not respond: the units that need them get no outcome. */
    void leaveSources(long runId) {
        Sender sender = open.get(runId);
        if (sender != null) {
            sender.leaveSources();
        }
    }

    /** Counts units of the run as being recorded. */
    Stay recording(long runId, int units) {
        return of(runId, sender -> sender.recording(units), () -> {});
    }

    private <T> T of(long runId, Function<Sender, T> question, T without) {
        Sender sender = open.get(runId);
        return sender == null ? without : question.apply(sender);
    }

    /** Closes the run's engine, if it has one. What it has sent counts until {@link #forget}. */
    synchronized void close(long runId) {
        Sender sender = open.get(runId);
        if (sender != null) {
            drop(runId, sender);
        }
    }

    void forget(long runId) {
        movedBefore.remove(runId);
    }

    private Sender open(long runId, Site site) throws RemoteException, InterruptedException {
        // The check of a run also knows the leases of workers, and replaces that of the service.
        Lanes lanes = (settings.lanes() == 0
                        ? siteLanes.tuned(site, tunings.start(site.id()))
                        : siteLanes.to(site, settings.lanes()))
                .checked(() -> requireLease(runId));
        try {
            Lane lane = lanes.next();
            SiteCheck check = capabilities.check(site, lane);
            if (!check.usable()) {
                throw new RemoteException(
                        check.writable() ? Reason.REFUSED : Reason.READ_ONLY,
                        "site %s (%s) cannot be used: %s"
                                .formatted(site.name(), site.address(), String.join("; ", check.findings())));
            }
            findings.add(runId, news(site, capabilities.keep(site, check, Ledger.SYSTEM)));
            KnownSite looked = KnownSite.of(check, new Patience(settings.patience()));
            return new Sender(
                    lanes,
                    settings.sftpAlone() ? looked.bySftpAlone() : looked,
                    hours.throttle(site.id()),
                    settings.readBackOneIn(),
                    ingestSettings.patience(),
                    ingestSettings.inspect(),
                    why -> findings.add(runId, news(site, List.of(why))));
        } catch (RemoteException | InterruptedException | RuntimeException e) {
            lanes.close();
            throw e;
        }
    }

    /** Fails if others may have taken over the run, or this process's share of it. */
    private void requireLease(long runId) throws IOException {
        NightFlows known = flows;
        if (!(known == null ? active.isSure() : known.isSure(runId))) {
            throw new IOException(
                    active.isHere()
                            ? "this service may not be the active one any more; nothing is sent"
                            : "others may have taken over from this worker; nothing is sent");
        }
    }

    /**
     * Returns the findings about lost capabilities. Those of a check are reported once: the next check compares with
     * the present state.
     */
    private static List<Finding> news(Site site, List<String> lost) {
        return lost.stream()
                .map(words -> new Finding(
                        null,
                        Problem.SITE_CHANGED,
                        "site %s: %s; ask the site's administrators what has changed".formatted(site.name(), words)))
                .toList();
    }
}
