package dozo.run;

import dozo.certificate.Checkpoint;
import dozo.certificate.Checkpoints;
import dozo.certificate.Checkpoints.Made;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Anchor;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Ledger;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.remote.RemoteException;
import dozo.send.Route;
import dozo.send.Sender;
import dozo.send.Sender.Placing;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.springframework.batch.core.job.JobInterruptedException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/** Writes the ledger's last row to the site at the end of a run, where the owner of the database cannot change it. */
@Component
record Anchors(
        Ledger ledger,
        Checkpoints checkpoints,
        Findings findings,
        Sites sites,
        SiteAhead ahead,
        AtSite site,
        TransactionTemplate transaction) {

    /**
     * Writes the anchor of the ledger's last row, and the checkpoint of that row, each as a file that is verified before it gets its name and that never
     * replaces another. A failure is a finding. A repetition for the same row leaves the existing file unchanged. No
     * transaction is open during requests to the site. Returns the number of anchors: none if the run must {@linkplain SiteAhead#mayRecord
     * not record}.
     */
    int write(NightFlow flow) throws JobInterruptedException, InterruptedException {
        if (!ahead.mayRecord(flow.run(), flow.site())) {
            return 0;
        }
        checkpoints.origin();
        Optional<Anchor> head = ledger.head();
        if (head.isEmpty()) {
            failed(flow.run(), "the ledger has no valid last row to anchor; check it with `dozo ledger verify`");
            return 0;
        }
        Anchor anchor = head.get();
        try {
            site.of(flow, sender -> {
                place(sender, Anchor.file(anchor.seq()), anchor.line());
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
        checkpoint(flow, anchor);
        return 1;
    }

    /** Signs the checkpoint of the anchored row for witnesses. They are asked later, and not by the run. */
    private void checkpoint(NightFlow flow, Anchor anchor) throws JobInterruptedException, InterruptedException {
        try {
            Made made = checkpoints.make(anchor);
            site.of(flow, sender -> {
                place(
                        sender,
                        Checkpoint.file(made.size(), made.note()),
                        made.note().getBytes(StandardCharsets.UTF_8));
                // Only now: the sender knows which folders it has made.
                sender.sweep(Route.alone(Checkpoint.FOLDER), Set.of());
                return null;
            });
        } catch (RemoteException | Refusal | IllegalStateException e) {
            // NB: a ledger that lacks rows of its own tree is what its verification finds; the night goes on.
            failed(
                    flow.run(),
                    "the checkpoint of row %d of the ledger could not be made or written: %s; the next run makes a later one"
                            .formatted(anchor.seq(), e.getMessage()));
        }
    }

    private static void place(Sender sender, FilePath file, byte[] content)
            throws RemoteException, InterruptedException {
        Route route = Route.alone(file);
        sender.place(List.of(new Placing(route, FilePath.ROOT, () -> new ByteArrayInputStream(content))));
    }

    private void failed(long runId, String message) {
        findings.add(runId, new Finding(null, Problem.UNANCHORED, message));
    }
}
