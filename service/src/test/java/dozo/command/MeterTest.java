package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.command.Pace.Rate;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The one line of progress: its form, and when it is shown. */
class MeterTest {

    private final StringWriter shown = new StringWriter();
    private final long now = System.nanoTime();

    private Meter meter(Meter.Manner manner) {
        return new Meter(new PrintWriter(shown), manner);
    }

    private long after(long seconds) {
        return now + TimeUnit.SECONDS.toNanos(seconds);
    }

    @Test
    void aLogGetsANewLineEveryTenSecondsIfSomethingHasChanged() {
        try (Meter meter = meter(Meter.Manner.LINES)) {
            meter.show("1%", after(1));
            meter.show("2%", after(11));
            meter.show("3%", after(12));
            meter.show("2%", after(22));
            meter.show("4%", after(23));
            meter.show("", after(40));
        }

        assertThat(shown).hasToString("2%\n4%\n");
    }

    @Test
    void whileSomebodyIsAskedNoProgressIsShown() {
        try (Meter meter = meter(Meter.Manner.TERMINAL)) {
            meter.pause(true);
            meter.show("1%");
            meter.pause(false);
            meter.show("2%");
        }

        assertThat(shown.toString()).contains("2%").doesNotContain("1%");
    }

    @Test
    void aTerminalHasOneLineThatIsOverwrittenAndClearedAtTheEnd() {
        String wide = "w".repeat(80);
        try (Meter meter = meter(Meter.Manner.TERMINAL)) {
            meter.show("1%", after(0));
            meter.show("2%", after(0));
            meter.say("a finding");
            meter.show(wide, after(11));
        }

        assertThat(shown.toString().replace("\r\u001b[K", "<")).isEqualTo("<1%<2%<a finding\n<" + "w".repeat(79) + "<");
    }

    @Test
    void whoWantsQuietSeesFindingsOnlyAndNothingFollowsTheEnd() {
        Meter quiet = meter(Meter.Manner.NOTHING);
        quiet.show("1%", after(11));
        quiet.say("a finding");
        quiet.close();
        Meter closed = meter(Meter.Manner.LINES);
        closed.close();
        closed.show("2%", after(11));

        assertThat(shown).hasToString("a finding\n");
    }

    @Test
    void theTimeLeftIsBetweenTheFastestAndTheSlowestRateOfTheLastMinute() {
        Done done = new Done("run 7", 1_000, 2_000, 40_000_000_000L, 100_000_000_000L, true, false, "");

        assertThat(done.line(List.of(new Rate(100_000_000, 50), new Rate(71_000_000, 50))))
                .isEqualTo("run 7   40%  1,000 of 2,000 files  40 GB of 100 GB  100 MB/s  10–15 min left");
        assertThat(done.line(List.of(new Rate(100_000_000, 1), new Rate(100_000_000, 1))))
                .as("small files take longer than their bytes")
                .endsWith("  17 min left");
        assertThat(done.line(List.of(new Rate(0, 0)))).endsWith("  time left unknown");
        assertThat(done.line(List.of(new Rate(0, 0), new Rate(100_000_000, 50))))
                .as("nothing moves now, and it did")
                .endsWith("  at least 10 min left");
        assertThat(new Done(
                                "run 99999",
                                123_456_789,
                                999_999_999,
                                999_000_000_000L,
                                999_000_000_000_000L,
                                true,
                                false,
                                "")
                        .line(List.of(new Rate(999_000_000, 999_999), new Rate(700_000_000, 999_999))))
                .isEqualTo("run 99999    0%  123.5M of 1000.0M files  999 GB of 999 TB  999 MB/s  11–17 days left");
        assertThat(new Done("", 2, 2, 9, 9, true, true, "").line(List.of(new Rate(9, 9))))
                .isEqualTo("100%  2 of 2 files  9 B of 9 B  9 B/s");
        assertThat(new Done("scrub 5", 1, Done.UNKNOWN, 9, Done.UNKNOWN, false, false, "")
                        .line(List.of(new Rate(9, 9))))
                .isEqualTo("scrub 5  1 file  9 B  9 B/s");
    }

    @Test
    void ratesAreThoseOfTheLastFiveTwentyAndSixtySeconds() {
        Pace pace = new Pace();
        for (int second = 0; second <= 100; second++) {
            pace.add(after(second), second < 90 ? second * 10L : 900 + (second - 90) * 100L, second);
        }

        assertThat(pace.add(after(101), 2_000, 101)).extracting(Rate::bytes).containsExactly(100L, 59L, 26L);
        assertThat(pace.add(after(102), 0, 0)).as("counts begin anew").containsOnly(new Rate(0, 0));
    }
}
