package dozo.command;

import dozo.api.CoverageApi.ShownCoverage;
import dozo.api.ExperimentApi.ShownExperiment;
import dozo.ledger.Findings;
import java.io.PrintWriter;
import java.util.List;

/** Shows on a terminal which experiments are at risk, even if all of their entries are safe. */
final class RiskReport {

    private static final int SHOWN = 10;

    private RiskReport() {}

    /** Returns the number of experiments at risk from the coverage; 0 for an earlier time. */
    static long count(ShownCoverage coverage) {
        return coverage.atRisk() == null ? 0 : coverage.atRisk();
    }

    static List<String> names(Connection service, ShownCoverage coverage) {
        return count(coverage) == 0
                ? List.of()
                : names(service.all(address(coverage).toString(), ShownExperiment.class)
                        .value());
    }

    /** Prints at most {@value #SHOWN} experiments at risk and the number of further ones; nothing if there are none. */
    static void print(PrintWriter out, Connection service, ShownCoverage coverage) {
        if (count(coverage) > 0) {
            Query some = address(coverage).with("limit", SHOWN);
            print(
                    out,
                    coverage,
                    names(service.page(some.toString(), ShownExperiment.class).value()));
        }
    }

    /**
     * Prints the same for known names.
     *
     * @param names the first {@value #SHOWN} or more
     */
    static void print(PrintWriter out, ShownCoverage coverage, List<String> names) {
        long count = count(coverage);
        if (count == 0) {
            return;
        }
        out.println((count == 1 ? "1 experiment is at risk" : Findings.words(count) + " experiments are at risk")
                + " (for the reasons, see `dozo findings`):");
        names.stream().limit(SHOWN).forEach(name -> out.println("  " + name));
        if (count > SHOWN) {
            out.println("  and %s more: dozo experiments --state at-risk".formatted(more(count)));
        }
        out.flush();
    }

    private static String more(long count) {
        return count > Findings.COUNTED_MAX ? "many" : "%,d".formatted(count - SHOWN);
    }

    private static Query address(ShownCoverage coverage) {
        return new Query("/api/v1/experiments").with("state", "at-risk").with("site", coverage.site());
    }

    private static List<String> names(List<ShownExperiment> experiments) {
        return experiments.stream()
                .map(experiment -> experiment.project() + "/" + experiment.code())
                .toList();
    }
}
