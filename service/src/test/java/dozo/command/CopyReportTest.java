package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.command.CopyReport.DryRun;
import dozo.command.Pace.Rate;
import dozo.copy.Copy.Finding;
import dozo.copy.Copy.Progress;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.plan.NightForecast.Range;
import dozo.plan.Work;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The output of a copy: its progress, its result, and its JSON. */
class CopyReportTest {

    private static final Progress WHOLE =
            new Progress(10_000, 1_000_000_000, true, 10_000, 1_000_000_000, 1_000_000_000, 4);
    private static final Progress PART = new Progress(10_000, 1_000_000_000, true, 9_998, 900_000_000, 300_000_000, 4);

    private final CopyReport report = new CopyReport();

    @Test
    void theLastLineSaysWhetherAllIsVerified() {
        assertThat(report.line(WHOLE, "at dr", 3.9))
                .isEqualTo("10,000 entries, 1.0 GB: all verified at dr, 3.9 s, 256 MB/s");
        assertThat(report.line(PART, "at dr", 3))
                .isEqualTo("10,000 entries, 1.0 GB: 9,998 verified, 2 not at dr, 300 MB moved, 3.0 s, 100 MB/s");
        assertThat(report.line(new Progress(7, 9, false, 5, 9, 9, 1), "at dr", 3))
                .contains("5 verified; the total is unknown");
    }

    @Test
    void aFindingIsALineThatCannotDriveATerminal() {
        Finding odd = new Finding(
                FilePath.of(new byte[] {'a', 27, '[', '2', 'J'}), Problem.UNREADABLE, "no\u001b[2J way\nat all");

        assertThat(report.add(odd)).isEqualTo("UNREADABLE  a\\x1B[2J  no\\x1B[2J way\\x0Aat all");
        assertThat(report.line(WHOLE, "at dr", 1)).contains("10,000 verified, 0 not (see above)");
    }

    @Test
    void aLongPathIsCutInTheMiddleOnceAndNotRepeated() {
        String path = "a".repeat(3_000) + "名".repeat(2_000);
        Finding tooLong =
                new Finding(FilePath.of(path), Problem.SITE_REFUSED, path + ": refused: cannot create to/" + path);

        assertThat(report.add(tooLong))
                .isEqualTo("SITE_REFUSED  %s … %s (5,000 characters)  …: refused: cannot create to/…"
                        .formatted("a".repeat(120), "名".repeat(120)));
        assertThat(report.json(PART, 1, 1)).contains(path);
    }

    @Test
    void jsonHasExactNumbers() {
        report.add(new Finding(FilePath.of(new byte[] {(byte) 0xFF}), Problem.UNREADABLE, "no"));

        JsonNode json = Connection.JSON.readTree(report.json(PART, 3.912, 0.25));

        assertThat(json.propertyNames())
                .containsExactlyInAnyOrder(
                        "entries",
                        "bytes",
                        "entriesVerified",
                        "bytesVerified",
                        "bytesMoved",
                        "seconds",
                        "startSeconds",
                        "lanes",
                        "complete",
                        "dryRun",
                        "compared",
                        "findings",
                        "findingsLeftOff");
        assertThat(json.path("bytesMoved").asLong()).isEqualTo(300_000_000);
        assertThat(json.path("seconds").asDouble()).isEqualTo(3.912);
        assertThat(json.path("complete").asBoolean()).isFalse();
        assertThat(json.path("dryRun").isNull()).isTrue();
        assertThat(json.path("findings").get(0).path("pathBytes").asString()).isEqualTo("/w==");
        assertThat(json.path("findings").get(0).path("reason").asString()).isEqualTo("UNREADABLE");
        assertThat(json.path("findingsLeftOff").asInt()).isZero();
    }

    @Test
    void aDryRunSaysHowLongItTakes() {
        Optional<CopyForecast> one = Optional.of(new CopyForecast(1, new Range<>(6.7, 9.4, 14.2)));
        Optional<CopyForecast> more = Optional.of(new CopyForecast(3, new Range<>(3_000.0, 4_000.0, 90_000.0)));
        String begin =
                "dry run, nothing was changed. 10,000 entries, 1.0 GB would be copied, except for existing files. Copying all of it takes ";

        assertThat(CopyReport.dryLine(WHOLE, 0, one))
                .isEqualTo(begin + "about 9 s (6 s to 15 s), judging by an earlier copy of this kind");
        assertThat(CopyReport.dryLine(WHOLE, 1, more))
                .isEqualTo(
                        begin
                                + "about 1 h 6 min (50 min 0 s to 25 h 0 min) at that limit, judging by 3 earlier copies of this kind");
        assertThat(CopyReport.dryLine(WHOLE, 0, Optional.empty()))
                .isEqualTo(begin
                        + "at least 8 s at 1 Gbit/s, 1 s at 10 Gbit/s; no earlier copy of this kind was measured");
        assertThat(CopyReport.dryLine(WHOLE, 0)).isEqualTo(begin + "at least 8 s at 1 Gbit/s, 1 s at 10 Gbit/s");
        assertThat(CopyReport.dryLine(WHOLE, 10_000_000)).isEqualTo(begin + "at least 1 min 40 s at that limit");
        assertThat(DryRun.of(1_000_000_000, 0, one)).isEqualTo(new DryRun(8, 125_000_000, 1, 6.7, 9.4, 14.2));
        assertThat(DryRun.of(1_000_000_000, 1_000_000, Optional.empty()))
                .isEqualTo(new DryRun(1_000, 1_000_000, 0, null, null, null));
    }

    @Test
    void theListOfFindingsIsBounded() {
        for (int i = 0; i < CopyReport.FINDINGS_MAX + 3; i++) {
            report.add(new Finding(FilePath.of("f" + i), Problem.UNREADABLE, "no"));
        }

        JsonNode json = Connection.JSON.readTree(report.json(PART, 1, 1));

        assertThat(json.path("findings").size()).isEqualTo(CopyReport.FINDINGS_MAX);
        assertThat(json.path("findingsLeftOff").asInt()).isEqualTo(3);
    }

    @Test
    void theProgressSaysHowMuchThereIsOnlyWhenAllIsFoundOrKnown() {
        List<Rate> rates = List.of(new Rate(0, 0));
        Progress early = new Progress(7, 2_000, false, 5, 9, 1_000, 1);

        assertThat(CopyMeter.done(PART, null).line(rates))
                .startsWith(" 90%  9,998 of 10,000 files  900 MB of 1.0 GB  0 B/s");
        assertThat(CopyMeter.done(early, null).line(rates)).isEqualTo("5 of 7 files  1.0 kB of 2.0 kB so far  0 B/s");
        assertThat(CopyMeter.done(early, new Work(10_000, 100)).line(rates))
                .as("the manifest of a restore says it")
                .startsWith(" 10%  5 of 100 files  1.0 kB of 10 kB");
        assertThat(CopyMeter.done(new Progress(7, 2_000, true, 6, 2_000, 2_000, 1), null)
                        .line(rates))
                .as("less than 100 until everything is verified")
                .startsWith(" 99%");
        assertThat(CopyMeter.done(new Progress(0, 0, true, 0, 0, 0, 1), null).line(rates))
                .isEqualTo("100%  0 of 0 files  0 B of 0 B  0 B/s");
    }
}
