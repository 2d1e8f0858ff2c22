package dozo.command;

import dozo.api.CoverageApi.ShownCoverage;
import dozo.api.ExperimentApi.ShownExperiment;
import java.io.PrintWriter;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/** Which experiments are at risk, whatever of them is safe, for a terminal. */
final class RiskReport {

    private static final int SHOWN = 10;

    private RiskReport() {}

    /** How many are, as coverage tells it; 0 as of an earlier moment. */
    static long count(ShownCoverage coverage) {
        return coverage.atRisk() == null ? 0 : coverage.atRisk();
    }

    /** Their names. */
    static Set<String> names(Connection service, ShownCoverage coverage) {
        return count(coverage) == 0
                ? Set.of()
                : service.all(address(coverage).toString(), ShownExperiment.class).value().stream()
                        .map(RiskReport::name)
                        .collect(Collectors.toSet());
    }

    /** Prints at most {@value #SHOWN} of them and how many more there are; nothing where none is. */
    static void print(PrintWriter out, Connection service, ShownCoverage coverage) {
        long count = count(coverage);
        if (count == 0) {
            return;
        }
        List<ShownExperiment> some = service.page(
                        address(coverage).with("limit", SHOWN).toString(), ShownExperiment.class)
                .value();
        out.println((count == 1 ? "1 experiment is at risk" : "%,d experiments are at risk".formatted(count))
                + " (`dozo findings` says why):");
        some.forEach(experiment -> out.println("  " + name(experiment)));
        if (count > some.size()) {
            out.println("  and %,d more: dozo experiments --state at-risk".formatted(count - some.size()));
        }
        out.flush();
    }

    private static Query address(ShownCoverage coverage) {
        return new Query("/api/v1/experiments").with("state", "at-risk").with("site", coverage.site());
    }

    private static String name(ShownExperiment experiment) {
        return experiment.project() + "/" + experiment.code();
    }
}
