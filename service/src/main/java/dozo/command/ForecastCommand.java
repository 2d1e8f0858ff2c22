package dozo.command;

import dozo.api.ForecastApi.ShownForecast;
import dozo.api.ForecastApi.ShownLine;
import dozo.api.ForecastApi.Whole;
import dozo.file.Size;
import dozo.plan.NightForecast;
import dozo.plan.NightForecast.Night;
import java.io.PrintWriter;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import tools.jackson.databind.JsonNode;

/** Says what will be safe by the morning. */
@Command(
        name = "forecast",
        mixinStandardHelpOptions = true,
        description =
                "Forecasts what a night that begins now has verified by the end of its window, with probabilities; or shows"
                        + " the forecast of an earlier night and its outcome.",
        footer = {
            "",
            "The window ends when the site's timetable closes it or lowers its limit, or the next night begins. The range in",
            "brackets contains the outcome in four of five nights.",
            "Exit code: 0; 1: an experiment may well be deleted by its scanner before it is safe."
        })
final class ForecastCommand implements Callable<Integer> {

    private static final int NAMED_MAX = 10;

    /** A number of experiments, in a field of the whole. */
    private static final String EXPERIMENTS = "[{whole.%1$s=1?}1 experiment|{whole.%1$s number} experiments]";

    @Mixin
    private final Connection service = new Connection();

    @Option(names = "--site", paramLabel = "S", description = "The site; optional if there is only one.")
    private @Nullable String site;

    @Option(names = "--run", paramLabel = "N", description = "Shows the forecast that was made when this run began.")
    private @Nullable Long run;

    @Override
    public Integer call() {
        if (run != null && site != null) {
            throw new Failure(Exit.USAGE, "expected either --site or --run");
        }
        String resource = run == null
                ? new Query("/api/v1/forecast").with("site", site).toString()
                : "/api/v1/runs/%d/forecast".formatted(run);
        Answer<ShownForecast> answer = service.get(resource, ShownForecast.class);
        service.print(answer, out -> print(out, answer.value(), answer.sent()));
        boolean over = answer.value().experiments().stream().anyMatch(line -> line.safe() != null);
        return over || atRisk(answer.value()).isEmpty() ? Exit.WELL : Exit.NOT_SAFE;
    }

    private static void print(PrintWriter out, ShownForecast forecast, JsonNode sent) {
        Phrase.print(
                out,
                sent,
                "site {site}, {madeAt}: [{nights=0?}no night was measured there yet, so this is a guess"
                        + "|{nights=1?}from 1 measured night|from {nights number} measured nights]");
        Whole whole = forecast.whole();
        if (whole != null) {
            Phrase.print(
                    out,
                    sent,
                    "not safe: " + EXPERIMENTS.formatted("experiments") + ", {whole.bytes size}"
                            + "[{whole.unknown=1?}; the forecast leaves out 1 experiment of unknown size"
                            + "|{whole.unknown?}; the forecast leaves out {whole.unknown number} experiments of unknown size]",
                    "by {untilAt}: {whole.verified.middle size} ({whole.verified.low size} to {whole.verified.high size}), "
                            + EXPERIMENTS.formatted("safe.middle")
                            + " ({whole.safe.low number} to {whole.safe.high number})",
                    "outcome: {whole.outcome.bytes size}, " + EXPERIMENTS.formatted("outcome.experiments"),
                    "{whole.experiments?}all safe: [{whole.safeAt.middle}|later than a year]"
                            + " ([{whole.safeAt.low}|later than a year] to [{whole.safeAt.high}|later than a year])");
        }
        if (whole != null && whole.nights().size() > 1) {
            nights(whole.nights()).print(out);
            out.println();
        }
        if (!forecast.experiments().isEmpty()) {
            table(forecast.experiments()).print(out);
        }
        List<ShownLine> atRisk = atRisk(forecast);
        if (!atRisk.isEmpty()) {
            out.println();
            out.println(Colour.BAD.of(
                    "%s, %s, may be deleted by the scanner before being safe; copy the files to another place: %s"
                            .formatted(
                                    atRisk.size() == 1 ? "1 experiment" : "%,d experiments".formatted(atRisk.size()),
                                    Size.text(atRisk.stream()
                                            .mapToLong(ShownLine::bytes)
                                            .sum()),
                                    atRisk.stream()
                                                    .limit(NAMED_MAX)
                                                    .map(ShownLine::experiment)
                                                    .collect(Collectors.joining(", "))
                                            + (atRisk.size() > NAMED_MAX ? ", …" : ""))));
        }
        out.flush();
    }

    static Table nights(List<Night> nights) {
        Table table = new Table(">NIGHT", "UNTIL", ">VERIFIED", ">AT LEAST", ">AT MOST", ">EXPERIMENTS");
        for (int i = 0; i < nights.size(); i++) {
            Night night = nights.get(i);
            table.row(
                    (long) i + 1,
                    Times.text(night.untilAt()),
                    new Table.Bytes(night.verified().middle()),
                    new Table.Bytes(night.verified().low()),
                    new Table.Bytes(night.verified().high()),
                    (long) night.safe().middle());
        }
        return table;
    }

    private static Table table(List<ShownLine> lines) {
        Table table = new Table("EXPERIMENT", ">SIZE", ">PROBABLE", "SAFE AT", "DELETED AT", "TITLE");
        for (ShownLine line : lines) {
            table.row(
                    line.experiment(),
                    new Table.Bytes(line.bytes()),
                    line.safe() == null ? percent(line.probability()) : line.safe() ? "safe" : "not safe",
                    Times.text(line.safeAt()),
                    Times.text(line.deletedAt()),
                    Connection.visible(line.title()));
        }
        return table;
    }

    /** Returns a probability: 0 and 100 are only certainties. */
    private static String percent(double probability) {
        return probability > 0 && probability < 1
                ? Math.clamp(Math.round(100 * probability), 1, 99) + " %"
                : Math.round(100 * probability) + " %";
    }

    private static List<ShownLine> atRisk(ShownForecast forecast) {
        return forecast.experiments().stream()
                .filter(line -> line.deletedProbability() > 1 - NightForecast.SURE)
                .toList();
    }
}
