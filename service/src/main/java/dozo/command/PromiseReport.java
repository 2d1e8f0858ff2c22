package dozo.command;

import dozo.api.ScrubApi.ShownPromise;
import dozo.drill.DrillPromises.DrillPromise;
import dozo.drill.DrillPromises.Standing;
import dozo.run.Promises.HomePromise;
import dozo.run.Promises.Promise;
import java.io.PrintWriter;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Shows in lines for a terminal whether stored copies are read again, and restores are rehearsed, in their time. */
final class PromiseReport {

    private static final int SHOWN = 10;

    private PromiseReport() {}

    /**
     * Prints the line; nothing if nothing is stored.
     *
     * @param site null: the only site
     */
    static void print(PrintWriter out, Connection service, @Nullable String site) {
        String query = site == null ? "" : "?site=" + Connection.encoded(site);
        ShownPromise shown = service.get("/api/v1/scrubs/promise" + query, ShownPromise.class)
                .value();
        Promise promise = shown.promise();
        if (promise.oldestReadAt() != null) {
            out.println(line(promise));
        }
        HomePromise home = shown.home();
        if (home != null && !home.kept()) {
            out.println(late(home));
        }
        out.flush();
    }

    static String line(Promise promise) {
        return "Stored copies: %d %% were read within %s, the oldest %s; %s."
                .formatted(
                        promise.percent(),
                        age(promise.maxAgeSeconds()),
                        promise.oldestReadAt() == null ? "never" : Times.text(promise.oldestReadAt()),
                        promise.damaged() == 0 ? "none is damaged" : "%,d damaged".formatted(promise.damaged()));
    }

    static String late(HomePromise home) {
        return "Sources: not all were read again within %s, the oldest %s; see dozo scrub --home."
                .formatted(age(home.maxAgeSeconds()), Times.text(home.oldestReadAt()));
    }

    private static String age(long seconds) {
        Duration age = Duration.ofSeconds(seconds);
        return age.toHours() % 24 == 0 ? age.toDays() + " days" : age.toHours() + " h";
    }

    /** Prints which projects were not rehearsed in their time; nothing if all were. */
    static void printDrills(PrintWriter out, Connection service) {
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
