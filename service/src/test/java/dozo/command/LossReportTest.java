package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.api.CoverageApi.ShownCoverage;
import dozo.ledger.Coverage.Totals;
import dozo.verify.Losses.AllLost;
import dozo.verify.Losses.Lost;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** What is lost for good is named with its experiments. */
class LossReportTest {

    private static final Instant SINCE = Instant.parse("2026-01-02T12:00:00Z");

    @Test
    void oneLostFileIsNamedWithItsExperiment() {
        assertThat(report(new AllLost(1, 1, List.of(new Lost("P1", "E1", 1, 2_000, SINCE)))))
                .isEqualTo("""
                        1 file is lost for good: every copy is damaged or missing, and the source no longer has it.
                          P1/E1: 1 file, 2.0 kB, found damaged at 2026-01-02T12:00:00Z
                        """);
    }

    @Test
    void experimentsThatAreNotListedAreCounted() {
        assertThat(report(new AllLost(1_234, 3, List.of(new Lost("P1", "E1", 1_200, 2_000, SINCE)))))
                .startsWith("1,234 files are lost for good: ")
                .contains("P1/E1: 1,200 files, ")
                .endsWith("and 2 more experiments\n");
    }

    @Test
    void withoutALossNothingIsPrinted() {
        assertThat(report(new AllLost(0, 0, List.of()))).isEmpty();
        assertThat(report(null)).as("an earlier time").isEmpty();
    }

    private static String report(@Nullable AllLost lost) {
        StringWriter out = new StringWriter();
        Totals none = new Totals(null, false, 0, 0, 0, 0, 0, 0, null, 0);
        LossReport.print(
                new PrintWriter(out), new ShownCoverage("dr", null, null, lost, null, null, null, none, List.of()));
        return out.toString();
    }
}
