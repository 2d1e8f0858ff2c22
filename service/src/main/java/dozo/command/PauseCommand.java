package dozo.command;

import java.time.Duration;
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

/** Pauses a run. */
@Command(
        name = "pause",
        mixinStandardHelpOptions = true,
        description = "Pauses a run: what is under way is finished, and nothing is begun until it is resumed.")
final class PauseCommand implements Callable<Integer> {

    private static final Duration POLL = Duration.ofMillis(500);

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private final Connection service = new Connection();

    @Mixin
    private final ChosenRun chosen = new ChosenRun();

    @Option(names = "--wait", description = "Until nothing of it is under way any more.")
    private boolean wait;

    @Override
    public Integer call() throws InterruptedException {
        CommandLine commandLine = Objects.requireNonNull(spec).commandLine();
        long run = chosen.of(service);
        String address = "%s/%d".formatted(ChosenRun.ADDRESS, run);
        JsonNode shown = service.post(address + "/pause", Map.of());
        while (wait && shown.path("underWay").asBoolean()) {
            Thread.sleep(POLL);
            shown = service.get(address);
        }
        Dozo.say(commandLine.getOut(), service, shown, line(run, shown));
        return Exit.WELL;
    }

    private static String line(long run, JsonNode shown) {
        if (!Dozo.run(shown).goesOn()) {
            return "run %d has ended: there was nothing left to begin".formatted(run);
        }
        return shown.path("underWay").asBoolean()
                ? "run %d is paused; what is under way is finished first".formatted(run)
                : "run %d is paused".formatted(run);
    }
}
