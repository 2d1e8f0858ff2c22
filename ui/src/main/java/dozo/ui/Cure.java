package dozo.ui;

import static java.util.Objects.requireNonNull;

import dozo.ledger.Findings.KeptFinding;
import org.jspecify.annotations.Nullable;

/**
 * Where a person can do something about a finding.
 *
 * @param word the end of the link's message key
 * @param method of the request that the page leads to, with its path pattern; for the permission
 */
public record Cure(String word, String method, String pattern, String address) {

    /** Returns null if only something outside of Dozo helps. */
    static @Nullable Cure of(KeptFinding finding) {
        return switch (finding.reason()) {
            case MISSING,
                    DAMAGED,
                    NOT_HELD,
                    SOURCE_DIFFERS,
                    ROTTEN_AT_HOME,
                    ORIGIN_DIFFERS,
                    MISMATCHED,
                    UNPROVEN,
                    BROKEN -> proof(finding);
            case FROZEN ->
                new Cure(
                        "release",
                        "POST",
                        "/do/post/experiments/{project}/{code}/release",
                        "/experiments/" + requireNonNull(finding.experiment()));
            case SITE_KEY_CHANGED,
                    SITE_FULL,
                    SITE_UNREACHABLE,
                    SITE_UNUSABLE,
                    SITE_AHEAD,
                    SITE_CHANGED,
                    UNANCHORED,
                    UNRECORDED -> new Cure("site", "GET", "/sites", "/sites");
            case UNERASED -> new Cure("erasure", "GET", "/erasures", "/erasures");
            case ORIGIN_UNUSABLE, ORIGIN_LATE, SPOOL_SHORT, NOT_DELIVERED, CONFLICTING ->
                new Cure("origin", "GET", "/origins", "/origins");
            case RUN_FAILED -> new Cure("run", "GET", "/runs/{id}", "/runs/" + finding.lastRun());
            case SOURCE_MISSING,
                    SOURCE_EMPTY,
                    UNREADABLE,
                    VANISHED,
                    CHANGED,
                    SITE_REFUSED,
                    UNPARSED,
                    OUTSIDE,
                    LIST_OLD,
                    SPECIAL,
                    CYCLE,
                    UNSETTLED ->
                new Cure(
                        "retry",
                        "POST",
                        "/do/post/runs/{id}/retry",
                        "/do/post/runs/%d/retry?back=/runs/*".formatted(finding.lastRun()));
            case TAGS_ALTERED,
                    UNEXPECTED,
                    DESTINATION_REFUSED,
                    NO_MATCH,
                    NOT_SET,
                    NOT_SENT,
                    ARCHIVE_DIFFERS,
                    NOT_REBUILT -> null;
        };
    }

    private static @Nullable Cure proof(KeptFinding finding) {
        return finding.path() == null || finding.experiment() == null
                ? null
                : new Cure(
                        "proof",
                        "GET",
                        "/experiments/{project}/{code}/proof",
                        "/experiments/%s/proof?path=%s".formatted(finding.experiment(), Bytes.of(finding.path())));
    }
}
