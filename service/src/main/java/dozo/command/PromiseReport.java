package dozo.command;

import dozo.api.ScrubApi.ShownPromise;
import dozo.run.Promises.Promise;
import java.io.PrintWriter;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Shows in a line for a terminal whether stored copies are read again within the promised age. */
final class PromiseReport {

    private PromiseReport() {}

    /**
     * Prints the line; nothing if nothing is stored.
     *
     * @param site null: the only site
     */
    static void print(PrintWriter out, Connection service, @Nullable String site) {
        String query = site == null ? "" : "?site=" + Connection.encoded(site);
        Promise promise = service.get("/api/v1/scrubs/promise" + query, ShownPromise.class)
                .value()
                .promise();
        if (promise.oldestReadAt() != null) {
            out.println(line(promise));
            out.flush();
        }
    }

    static String line(Promise promise) {
        Duration maxAge = Duration.ofSeconds(promise.maxAgeSeconds());
        String age = maxAge.toHours() % 24 == 0 ? maxAge.toDays() + " days" : maxAge.toHours() + " h";
        return "Stored copies: %d %% were read within %s, the oldest %s; %s."
                .formatted(
                        promise.percent(),
                        age,
                        promise.oldestReadAt() == null ? "never" : Times.text(promise.oldestReadAt()),
                        promise.damaged() == 0 ? "none is damaged" : "%,d damaged".formatted(promise.damaged()));
    }
}
