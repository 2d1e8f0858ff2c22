package dozo.command;

import dozo.api.DrillApi.ShownForecasts;
import dozo.drill.DrillPromises.DrillPromise;
import dozo.drill.RestoreForecasts.ProjectForecast;
import dozo.file.Size;
import dozo.plan.RestoreCost;
import dozo.plan.RestoreCost.RestoreTime;
import dozo.restore.KeptRestore;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** Rehearses restores, and shows what came of it. */
@Command(
        name = "drill",
        mixinStandardHelpOptions = true,
        description = "Rehearses a restore: the service restores an experiment into a scratch folder, verifies every"
                + " file, and keeps the result and the time as evidence.",
        footer = {
            "",
            "Without an experiment, the service chooses one at random whose manifest is wholly safe; without a project, from",
            "the project whose last drill is the longest ago. Of a large experiment it restores a part. A drill waits until no",
            "backup runs, and lets restores by people go first.",
            "Exit code of --wait: 0: everything was restored; 1: it was not."
        })
final class DrillCommand implements Callable<Integer> {

    private static final String ADDRESS = "/api/v1/drills";

    @Mixin
    private final Connection service = new Connection();

    @Parameters(
            arity = "0..1",
            paramLabel = "PROJECT[/EXPERIMENT]",
            description = "A project, or an experiment; by default the most urgent project.")
    private @Nullable String what;

    @Option(names = "--site", paramLabel = "S", description = "The site; by default any that has the experiment.")
    private @Nullable String site;

    @Option(names = "--wait", description = "Waits for the end.")
    private boolean wait;

    @Override
    public Integer call() throws InterruptedException {
        Map<String, Object> asked = new HashMap<>();
        if (what != null) {
            String[] codes = what.split("/", 2);
            asked.put("project", codes[0]);
            if (codes.length == 2) {
                asked.put("experiment", codes[1]);
            }
        }
        if (site != null) {
            asked.put("site", site);
        }
        Answer<KeptRestore> drill = service.post(ADDRESS, asked, KeptRestore.class);
        KeptRestore requested = drill.value();
        if (wait) {
            return RestoreReport.follow(service, drill, ADDRESS + "/" + requested.id());
        }
        service.confirm(drill, "drill %d of %s requested".formatted(requested.id(), name(requested)));
        return Exit.WELL;
    }

    private static String name(KeptRestore drill) {
        return drill.experiment() + RestoreReport.only(drill);
    }

    @Command(
            name = "list",
            mixinStandardHelpOptions = true,
            description = "Lists the latest drills: the evidence that restores work.")
    int list(
            @Mixin Connection service,
            @Option(names = "--project", paramLabel = "CODE", description = "Only of this project.") @Nullable
                    String project,
            @Option(names = "--all", description = "All drills, not only the latest 100.") boolean all) {
        String address = new Query(ADDRESS).with("project", project).toString();
        Answer<List<KeptRestore>> drills =
                all ? service.all(address, KeptRestore.class) : service.page(address, KeptRestore.class);
        Table table =
                new Table("DRILL", "ENDED", "EXPERIMENT", "SITE", "RESULT", ">ENTRIES", ">SIZE", ">TIME", ">FINDINGS");
        drills.value()
                .forEach(drill -> table.row(
                        drill.id(),
                        Times.text(drill.endedAt()),
                        name(drill),
                        drill.site(),
                        RestoreReport.words(drill.state()),
                        drill.entriesVerified(),
                        new Table.Bytes(drill.bytesVerified()),
                        drill.seconds() == null ? "-" : PlanReport.time(drill.seconds()),
                        drill.findings()));
        service.print(drills, table::print);
        return Exit.WELL;
    }

    @Command(
            name = "promises",
            mixinStandardHelpOptions = true,
            description = "Lists whether each project was rehearsed in its time. Exit code 1: some were not.")
    int promises(@Mixin Connection service) {
        Answer<List<DrillPromise>> promises = service.all(ADDRESS + "/promises", DrillPromise.class);
        Table table = new Table("PROJECT", "STANDING", ">DAYS", "LAST WITHOUT FINDINGS", "UNTIL", "LAST DRILL");
        promises.value()
                .forEach(each -> table.row(
                        each.project(),
                        RestoreReport.words(each.standing()),
                        each.days(),
                        Times.text(each.succeededAt()),
                        Times.text(each.until()),
                        each.lastState() == null ? "-" : RestoreReport.words(each.lastState())));
        service.print(promises, table::print);
        return promises.value().stream().anyMatch(each -> each.standing().bad()) ? Exit.NOT_SAFE : Exit.WELL;
    }

    @Command(
            name = "forecast",
            mixinStandardHelpOptions = true,
            description = "Shows how long restores from a site take, learnt from its drills. Exit code 1: unknown yet.")
    int forecast(
            @Mixin Connection service,
            @Parameters(arity = "0..1", paramLabel = "PROJECT/EXPERIMENT", description = "An experiment.") @Nullable
                    String experiment,
            @Option(names = "--site", paramLabel = "S", description = "The site; optional if there is only one.")
                    @Nullable
                    String from) {
        Answer<ShownForecasts> answer = service.get(
                new Query(ADDRESS + "/forecast")
                        .with("site", from)
                        .with("experiment", experiment)
                        .toString(),
                ShownForecasts.class);
        ShownForecasts forecasts = answer.value();
        service.print(answer, out -> {
            RestoreCost cost = forecasts.cost();
            out.println(
                    cost == null
                            ? "Unknown: site %s has fewer than %d complete drills."
                                    .formatted(forecasts.site(), RestoreCost.RESTORES_MIN)
                            : "From %d drills of site %s: %s until the first byte, then %s/s and %s for each entry."
                                    .formatted(
                                            cost.restores(),
                                            forecasts.site(),
                                            PlanReport.time(cost.startSeconds()),
                                            Size.text((long) cost.model().bytesPerSecond()),
                                            String.format(
                                                    Locale.ROOT,
                                                    "%.2f ms",
                                                    cost.model().secondsPerEntry() * 1_000)));
            if (experiment != null) {
                out.println("%s: %s".formatted(experiment, text(forecasts.experiment())));
            } else {
                table(forecasts.projects()).print(out);
            }
        });
        return forecasts.cost() == null ? Exit.NOT_SAFE : Exit.WELL;
    }

    private static Table table(List<ProjectForecast> projects) {
        Table table = new Table("PROJECT", ">EXPERIMENTS", ">ENTRIES", ">SIZE", "RESTORED IN");
        for (ProjectForecast each : projects) {
            if (each.project() == null) {
                table.sum();
            }
            table.row(
                    each.project() == null ? "all" : each.project(),
                    each.experiments(),
                    each.entries(),
                    new Table.Bytes(each.bytes()),
                    text(each.forecast()));
        }
        return table;
    }

    private static String text(@Nullable RestoreTime forecast) {
        return forecast == null
                ? "unknown"
                : "about %s (%s to %s)%s"
                        .formatted(
                                PlanReport.time(forecast.seconds()),
                                PlanReport.time(forecast.leastSeconds()),
                                PlanReport.time(forecast.mostSeconds()),
                                forecast.beyond() ? ", far more than was ever rehearsed" : "");
    }
}
