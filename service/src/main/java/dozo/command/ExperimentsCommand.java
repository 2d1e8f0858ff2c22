package dozo.command;

import dozo.api.ShownExperiment;
import dozo.file.Size;
import dozo.registry.ExperimentSearch.State;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Searches for experiments. */
@Command(name = "experiments", mixinStandardHelpOptions = true, description = "Lists experiments, with search.")
final class ExperimentsCommand implements Callable<Integer> {

    @Mixin
    private final Connection service = new Connection();

    @Parameters(
            arity = "0..1",
            paramLabel = "TEXT",
            description = "Part of the code or title, or the start of PROJECT or PROJECT/CODE.")
    private @Nullable String text;

    @Option(names = "--project", paramLabel = "P", description = "Only of this project.")
    private @Nullable String project;

    @Option(names = "--modality", paramLabel = "M", description = "Only those of this modality.")
    private @Nullable String modality;

    @Option(names = "--scanner", paramLabel = "N", description = "Only those of this scanner.")
    private @Nullable String scanner;

    @Option(names = "--from", paramLabel = "DAY", description = "Acquired on this day or later.")
    private @Nullable String from;

    @Option(names = "--until", paramLabel = "DAY", description = "Acquired on this day or earlier.")
    private @Nullable String until;

    @Option(
            names = "--state",
            paramLabel = "STATE",
            description = "lost, damaged, frozen, source-missing, late, blocked, at-risk (all of these), "
                    + "copying, complete, arriving, planned or verified.")
    private @Nullable String state;

    @Option(names = "--site", paramLabel = "S", description = "The site of that state; optional if there is only one.")
    private @Nullable String site;

    @Option(
            names = "--sort",
            paramLabel = "KEY",
            description = "registered (default), name, title, modality, scanner, acquired, state, files, size or safe; "
                    + "with - before it in descending order (--sort=-size).")
    private @Nullable String sort;

    @Override
    public Integer call() {
        Answer<List<ShownExperiment>> found = service.all(query().toString(), ShownExperiment.class);
        Table table = new Table("EXPERIMENT", "STATE", "SIZE", "ACQUIRED", "MODALITY", "SCANNER", "TITLE", "SOURCE");
        found.value()
                .forEach(each -> table.row(
                        Connection.visible(each.project() + "/" + each.code()),
                        state(each),
                        each.bytes() == null ? "" : Size.text(each.bytes()),
                        Connection.text(each.acquired()),
                        Connection.text(each.modality()),
                        Connection.text(each.scanner()),
                        Connection.text(each.title()),
                        Connection.text(each.source())));
        service.print(found, found.value().isEmpty() ? out -> out.println("No such experiment.") : table::print);
        return Exit.WELL;
    }

    private Query query() {
        return new Query("/api/v1/experiments")
                .with("q", text)
                .with("project", project)
                .with("modality", modality)
                .with("scanner", scanner)
                .with("acquiredFrom", from)
                .with("acquiredUntil", until)
                .with("state", state)
                .with("site", site)
                .with("sort", sort);
    }

    /**
     * Returns the state, with {@code frozen} if it is a worse one of a frozen experiment. There is no state if no site is named and
     * there are several.
     */
    private static Table.State state(ShownExperiment experiment) {
        String state = Connection.text(experiment.state());
        return experiment.frozen() == null || state.equals(State.FROZEN.word())
                ? new Table.State(state, colour(state))
                : new Table.State((state + " frozen").strip(), Colour.BAD);
    }

    private static Colour colour(String state) {
        if (state.equals(State.VERIFIED.word())) {
            return Colour.GOOD;
        }
        return !state.isEmpty() && State.of(state).atRisk() ? Colour.BAD : Colour.WAITING;
    }
}
