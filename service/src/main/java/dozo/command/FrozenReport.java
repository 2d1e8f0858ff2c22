package dozo.command;

import dozo.file.Size;
import java.io.PrintWriter;
import tools.jackson.databind.JsonNode;

/** What is frozen, since when, what was lost and how to release it, for a terminal. */
final class FrozenReport {

    private static final int SHOWN = 10;
    private static final String ADDRESS = "/api/v1/experiments?frozen=true";

    private FrozenReport() {}

    /** How many experiments are frozen, as coverage tells it; 0 as of an earlier moment. */
    static long count(JsonNode coverage) {
        return coverage.path("frozen").asLong(0);
    }

    /** Prints at most {@value #SHOWN} of them and how many more there are; nothing where none is frozen. */
    static void print(PrintWriter out, Connection service, JsonNode coverage) {
        long count = count(coverage);
        if (count == 0) {
            return;
        }
        JsonNode frozen = service.get(ADDRESS + "&limit=" + SHOWN).path("items");
        out.println(
                count == 1
                        ? "1 experiment is frozen, and nothing of it is done until somebody releases it:"
                        : "%,d experiments are frozen, and nothing of them is done until somebody releases them:"
                                .formatted(count));
        frozen.forEach(experiment -> out.println("  " + line(experiment)));
        if (count > frozen.size()) {
            out.println("  and %,d more: GET %s".formatted(count - frozen.size(), ADDRESS));
        }
        out.flush();
    }

    private static String line(JsonNode experiment) {
        JsonNode freeze = experiment.path("frozen");
        String name = experiment.path("project").asString("") + "/"
                + experiment.path("code").asString("");
        return "%s since %s: %,d files and links, %s lost; if that is meant: dozo release %s"
                .formatted(
                        name,
                        freeze.path("frozenAt").asString(""),
                        freeze.path("entriesLost").asLong(),
                        Size.text(freeze.path("bytesLost").asLong()),
                        name);
    }
}
