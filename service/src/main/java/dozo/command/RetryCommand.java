package dozo.command;

import dozo.api.ShownRun;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Retries the experiments with open findings in a run. */
@Command(
        name = "retry",
        mixinStandardHelpOptions = true,
        description = {"Starts a backup of only those experiments that have open findings in a run."})
final class RetryCommand implements Callable<Integer> {

    @Mixin
    private final Connection service = new Connection();

    @Parameters(paramLabel = "RUN", description = "The number of the run that has the findings.")
    private long number;

    @Option(names = "--wait", description = "Waits for the end; the exit code is that of the run.")
    private boolean wait;

    @Override
    public Integer call() throws InterruptedException {
        Answer<ShownRun> answer =
                service.post("%s/%d/retry".formatted(ChosenRun.ADDRESS, number), Map.of(), ShownRun.class);
        ShownRun started = answer.value();
        return Dozo.startedOrFollowed(
                service,
                answer,
                wait,
                "run %d has started: %d experiments of run %d are retried"
                        .formatted(
                                started.id(),
                                started.retry() == null ? 0 : started.retry().experiments(),
                                number));
    }
}
