package dozo.command;

import static java.util.Objects.requireNonNull;

import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** What says what an experiment's source holds. */
@Command(
        name = "source",
        mixinStandardHelpOptions = true,
        description = "Sets what says what an experiment's source holds: a list, or a walk.")
final class SourceCommand implements Callable<Integer> {

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private final Connection service = new Connection();

    @Parameters(paramLabel = "PROJECT/EXPERIMENT", description = "The experiment.")
    private String experiment = "";

    @ArgGroup(multiplicity = "1")
    private @Nullable Told told;

    private static final class Told {

        @ArgGroup(exclusive = false)
        private @Nullable ByList byList;

        @Option(names = "--walk", required = true, description = "The folder is walked.")
        private boolean walk;
    }

    private static final class ByList {

        @Option(
                names = "--list",
                required = true,
                paramLabel = "FILE",
                description = "A file list to read in place of a walk, on the service's machine.")
        private String file = "";

        @Option(
                names = "--list-form",
                required = true,
                paramLabel = "FORM",
                description = "What wrote it: find or policy.")
        private String form = "";
    }

    @Override
    public Integer call() {
        var commandLine = requireNonNull(spec).commandLine();
        String address = Dozo.experimentAddress(commandLine, experiment) + "/list";
        boolean walk = requireNonNull(told).walk;
        JsonNode changed = walk ? service.delete(address) : service.put(address, body(requireNonNull(told.byList)));
        Dozo.say(
                commandLine.getOut(),
                service,
                changed,
                "from the next run on %s is %s"
                        .formatted(
                                experiment,
                                walk
                                        ? "walked"
                                        : "what the list %s says"
                                                .formatted(changed.path("list").asString())));
        return Exit.WELL;
    }

    private static Map<String, ?> body(ByList list) {
        return Map.of("listBytes", RawArgument.path(list.file), "listForm", list.form);
    }
}
