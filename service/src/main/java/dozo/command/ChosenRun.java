package dozo.command;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** The run that a command is about: the one whose number is given, else the one that is going on. */
final class ChosenRun {

    static final String ADDRESS = "/api/v1/runs";

    @Parameters(
            arity = "0..1",
            paramLabel = "RUN",
            description = "Its number; the one that is going on if none is given.")
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
        JsonNode latest = service.get(ADDRESS + "?limit=1").path("items");
        if (latest.isEmpty() || !Dozo.run(latest.get(0)).goesOn()) {
            throw new Failure(Exit.REFUSED, "no run is going on");
        }
        return Dozo.run(latest.get(0)).id();
    }
}
