package dozo.command;

import dozo.api.PlanApi.ShownPlan;
import dozo.plan.CostModel;
import dozo.plan.Forecast;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/**
 * Estimates how long sending takes: what is not safe yet, from the service; or a table of sizes, without the service.
 */
@Command(
        name = "plan",
        mixinStandardHelpOptions = true,
        description =
                "Estimates how long sending takes and what limits it, for what is not safe yet or for a table of sizes.",
        footer = {
            "",
            "A rate is bytes or bits a second: 600Mbit, 75MB, 7.62Gbit (powers of 1,000), 16MiB (of 1,024).",
            "FILE has a line for each project: name,size,files,region, the last two optional, or a header",
            "that says which column is which (name or dir; size, size_bytes, size_mbyte …; files; region)."
        })
final class PlanCommand implements Callable<Integer> {

    private static final int LANES_SHOWN_MAX = 16;

    @Mixin
    private final Connection service = new Connection();

    @Option(names = "--from-table", paramLabel = "FILE", description = "Plans these sizes, without the service.")
    private @Nullable Path table;

    @Option(names = "--site", paramLabel = "S", description = "The site; optional if there is only one.")
    private @Nullable String site;

    @Option(
            names = "--lanes",
            split = ",",
            paramLabel = "N",
            defaultValue = "4,8,16",
            description = "The numbers of lanes, 1 to 64, separated by commas (${DEFAULT-VALUE}).")
    private List<Integer> lanes = List.of();

    @Option(
            names = "--partitions",
            paramLabel = "N",
            description = "The number of partitions, 1 to 64; by default that of lanes.")
    private @Nullable Integer partitions;

    @Option(
            names = "--rate",
            paramLabel = "RATE",
            description = "The rate of a lane; by default as measured at the site.")
    private @Nullable String rate;

    @Option(names = "--link", paramLabel = "RATE", description = "The link's total rate; by default unlimited.")
    private @Nullable String link;

    @Override
    public Integer call() {
        check();
        PrintWriter out = service.out();
        Path file = table;
        if (file == null) {
            ask();
            return Exit.WELL;
        }
        Forecast forecast = Forecast.of(
                SizesTable.read(file),
                cost(),
                lanes,
                partitions == null ? 0 : partitions,
                link == null ? null : Amounts.rate("--link", link));
        if (service.json()) {
            out.println(Connection.JSON.writeValueAsString(forecast));
        } else {
            PlanReport.print(out, forecast, "project");
        }
        out.flush();
        return Exit.WELL;
    }

    private void ask() {
        Query query = new Query("/api/v1/plan")
                .with("site", site)
                .with("partitions", partitions)
                .with("rate", rate == null ? null : Amounts.rate("--rate", rate))
                .with("link", link == null ? null : Amounts.rate("--link", link));
        lanes.forEach(each -> query.with("lanes", each));
        Answer<ShownPlan> answer = service.get(query.toString(), ShownPlan.class);
        ShownPlan plan = answer.value();
        service.print(answer, out -> {
            out.println("not safe yet at %s; the cost of sending is %s"
                    .formatted(
                            Connection.visible(plan.site()),
                            plan.measurements() == 0
                                    ? "not measured there yet"
                                    : "measured %d times, last at %s"
                                            .formatted(plan.measurements(), Times.text(plan.measuredAt()))));
            PlanReport.print(out, plan.forecast(), "project");
        });
    }

    private CostModel cost() {
        if (rate == null) {
            return CostModel.DEFAULT;
        }
        try {
            return new CostModel((double) Amounts.rate("--rate", rate), CostModel.DEFAULT.secondsPerEntry());
        } catch (IllegalArgumentException outOfRange) {
            throw new Failure(Exit.USAGE, "--rate %s: expected 1kB to 1TB per second".formatted(Login.visible(rate)));
        }
    }

    private void check() {
        boolean few = !lanes.isEmpty() && lanes.size() <= LANES_SHOWN_MAX;
        if (!few || !lanes.stream().allMatch(PlanCommand::isCount)) {
            throw new Failure(
                    Exit.USAGE,
                    "--lanes: expected 1 to %d numbers from 1 to %d".formatted(LANES_SHOWN_MAX, Forecast.LANES_MAX));
        }
        if (partitions != null && !isCount(partitions)) {
            throw new Failure(Exit.USAGE, "--partitions: expected a number from 1 to %d".formatted(Forecast.LANES_MAX));
        }
        if (table != null && site != null) {
            throw new Failure(Exit.USAGE, "expected either --site or --from-table");
        }
    }

    private static boolean isCount(int number) {
        return number >= 1 && number <= Forecast.LANES_MAX;
    }
}
