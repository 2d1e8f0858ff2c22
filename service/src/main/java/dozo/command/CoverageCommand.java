package dozo.command;

import dozo.ledger.Audit.Change;
import dozo.ledger.Audit.Wait;
import dozo.ledger.Coverage.ExperimentCoverage;
import dozo.ledger.Coverage.Group;
import dozo.ledger.Coverage.Totals;
import dozo.ledger.Coverage.Unprotected;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** What is safe, what was, and what changed. */
@Command(
        name = "coverage",
        mixinStandardHelpOptions = true,
        description = "Shows what is safe: every experiment, or sums by something, now or as of a day.",
        footer = {
            "",
            "A day is one of the service's time zone and stands for its end; a time as 2026-10-01T15:00:00Z is taken too."
        })
final class CoverageCommand implements Callable<Integer> {

    private static final String ADDRESS = "/api/v1/coverage";

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private final Connection service = new Connection();

    @Option(names = "--site", paramLabel = "S", description = "At which site; not needed for the only one.")
    private @Nullable String site;

    @Option(
            names = "--by",
            paramLabel = "WHAT",
            description = "Sums by project, experiment, modality, scanner or month (acquired).")
    private @Nullable String by;

    @Option(names = "--csv", description = "Print CSV, with exact numbers, and nothing else.")
    private boolean csv;

    @ArgGroup
    private @Nullable Question question;

    /** What is asked instead of what is safe now; one of them. */
    private static final class Question {

        @Option(names = "--as-of", paramLabel = "DAY", description = "What was safe when the day was over.")
        private @Nullable String asOf;

        @Option(names = "--changes", paramLabel = "FROM..TO", description = "What changed from one day to another.")
        private @Nullable String changes;

        @Option(
                names = "--waits",
                paramLabel = "FROM..TO",
                description = "How long what became safe then had waited for it, and who waits now.")
        private @Nullable String waits;

        @Option(names = "--oldest", paramLabel = "N", description = "The N experiments that have waited longest.")
        private @Nullable Integer oldest;
    }

    @Override
    public Integer call() {
        Question asked = question == null ? new Question() : question;
        if (csv && service.json()) {
            throw new Failure(Exit.USAGE, "either --json or --csv");
        }
        if (asked.changes != null) {
            return changes(between(asked.changes));
        }
        if (asked.waits != null) {
            return waits(between(asked.waits));
        }
        if (asked.oldest != null) {
            return oldest(asked.oldest);
        }
        return by == null && asked.asOf == null && !csv ? experiments() : groups(asked.asOf);
    }

    /** Every experiment with its title, and the sentence. */
    private int experiments() {
        JsonNode coverage = service.get(ADDRESS + query());
        List<JsonNode> experiments = service.all(ADDRESS + "/experiments" + query());
        Totals all = Connection.JSON.treeToValue(coverage.path("totals"), Totals.class);
        if (service.json()) {
            json(coverage, experiments);
        } else {
            CoverageTable.print(out(), all, values(experiments, ExperimentCoverage.class));
            FrozenReport.print(out(), service, coverage);
            PromiseReport.print(out(), service, site);
        }
        return exitCode(coverage, all);
    }

    /** What is frozen is as safe as it was when it was sealed last, but nobody can call that well. */
    private static int exitCode(JsonNode coverage, Totals all) {
        return all.safe() && FrozenReport.count(coverage) == 0 ? Exit.WELL : Exit.NOT_SAFE;
    }

    private int groups(@Nullable String asOf) {
        String moment = asOf == null ? "" : "&asOf=" + Connection.encoded(asOf);
        JsonNode coverage = service.get(ADDRESS + query() + moment);
        List<JsonNode> items = service.all(ADDRESS + "/groups" + query() + moment + "&by=" + dimension());
        Totals all = Connection.JSON.treeToValue(coverage.path("totals"), Totals.class);
        List<Group> groups = values(items, Group.class);
        if (service.json()) {
            json(coverage, items);
        } else if (csv) {
            CoverageTable.csv(out(), dimension(), groups);
        } else {
            CoverageTable.groups(out(), dimension(), groups, all);
            FrozenReport.print(out(), service, coverage);
            if (asOf != null) {
                out().println("As of %s. The record of this site begins %s: what was safe before, nobody can say."
                        .formatted(
                                coverage.path("asOf").asString(""),
                                coverage.path("recordedSince").asString("with its first manifest")));
            }
        }
        out().flush();
        return exitCode(coverage, all);
    }

    private int changes(String between) {
        JsonNode answer = service.get(ADDRESS + "/changes" + query() + between + "&by=" + dimension());
        List<Change> changes = values(items(answer), Change.class);
        print(answer, () -> AuditTables.changes(dimension(), changes));
        return Exit.WELL;
    }

    private int waits(String between) {
        JsonNode answer = service.get(ADDRESS + "/waits" + query() + between + "&by=" + dimension());
        List<Wait> waits = values(items(answer), Wait.class);
        print(answer, () -> AuditTables.waits(dimension(), waits));
        return Exit.WELL;
    }

    private int oldest(int most) {
        JsonNode answer = service.get(ADDRESS + "/unprotected" + query() + "&limit=" + most);
        List<Unprotected> oldest = values(items(answer), Unprotected.class);
        print(answer, () -> AuditTables.oldest(oldest));
        return oldest.isEmpty() ? Exit.WELL : Exit.NOT_SAFE;
    }

    /** A table to be shown as it is wanted. */
    private interface Tables {
        Table table();
    }

    private void print(JsonNode answer, Tables tables) {
        if (service.json()) {
            out().println(Connection.JSON.writeValueAsString(answer));
        } else if (csv) {
            tables.table().csv(out());
        } else {
            if (answer.has("from")) {
                out().println("From %s until %s:"
                        .formatted(
                                answer.path("from").asString(),
                                answer.path("until").asString()));
            }
            tables.table().print(out());
        }
        out().flush();
    }

    private void json(JsonNode coverage, List<JsonNode> items) {
        Map<String, Object> answer = new HashMap<>();
        coverage.properties().forEach(property -> answer.put(property.getKey(), property.getValue()));
        answer.put("items", items);
        out().println(Connection.JSON.writeValueAsString(answer));
        out().flush();
    }

    private static List<JsonNode> items(JsonNode answer) {
        List<JsonNode> items = new ArrayList<>();
        answer.path("items").forEach(items::add);
        return items;
    }

    private static <T> List<T> values(List<JsonNode> items, Class<T> type) {
        return items.stream()
                .map(each -> Connection.JSON.treeToValue(each, type))
                .toList();
    }

    /** The parts of an address between two days. */
    private static String between(String typed) {
        int dots = typed.indexOf("..");
        if (dots <= 0 || dots + 2 == typed.length()) {
            throw new Failure(Exit.USAGE, "%s: two days are accepted as 2026-09-01..2026-09-30".formatted(typed));
        }
        return "&from=%s&until=%s"
                .formatted(Connection.encoded(typed.substring(0, dots)), Connection.encoded(typed.substring(dots + 2)));
    }

    private String query() {
        return site == null ? "?" : "?site=" + Connection.encoded(site);
    }

    private String dimension() {
        return by == null ? "project" : Connection.encoded(by);
    }

    private PrintWriter out() {
        return java.util.Objects.requireNonNull(spec).commandLine().getOut();
    }
}
