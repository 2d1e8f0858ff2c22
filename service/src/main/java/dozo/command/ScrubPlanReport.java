package dozo.command;

import dozo.file.Size;
import dozo.plan.CostModel;
import dozo.plan.ScrubForecast;
import dozo.plan.ScrubForecast.Remedy;
import dozo.plan.ScrubForecast.Rounds;
import dozo.plan.ScrubForecast.Verdict;
import dozo.plan.Work;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Shows on a terminal whether a promised age can be kept: what is needed, what is available, and what would be enough.
 */
final class ScrubPlanReport {

    private static final double DAY_SECONDS = 86_400;
    private static final double HOUR_SECONDS = 3_600;

    private ScrubPlanReport() {}

    /**
     * Prints the report.
     *
     * @param window the window as typed
     * @param known the origin of the reading cost, such as {@code "measured 3 times"}
     */
    static void print(PrintWriter out, ScrubForecast forecast, String window, String known) {
        Work stored = forecast.stored();
        Long limit = forecast.budget().bytesPerSecond();
        out.println("%s in %,d files; every copy must be read again within %s"
                .formatted(Size.text(stored.bytes()), stored.entries(), promised(forecast)));
        out.println(
                "reading from %s, %s".formatted(window, limit == null ? "without a limit" : "at most " + rate(limit)));
        out.println(cost(forecast.cost(), known));
        out.println();
        table(forecast).print(out);
        out.println();
        out.println(sentence(forecast));
        remedies(forecast).forEach(out::println);
        out.flush();
    }

    /** Returns the exit code of a command that asked whether the promise can be kept. */
    static int exitCode(ScrubForecast forecast) {
        return forecast.verdict() == Verdict.KEPT ? Exit.WELL : Exit.NOT_SAFE;
    }

    private static String promised(ScrubForecast forecast) {
        return days((double) forecast.maxAgeSeconds());
    }

    private static String cost(@Nullable CostModel cost, String known) {
        return cost == null
                ? "the cost of reading at the site is unknown"
                : "the site reads %s, plus %s ms per file: %s"
                        .formatted(rate(cost.bytesPerSecond()), number(1e3 * cost.secondsPerEntry()), known);
    }

    private static Table table(ScrubForecast forecast) {
        Rounds rounds = forecast.rounds();
        Work stored = forecast.stored();
        String least = forecast.cost() == null ? "at least " : "";
        String most = forecast.cost() == null ? "at most " : "";
        boolean read = rounds.readingSeconds() > 0;
        return new Table("", ">WANTED", ">FORECAST")
                .row(
                        "age of the oldest copy, first round",
                        promised(forecast),
                        least + days(rounds.firstAgeSeconds()) + ", by " + Times.day(rounds.firstAgeAt()))
                .row("and in later rounds", promised(forecast), least + days(rounds.seconds()))
                .row(
                        "bytes a second while it reads",
                        needed(forecast.bytesPerSecondNeeded()) + "/s",
                        read ? most + rate(stored.bytes() / rounds.readingSeconds()) : "not known")
                .row(
                        "files a second while it reads",
                        up(forecast.filesPerSecondNeeded()),
                        read ? most + number(stored.entries() / rounds.readingSeconds()) : "not known");
    }

    private static String sentence(ScrubForecast forecast) {
        Rounds rounds = forecast.rounds();
        double promised = forecast.maxAgeSeconds();
        return switch (forecast.verdict()) {
            case KEPT ->
                "The promise can be kept, with %d %% of the time to spare.".formatted((int)
                        (100 * (1 - Math.max(rounds.seconds(), rounds.firstAgeSeconds()) / promised)));
            case LATE_AT_FIRST ->
                "The promise is broken in the first round, by %s; from then on it can be kept."
                        .formatted(days(rounds.firstAgeSeconds() - promised));
            case BROKEN ->
                "The promise cannot be kept: a round takes %s too long.".formatted(days(rounds.seconds() - promised));
            case UNKNOWN ->
                "Unknown whether the promise can be kept, because the cost of reading at the site is unknown. Run a"
                        + " scrub to measure it, or give --rate and --per-file.";
        };
    }

    private static List<String> remedies(ScrubForecast forecast) {
        Remedy remedy = forecast.remedy();
        List<String> lines = new ArrayList<>();
        lines.add(
                switch (forecast.verdict()) {
                    case KEPT -> "Each of these alone is still enough:";
                    case LATE_AT_FIRST, BROKEN -> "Each of these alone would be enough:";
                    case UNKNOWN -> "Each of these alone is the least that is needed:";
                });
        lines.add(
                remedy.bytesPerSecond() == null
                        ? "  no limit is enough"
                        : "  --limit %s or more"
                                .formatted(needed(remedy.bytesPerSecond()).replace(" ", "")));
        lines.add(
                remedy.secondsADay() == null
                        ? "  no window is enough"
                        : "  a --window of %s h or more".formatted(up(remedy.secondsADay() / HOUR_SECONDS)));
        lines.add("  --max-age %s or more"
                .formatted(
                        remedy.maxAgeSeconds() > ScrubForecast.MAX_AGE_MAX.toSeconds()
                                ? "(more than the maximum)"
                                : age(remedy.maxAgeSeconds())));
        return forecast.stored().equals(Work.NONE) ? List.of() : lines;
    }

    /** Formats the rate, rounded up. */
    private static String needed(double bytesPerSecond) {
        double unit = 1;
        String name = "B";
        for (String next : List.of("kB", "MB", "GB", "TB")) {
            if (bytesPerSecond < 10_000 * unit) {
                break;
            }
            unit *= 1_000;
            name = next;
        }
        return String.format(Locale.ROOT, "%.0f %s", Math.ceil(bytesPerSecond / unit), name);
    }

    /** Formats the age in a form that can be typed, rounded up. */
    private static String age(long seconds) {
        Duration age = Duration.ofSeconds(Math.max(seconds, ScrubForecast.MAX_AGE_MIN.toSeconds()));
        return age.compareTo(Duration.ofDays(3)) < 0
                ? Math.ceilDiv(age.toSeconds(), 3_600) + "h"
                : Math.ceilDiv(age.toSeconds(), 86_400) + "d";
    }

    private static String days(double seconds) {
        return seconds < 2 * DAY_SECONDS
                ? "%s h".formatted(up(seconds / HOUR_SECONDS))
                : "%s days".formatted(up(seconds / DAY_SECONDS));
    }

    private static String rate(double bytesPerSecond) {
        return Size.text((long) bytesPerSecond) + "/s";
    }

    /** Formats the number with one decimal, rounded up. */
    private static String up(double number) {
        double rounded = Math.ceil(10 * number) / 10;
        return String.format(Locale.ROOT, rounded == Math.rint(rounded) ? "%,.0f" : "%,.1f", rounded);
    }

    private static String number(double number) {
        return String.format(Locale.ROOT, number < 100 ? "%.3g" : "%,.0f", number);
    }
}
