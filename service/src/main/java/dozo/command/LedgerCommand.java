package dozo.command;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** The record of what happened. */
@Command(name = "ledger", mixinStandardHelpOptions = true, description = "The ledger: list, verify.")
final class LedgerCommand {

    /** Every row is read. */
    private static final Duration VERIFY_LIMIT = Duration.ofHours(1);

    private static final int PAGE = 500;

    @Spec
    private @Nullable CommandSpec spec;

    /** Which rows are asked for. */
    static final class Filter {

        @Option(
                names = "--subject",
                paramLabel = "S",
                description = "What it was done to, as the ledger has it: P1/S1 (with its manifests), P1/S1#3.")
        private @Nullable String subject;

        @Option(names = "--action", paramLabel = "A", description = "What was done, as the ledger has it: run.started.")
        private @Nullable String action;

        @Option(names = "--from", paramLabel = "DAY", description = "From this day or moment on.")
        private @Nullable String from;

        @Option(names = "--until", paramLabel = "DAY", description = "To the end of this day, or before this moment.")
        private @Nullable String until;

        @Option(
                names = "--after",
                defaultValue = "0",
                paramLabel = "SEQ",
                description = "After the row with this number.")
        private long after;

        String query() {
            StringBuilder query = new StringBuilder("?limit=" + PAGE);
            add(query, "subject", subject);
            add(query, "action", action);
            add(query, "from", from);
            add(query, "until", until);
            return query.toString();
        }

        private static void add(StringBuilder query, String name, @Nullable String value) {
            if (value != null) {
                query.append('&').append(name).append('=').append(Connection.encoded(value));
            }
        }
    }

    @Command(
            name = "list",
            mixinStandardHelpOptions = true,
            description = "Lists what happened, oldest first: number, time, who, what, to what, more of it.")
    int list(
            @Mixin Connection service,
            @Mixin Filter filter,
            @Option(names = "--csv", description = "Print CSV, and nothing else.") boolean csv) {
        if (csv && service.json()) {
            throw new Failure(Exit.USAGE, "either --json or --csv");
        }
        if (csv) {
            service.printCsv("/api/v1/ledger" + filter.query() + "&after=" + filter.after, out());
            return Exit.WELL;
        }
        String next = String.valueOf(filter.after);
        // Page by page: a ledger can be longer than the memory.
        while (next != null) {
            JsonNode page = service.get("/api/v1/ledger" + filter.query() + "&after=" + Connection.encoded(next));
            page.path("items").forEach(row -> out().println(service.json() ? row.toString() : line(row)));
            out().flush();
            next = page.hasNonNull("next") ? page.path("next").asString() : null;
        }
        return Exit.WELL;
    }

    @Command(
            name = "verify",
            mixinStandardHelpOptions = true,
            description = {
                "Checks that no row of the ledger was changed, removed or moved: each by its hash, and all",
                "of them by the anchors at the sites."
            },
            footer = {
                "",
                "Exit code 0: the ledger is as it was written, and a site bears witness to it. 1: something is",
                "broken, or no anchor was written yet. 69: nothing is broken, but a site could not be asked."
            })
    int verify(@Mixin Connection service) {
        JsonNode found = service.get("/api/v1/ledger/verification", VERIFY_LIMIT);
        if (service.json()) {
            out().println(Connection.JSON.writeValueAsString(found));
        } else {
            print(found);
        }
        out().flush();
        return switch (found.path("verdict").asString("")) {
            case "INTACT" -> Exit.WELL;
            case "INCOMPLETE" -> unreachable(found) ? Exit.UNAVAILABLE : Exit.NOT_SAFE;
            default -> Exit.NOT_SAFE;
        };
    }

    private void print(JsonNode found) {
        List<JsonNode> breaches = new ArrayList<>();
        found.path("breaches").forEach(breaches::add);
        found.path("sites").forEach(site -> site.path("breaches").forEach(breaches::add));
        out().println(
                        switch (found.path("verdict").asString("")) {
                            case "INTACT" -> "The ledger is intact: every row is as it was written.";
                            case "INCOMPLETE" ->
                                "Nothing is broken, but it is not proven that nothing was cut off or written anew.";
                            default ->
                                "The ledger is BROKEN: "
                                        + Connection.visible(breaches.getFirst()
                                                .path("message")
                                                .asString());
                        });
        out().println("  rows     %,d checked".formatted(found.path("rows").asLong()));
        if (found.hasNonNull("head")) {
            out().println("  head     row %d of %s\n           %s"
                    .formatted(
                            found.at("/head/seq").asLong(),
                            found.at("/head/at").asString(),
                            found.at("/head/hash").asString()));
        }
        found.path("sites").forEach(site -> out().println("  site     " + compared(site)));
        if (found.path("sites").isEmpty()) {
            out().println("  site     none is registered: there are no anchors");
        }
        breaches.forEach(breach -> out().println("  - %s: %s"
                .formatted(
                        breach.path("kind").asString(),
                        Connection.visible(breach.path("message").asString()))));
        long more = found.path("breachesLeftOff").asLong();
        for (JsonNode site : found.path("sites")) {
            more += site.path("breachesLeftOff").asLong();
        }
        if (more > 0) {
            out().println("  and %,d more".formatted(more));
        }
    }

    private static String compared(JsonNode site) {
        String name = site.path("site").asString();
        if (!site.path("compared").asBoolean()) {
            return "%s: not compared with the site: %s"
                    .formatted(name, Connection.visible(site.path("trouble").asString("")));
        }
        long anchors = site.path("anchors").asLong();
        if (!site.hasNonNull("provenUpTo")) {
            return "%s: %,d anchors, none bears witness%s"
                    .formatted(name, anchors, anchors == 0 ? " yet; every run writes one at its end" : "");
        }
        return "%s: %,d anchor%s, the last one bears witness up to row %d"
                .formatted(
                        name,
                        anchors,
                        anchors == 1 ? "" : "s",
                        site.path("provenUpTo").asLong());
    }

    private static boolean unreachable(JsonNode found) {
        boolean unreachable = false;
        for (JsonNode site : found.path("sites")) {
            unreachable |= !site.path("compared").asBoolean();
        }
        return unreachable;
    }

    private static String line(JsonNode row) {
        String detail = row.path("detail").properties().stream()
                .map(more -> more.getKey() + "=" + more.getValue().asString(""))
                .collect(Collectors.joining(", "));
        return Connection.visible("%d  %s  %s  %s  %s  %s"
                        .formatted(
                                row.path("seq").asLong(),
                                row.path("at").asString(),
                                row.path("actor").asString(),
                                row.path("action").asString(),
                                row.path("subject").asString(),
                                detail))
                .stripTrailing();
    }

    private PrintWriter out() {
        return java.util.Objects.requireNonNull(spec).commandLine().getOut();
    }
}
