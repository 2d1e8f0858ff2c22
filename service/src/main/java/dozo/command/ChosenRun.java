package dozo.command;

import dozo.api.ShownRun;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Parameters;

/** The run that a command is about: the one whose number is given, else the one that is going on. */
final class ChosenRun {

    static final String ADDRESS = "/api/v1/runs";

    @Parameters(arity = "0..1", paramLabel = "RUN", description = "Its number; by default the current one.")
    private @Nullable Long number;

    /**
     * Its number.
     *
     * @throws Failure when none is given and none is going on
     */
    long of(Connection service) {
        return number == null ? goingOn(service) : number;
    }

    /** Paused or not: there is one at most, and it is the latest. */
    private static long goingOn(Connection service) {
        List<ShownRun> latest =
                service.page(ADDRESS + "?limit=1", ShownRun.class).value();
        if (latest.isEmpty() || !latest.getFirst().run().goesOn()) {
            throw new Failure(Exit.REFUSED, "no run is going on");
        }
        return latest.getFirst().id();
    }
}
