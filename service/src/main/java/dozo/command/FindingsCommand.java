package dozo.command;

import dozo.ledger.Findings.KeptFinding;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** Lists findings of all runs, and acknowledges them. */
@Command(
        name = "findings",
        mixinStandardHelpOptions = true,
        description = "Lists the findings that need a person, latest first.",
        footer = {"", "Exit code 0: there are none. 1: there are."})
final class FindingsCommand implements Callable<Integer> {

    private static final String ADDRESS = "/api/v1/findings";

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private final Connection service = new Connection();

    @Option(names = "--all", description = "Those too that were acknowledged, or that a later run has looked at again.")
    private boolean all;

    @Option(names = "--reason", paramLabel = "R", description = "Only those with this reason, such as UNREADABLE.")
    private @Nullable String reason;

    @Option(names = "--project", paramLabel = "P", description = "Only those of this project.")
    private @Nullable String project;

    @Option(names = "--run", paramLabel = "N", description = "Only those of this run.")
    private @Nullable Long run;

    @Override
    public Integer call() {
        List<JsonNode> found = service.all(address());
        PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
        if (service.json()) {
            found.forEach(finding -> out.println(finding.toString()));
        } else {
            List<KeptFinding> findings = found.stream().map(Dozo::finding).toList();
            findings.forEach(finding -> print(out, finding));
            out.println(all ? "findings: %,d".formatted(found.size()) : "open findings: %,d".formatted(found.size()));
        }
        out.flush();
        return found.stream().anyMatch(finding -> finding.path("open").asBoolean()) ? Exit.NOT_SAFE : Exit.WELL;
    }

    @Command(
            name = "acknowledge",
            mixinStandardHelpOptions = true,
            description = {
                "Says of a finding that it is known, and why nothing is to be done. It makes nothing safe; found",
                "again by a later run, it is a finding again."
            })
    int acknowledge(
            @Mixin Connection connection,
            @Parameters(paramLabel = "ID", description = "The finding's number.") long id,
            @Parameters(paramLabel = "REASON", description = "Why, in one line; name no subject.") String why) {
        JsonNode shown = connection.post("%s/%d/acknowledge".formatted(ADDRESS, id), Map.of("reason", why));
        Dozo.say(
                Objects.requireNonNull(spec).commandLine().getOut(),
                connection,
                shown,
                "finding %d is acknowledged".formatted(id));
        return Exit.WELL;
    }

    private String address() {
        List<String> query = new ArrayList<>();
        if (!all) {
            query.add("open=true");
        }
        if (reason != null) {
            query.add("reason=" + Connection.encoded(reason));
        }
        if (project != null) {
            query.add("project=" + Connection.encoded(project));
        }
        if (run != null) {
            query.add("run=" + run);
        }
        return query.isEmpty() ? ADDRESS : ADDRESS + "?" + String.join("&", query);
    }

    private static void print(PrintWriter out, KeptFinding finding) {
        out.println("%d, found by run %d at %s%s"
                .formatted(
                        finding.id(),
                        finding.runId(),
                        finding.foundAt(),
                        finding.supersededBy() == null ? "" : "; looked at again by run " + finding.supersededBy()));
        RunReport.findings(out, List.of(finding));
    }
}
