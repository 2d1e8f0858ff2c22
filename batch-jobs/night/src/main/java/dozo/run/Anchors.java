package dozo.run;

import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Anchor;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Ledger;
import dozo.registry.Sites;
import dozo.remote.RemoteException;
import dozo.send.Route;
import dozo.send.Sender;
import dozo.send.Sender.Placing;
import java.io.ByteArrayInputStream;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.springframework.batch.core.job.JobInterruptedException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/** Writes the ledger's last row to the site at the end of a run, where the owner of the database cannot change it. */
@Component
record Anchors(
        Ledger ledger, Findings findings, Sites sites, SiteAhead ahead, AtSite site, TransactionTemplate transaction) {

    /**
     * Writes the anchor of the ledger's last row, as a file that is verified before it gets its name and that never
     * replaces another. A failure is a finding. A repetition for the same row leaves the existing file unchanged. No
     * transaction is open during requests to the site. Returns the number of anchors: none if the run must {@linkplain SiteAhead#mayRecord
     * not record}.
     */
    int write(NightFlow flow) throws JobInterruptedException, InterruptedException {
        if (!ahead.mayRecord(flow.run(), flow.site())) {
            return 0;
        }
        Optional<Anchor> head = ledger.head();
        if (head.isEmpty()) {
            failed(flow.run(), "the ledger has no valid last row to anchor; check it with `dozo ledger verify`");
            return 0;
        }
        Anchor anchor = head.get();
        try {
            site.of(flow, sender -> {
                place(sender, anchor);
                return null;
            });
        } catch (RemoteException e) {
            failed(
                    flow.run(),
                    "row %d of the ledger could not be anchored at the site: %s; the next run anchors a later one"
                            .formatted(anchor.seq(), e.getMessage()));
            return 0;
        }
        transaction.executeWithoutResult(_ ->
                ledger.anchored(anchor, sites.find(flow.site()).orElseThrow().name()));
        return 1;
    }

    private static void place(Sender sender, Anchor anchor) throws RemoteException, InterruptedException {
        Route route = Route.alone(Anchor.file(anchor.seq()));
        sender.place(List.of(new Placing(route, FilePath.ROOT, () -> new ByteArrayInputStream(anchor.line()))));
        sender.sweep(route, Set.of());
    }

    private void failed(long runId, String message) {
        findings.add(runId, new Finding(null, Problem.UNANCHORED, message));
    }
}
