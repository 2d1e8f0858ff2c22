package dozo.command;

import dozo.api.ShownRun;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Parameters;

/** The run of a command: the one with the given number, otherwise the one in progress. */
final class ChosenRun {

    static final String ADDRESS = "/api/v1/runs";

    @Parameters(arity = "0..1", paramLabel = "RUN", description = "The run's number; by default the run in progress.")
    private @Nullable Long number;

    /**
     * Returns the run's number.
     *
     * @throws Failure if no number is given and no run is in progress
     */
    long of(Connection service) {
        return number == null ? goingOn(service) : number;
    }

    /** Returns the run in progress, paused or not. There is at most one, and it is the latest. */
    static long goingOn(Connection service) {
        List<ShownRun> latest =
                service.page(ADDRESS + "?limit=1", ShownRun.class).value();
        if (latest.isEmpty() || !latest.getFirst().run().goesOn()) {
            throw new Failure(Exit.REFUSED, "no run is in progress");
        }
        return latest.getFirst().id();
    }
}
