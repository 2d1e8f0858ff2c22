package dozo.api;

import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Findings.Acknowledgement;
import dozo.ledger.Findings.KeptFinding;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A finding.
 *
 * @param run the first run that found it
 * @param experiment missing: it concerns the whole run
 * @param path a rendering for people
 * @param pathBytes the exact path, in base64
 * @param message of the last run that found it
 * @param lastRun the last run that found it
 * @param open whether it needs a person: it is neither superseded nor acknowledged
 * @param supersededBy the first later run that has checked the same item again
 */
@SuppressWarnings("ArrayRecordComponent") // JSON's base64; written once
public record ShownFinding(
        long id,
        long run,
        @Nullable String experiment,
        Problem reason,
        @Nullable String path,
        byte @Nullable [] pathBytes,
        String message,
        Instant foundAt,
        long lastRun,
        Instant lastFoundAt,
        boolean open,
        @Nullable Long supersededBy,
        @Nullable Acknowledgement acknowledgement) {

    /** Returns a finding in REST's form. */
    public static ShownFinding of(KeptFinding finding) {
        Optional<FilePath> path = Optional.ofNullable(finding.path());
        return new ShownFinding(
                finding.id(),
                finding.runId(),
                finding.experiment(),
                finding.reason(),
                path.map(FilePath::toString).orElse(null),
                path.map(FilePath::bytes).orElse(null),
                finding.message(),
                finding.foundAt(),
                finding.lastRunId(),
                finding.lastFoundAt(),
                finding.open(),
                finding.supersededBy(),
                finding.acknowledgement());
    }
}
