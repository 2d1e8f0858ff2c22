package dozo.command;

import dozo.api.FindingApi.Acknowledged;
import dozo.ledger.Findings.FindingGroup;
import dozo.ledger.Findings.KeptFinding;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Lists findings of all runs, and acknowledges them. */
@Command(
        name = "findings",
        mixinStandardHelpOptions = true,
        description = "Lists the findings that need a person, latest first.",
        footer = {"", "Exit code 0: no findings. 1: findings."})
final class FindingsCommand implements Callable<Integer> {

    private static final String ADDRESS = "/api/v1/findings";

    @Mixin
    private final Connection service = new Connection();

    /** Which findings. */
    static final class Selection {

        @Option(names = "--reason", paramLabel = "R", description = "Only those with this reason, such as UNREADABLE.")
        private @Nullable String reason;

        @Option(names = "--project", paramLabel = "P", description = "Only those of this project.")
        private @Nullable String project;

        @Option(
                names = "--experiment",
                paramLabel = "PROJECT/EXPERIMENT",
                description = "Only those of this experiment; \"-\": only those of whole runs.")
        private @Nullable String experiment;

        private Query query(String address) {
            return new Query(address)
                    .with("reason", reason)
                    .with("project", project)
                    .with("experiment", experiment);
        }
    }

    @Option(names = "--all", description = "Includes findings that were acknowledged or superseded by a later run.")
    private boolean all;

    @Mixin
    private final Selection selection = new Selection();

    @Option(names = "--run", paramLabel = "N", description = "Only those of this run.")
    private @Nullable Long run;

    @Override
    public Integer call() {
        Answer<List<KeptFinding>> answer = service.all(query().toString(), KeptFinding.class);
        List<KeptFinding> found = answer.value();
        PrintWriter out = service.out();
        if (service.json()) {
            answer.printLines(out);
        } else {
            found.forEach(finding -> print(out, finding));
            out.println(all ? "findings: %,d".formatted(found.size()) : "open findings: %,d".formatted(found.size()));
        }
        out.flush();
        return found.stream().anyMatch(KeptFinding::open) ? Exit.NOT_SAFE : Exit.WELL;
    }

    @Command(
            name = "groups",
            mixinStandardHelpOptions = true,
            description = {
                "Lists open findings by cause, the gravest first. Findings with the same reason in the same experiment",
                "are one line."
            })
    int groups(@Mixin Connection connection, @Mixin Selection wanted) {
        Answer<List<FindingGroup>> answer =
                connection.all(wanted.query(ADDRESS + "/groups").toString(), FindingGroup.class);
        PrintWriter out = connection.out();
        if (connection.json()) {
            answer.printLines(out);
        } else {
            answer.value().forEach(group -> print(out, group));
        }
        out.flush();
        return answer.value().isEmpty() ? Exit.WELL : Exit.NOT_SAFE;
    }

    @Command(
            name = "acknowledge-all",
            mixinStandardHelpOptions = true,
            description = {
                "Acknowledges all open findings with a reason, as for one finding: those of an experiment, of a project,",
                "or all. Findings that are made meanwhile stay open."
            })
    int acknowledgeAll(
            @Mixin Connection connection,
            @Mixin Selection wanted,
            @Parameters(paramLabel = "REASON", description = "The reason, in one line without names of subjects.")
                    String why) {
        if (wanted.reason == null) {
            throw new Failure(Exit.USAGE, "--reason is missing: acknowledge one kind of finding at a time");
        }
        long upTo = connection.all(wanted.query(ADDRESS + "/groups").toString(), FindingGroup.class).value().stream()
                .mapToLong(group -> group.latest().id())
                .max()
                .orElseThrow(() -> new Failure(Exit.REFUSED, "none of these findings is open"));
        Answer<Acknowledged> done = connection.post(
                wanted.query(ADDRESS + "/acknowledge").with("upTo", upTo).toString(),
                Map.of("reason", why),
                Acknowledged.class);
        connection.confirm(
                done, "findings acknowledged: %,d".formatted(done.value().acknowledged()));
        return Exit.WELL;
    }

    private Query query() {
        return selection.query(ADDRESS).with("open", all ? null : true).with("run", run);
    }

    private static void print(PrintWriter out, FindingGroup group) {
        KeptFinding latest = group.latest();
        out.println("%,6d  %s  %s, since %s"
                .formatted(
                        group.count(),
                        latest.reason(),
                        latest.experiment() == null ? "run " + latest.lastRun() : latest.experiment(),
                        Times.text(group.since())));
        out.println("        latest: %s%s"
                .formatted(
                        latest.shownPath() == null ? "" : RunReport.shortened(latest.shownPath()) + ": ",
                        RunReport.message(latest)));
    }

    private static void print(PrintWriter out, KeptFinding finding) {
        out.println("%d, found by run %d at %s%s%s"
                .formatted(
                        finding.id(),
                        finding.run(),
                        Times.text(finding.foundAt()),
                        finding.lastRun() == finding.run()
                                ? ""
                                : "; last by run %d at %s"
                                        .formatted(finding.lastRun(), Times.text(finding.lastFoundAt())),
                        finding.refuted()
                                ? "; no longer true"
                                : finding.supersededBy() == null
                                        ? ""
                                        : "; superseded by run " + finding.supersededBy()));
        RunReport.findings(out, List.of(finding));
    }
}
