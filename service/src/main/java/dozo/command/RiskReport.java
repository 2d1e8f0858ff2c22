package dozo.command;

import static java.util.Objects.requireNonNull;

import dozo.api.CoverageApi.ShownCoverage;
import dozo.api.CoverageApi.Stand;
import dozo.api.ShownExperiment;
import dozo.api.ShownExperiment.ShownFreeze;
import dozo.file.Size;
import dozo.ledger.Coverage.RetiredSums;
import dozo.registry.ExperimentSearch.Risk;
import dozo.registry.ExperimentSearch.State;
import dozo.run.Headlines.Kind;
import dozo.verify.Losses.Lost;
import java.io.PrintWriter;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Shows on a terminal what needs a person: the headline, and the experiments at risk, the gravest first. */
final class RiskReport {

    private static final int SHOWN = 10;
    private static final String FROZEN = "/api/v1/experiments?frozen=true";

    private RiskReport() {}

    /** Returns the number of experiments at risk; 0 for an earlier time. */
    static long atRisk(ShownCoverage coverage) {
        return coverage.atRisk() == null ? 0 : coverage.atRisk();
    }

    /** Returns the states of the experiments at risk by name, as words for people. */
    static Map<String, String> states(Connection service, ShownCoverage coverage) {
        Query all = new Query("/api/v1/experiments")
                .with("state", State.AT_RISK.word())
                .with("site", coverage.site());
        return atRisk(coverage) == 0
                ? Map.of()
                : service.all(all.toString(), ShownExperiment.class).value().stream()
                        .collect(Collectors.toMap(RiskReport::name, each -> words(requireNonNull(each.state()))));
    }

    /** Prints how the data stands at each site, and what to do first on a new installation. */
    static void print(PrintWriter out, List<Stand> stands) {
        for (Stand stand : stands) {
            Kind kind = Kind.of(stand.headline());
            out.println((stands.size() > 1 && kind.ofSite() ? stand.site() + ": " : "")
                    + colour(kind).of(stand.sentence())
                    + (stand.nextNight() == null ? "" : " Next night: %s.".formatted(Times.minute(stand.nextNight()))));
            if (kind == Kind.NONE && !stand.safe()) {
                out.println(
                        stand.site() == null
                                ? "First add a site: dozo site add NAME USER@HOST:/FOLDER"
                                : "First register an experiment: dozo register --project PROJECT --code EXPERIMENT FOLDER");
            }
        }
    }

    /** Returns whether everything is safe, and nothing needs a person. */
    static boolean isWell(Stand stand) {
        return stand.safe() && !Kind.of(stand.headline()).bad();
    }

    private static Colour colour(Kind kind) {
        return kind == Kind.SAFE ? Colour.GOOD : kind.bad() ? Colour.BAD : Colour.WAITING;
    }

    /** Prints the sentence if it needs a person, and the experiments at risk. */
    static void print(PrintWriter out, Connection service, ShownCoverage coverage) {
        if (coverage.headline() != null && Kind.of(coverage.headline()).bad()) {
            out.println(Colour.BAD.of(requireNonNull(coverage.sentence())));
        }
        printRisks(out, service, coverage);
    }

    /** Prints at most {@value #SHOWN} experiments for each state; nothing if none is at risk or retired. */
    static void printRisks(PrintWriter out, Connection service, ShownCoverage coverage) {
        for (Risk risk : coverage.risks() == null ? List.<Risk>of() : coverage.risks()) {
            lines(risk, service, coverage)
                    .forEach(line -> out.println("  %s: %s"
                            .formatted(Colour.BAD.of(words(risk.state().word())), line)));
            if (risk.experiments() > SHOWN) {
                out.println("  and %,d more: dozo experiments --state %s"
                        .formatted(risk.experiments() - SHOWN, risk.state().word()));
            }
        }
        if (atRisk(coverage) > 0) {
            out.println("For the reasons: dozo findings");
        }
        if (coverage.retired() != null && coverage.retired().experiments() > 0) {
            out.println(retired(coverage.retired(), coverage.site()));
        }
        out.flush();
    }

    private static String retired(RetiredSums retired, @Nullable String site) {
        long unsafe = retired.experiments() - retired.experimentsSafe();
        return "%,d retired (%s, %s at %s)"
                .formatted(
                        retired.experiments(),
                        Size.text(retired.bytes()),
                        unsafe == 0 ? "all verified" : "%,d not verified".formatted(unsafe),
                        site == null ? "any site" : site);
    }

    private static List<String> lines(Risk risk, Connection service, ShownCoverage coverage) {
        return switch (risk.state()) {
            case LOST ->
                requireNonNull(coverage.lost()).first().stream()
                        .map(RiskReport::lost)
                        .toList();
            case FROZEN ->
                service.page(FROZEN + "&limit=" + SHOWN, ShownExperiment.class).value().stream()
                        .map(RiskReport::frozen)
                        .toList();
            default -> risk.first();
        };
    }

    private static String lost(Lost lost) {
        return "%s, %,d %s, %s, found damaged at %s; the source no longer has %s"
                .formatted(
                        lost.name(),
                        lost.files(),
                        lost.files() == 1 ? "file" : "files",
                        Size.text(lost.bytes()),
                        Times.text(lost.since()),
                        lost.files() == 1 ? "it" : "them");
    }

    private static String frozen(ShownExperiment experiment) {
        ShownFreeze freeze = requireNonNull(experiment.frozen());
        return "%s since %s, %,d files and links, %s lost; if this is intended: dozo release %s"
                .formatted(
                        name(experiment),
                        Times.text(freeze.frozenAt()),
                        freeze.entriesLost(),
                        Size.text(freeze.bytesLost()),
                        name(experiment));
    }

    private static String name(ShownExperiment experiment) {
        return experiment.project() + "/" + experiment.code();
    }

    private static String words(String state) {
        return state.replace('-', ' ');
    }
}
