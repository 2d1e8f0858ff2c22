package dozo.command;

import static java.util.Objects.requireNonNull;

import dozo.api.ExperimentApi.ShownExperiment;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Sets whether an experiment's source is walked or read from a file list. */
@Command(
        name = "source",
        mixinStandardHelpOptions = true,
        description =
                "Sets how runs find an experiment's files, from the next run on: by a file list or by walking the folder.")
final class SourceCommand implements Callable<Integer> {

    @Mixin
    private final Connection service = new Connection();

    @Parameters(paramLabel = "PROJECT/EXPERIMENT", description = "The experiment.")
    private String experiment = "";

    @ArgGroup(multiplicity = "1")
    private @Nullable Totals told;

    private static final class Totals {

        @ArgGroup(exclusive = false)
        private @Nullable ByList byList;

        @Option(names = "--walk", required = true, description = "Walks the folder.")
        private boolean walk;
    }

    private static final class ByList {

        @Option(
                names = "--list",
                required = true,
                paramLabel = "FILE",
                description = "A file list to read instead of walking the folder, on the service's machine.")
        private String file = "";

        @Option(
                names = "--list-form",
                required = true,
                paramLabel = "FORM",
                description = "The program that wrote the list: find or policy.")
        private String form = "";
    }

    @Override
    public Integer call() {
        String address = Dozo.experimentAddress(service.commandLine(), experiment) + "/list";
        boolean walk = requireNonNull(told).walk;
        Answer<ShownExperiment> changed = walk
                ? service.delete(address, ShownExperiment.class)
                : service.put(address, body(requireNonNull(told.byList)), ShownExperiment.class);
        service.confirm(
                changed,
                "from the next run on, %s is %s"
                        .formatted(
                                experiment,
                                walk
                                        ? "walked"
                                        : "read from the list %s"
                                                .formatted(changed.value().list())));
        return Exit.WELL;
    }

    private static Map<String, ?> body(ByList list) {
        return Map.of("listBytes", RawArgument.path(list.file), "listForm", list.form);
    }
}
