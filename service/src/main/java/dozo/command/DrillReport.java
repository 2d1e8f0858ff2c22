package dozo.command;

import dozo.api.DrillApi.ShownDrillPromise;
import dozo.drill.DrillPromises.Standing;
import java.io.PrintWriter;
import java.util.List;
import java.util.stream.Collectors;

/** Shows in a line for a terminal which projects were not rehearsed in their time; nothing if all were. */
final class DrillReport {

    private static final int SHOWN = 10;

    private DrillReport() {}

    static void print(PrintWriter out, Connection service) {
        List<ShownDrillPromise> promises =
                service.all("/api/v1/drills/promises", ShownDrillPromise.class).value();
        print(out, "Last drill failed", promises, Standing.FAILED);
        print(out, "Not rehearsed in time", promises, Standing.OVERDUE);
        out.flush();
    }

    private static void print(PrintWriter out, String what, List<ShownDrillPromise> promises, Standing standing) {
        List<String> projects = promises.stream()
                .filter(each -> each.standing() == standing)
                .map(ShownDrillPromise::project)
                .toList();
        if (!projects.isEmpty()) {
            out.println("%s: %s%s"
                    .formatted(
                            what,
                            projects.stream().limit(SHOWN).collect(Collectors.joining(", ")),
                            projects.size() > SHOWN ? " and %,d more".formatted(projects.size() - SHOWN) : ""));
        }
    }
}
