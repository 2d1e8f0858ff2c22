package dozo.audit;

import dozo.ledger.Coverage.Totals;
import dozo.ledger.Verification;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What was safe at a moment, how that is known, and what was open.
 *
 * @param at the moment
 * @param madeAt when the report was made
 * @param project the only project in it; missing: all that the user may see
 * @param registeredSince when the first of its experiments was registered; missing: none is. Before it, nothing can be safe
 * @param findingsComplete whether all findings that were open then are still kept; false: those of before the retention that
 *     a later run has superseded are gone, so there may have been more
 * @param erasedSince experiments that were registered then and have been erased since: nothing here counts them
 * @param lost files and links that are lost for good, as far as found then
 * @param ledger the ledger at that moment
 * @param sites each site
 */
public record AuditReport(
        Instant at,
        Instant madeAt,
        @Nullable String project,
        @Nullable Instant registeredSince,
        boolean findingsComplete,
        long erasedSince,
        long lost,
        LedgerThen ledger,
        Certified certificates,
        List<AtSite> sites) {

    /** Returns whether no experiment was registered at that moment. */
    public boolean nothingRegistered() {
        return registeredSince == null || registeredSince.isAfter(at);
    }

    /** Returns whether there was something, all of it was safe at every site, and nothing was open. */
    public boolean allWell() {
        return lost == 0
                && findingsComplete
                && !sites.isEmpty()
                && sites.stream().allMatch(AtSite::allWell);
    }

    /**
     * One site.
     *
     * @param recordedSince since when coverage is recorded there; before it, what was safe is unknown. Missing: nothing is
     * @param totals the coverage of all experiments; missing: unknown, because the records begin later
     * @param anchor the last row of the ledger that was anchored there; missing: none
     * @param findingsOfRuns open findings that concern a whole run, not a project
     */
    public record AtSite(
            String site,
            @Nullable Instant recordedSince,
            @Nullable Totals totals,
            @Nullable ChainRow anchor,
            long findingsOfRuns,
            List<InProject> projects) {

        private boolean allWell() {
            return totals != null
                    && totals.safe()
                    && findingsOfRuns == 0
                    && projects.stream().map(InProject::evidence).noneMatch(Evidence::anythingOpen);
        }
    }

    /**
     * One project at a site: its coverage, and the evidence.
     *
     * @param totals missing: unknown, because the records of the site begin later
     */
    public record InProject(String project, @Nullable Totals totals, Evidence evidence) {}

    /**
     * The evidence for a project at a site, and what was open.
     *
     * @param receipts the number of receipts; each is about one or many files
     * @param firstVerifiedAt when the first digest was computed at the site; missing: none was
     * @param lastVerifiedAt when the last one was
     * @param methods how digests were computed
     * @param readings how often copies were read again by scrubs, as far as kept
     * @param lastReadAt when a scrub last read some of them; missing: never
     * @param leastRecentlyReadAt since when every copy was verified or read again
     * @param drills restores rehearsed to their end
     * @param drillsComplete those of them in which every file came back and was verified
     * @param lastDrillAt the end of the last one
     * @param lastDrillState {@code COMPLETE}, {@code FINDINGS} or {@code FAILED}; missing: none
     * @param copiesMissing copies that were not there when they were last read
     * @param copiesDamaged copies that differed from what was verified
     * @param findings open findings
     */
    public record Evidence(
            long receipts,
            @Nullable Instant firstVerifiedAt,
            @Nullable Instant lastVerifiedAt,
            List<String> methods,
            long readings,
            @Nullable Instant lastReadAt,
            @Nullable Instant leastRecentlyReadAt,
            long drills,
            long drillsComplete,
            @Nullable Instant lastDrillAt,
            @Nullable String lastDrillState,
            long copiesMissing,
            long copiesDamaged,
            long findings) {

        /** Returns whether a copy is missing or damaged, or a finding needs a person. */
        public boolean anythingOpen() {
            return copiesMissing + copiesDamaged + findings > 0;
        }

        /** Nothing is known and nothing is open. */
        static final Evidence NONE = new Evidence(0, null, null, List.of(), 0, null, null, 0, 0, null, null, 0, 0, 0);
    }

    /**
     * The ledger at a moment.
     *
     * @param head the row with the latest time until then; its hash covers all rows before it. Missing: there was none
     * @param clockChanged rows before the head have a later time, or rows after it an earlier one: the clock was changed, so
     *     the moment is not exact
     * @param verification the last verification until now; missing: none is kept, so nothing is known
     */
    public record LedgerThen(
            @Nullable ChainRow head,
            boolean clockChanged,
            @Nullable Verification verification) {}

    /**
     * A row of the ledger.
     *
     * @param hash 64 hexadecimal digits; it covers all rows before it, too
     * @param at its time; for an anchor, when the ledger recorded that it was written to the site
     */
    public record ChainRow(long seq, String hash, Instant at) {}

    /**
     * The certificates of manifests until that moment.
     *
     * @param count their number
     * @param keys the keys that they were signed with, in the order in which they were introduced
     * @param latest the last hundred of them, the latest first
     */
    public record Certified(long count, List<CertificateKey> keys, List<Certificate> latest) {}

    /** A key for certificates. {@code fingerprint} is the SHA-256 of the public key. */
    public record CertificateKey(String fingerprint, Instant introducedAt) {}

    /**
     * A certificate.
     *
     * @param manifest {@code PROJECT/EXPERIMENT#NUMBER}
     * @param sha256 of the certificate
     * @param key the fingerprint of the key
     */
    public record Certificate(String manifest, String site, Instant issuedAt, String sha256, String key) {}
}
