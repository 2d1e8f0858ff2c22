package dozo.command;

import static java.util.Objects.requireNonNull;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** The gap list. */
@Command(
        name = "gaps",
        mixinStandardHelpOptions = true,
        description = "Lists the bookings that did not come as planned, and what came unplanned, by day.",
        footer = {"", "Exit code 0: there are none. 1: there are."})
final class GapsCommand implements Callable<Integer> {

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private final Connection service = new Connection();

    @Option(names = "--from", paramLabel = "DAY", description = "Planned on that day or later, as 2026-10-01.")
    private @Nullable String from;

    @Option(names = "--until", paramLabel = "DAY", description = "Planned on that day or earlier.")
    private @Nullable String until;

    @Option(names = "--as-of", paramLabel = "WHEN", description = "As it was then: a day (its end) or a time.")
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

    @Option(names = "--site", paramLabel = "S", description = "At which site what is copied and verified.")
    private @Nullable String site;

    @Option(names = "--csv", description = "Print CSV, with all columns.")
    private boolean csv;

    @Override
    public Integer call() {
        PrintWriter out = requireNonNull(spec).commandLine().getOut();
        if (csv) {
            service.printCsv(address(), out);
            return Exit.WELL;
        }
        List<JsonNode> lines = service.all(address());
        if (service.json()) {
            lines.forEach(line -> out.println(line.toString()));
        } else {
            print(out, lines);
        }
        out.flush();
        return lines.stream().anyMatch(line -> !line.path("gaps").isEmpty()) ? Exit.NOT_SAFE : Exit.WELL;
    }

    private static void print(PrintWriter out, List<JsonNode> lines) {
        Table table = new Table("DAY", "ACCESSION", "PROJECT", "STATION", ">SERIES", "KEPT", "GAP");
        for (JsonNode line : lines) {
            List<String> gaps = new ArrayList<>();
            line.path("gaps").forEach(gap -> gaps.add(told(gap.asString(), line)));
            table.row(
                    (text(line, "date") + " " + text(line, "time")).strip(),
                    text(line, "accession"),
                    text(line, "project"),
                    text(line, "aeTitle"),
                    line.path("series").asInt()
                            + (line.hasNonNull("seriesExpected")
                                    ? "/" + line.path("seriesExpected").asInt()
                                    : ""),
                    line.path("verified").asBoolean()
                            ? "verified"
                            : line.path("copied").asBoolean() ? "copied" : "",
                    String.join(", ", gaps));
        }
        if (!lines.isEmpty()) {
            table.print(out);
            out.println();
        }
        long open = lines.stream().filter(line -> !line.path("gaps").isEmpty()).count();
        out.println("%,d with a gap".formatted(open));
    }

    /** A gap in a table; of a wrong subject with both codes. */
    private static String told(String gap, JsonNode line) {
        if (!gap.equals("wrong-subject")) {
            return gap;
        }
        List<String> acquired = new ArrayList<>();
        line.path("subjectsAcquired").forEach(code -> acquired.add(Connection.visible(code.asString())));
        return "%s (booked %s, acquired %s)".formatted(gap, text(line, "subject"), String.join(" ", acquired));
    }

    private static String text(JsonNode line, String field) {
        return Connection.visible(line.path(field).asString(""));
    }

    private String address() {
        StringBuilder address = new StringBuilder("/api/v1/gaps?all=").append(all);
        add(address, "plannedFrom", from);
        add(address, "plannedUntil", until);
        add(address, "asOf", asOf);
        add(address, "project", project);
        add(address, "kind", kind);
        add(address, "site", site);
        return address.toString();
    }

    private static void add(StringBuilder address, String name, @Nullable String value) {
        if (value != null) {
            address.append('&').append(name).append('=').append(Connection.encoded(value));
        }
    }
}
