package dozo.command;

import dozo.plan.CostModel;
import dozo.plan.Forecast;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** What sending takes: of what is not safe yet, asked of the service, or of a table of sizes, without one. */
@Command(
        name = "plan",
        mixinStandardHelpOptions = true,
        description =
                "Tells how long sending takes and what limits it: of what is not safe yet, or of a table of sizes.",
        footer = {
            "",
            "A rate is bytes or bits a second: 600Mbit, 75MB, 7.62Gbit (powers of 1,000), 16MiB (of 1,024).",
            "FILE has a line for each project: name,size,files,region, the last two optional, or a header",
            "that says which column is which (name or dir; size, size_bytes, size_mbyte …; files; region)."
        })
final class PlanCommand implements Callable<Integer> {

    private static final int LANES_SHOWN_MAX = 16;

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private @Nullable Connection service;

    @Option(names = "--from-table", paramLabel = "FILE", description = "Plan these sizes; no service is asked.")
    private @Nullable Path table;

    @Option(names = "--site", paramLabel = "S", description = "To which site; not needed for the only one.")
    private @Nullable String site;

    @Option(
            names = "--lanes",
            split = ",",
            paramLabel = "N",
            defaultValue = "4,8,16",
            description = "With so many lanes, 1 to 64; several separated by commas (${DEFAULT-VALUE}).")
    private List<Integer> lanes = List.of();

    @Option(
            names = "--partitions",
            paramLabel = "N",
            description = "In so many partitions, 1 to 64; else as many as lanes.")
    private @Nullable Integer partitions;

    @Option(
            names = "--rate",
            paramLabel = "RATE",
            description = "What a lane moves; else what was measured at the site.")
    private @Nullable String rate;

    @Option(names = "--link", paramLabel = "RATE", description = "What the link takes in all; else it does not limit.")
    private @Nullable String link;

    @Override
    public Integer call() {
        check();
        Connection connection = Objects.requireNonNull(service);
        PrintWriter out = Objects.requireNonNull(spec).commandLine().getOut();
        Path file = table;
        if (file == null) {
            ask(connection, out);
            return Exit.WELL;
        }
        Forecast forecast = Forecast.of(
                SizesTable.read(file),
                cost(),
                lanes,
                partitions == null ? 0 : partitions,
                link == null ? null : Amounts.rate("--link", link));
        if (connection.json()) {
            out.println(Connection.JSON.writeValueAsString(forecast));
        } else {
            PlanReport.print(out, forecast, "project");
        }
        out.flush();
        return Exit.WELL;
    }

    private void ask(Connection connection, PrintWriter out) {
        StringBuilder path = new StringBuilder("/api/v1/plan?");
        lanes.forEach(each -> path.append("lanes=").append(each).append('&'));
        add(path, "site", site == null ? null : Connection.encoded(site));
        add(path, "partitions", partitions);
        add(path, "rate", rate == null ? null : Amounts.rate("--rate", rate));
        add(path, "link", link == null ? null : Amounts.rate("--link", link));
        JsonNode answer = connection.get(path.toString());
        if (connection.json()) {
            out.println(Connection.JSON.writeValueAsString(answer));
        } else {
            long measurements = answer.path("measurements").asLong();
            out.println("not safe yet at %s; what sending costs is %s"
                    .formatted(
                            Connection.visible(answer.path("site").asString("")),
                            measurements == 0
                                    ? "not measured there yet"
                                    : "measured %d times, last at %s"
                                            .formatted(
                                                    measurements,
                                                    answer.path("measuredAt").asString(""))));
            PlanReport.print(out, Connection.JSON.treeToValue(answer.path("forecast"), Forecast.class), "project");
        }
        out.flush();
    }

    private static void add(StringBuilder path, String name, @Nullable Object value) {
        if (value != null) {
            path.append(name).append('=').append(value).append('&');
        }
    }

    private CostModel cost() {
        if (rate == null) {
            return CostModel.DEFAULT;
        }
        try {
            return new CostModel((double) Amounts.rate("--rate", rate), CostModel.DEFAULT.secondsPerEntry());
        } catch (IllegalArgumentException outOfRange) {
            throw new Failure(Exit.USAGE, "--rate %s: 1kB to 1TB a second is accepted".formatted(Login.visible(rate)));
        }
    }

    private void check() {
        boolean few = !lanes.isEmpty() && lanes.size() <= LANES_SHOWN_MAX;
        if (!few || !lanes.stream().allMatch(PlanCommand::isCount)) {
            throw new Failure(
                    Exit.USAGE,
                    "--lanes: 1 to %d numbers from 1 to %d are accepted"
                            .formatted(LANES_SHOWN_MAX, Forecast.LANES_MAX));
        }
        if (partitions != null && !isCount(partitions)) {
            throw new Failure(
                    Exit.USAGE, "--partitions: a number from 1 to %d is accepted".formatted(Forecast.LANES_MAX));
        }
        if (table != null && site != null) {
            throw new Failure(Exit.USAGE, "--site and --from-table do not go together");
        }
    }

    private static boolean isCount(int number) {
        return number >= 1 && number <= Forecast.LANES_MAX;
    }
}
