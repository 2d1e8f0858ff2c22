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

/** Stops a run. */
@Command(
        name = "stop",
        mixinStandardHelpOptions = true,
        description = "Stops a run: what is under way is finished, and the next run goes on where it was.")
final class StopCommand implements Callable<Integer> {

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private final Connection service = new Connection();

    @Mixin
    private final ChosenRun chosen = new ChosenRun();

    @Option(names = "--wait", description = "Follow it until it has ended; 0 however it ends.")
    private boolean wait;

    @Override
    public Integer call() throws InterruptedException {
        CommandLine commandLine = Objects.requireNonNull(spec).commandLine();
        long run = chosen.of(service);
        JsonNode asked = service.post("%s/%d/stop".formatted(ChosenRun.ADDRESS, run), Map.of());
        if (wait) {
            JsonNode ended = Dozo.followed(commandLine.getErr(), service, asked);
            Dozo.print(commandLine.getOut(), service, ended);
        } else {
            Dozo.say(commandLine.getOut(), service, asked, "run %d is asked to stop".formatted(run));
        }
        return Exit.WELL;
    }
}
