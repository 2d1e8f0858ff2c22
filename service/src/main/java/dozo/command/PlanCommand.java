package dozo.command;

import dozo.api.PlanApi.ShownPlan;
import dozo.plan.CostModel;
import dozo.plan.Forecast;
import dozo.plan.Hours;
import dozo.plan.Hours.Step;
import dozo.plan.Lot;
import dozo.plan.NightForecast;
import dozo.plan.NightForecast.Night;
import dozo.plan.Pending;
import dozo.plan.SendingOrder;
import dozo.plan.Speed;
import dozo.registry.Refusal;
import dozo.registry.SiteTimetable;
import dozo.run.SiteHours;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.stream.IntStream;
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
            "that says which column is which (name or dir; size, size_bytes, size_mbyte …; files; region;",
            "experiments)."
        })
final class PlanCommand implements Callable<Integer> {

    private static final int LANES_SHOWN_MAX = 16;
    private static final Duration AHEAD = Duration.ofDays(366);

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

    @Option(
            names = "--hours",
            paramLabel = "RULE",
            description = {
                "With --from-table: also shows what is verified night by night if the site's timetable has this rule, such as",
                "\"daily 06:00-20:00 closed\"; may be repeated."
            })
    private @Nullable List<String> hours;

    /**
     * A plan with its nights.
     *
     * @param nights until everything is safe, for at most a year
     */
    record PlannedNights(Forecast forecast, List<Night> nights) {}

    @Override
    public Integer call() {
        check();
        PrintWriter out = service.out();
        Path file = table;
        if (file == null) {
            ask();
            return Exit.WELL;
        }
        List<Lot> lots = SizesTable.read(file);
        Forecast forecast = Forecast.of(
                lots,
                cost(),
                lanes,
                partitions == null ? 0 : partitions,
                link == null ? null : Amounts.rate("--link", link));
        List<Night> nights = hours == null ? List.of() : nights(lots, forecast, hours);
        if (service.json()) {
            out.println(
                    Connection.JSON.writeValueAsString(hours == null ? forecast : new PlannedNights(forecast, nights)));
        } else {
            PlanReport.print(out, forecast, "project");
            if (!nights.isEmpty()) {
                out.println();
                ForecastCommand.nights(nights).print(out);
            }
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

    /** Returns the nights until everything is safe, with the highest number of lanes. */
    private List<Night> nights(List<Lot> lots, Forecast forecast, List<String> rules) {
        List<Pending> projects = IntStream.range(0, lots.size())
                .mapToObj(i -> new Pending(i, i, 1, lots.get(i).work(), 0, null))
                .toList();
        int most = lanes.stream().mapToInt(Integer::intValue).max().orElseThrow();
        // A rate that was given was measured somewhere.
        Speed speed = rate == null ? Speed.UNMEASURED.with(most) : Speed.of(cost(), most, List.of());
        ZonedDateTime begin = ZonedDateTime.now(ZoneId.systemDefault());
        Instant end = begin.toInstant().plus(AHEAD);
        double bytes = Math.max(1, forecast.work().bytes());
        // The time of the experiments acts like a link over which all bytes need that time.
        double linkMax = Math.min(
                link == null ? Double.POSITIVE_INFINITY : (double) Amounts.rate("--link", link),
                bytes / forecast.parts().experimentsSeconds());
        List<Step> steps = SiteHours.ahead(timetable(rules), begin, end).stream()
                .map(step -> new Step(step.from(), Math.min(linkMax, step.bytesPerSecondMax())))
                .toList();
        Hours open = new Hours(steps, end, bytes / Math.max(1e-9, speed.seconds(forecast.work())));
        return NightForecast.nights(
                SendingOrder.of(projects, speed, open),
                speed,
                open,
                open.windowEnds(_ -> Optional.empty(), AHEAD.toDays()));
    }

    private static SiteTimetable timetable(List<String> rules) {
        try {
            return SiteTimetable.of(rules);
        } catch (Refusal wrong) {
            throw new Failure(Exit.USAGE, "--hours: " + wrong.getMessage());
        }
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
        if (table == null && hours != null) {
            throw new Failure(Exit.USAGE, "--hours needs --from-table; dozo forecast shows the nights of a site");
        }
        if (table != null && site != null) {
            throw new Failure(Exit.USAGE, "expected either --site or --from-table");
        }
    }

    private static boolean isCount(int number) {
        return number >= 1 && number <= Forecast.LANES_MAX;
    }
}
