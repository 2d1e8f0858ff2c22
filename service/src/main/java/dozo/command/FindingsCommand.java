package dozo.command;

import dozo.api.ShownFinding;
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

    @Option(names = "--all", description = "Includes findings that were acknowledged or superseded by a later run.")
    private boolean all;

    @Option(names = "--reason", paramLabel = "R", description = "Only those with this reason, such as UNREADABLE.")
    private @Nullable String reason;

    @Option(names = "--project", paramLabel = "P", description = "Only those of this project.")
    private @Nullable String project;

    @Option(names = "--run", paramLabel = "N", description = "Only those of this run.")
    private @Nullable Long run;

    @Override
    public Integer call() {
        Answer<List<ShownFinding>> answer = service.all(query().toString(), ShownFinding.class);
        List<ShownFinding> found = answer.value();
        PrintWriter out = service.out();
        if (service.json()) {
            answer.printLines(out);
        } else {
            found.forEach(finding -> print(out, finding));
            out.println(all ? "findings: %,d".formatted(found.size()) : "open findings: %,d".formatted(found.size()));
        }
        out.flush();
        return found.stream().anyMatch(ShownFinding::open) ? Exit.NOT_SAFE : Exit.WELL;
    }

    @Command(
            name = "acknowledge",
            mixinStandardHelpOptions = true,
            description = {
                "Acknowledges a finding, with the reason why nothing needs to be done. It makes no file safe, and holds",
                "while runs find the same with the same message."
            })
    int acknowledge(
            @Mixin Connection connection,
            @Parameters(paramLabel = "ID", description = "The finding's number.") long id,
            @Parameters(paramLabel = "REASON", description = "The reason, in one line without names of subjects.")
                    String why) {
        Answer<ShownFinding> shown =
                connection.post("%s/%d/acknowledge".formatted(ADDRESS, id), Map.of("reason", why), ShownFinding.class);
        connection.say(shown, "finding %d acknowledged".formatted(id));
        return Exit.WELL;
    }

    private Query query() {
        return new Query(ADDRESS)
                .with("open", all ? null : true)
                .with("reason", reason)
                .with("project", project)
                .with("run", run);
    }

    private static void print(PrintWriter out, ShownFinding finding) {
        out.println("%d, found by run %d at %s%s%s"
                .formatted(
                        finding.id(),
                        finding.run(),
                        finding.foundAt(),
                        finding.lastRun() == finding.run()
                                ? ""
                                : "; last by run %d at %s".formatted(finding.lastRun(), finding.lastFoundAt()),
                        finding.supersededBy() == null ? "" : "; superseded by run " + finding.supersededBy()));
        RunReport.findings(out, List.of(finding));
    }
}
