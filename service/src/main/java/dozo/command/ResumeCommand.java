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
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** Goes on with a paused run. */
@Command(name = "resume", mixinStandardHelpOptions = true, description = "Goes on with a paused run where it was.")
final class ResumeCommand implements Callable<Integer> {

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private final Connection service = new Connection();

    @Mixin
    private final ChosenRun chosen = new ChosenRun();

    @Option(names = "--wait", description = "Follow it to its end; the exit code is that of its result.")
    private boolean wait;

    @Override
    public Integer call() throws InterruptedException {
        CommandLine commandLine = Objects.requireNonNull(spec).commandLine();
        long run = chosen.of(service);
        JsonNode resumed = service.post("%s/%d/resume".formatted(ChosenRun.ADDRESS, run), Map.of());
        return Dozo.startedOrFollowed(commandLine, service, resumed, wait, "run %d goes on".formatted(run));
    }
}
