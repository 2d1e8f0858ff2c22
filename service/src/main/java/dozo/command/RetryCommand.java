package dozo.command;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** Tries again what a run has found. */
@Command(
        name = "retry",
        mixinStandardHelpOptions = true,
        description = {
            "Starts a backup of those experiments only of which a run has open findings: what was repaired",
            "need not wait for the night."
        })
final class RetryCommand implements Callable<Integer> {

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private final Connection service = new Connection();

    @Parameters(paramLabel = "RUN", description = "The number of the run that has the findings.")
    private long number;

    @Option(names = "--wait", description = "Follow it to its end; the exit code is that of its result.")
    private boolean wait;

    @Override
    public Integer call() throws InterruptedException {
        CommandLine commandLine = Objects.requireNonNull(spec).commandLine();
        JsonNode started = service.post("%s/%d/retry".formatted(ChosenRun.ADDRESS, number), Map.of());
        return Dozo.startedOrFollowed(
                commandLine,
                service,
                started,
                wait,
                "run %d is started: %d experiments of run %d are tried again"
                        .formatted(
                                Dozo.run(started).id(),
                                started.path("retry").path("experiments").asLong(),
                                number));
    }
}
