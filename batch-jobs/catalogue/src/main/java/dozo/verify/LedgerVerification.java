package dozo.verify;

import com.fasterxml.jackson.annotation.JsonProperty;
import dozo.file.Message;
import dozo.ledger.Anchor;
import dozo.ledger.Breach;
import dozo.ledger.Breach.Kind;
import dozo.ledger.Breaches;
import dozo.ledger.Chain;
import dozo.ledger.Chain.Checked;
import dozo.ledger.Guards;
import dozo.ledger.Ledger;
import dozo.ledger.Ledger.Anchored;
import dozo.ledger.LedgerTree;
import dozo.ledger.Verification;
import dozo.ledger.Verification.Unproven;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.verify.AnchorFiles.AnchorFile;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/**
 * Verifies the ledger: every row by its hash, the guards of the rows, and the rows against the anchors at the sites.
 * Verifications run one at a time; further callers wait.
 */
@Component
public class LedgerVerification {

    private static final int PAGE = 500;
    private static final Pattern SEQ = Pattern.compile("[1-9][0-9]{0,17}");

    private final Chain chain;
    private final Guards guards;
    private final LedgerTree tree;
    private final Ledger ledger;
    private final Sites sites;

    /** The result of a verification. */
    public enum Verdict {
        /** Every row is as it was appended; at every site, anchors prove the rows up to the last anchor. */
        INTACT,
        /** Nothing is broken, but there is no site, or a site could not be compared or has no matching anchor. */
        INCOMPLETE,
        /** Something differs from the state that Dozo left. */
        BROKEN
    }

    /**
     * A verification.
     *
     * @param why why it is incomplete, and what to do; missing: it is not
     * @param rows the number of rows, all of which were checked
     * @param head the last row; missing: there is none, or it cannot have been appended
     * @param breaches first the rows in their order, then the guards and the tree; at most 100
     * @param breachesLeftOff the number of further breaches
     */
    public record Verified(
            Verdict verdict,
            @Nullable Message why,
            long rows,
            @Nullable Anchor head,
            List<Breach> breaches,
            long breachesLeftOff,
            List<ComparedSite> sites) {

        /** Returns the number of all breaches of the rows and guards. */
        public long breachesCount() {
            return breaches.size() + breachesLeftOff;
        }
    }

    /**
     * The comparison of the ledger with the anchors at one site.
     *
     * @param trouble why they were not compared; missing: they were
     * @param anchors the number of anchors
     * @param provenUpTo the last row that an anchor there proves; missing: none
     * @param breaches at most 100
     * @param breachesLeftOff the number of further breaches
     */
    public record ComparedSite(
            String site,
            @Nullable String trouble,
            long anchors,
            @Nullable Long provenUpTo,
            List<Breach> breaches,
            long breachesLeftOff) {

        /** Returns whether all its anchors were read. */
        @JsonProperty
        public boolean compared() {
            return trouble == null;
        }

        /** Returns the number of all breaches there. */
        public long breachesCount() {
            return breaches.size() + breachesLeftOff;
        }

        /** Returns whether all anchors were compared and at least one proves its row. */
        boolean complete() {
            return compared() && provenUpTo != null;
        }
    }

    public LedgerVerification(Chain chain, Guards guards, LedgerTree tree, Ledger ledger, Sites sites) {
        this.chain = chain;
        this.guards = guards;
        this.tree = tree;
        this.ledger = ledger;
        this.sites = sites;
    }

    /** Verifies the whole ledger, and keeps the result. The time grows with the ledger, the memory does not. */
    public synchronized Verified verify() throws InterruptedException {
        Instant began = ledger.now();
        Checked rows = chain.check();
        List<Breach> breaches = new ArrayList<>(rows.breaches());
        List<Breach> unguarded = guards.breaches();
        breaches.addAll(unguarded);
        List<Breach> differing = tree.check();
        breaches.addAll(differing);
        long count = rows.breachesCount() + unguarded.size() + differing.size();
        List<ComparedSite> compared = new ArrayList<>();
        for (Site site : sites.all()) {
            compared.add(compared(site, rows.breachesCount() == 0));
        }
        long atSites = compared.stream().mapToLong(ComparedSite::breachesCount).sum();
        List<String> unknown = names(compared, site -> !site.compared());
        List<String> unproven = unknown.isEmpty() ? names(compared, site -> !site.complete()) : unknown;
        boolean complete = !compared.isEmpty() && unproven.isEmpty();
        Verdict verdict = count + atSites > 0 ? Verdict.BROKEN : complete ? Verdict.INTACT : Verdict.INCOMPLETE;
        Unproven why =
                compared.isEmpty() ? Unproven.NO_SITE : unknown.isEmpty() ? Unproven.NO_ANCHOR : Unproven.NOT_COMPARED;
        boolean incomplete = verdict == Verdict.INCOMPLETE;
        Verification kept = new Verification(
                began,
                verdict.name(),
                rows.rows(),
                count + atSites,
                incomplete ? why : null,
                incomplete ? unproven : List.of());
        ledger.verified(kept);
        return new Verified(
                verdict,
                kept.sentence(),
                rows.rows(),
                rows.head(),
                List.copyOf(breaches),
                count - breaches.size(),
                compared);
    }

    private static List<String> names(List<ComparedSite> sites, Predicate<ComparedSite> which) {
        return sites.stream().filter(which).map(ComparedSite::site).toList();
    }

    private ComparedSite compared(Site site, boolean chainIntact) throws InterruptedException {
        Comparison comparison = new Comparison(site, chainIntact);
        try (Lanes lanes = Lanes.to(site.address(), 1)) {
            comparison.with(new AnchorFiles(lanes.next()));
            return comparison.ended(null);
        } catch (RemoteException e) {
            return comparison.ended(String.valueOf(e.getMessage()));
        } catch (IOException e) {
            throw new IllegalStateException("unexpected I/O error that is not the site's", e);
        }
    }

    /** Compares the anchors at one site with the rows, and with the anchors that the ledger records for it. */
    private final class Comparison {

        private final String site;
        private final boolean chainIntact;
        private final Breaches breaches = new Breaches();

        /**
         * The first anchors whose row differs or is missing. They are judged at the end, because the kind of a breach
         * depends on all anchors.
         */
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
                            "the anchor of row %d is missing at site %s: %s".formatted(seq, site, Anchor.file(seq))));
                }
                known = ledger.anchored(site, known.getLast().seq(), PAGE);
            }
        }

        private void compare(List<AnchorFile> files) {
            // NB: the rows are read after the files, because a row exists before its anchor.
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
                                        "%s at site %s is not a valid anchor file".formatted(file.file(), site))));
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

        ComparedSite ended(@Nullable String trouble) {
            long last = ledger.last();
            refuted.forEach(seq -> breaches.add(refutation(seq, last)));
            List<Breach> kept = breaches.kept();
            long leftOff = breaches.count() - kept.size() + refutedCount - refuted.size();
            return new ComparedSite(site, trouble, anchors, provenUpTo == 0 ? null : provenUpTo, kept, leftOff);
        }

        private Breach refutation(long seq, long last) {
            if (seq > last) {
                return new Breach(
                        Kind.CUT_OFF,
                        last + 1,
                        "the rows after row %d are missing: site %s has the anchor of row %d"
                                .formatted(last, site, seq));
            }
            if (chainIntact && seq < provenUpTo) {
                return new Breach(
                        Kind.ANCHOR_ALTERED,
                        seq,
                        "the anchor of row %d at site %s was changed: the anchor of row %d proves that row"
                                .formatted(seq, site, provenUpTo));
            }
            return new Breach(
                    Kind.REWRITTEN,
                    seq,
                    "row %d does not match its anchor at site %s: the ledger was rewritten, or the anchor was changed"
                            .formatted(seq, site));
        }
    }

    private static List<Long> seqs(List<Anchored> known) {
        List<Long> seqs = new ArrayList<>();
        for (Anchored row : known) {
            String anchor = row.anchor();
            // Dozo writes only numbers; for anything else the chain has a breach.
            if (anchor != null && SEQ.matcher(anchor).matches()) {
                seqs.add(Long.valueOf(anchor));
            }
        }
        return seqs;
    }
}
