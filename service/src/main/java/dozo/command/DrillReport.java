package dozo.command;

import dozo.drill.DrillPromises.DrillPromise;
import dozo.drill.DrillPromises.Standing;
import java.io.PrintWriter;
import java.util.List;
import java.util.stream.Collectors;

/** Shows in a line for a terminal which projects were not rehearsed in their time; nothing if all were. */
final class DrillReport {

    private static final int SHOWN = 10;

    private DrillReport() {}

    static void print(PrintWriter out, Connection service) {
        List<DrillPromise> promises =
                service.all("/api/v1/drills/promises", DrillPromise.class).value();
        print(out, "Last drill failed", promises, Standing.FAILED);
        print(out, "Not rehearsed in time", promises, Standing.OVERDUE);
        out.flush();
    }

    private static void print(PrintWriter out, String what, List<DrillPromise> promises, Standing standing) {
        List<String> projects = promises.stream()
                .filter(each -> each.standing() == standing)
                .map(DrillPromise::project)
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
