package dozo.command;

import dozo.api.ShownRun;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Resumes a paused run. */
@Command(name = "resume", mixinStandardHelpOptions = true, description = "Resumes a paused run.")
final class ResumeCommand implements Callable<Integer> {

    @Mixin
    private final Connection service = new Connection();

    @Mixin
    private final ChosenRun chosen = new ChosenRun();

    @Option(names = "--wait", description = "Waits for the end; the exit code is that of the run.")
    private boolean wait;

    @Override
    public Integer call() throws InterruptedException {
        long run = chosen.of(service);
        Answer<ShownRun> resumed =
                service.post("%s/%d/resume".formatted(ChosenRun.ADDRESS, run), Map.of(), ShownRun.class);
        return Dozo.startedOrFollowed(service, resumed, wait, "run %d continues".formatted(run));
    }
}
