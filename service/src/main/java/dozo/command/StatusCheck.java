package dozo.command;

import static java.util.Objects.requireNonNull;

import dozo.api.CoverageApi.ShownCoverage;
import dozo.api.CoverageApi.Stand;
import dozo.ledger.Coverage.Totals;
import dozo.run.Headlines.Kind;
import java.io.PrintWriter;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** {@code dozo status --nagios}: the gravest sentence of all sites, and how much is safe at each. */
final class StatusCheck {

    private StatusCheck() {}

    /** Prints the line and returns the exit code. A service that does not answer, or refuses, is unknown. */
    static int print(Connection service) {
        PrintWriter out = service.out();
        try {
            List<Stand> stands =
                    service.page("/api/v1/coverage/sentences", Stand.class).value();
            Stand gravest = stands.stream()
                    .min(Comparator.comparing(each -> Kind.of(each.headline())))
                    .orElseThrow(() -> new Failure(Exit.REFUSED, "the service says nothing about any site"));
            Map<String, Long> data = new LinkedHashMap<>();
            for (Stand stand : stands) {
                if (stand.site() != null) {
                    add(data, stand.site(), service);
                }
            }
            return of(stands).print(out, gravest.sentence(), data);
        } catch (Failure failure) {
            return Nagios.UNKNOWN.print(out, requireNonNull(failure.getMessage()), Map.of());
        }
    }

    private static Nagios of(List<Stand> stands) {
        if (stands.stream().anyMatch(each -> Kind.of(each.headline()).compareTo(Kind.RUN_FAILED) <= 0)) {
            return Nagios.CRITICAL;
        }
        return stands.stream().allMatch(RiskReport::isWell) ? Nagios.OK : Nagios.WARNING;
    }

    private static void add(Map<String, Long> data, String site, Connection service) {
        ShownCoverage coverage = service.get("/api/v1/coverage?site=" + Connection.encoded(site), ShownCoverage.class)
                .value();
        Totals totals = coverage.totals();
        if (totals != null) {
            data.put(site + " experiments", totals.experiments());
            data.put(site + " experiments safe", totals.experimentsSafe());
            data.put(site + " files not safe", totals.files() - totals.filesSafe());
        }
        if (coverage.openFindings() != null) {
            data.put(site + " open findings", coverage.openFindings());
        }
    }
}
