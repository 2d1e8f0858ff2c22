package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.api.ShownRun.ShownScrub;
import dozo.command.Pace.Rate;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Findings.KeptFinding;
import dozo.registry.Part;
import dozo.run.Limit;
import dozo.run.Limits.Bottleneck;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import dozo.transfer.RunWorkers.RunWorker;
import dozo.transfer.TransferUnits.Progress;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class RunReportTest {

    private static final Run RUN = new Run(
            7,
            RunKind.NIGHTLY_BACKUP,
            "dr",
            1,
            RunState.RUNNING,
            "admin",
            Instant.EPOCH,
            null,
            "",
            0,
            null,
            null,
            null,
            null,
            null,
            Part.WHOLE);
    private static final Progress LARGE_FILE_UNDER_WAY = new Progress(4, 1, 0, 7, 400L << 20, 100L << 20, 250L << 20);

    @Test
    void whatIsUnderWayShowsBesideWhatIsRecorded() {
        assertThat(RunReport.progress(RUN, LARGE_FILE_UNDER_WAY))
                .startsWith("run 7 is running:  25%")
                .contains("1 of 4 units, ")
                .endsWith(" moved");
    }

    @Test
    void whoeverWaitsSeesWhatIsVerifiedAndMovedTheRateAndTheTimeLeft() {
        Pace pace = new Pace();
        pace.add(0, 50L << 20, 0);
        String line = RunReport.progress(RUN, LARGE_FILE_UNDER_WAY, pace.add(2_000_000_000L, 250L << 20, 7));

        assertThat(line).isEqualTo("run 7   62%  7 files  262 MB of 419 MB  104 MB/s  2 s left  25% verified");
    }

    @Test
    void bottlenecksSayWhatWouldHelpMost() {
        Bottleneck link = new Bottleneck(Limit.LINK, 60, 0.67, 1.1);
        Bottleneck processors = new Bottleneck(Limit.PROCESSORS, 30, 0.33, 1.25);

        assertThat(bottlenecks(link, processors)).isEqualTo("""
                bottlenecks: link 67 %, processors 33 %
                the run would take 20 % less time if this was twice as fast: processors
                """.indent(2));
        assertThat(bottlenecks(new Bottleneck(Limit.ROUND_TRIPS, 1, 1, 1)))
                .as("nothing helps")
                .isEqualTo("  bottlenecks: round trips 100 %\n");
        assertThat(bottlenecks()).isEmpty();
    }

    @Test
    void workersSayWhatTheyHaveDone() {
        StringWriter out = new StringWriter();
        RunReport.workers(
                new PrintWriter(out),
                List.of(
                        new RunWorker(2, "a", Instant.EPOCH, true, false, 2_000_000, 1_234, "ROUND_TRIPS", ""),
                        new RunWorker(4, "c", Instant.EPOCH, true, true, 0, 0, "", ""),
                        new RunWorker(3, "b", Instant.EPOCH, false, false, 0, 0, "", "waiting for site dr")));

        assertThat(out).hasToString("""
                  worker a (left): 2.0 MB moved, 1,234 entries proven, bottleneck: round trips
                  worker c (replaced): 0 B moved, 0 entries proven
                  worker b: 0 B moved, 0 entries proven; waiting for site dr
                """);
    }

    private static String bottlenecks(Bottleneck... all) {
        StringWriter out = new StringWriter();
        RunReport.bottlenecks(new PrintWriter(out), List.of(all));
        return out.toString();
    }

    @Test
    void aLogHasOnlyWhatIsRecorded() {
        Progress later = LARGE_FILE_UNDER_WAY.moved(300L << 20);

        assertThat(RunReport.progress(RUN, later.recorded()))
                .isEqualTo(RunReport.progress(RUN, LARGE_FILE_UNDER_WAY.recorded()))
                .endsWith("1 of 4 units");
    }

    @Test
    void aLongPathOfAFindingIsCutInTheMiddleOnceAndNotRepeated() {
        String path = "a/".repeat(2_499) + "aa";
        StringWriter out = new StringWriter();
        for (String each : List.of(path, "short")) {
            RunReport.findings(
                    new PrintWriter(out),
                    List.of(new KeptFinding(
                            1,
                            7,
                            "p/E1",
                            Problem.SITE_REFUSED,
                            FilePath.of(each),
                            each + ": cannot create to/" + each,
                            Instant.EPOCH,
                            7,
                            Instant.EPOCH,
                            null,
                            null,
                            false)));
        }

        assertThat(out).hasToString("""
                  SITE_REFUSED  p/E1: %s … %s (5,000 characters)  cannot create to/…
                  SITE_REFUSED  p/E1: short  cannot create to/short
                """.formatted("a/".repeat(60), "a/".repeat(59) + "aa"));
    }

    @Test
    void aScrubTellsWhatItHasRead() {
        assertThat(RunReport.progress(RUN, 1_234, 5_000_000_000L, 0))
                .isEqualTo("scrub 7 is running: 1,234 copies read, 5.0 GB, none damaged");
        assertThat(RunReport.progress(RUN, 1_234, 5_000_000_000L, 1_000))
                .isEqualTo("scrub 7 is running: 1,234 copies read, 5.0 GB, 1,000 damaged");
        ShownScrub all = new ShownScrub(1, true, Instant.EPOCH, null, null, false, 1_234, 5_000_000_000L, 3);
        List<Rate> rates = List.of(new Rate(50_000_000, 1));
        assertThat(RunReport.progress(RUN, all, 20_000_000_000L, rates))
                .isEqualTo("scrub 7   25%  1,234 files  5.0 GB of 20 GB  50 MB/s  5 min left  3 damaged");
        assertThat(RunReport.progress(RUN, all, Done.UNKNOWN, rates))
                .isEqualTo("scrub 7  1,234 files  5.0 GB  50 MB/s  3 damaged");
    }
}
