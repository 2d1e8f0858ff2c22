package dozo.command;

import dozo.copy.Copy.Finding;
import dozo.copy.Copy.Progress;
import dozo.file.Size;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;

/** The result of a copy: a line for people, and an object for programs. */
final class CopyReport {

    static final int FINDINGS_MAX = 10_000;

    /** In bytes a second. */
    private static final long GIGABIT = 125_000_000;

    private final List<ListedFinding> findings = new ArrayList<>();
    private long count;

    /** A finding; the bytes of its path are in base64. */
    record ListedFinding(String path, String pathBytes, String reason, String message) {}

    /** The output of {@code --json}. */
    record Ended(
            long entries,
            long bytes,
            long entriesVerified,
            long bytesVerified,
            long bytesMoved,
            double seconds,
            double startSeconds,
            int lanes,
            boolean complete,
            List<ListedFinding> findings,
            long findingsLeftOff) {}

    /** Stores a finding, up to {@link #FINDINGS_MAX}, and returns its line. */
    String add(Finding finding) {
        count++;
        String path = finding.path().isRoot() ? "." : finding.path().toString();
        String message = Login.visible(finding.message());
        if (findings.size() < FINDINGS_MAX) {
            findings.add(new ListedFinding(
                    path,
                    Base64.getEncoder().encodeToString(finding.path().bytes()),
                    finding.problem().name(),
                    message));
        }
        return "%s  %s  %s".formatted(finding.problem(), path, message);
    }

    boolean hasFindings() {
        return count > 0;
    }

    String json(Progress end, double seconds, double startSeconds) {
        return Connection.JSON.writeValueAsString(new Ended(
                end.entries(),
                end.bytes(),
                end.entriesVerified(),
                end.bytesVerified(),
                end.bytesMoved(),
                seconds,
                startSeconds,
                end.lanes(),
                end.complete() && count == 0,
                findings,
                count - findings.size()));
    }

    /**
     * Returns the result as a line, such as {@code "10,000 entries, 1.0 GB: all verified at host, 3.9 s, 256 MB/s"}.
     */
    String line(Progress end, String where, double seconds) {
        long missing = end.entries() - end.entriesVerified();
        String verified = end.complete() && count == 0
                ? "all verified"
                : end.counted()
                        ? "%,d verified, %,d not%s"
                                .formatted(end.entriesVerified(), missing, count > 0 ? " (see above)" : "")
                        : "%,d verified; the total is unknown".formatted(end.entriesVerified());
        String moved = end.bytesMoved() == end.bytes() ? "" : ", %s moved".formatted(Size.text(end.bytesMoved()));
        return "%s: %s %s%s, %.1f s, %s/s".formatted(sum(end), verified, where, moved, seconds, Size.text((long)
                (end.bytesMoved() / Math.max(seconds, 0.001))));
    }

    /**
     * Returns the line of a dry run. A dry run does not contact the site, so the rate is unknown.
     *
     * @param limit the given limit in bytes a second; 0: none
     */
    static String dryLine(Progress end, long limit) {
        String times = limit > 0
                ? "%s at that limit".formatted(atLeast(end.bytes(), limit))
                : "%s at 1 Gbit/s, %s at 10 Gbit/s"
                        .formatted(atLeast(end.bytes(), GIGABIT), atLeast(end.bytes(), 10 * GIGABIT));
        return "dry run, nothing was changed. %s would be copied, except for existing files. Copying all of it takes at least %s"
                .formatted(sum(end), times);
    }

    private static String atLeast(long bytes, long bytesPerSecond) {
        Duration time = Duration.ofSeconds(Math.ceilDiv(bytes, bytesPerSecond));
        return time.toHours() > 0
                ? "%d h %d min".formatted(time.toHours(), time.toMinutesPart())
                : time.toMinutes() > 0
                        ? "%d min %d s".formatted(time.toMinutes(), time.toSecondsPart())
                        : "%d s".formatted(time.toSeconds());
    }

    static String interrupted(Progress at) {
        return "interrupted: %,d of %,d%s entries are verified, %s were moved; repeat the command to finish the rest"
                .formatted(
                        at.entriesVerified(), at.entries(), at.counted() ? "" : " or more", Size.text(at.bytesMoved()));
    }

    private static String sum(Progress end) {
        return "%,d %s, %s".formatted(end.entries(), end.entries() == 1 ? "entry" : "entries", Size.text(end.bytes()));
    }
}
