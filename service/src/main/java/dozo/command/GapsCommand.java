package dozo.command;

import dozo.worklist.GapKind;
import dozo.worklist.Gaps.Gap;
import java.io.PrintWriter;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Lists gaps. */
@Command(
        name = "gaps",
        mixinStandardHelpOptions = true,
        description = "Lists bookings that did not arrive as planned, and unplanned arrivals, by day.",
        footer = {"", "Exit code 0: no findings. 1: findings."})
final class GapsCommand implements Callable<Integer> {

    @Mixin
    private final Connection service = new Connection();

    @Option(names = "--from", paramLabel = "DAY", description = "Planned on that day or later, such as 2026-10-01.")
    private @Nullable String from;

    @Option(names = "--until", paramLabel = "DAY", description = "Planned on that day or earlier.")
    private @Nullable String until;

    @Option(names = "--as-of", paramLabel = "WHEN", description = "The state at a day (its end) or a time.")
    private @Nullable String asOf;

    @Option(names = "--project", paramLabel = "P", description = "Only those of this project.")
    private @Nullable String project;

    @Option(
            names = "--kind",
            paramLabel = "K",
            description =
                    "Only never-scanned, late, partly, split, same-uid-twice, wrong-station, wrong-subject, wrong-day"
                            + " or unplanned.")
    private @Nullable String kind;

    @Option(names = "--all", description = "Every booking, also those without a gap.")
    private boolean all;

    @Option(names = "--site", paramLabel = "S", description = "The site of the copies; optional if there is only one.")
    private @Nullable String site;

    @Option(names = "--csv", description = "Prints CSV with all columns.")
    private boolean csv;

    @Override
    public Integer call() {
        PrintWriter out = service.out();
        if (csv) {
            service.printCsv(query());
            return Exit.WELL;
        }
        Answer<List<Gap>> lines = service.all(query().toString(), Gap.class);
        if (service.json()) {
            lines.printLines(out);
        } else {
            print(out, lines.value());
        }
        out.flush();
        return lines.value().stream().anyMatch(line -> !line.gaps().isEmpty()) ? Exit.NOT_SAFE : Exit.WELL;
    }

    private static void print(PrintWriter out, List<Gap> lines) {
        Table table = new Table("DAY", "ACCESSION", "PROJECT", "STATION", ">SERIES", "KEPT", "GAP");
        for (Gap line : lines) {
            table.row(
                    (Connection.text(line.date()) + " " + time(line)).strip(),
                    Connection.text(line.accession()),
                    Connection.text(line.project()),
                    Connection.text(line.aeTitle()),
                    line.series() + (line.seriesExpected() == null ? "" : "/" + line.seriesExpected()),
                    line.verified() ? "verified" : line.copied() ? "copied" : "",
                    line.gaps().stream().map(gap -> told(gap, line)).collect(Collectors.joining(", ")));
        }
        if (!lines.isEmpty()) {
            table.print(out);
            out.println();
        }
        long open = lines.stream().filter(line -> !line.gaps().isEmpty()).count();
        out.println("%,d with a gap".formatted(open));
    }

    /** Returns the text of a gap; for a wrong subject with both codes. */
    private static String told(GapKind gap, Gap line) {
        if (gap != GapKind.WRONG_SUBJECT) {
            return gap.word();
        }
        return "%s (booked %s, acquired %s)"
                .formatted(
                        gap.word(),
                        Connection.text(line.subject()),
                        Connection.visible(String.join(" ", line.subjectsAcquired())));
    }

    /** Formats a time with seconds, as REST does. */
    private static String time(Gap line) {
        return line.time() == null ? "" : DateTimeFormatter.ISO_LOCAL_TIME.format(line.time());
    }

    private Query query() {
        return new Query("/api/v1/gaps")
                .with("all", all)
                .with("plannedFrom", from)
                .with("plannedUntil", until)
                .with("asOf", asOf)
                .with("project", project)
                .with("kind", kind)
                .with("site", site);
    }
}
