package dozo.command;

import static java.util.Objects.requireNonNull;

import dozo.api.CoverageApi.ShownCoverage;
import dozo.api.ExperimentApi.ShownExperiment;
import dozo.api.ExperimentApi.ShownFreeze;
import dozo.file.Size;
import java.io.PrintWriter;
import java.util.List;

/** Shows on a terminal which experiments are frozen, since when, what was lost and how to release them. */
final class FrozenReport {

    private static final int SHOWN = 10;
    private static final String ADDRESS = "/api/v1/experiments?frozen=true";

    private FrozenReport() {}

    /** Returns the number of frozen experiments from the coverage; 0 for an earlier time. */
    static long count(ShownCoverage coverage) {
        return coverage.frozen() == null ? 0 : coverage.frozen();
    }

    /** Prints at most {@value #SHOWN} frozen experiments and the number of further ones; nothing if none is frozen. */
    static void print(PrintWriter out, Connection service, ShownCoverage coverage) {
        long count = count(coverage);
        if (count == 0) {
            return;
        }
        List<ShownExperiment> frozen =
                service.page(ADDRESS + "&limit=" + SHOWN, ShownExperiment.class).value();
        out.println(
                count == 1
                        ? "1 experiment is frozen and is not processed until it is released:"
                        : "%,d experiments are frozen and are not processed until they are released:".formatted(count));
        frozen.forEach(experiment -> out.println("  " + line(experiment)));
        if (count > frozen.size()) {
            out.println("  and %,d more: GET %s".formatted(count - frozen.size(), ADDRESS));
        }
        out.flush();
    }

    private static String line(ShownExperiment experiment) {
        ShownFreeze freeze = requireNonNull(experiment.frozen());
        String name = experiment.project() + "/" + experiment.code();
        return "%s since %s: %,d files and links, %s lost; if this is intended: dozo release %s"
                .formatted(name, freeze.frozenAt(), freeze.entriesLost(), Size.text(freeze.bytesLost()), name);
    }
}
