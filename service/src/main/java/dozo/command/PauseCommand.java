package dozo.command;

import dozo.api.ShownRun;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Pauses a run. */
@Command(
        name = "pause",
        mixinStandardHelpOptions = true,
        description = "Pauses a run: units under way are finished, and nothing new starts until it is resumed.")
final class PauseCommand implements Callable<Integer> {

    private static final Duration POLL = Duration.ofMillis(500);

    @Mixin
    private final Connection service = new Connection();

    @Mixin
    private final ChosenRun chosen = new ChosenRun();

    @Option(names = "--wait", description = "Waits until nothing is under way.")
    private boolean wait;

    @Override
    public Integer call() throws InterruptedException {
        long run = chosen.of(service);
        String address = "%s/%d".formatted(ChosenRun.ADDRESS, run);
        Answer<ShownRun> shown = service.post(address + "/pause", Map.of(), ShownRun.class);
        String goesOn = "run %d stays paused, and the service finishes the units under way; to stop it: dozo stop %d"
                .formatted(run, run);
        try (Interruption _ = Interruption.says(service, goesOn)) {
            while (wait && shown.value().underWay()) {
                Thread.sleep(POLL);
                shown = service.get(address, ShownRun.class);
            }
        }
        service.confirm(shown, line(shown.value()));
        return Exit.WELL;
    }

    private static String line(ShownRun run) {
        if (!run.run().goesOn()) {
            return "run %d had already finished".formatted(run.id());
        }
        return run.underWay()
                ? "run %d is paused; it finishes the units under way".formatted(run.id())
                : "run %d is paused".formatted(run.id());
    }
}
