package dozo.command;

import dozo.copy.Copy.Finding;
import dozo.copy.Copy.Progress;
import dozo.file.Problem;
import dozo.file.Size;
import dozo.plan.NightForecast.Range;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The result of a copy: a line for people, and an object for programs. */
final class CopyReport {

    static final int FINDINGS_MAX = 10_000;

    /** In bytes a second. */
    private static final long GIGABIT = 125_000_000;

    private static final String DRY =
            "dry run, nothing was changed. %s would be copied, except for existing files. Copying all of it takes %s";

    private final List<ListedFinding> findings = new ArrayList<>();
    private final Map<Problem, Long> counts = new EnumMap<>(Problem.class);
    private long count;

    /** A finding; the bytes of its path are in base64. */
    record ListedFinding(String path, String pathBytes, String reason, String message) {}

    /**
     * What a dry run says about the time.
     *
     * @param secondsMin that the bytes take at {@code bytesPerSecond}: the limit, or 1 Gbit/s if there is none
     * @param earlierCopies how many the forecast is made from; without any it is null
     */
    record DryRun(
            double secondsMin,
            long bytesPerSecond,
            int earlierCopies,
            @Nullable Double secondsLow,
            @Nullable Double seconds,
            @Nullable Double secondsHigh) {

        static DryRun of(long bytes, long limit, Optional<CopyForecast> forecast) {
            long rate = limit > 0 ? limit : GIGABIT;
            return new DryRun(
                    (double) bytes / rate,
                    rate,
                    forecast.map(CopyForecast::copies).orElse(0),
                    forecast.map(each -> each.seconds().low()).orElse(null),
                    forecast.map(each -> each.seconds().middle()).orElse(null),
                    forecast.map(each -> each.seconds().high()).orElse(null));
        }
    }

    /**
     * What a comparison has found: entries.
     *
     * @param missing at the destination
     * @param unknown because they could not be read, or changed meanwhile
     */
    record Compared(long equal, long different, long missing, long unknown) {}

    /** The output of {@code --json}; {@code dryRun} and {@code compared} are null if it is none. */
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
            @Nullable DryRun dryRun,
            @Nullable Compared compared,
            List<ListedFinding> findings,
            long findingsLeftOff) {}

    /** Stores a finding, up to {@link #FINDINGS_MAX}, and returns its line. */
    String add(Finding finding) {
        count++;
        counts.merge(finding.problem(), 1L, Long::sum);
        String path = finding.path().isRoot() ? "." : finding.path().toString();
        String message = Login.visible(finding.message());
        if (findings.size() < FINDINGS_MAX) {
            findings.add(new ListedFinding(
                    path,
                    Base64.getEncoder().encodeToString(finding.path().bytes()),
                    finding.problem().name(),
                    message));
        }
        return "%s  %s  %s"
                .formatted(finding.problem(), RunReport.shortened(path), RunReport.withoutLong(path, message));
    }

    boolean hasFindings() {
        return count > 0;
    }

    String json(Progress end, double seconds, double startSeconds) {
        return json(end, seconds, startSeconds, null, null);
    }

    String json(
            Progress end, double seconds, double startSeconds, @Nullable DryRun dryRun, @Nullable Compared compared) {
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
                dryRun,
                compared,
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

    Compared compared(Progress end) {
        long different = counts.getOrDefault(Problem.MISMATCHED, 0L);
        long missing = counts.getOrDefault(Problem.MISSING, 0L);
        return new Compared(end.entriesVerified(), different, missing, count - different - missing);
    }

    /** Returns the result of a comparison as a line. */
    String comparedLine(Progress end, String where, double seconds) {
        Compared compared = compared(end);
        String result = end.complete() && count == 0
                ? "all equal"
                : "%,d equal, %,d different, %,d missing, %,d unknown (see above)"
                        .formatted(compared.equal(), compared.different(), compared.missing(), compared.unknown());
        return "compared, nothing was changed. %s: %s %s, %.1f s".formatted(sum(end), result, where, seconds);
    }

    /**
     * Returns the line of a dry run of a copy. A dry run to a site does not contact it, so only earlier copies say how
     * fast it is.
     *
     * @param limit the given limit in bytes a second; 0: none
     */
    static String dryLine(Progress end, long limit, Optional<CopyForecast> forecast) {
        return forecast.map(each -> DRY.formatted(sum(end), about(each, limit)))
                .orElseGet(() -> dryLine(end, limit) + "; no earlier copy of this kind was measured");
    }

    /** Returns the line of a dry run of which only the minimum time is known. */
    static String dryLine(Progress end, long limit) {
        return DRY.formatted(sum(end), atLeast(end.bytes(), limit));
    }

    private static String about(CopyForecast forecast, long limit) {
        Range<Double> seconds = forecast.seconds();
        return "about %s (%s to %s)%s, judging by %s of this kind"
                .formatted(
                        text(Math.round(seconds.middle())),
                        text((long) Math.floor(seconds.low())),
                        text((long) Math.ceil(seconds.high())),
                        limit > 0 ? " at that limit" : "",
                        forecast.copies() == 1 ? "an earlier copy" : forecast.copies() + " earlier copies");
    }

    private static String atLeast(long bytes, long limit) {
        return limit > 0
                ? "at least %s at that limit".formatted(text(Math.ceilDiv(bytes, limit)))
                : "at least %s at 1 Gbit/s, %s at 10 Gbit/s"
                        .formatted(text(Math.ceilDiv(bytes, GIGABIT)), text(Math.ceilDiv(bytes, 10 * GIGABIT)));
    }

    private static String text(long seconds) {
        Duration time = Duration.ofSeconds(seconds);
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
