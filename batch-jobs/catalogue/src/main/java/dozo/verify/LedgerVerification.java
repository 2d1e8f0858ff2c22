package dozo.verify;

import dozo.ledger.Anchor;
import dozo.ledger.Breach;
import dozo.ledger.Breach.Kind;
import dozo.ledger.Breaches;
import dozo.ledger.Chain;
import dozo.ledger.Chain.Checked;
import dozo.ledger.Guards;
import dozo.ledger.Ledger;
import dozo.ledger.Ledger.Anchored;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.verify.AnchorFiles.AnchorFile;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Whether the ledger is as it was written: every row by its hash, what guards the rows, and the rows against the anchors that
 * lie at the sites. One verification at a time; whoever asks for another waits.
 */
@Component
public class LedgerVerification {

    private static final int PAGE = 500;
    private static final Pattern SEQ = Pattern.compile("[1-9][0-9]{0,17}");

    private final Chain chain;
    private final Guards guards;
    private final Ledger ledger;
    private final Sites sites;

    /** What came of it. */
    public enum Verdict {
        /** Every row is as it was appended; up to the last anchor, a site bears witness. */
        INTACT,
        /** Nothing is broken, but there is a site that was not compared with, or that has no anchor. */
        INCOMPLETE,
        /** Something is not as Dozo leaves it. */
        BROKEN
    }

    /**
     * A verification.
     *
     * @param rows how many there are: all were checked
     * @param head the last row; null: there is none, or it is none that was appended
     * @param breaches what is broken: first the rows in their order, then the guards; a hundred at most
     * @param breachesCount how many there are
     */
    public record Verified(
            Verdict verdict,
            long rows,
            @Nullable Anchor head,
            List<Breach> breaches,
            long breachesCount,
            List<AtSite> sites) {}

    /**
     * The ledger against the anchors at one site.
     *
     * @param trouble why it was not compared with them; null: it was
     * @param anchors how many there are
     * @param provenUpTo the last row that an anchor there bears witness to; 0: none
     * @param breaches a hundred at most
     * @param breachesCount how many there are
     */
    public record AtSite(
            String site,
            @Nullable String trouble,
            long anchors,
            long provenUpTo,
            List<Breach> breaches,
            long breachesCount) {

        /** Whether it was compared with an anchor at all. */
        boolean complete() {
            return trouble == null && provenUpTo > 0;
        }
    }

    public LedgerVerification(Chain chain, Guards guards, Ledger ledger, Sites sites) {
        this.chain = chain;
        this.guards = guards;
        this.ledger = ledger;
        this.sites = sites;
    }

    /** Verifies all of it; how long that takes grows with the ledger, the memory it needs does not. */
    public synchronized Verified verify() throws InterruptedException {
        Checked rows = chain.check();
        List<Breach> breaches = new ArrayList<>(rows.breaches());
        List<Breach> unguarded = guards.breaches();
        breaches.addAll(unguarded);
        long count = rows.breachesCount() + unguarded.size();
        List<AtSite> compared = new ArrayList<>();
        for (Site site : sites.all()) {
            compared.add(compared(site, rows.breachesCount() == 0));
        }
        boolean broken = count > 0 || compared.stream().anyMatch(site -> site.breachesCount > 0);
        boolean complete = !compared.isEmpty() && compared.stream().allMatch(AtSite::complete);
        Verdict verdict = broken ? Verdict.BROKEN : complete ? Verdict.INTACT : Verdict.INCOMPLETE;
        return new Verified(verdict, rows.rows(), rows.head(), List.copyOf(breaches), count, compared);
    }

    private AtSite compared(Site site, boolean chainIntact) throws InterruptedException {
        Comparison comparison = new Comparison(site, chainIntact);
        try (Lanes lanes = Lanes.to(site.address(), 1)) {
            comparison.with(new AnchorFiles(lanes.next()));
            return comparison.ended(null);
        } catch (RemoteException e) {
            return comparison.ended(String.valueOf(e.getMessage()));
        } catch (IOException e) {
            throw new IllegalStateException("only the site throws here", e);
        }
    }

    /** The anchors at one site against the rows, and against what is known here of having been written there. */
    private final class Comparison {

        private final String site;
        private final boolean chainIntact;
        private final Breaches breaches = new Breaches();

        /** The first of those whose row is another one, or gone: what that says depends on all of them. */
        private final TreeSet<Long> refuted = new TreeSet<>();

        private long refutedCount;

        private long anchors;
        private long provenUpTo;

        Comparison(Site site, boolean chainIntact) {
            this.site = site.name();
            this.chainIntact = chainIntact;
        }

        void with(AnchorFiles files) throws IOException, InterruptedException {
            files.read(this::compare);
            List<Anchored> known = ledger.anchored(site, 0, PAGE);
            while (!known.isEmpty()) {
                for (long seq : files.missing(seqs(known))) {
                    breaches.add(new Breach(
                            Kind.ANCHOR_MISSING,
                            seq,
                            "the anchor of row %d was written to site %s and is not there any more: %s"
                                    .formatted(seq, site, Anchor.file(seq))));
                }
                known = ledger.anchored(site, known.getLast().seq(), PAGE);
            }
        }

        private void compare(List<AnchorFile> files) {
            // NB: asked for after the files were seen: a row is there before its anchor is.
            Map<Long, Anchor> rows = ledger.rows(files.stream()
                    .flatMap(file -> file.anchor().stream().map(Anchor::seq))
                    .toList());
            for (AnchorFile file : files) {
                anchors++;
                file.anchor()
                        .ifPresentOrElse(
                                anchor -> compare(anchor, rows.get(anchor.seq())),
                                () -> breaches.add(new Breach(
                                        Kind.ANCHOR_ALTERED,
                                        Anchor.seq(file.file()).orElse(null),
                                        "%s at site %s does not have the form of an anchor"
                                                .formatted(file.file(), site))));
            }
        }

        private void compare(Anchor anchor, @Nullable Anchor row) {
            if (anchor.equals(row)) {
                provenUpTo = Math.max(provenUpTo, anchor.seq());
                return;
            }
            refutedCount++;
            refuted.add(anchor.seq());
            if (refuted.size() > Breaches.KEPT_MAX) {
                refuted.pollLast();
            }
        }

        AtSite ended(@Nullable String trouble) {
            long last = ledger.last();
            refuted.forEach(seq -> breaches.add(refutation(seq, last)));
            long count = breaches.count() + refutedCount - refuted.size();
            return new AtSite(site, trouble, anchors, provenUpTo, breaches.kept(), count);
        }

        private Breach refutation(long seq, long last) {
            if (seq > last) {
                return new Breach(
                        Kind.CUT_OFF,
                        last + 1,
                        "the ledger ends with row %d, and site %s has the anchor of row %d: what came after row %d is gone"
                                .formatted(last, site, seq, last));
            }
            if (chainIntact && seq < provenUpTo) {
                return new Breach(
                        Kind.ANCHOR_ALTERED,
                        seq,
                        "the anchor of row %d at site %s was changed there: the row is proven by the anchor of row %d"
                                .formatted(seq, site, provenUpTo));
            }
            return new Breach(
                    Kind.REWRITTEN,
                    seq,
                    "row %d is not the one of which site %s has the anchor: the ledger was written anew, or the anchor was"
                                    .formatted(seq, site)
                            + " changed there");
        }
    }

    private static List<Long> seqs(List<Anchored> known) {
        List<Long> seqs = new ArrayList<>();
        for (Anchored row : known) {
            String anchor = row.anchor();
            // What is no number was not written by us; the chain is broken there.
            if (anchor != null && SEQ.matcher(anchor).matches()) {
                seqs.add(Long.valueOf(anchor));
            }
        }
        return seqs;
    }
}
