package dozo.command;

import static java.util.Objects.requireNonNull;

import dozo.api.CoverageApi.Between;
import dozo.api.CoverageApi.ShownCoverage;
import dozo.api.http.Page;
import dozo.ledger.Audit.Change;
import dozo.ledger.Audit.Wait;
import dozo.ledger.Coverage.ExperimentCoverage;
import dozo.ledger.Coverage.Group;
import dozo.ledger.Coverage.Totals;
import dozo.ledger.Coverage.Unprotected;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.node.ObjectNode;

/** Shows what is safe, what was safe, and what changed. */
@Command(
        name = "coverage",
        mixinStandardHelpOptions = true,
        description = "Shows what is safe: each experiment, or sums by a dimension, now or as of a day.",
        footer = {
            "",
            "WHEN, FROM and TO: such as yesterday, 7d, 2026-11-28 or \"2026-11-28 14:00\", in this machine's time zone."
        })
final class CoverageCommand implements Callable<Integer> {

    private static final String ADDRESS = "/api/v1/coverage";

    @Mixin
    private final Connection service = new Connection();

    @Option(names = "--site", paramLabel = "S", description = "The site; optional if there is only one.")
    private @Nullable String site;

    @Option(
            names = "--by",
            paramLabel = "WHAT",
            description = "Sums by project, experiment, modality, scanner or month (acquired).")
    private @Nullable String by;

    @Option(names = "--csv", description = "Prints CSV only, with exact numbers.")
    private boolean csv;

    @ArgGroup
    private @Nullable Question question;

    /** Alternatives to what is safe now; only one may be given. */
    private static final class Question {

        @Option(
                names = "--as-of",
                paramLabel = "WHEN",
                description = "The state at the end of a day, or at a time: yesterday, 7d, 2026-11-28.",
                converter = When.End.class)
        private @Nullable String asOf;

        @Option(
                names = "--changes",
                paramLabel = "FROM..TO",
                description = "What changed from one day to another, such as 7d..now.",
                converter = When.Between.class)
        private @Nullable String changes;

        @Option(
                names = "--waits",
                paramLabel = "FROM..TO",
                description = "How long experiments waited until they were safe, and which still wait.",
                converter = When.Between.class)
        private @Nullable String waits;

        @Option(names = "--oldest", paramLabel = "N", description = "The N experiments that have waited longest.")
        private @Nullable Integer oldest;
    }

    @Override
    public Integer call() {
        Question asked = question == null ? new Question() : question;
        service.checkFormat(csv);
        if (asked.changes != null) {
            return changes(asked.changes);
        }
        if (asked.waits != null) {
            return waits(asked.waits);
        }
        if (asked.oldest != null) {
            return oldest(asked.oldest);
        }
        return by == null && asked.asOf == null && !csv ? experiments() : groups(asked.asOf);
    }

    /** Shows every experiment with its title, and the summary. */
    private int experiments() {
        Answer<ShownCoverage> answer = service.get(query("").toString(), ShownCoverage.class);
        Answer<List<ExperimentCoverage>> experiments =
                service.all(query("/experiments").toString(), ExperimentCoverage.class);
        ShownCoverage coverage = answer.value();
        if (service.json()) {
            json(answer, experiments);
        } else {
            Map<String, String> atRisk = RiskReport.states(service, coverage);
            CoverageTable.print(
                    service.out(), requireNonNull(coverage.totals()), retired(coverage), experiments.value(), atRisk);
            RiskReport.print(service.out(), service, coverage);
            PromiseReport.print(service.out(), service, site);
        }
        return exitCode(coverage);
    }

    private static long retired(ShownCoverage coverage) {
        return coverage.retired() == null ? 0 : coverage.retired().experiments();
    }

    /** Returns the exit code. Experiments at risk may be as safe as when they were last sealed, but that is not well. */
    private static int exitCode(ShownCoverage coverage) {
        Totals totals = coverage.totals();
        boolean safe = totals != null && (totals.safe() || (totals.experiments() == 0 && retired(coverage) > 0));
        return safe && RiskReport.atRisk(coverage) == 0 ? Exit.WELL : Exit.NOT_SAFE;
    }

    private int groups(@Nullable String asOf) {
        Answer<ShownCoverage> answer = service.get(query("").with("asOf", asOf).toString(), ShownCoverage.class);
        Answer<List<Group>> groups = service.all(
                query("/groups").with("asOf", asOf).with("by", dimension()).toString(), Group.class);
        ShownCoverage coverage = answer.value();
        if (service.json()) {
            json(answer, groups);
        } else if (csv) {
            CoverageTable.csv(service.out(), dimension(), groups.value());
        } else {
            CoverageTable.groups(service.out(), dimension(), groups.value(), coverage.totals());
            RiskReport.print(service.out(), service, coverage);
            if (asOf != null) {
                service.out()
                        .println("As of %s. The record of this site begins %s; what was safe earlier is unknown."
                                .formatted(
                                        Times.text(coverage.asOf()),
                                        coverage.recordedSince() == null
                                                ? "with its first manifest"
                                                : Times.text(coverage.recordedSince())));
            }
        }
        service.out().flush();
        return exitCode(coverage);
    }

    private int changes(String between) {
        Answer<Between<Change>> answer =
                service.get(between("/changes", between).toString(), new TypeReference<>() {});
        printBetween(answer, AuditTables.changes(dimension(), answer.value().items()));
        return Exit.WELL;
    }

    private int waits(String between) {
        Answer<Between<Wait>> answer = service.get(between("/waits", between).toString(), new TypeReference<>() {});
        printBetween(answer, AuditTables.waits(dimension(), answer.value().items()));
        return Exit.WELL;
    }

    private int oldest(int most) {
        Answer<Page<Unprotected>> answer =
                service.get(query("/unprotected").with("limit", most).toString(), new TypeReference<>() {});
        List<Unprotected> oldest = answer.value().items();
        print(answer, AuditTables.oldest(oldest));
        return oldest.isEmpty() ? Exit.WELL : Exit.NOT_SAFE;
    }

    private <T> void printBetween(Answer<Between<T>> answer, Table table) {
        if (!service.json() && !csv) {
            service.out()
                    .println("From %s until %s:"
                            .formatted(
                                    Times.text(answer.value().from()),
                                    Times.text(answer.value().until())));
        }
        print(answer, table);
    }

    private void print(Answer<?> answer, Table table) {
        service.print(answer, csv ? table::csv : table::print);
    }

    private void json(Answer<ShownCoverage> coverage, Answer<? extends List<?>> items) {
        ObjectNode all = (ObjectNode) coverage.sent();
        service.out().println(Connection.JSON.writeValueAsString(all.set("items", items.sent())));
        service.out().flush();
    }

    private Query between(String path, String typed) {
        int dots = typed.indexOf("..");
        return query(path)
                .with("from", typed.substring(0, dots))
                .with("until", typed.substring(dots + 2))
                .with("by", dimension());
    }

    private Query query(String path) {
        return new Query(ADDRESS + path).with("site", site);
    }

    private String dimension() {
        return by == null ? "project" : by;
    }
}
