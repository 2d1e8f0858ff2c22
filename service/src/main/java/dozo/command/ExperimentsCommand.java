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
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** Finds experiments. */
@Command(
        name = "experiments",
        mixinStandardHelpOptions = true,
        description = "Lists experiments, by what is remembered of them.")
final class ExperimentsCommand implements Callable<Integer> {

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private final Connection service = new Connection();

    @Parameters(
            arity = "0..1",
            paramLabel = "TEXT",
            description = "A piece of the code or title, or the begin of PROJECT or PROJECT/CODE.")
    private @Nullable String text;

    @Option(names = "--project", paramLabel = "P", description = "Of this project.")
    private @Nullable String project;

    @Option(names = "--modality", paramLabel = "M", description = "Acquired with it.")
    private @Nullable String modality;

    @Option(names = "--scanner", paramLabel = "N", description = "Acquired with it.")
    private @Nullable String scanner;

    @Option(names = "--from", paramLabel = "DAY", description = "Acquired on this day or later.")
    private @Nullable String from;

    @Option(names = "--until", paramLabel = "DAY", description = "Acquired on this day or earlier.")
    private @Nullable String until;

    @Option(
            names = "--state",
            paramLabel = "STATE",
            description = "planned, arriving, complete, copying, verified, at-risk or frozen.")
    private @Nullable String state;

    @Option(
            names = "--site",
            paramLabel = "S",
            description = "In that state at which site; not needed for the only one.")
    private @Nullable String site;

    @Override
    public Integer call() {
        List<JsonNode> found = service.all("/api/v1/experiments?" + query());
        PrintWriter out = requireNonNull(spec).commandLine().getOut();
        if (service.json()) {
            out.println(Connection.JSON.writeValueAsString(found));
        } else if (found.isEmpty()) {
            out.println("No such experiment.");
        } else {
            Table table = new Table("EXPERIMENT", "STATE", "ACQUIRED", "MODALITY", "SCANNER", "TITLE", "SOURCE");
            found.forEach(each -> table.row(
                    said(each, "project") + "/" + said(each, "code"),
                    state(each),
                    said(each, "acquired"),
                    said(each, "modality"),
                    said(each, "scanner"),
                    said(each, "title"),
                    said(each, "source")));
            table.print(out);
        }
        out.flush();
        return Exit.WELL;
    }

    private String query() {
        List<String> parts = new ArrayList<>();
        add(parts, "q", text);
        add(parts, "project", project);
        add(parts, "modality", modality);
        add(parts, "scanner", scanner);
        add(parts, "acquiredFrom", from);
        add(parts, "acquiredUntil", until);
        add(parts, "state", state);
        add(parts, "site", site);
        return String.join("&", parts);
    }

    private static void add(List<String> parts, String name, @Nullable String value) {
        if (value != null) {
            parts.add(name + "=" + Connection.encoded(value));
        }
    }

    /** Where it counts at no single site, an experiment has none; a frozen one is frozen beside it. */
    private static String state(JsonNode experiment) {
        String state = said(experiment, "state");
        return experiment.hasNonNull("frozen") ? (state + " frozen").strip() : state;
    }

    private static String said(JsonNode experiment, String field) {
        return Connection.visible(experiment.path(field).asString(""));
    }
}
