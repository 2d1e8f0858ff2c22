package dozo.run;

import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Anchor;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Ledger;
import dozo.registry.Sites;
import dozo.send.Route;
import dozo.send.Sender;
import dozo.send.Sender.Placing;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/** Writes the ledger's last row to the site at the end of a run, where the owner of the database cannot change it. */
@Component
class Anchors {

    private final Ledger ledger;
    private final Findings findings;
    private final Sites sites;
    private final Senders senders;

    Anchors(Ledger ledger, Findings findings, Sites sites, Senders senders) {
        this.ledger = ledger;
        this.findings = findings;
        this.sites = sites;
        this.senders = senders;
    }

    /**
     * Writes the anchor of the ledger's last row, as a file that is verified before it gets its name and that never
     * replaces another. A failure is a finding. A repetition for the same row leaves the existing file unchanged.
     */
    @Transactional
    void write(long runId, int siteId) throws InterruptedException {
        Optional<Anchor> head = ledger.head();
        if (head.isEmpty()) {
            failed(runId, "the ledger has no valid last row to anchor; check it with `dozo ledger verify`");
            return;
        }
        Anchor anchor = head.get();
        try {
            place(senders.of(runId, siteId), anchor);
        } catch (IOException e) {
            failed(
                    runId,
                    "row %d of the ledger could not be anchored at the site: %s; the next run anchors a later one"
                            .formatted(anchor.seq(), e.getMessage()));
            return;
        }
        // NB: last, because appending blocks all others who append until the end of the transaction.
        ledger.anchored(anchor, sites.find(siteId).orElseThrow().name());
    }

    private static void place(Sender sender, Anchor anchor) throws IOException, InterruptedException {
        Route route = Route.alone(Anchor.file(anchor.seq()));
        sender.place(List.of(new Placing(route, FilePath.ROOT, () -> new ByteArrayInputStream(anchor.line()))));
        sender.sweep(route, Set.of());
    }

    private void failed(long runId, String message) {
        findings.add(runId, List.of(new Finding(null, Problem.UNANCHORED, null, message)));
    }
}
