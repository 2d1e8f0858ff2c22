package dozo.command;

import dozo.api.ShownRun;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Stops a run. */
@Command(
        name = "stop",
        mixinStandardHelpOptions = true,
        description = "Stops a run: units under way are finished, and the next run continues where it ended.")
final class StopCommand implements Callable<Integer> {

    @Mixin
    private final Connection service = new Connection();

    @Mixin
    private final ChosenRun chosen = new ChosenRun();

    @Option(
            names = "--wait",
            description = "Waits for the end. The exit code is 0, whatever the result; 3: the run is not running.")
    private boolean wait;

    @Override
    public Integer call() throws InterruptedException {
        long run = chosen.of(service);
        Answer<ShownRun> asked = service.post("%s/%d/stop".formatted(ChosenRun.ADDRESS, run), Map.of(), ShownRun.class);
        if (wait) {
            Answer<ShownRun> ended = Dozo.followed(
                    service, asked, "run %d is stopping in the service; to see it: dozo status %d".formatted(run, run));
            Dozo.print(service, ended);
        } else {
            service.confirm(asked, "run %d is stopping".formatted(run));
        }
        return Exit.WELL;
    }
}
