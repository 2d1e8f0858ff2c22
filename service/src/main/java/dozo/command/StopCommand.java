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

/** Stops a run. */
@Command(
        name = "stop",
        mixinStandardHelpOptions = true,
        description = "Stops a run: what is under way is finished, and the next run goes on where it was.")
final class StopCommand implements Callable<Integer> {

    static final String ADDRESS = "/api/v1/runs";

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private final Connection service = new Connection();

    @Parameters(
            arity = "0..1",
            paramLabel = "RUN",
            description = "Its number; the one that is going on if none is given.")
    private @Nullable Long number;

    @Option(names = "--wait", description = "Follow it until it has ended; 0 however it ends.")
    private boolean wait;

    @Override
    public Integer call() throws InterruptedException {
        CommandLine commandLine = Objects.requireNonNull(spec).commandLine();
        long run = number == null ? goingOn(service) : number;
        JsonNode asked = service.post("%s/%d/stop".formatted(ADDRESS, run), Map.of());
        if (wait) {
            JsonNode ended = Dozo.followed(commandLine.getErr(), service, asked);
            Dozo.print(commandLine.getOut(), service, ended);
        } else {
            Dozo.say(commandLine.getOut(), service, asked, "run %d is asked to stop".formatted(run));
        }
        return Exit.WELL;
    }

    /** The run that is going on, paused or not: there is one at most, and it is the latest. */
    static long goingOn(Connection service) {
        JsonNode latest = service.get(ADDRESS + "?limit=1").path("items");
        if (latest.isEmpty() || !Dozo.run(latest.get(0)).goesOn()) {
            throw new Failure(Exit.REFUSED, "no run is going on");
        }
        return Dozo.run(latest.get(0)).id();
    }
}
