package dozo.command;

import dozo.api.ScrubApi.ShownScrubPlan;
import dozo.api.ShownRun;
import dozo.plan.CostModel;
import dozo.plan.ReadingBudget;
import dozo.plan.ReadingWindow;
import dozo.plan.ScrubForecast;
import dozo.plan.ScrubForecast.Layer;
import dozo.plan.Work;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Starts a scrub, or shows whether a promised age can be kept. */
@Command(
        name = "scrub",
        mixinStandardHelpOptions = true,
        description =
                "Reads stored copies at a site again, or with --home source files, oldest first; with --plan, shows whether a maximum age can be kept.",
        footer = {
            "",
            "Omitted options default to the settings (dozo.scrub), except the time: without --window and --until the scrub",
            "reads until everything due is read. The window must be open, and the scrub ends with it.",
            "Exit code of --plan: 0: the promise can be kept from now on; 1: it cannot, or that is unknown.",
            "With --stored and without --site the plan is computed locally, without the service."
        })
final class ScrubCommand implements Callable<Integer> {

    private static final String ADDRESS = "/api/v1/scrubs";

    @Mixin
    private final Connection service = new Connection();

    @Option(
            names = "--plan",
            description = "Shows whether the maximum age can be kept; reads nothing. Exit code 0: it can.")
    private boolean plan;

    @Option(
            names = "--home",
            description = "Reads source files at home that have not changed, and compares them with what was sent.")
    private boolean home;

    @Option(names = "--site", paramLabel = "S", description = "The site; optional if there is only one.")
    private @Nullable String site;

    @Option(
            names = "--max-age",
            paramLabel = "AGE",
            description =
                    "The maximum age of each copy's last reading: 36h, 90d, 12w; 1h to 3660d. A copy is due at four fifths of it.")
    private @Nullable String maxAge;

    @Option(
            names = "--limit",
            paramLabel = "RATE",
            description = "The maximum read rate in bytes per second: 200MB, 16MiB.")
    private @Nullable String limit;

    @ArgGroup
    private @Nullable End end;

    @ArgGroup
    private @Nullable Cache cache;

    @Option(names = "--all", description = "Reads everything, not only what is due.")
    private boolean all;

    @Option(names = "--wait", description = "Waits for the end; the exit code is that of the run.")
    private boolean wait;

    @Option(
            names = "--stored",
            paramLabel = "SIZE",
            description = "Calculates for this amount of data, such as 1.27PiB, as if just read; requires --files.")
    private @Nullable String stored;

    @Option(names = "--files", paramLabel = "N", description = "The number of files, with --stored.")
    private @Nullable String files;

    @Option(
            names = "--rate",
            paramLabel = "RATE",
            description = "The site's read rate, instead of the measured one; required if nothing was measured.")
    private @Nullable String rate;

    @Option(
            names = "--per-file",
            paramLabel = "TIME",
            description = "The additional time per file, such as 4ms; required if nothing was measured.")
    private @Nullable String perFile;

    /** When the scrub ends; one of two options. */
    private static final class End {

        @Option(
                names = "--window",
                paramLabel = "FROM-UNTIL",
                description =
                        "Reads between two times of the day, in the service's time zone: 20:00-06:00, 00:00-24:00.")
        private @Nullable String window;

        @Option(
                names = "--until",
                paramLabel = "TIME",
                description =
                        "Reads until this time, within a year: 06:00 (in the service's time zone), +8h, tomorrow, \"2026-11-28 14:00\".",
                converter = Time.class)
        private @Nullable String until;
    }

    /** A time of day, which the service knows, or any other time. */
    private static final class Time implements ITypeConverter<String> {
        @Override
        public String convert(String typed) {
            return typed.matches("[0-9:]+") ? typed : new When.Until().convert(typed);
        }
    }

    /** Whether reads must come from the disk; one of two options. */
    private static final class Cache {

        @Option(names = "--cold", description = "Reads from the disk instead of memory, where possible.")
        private boolean cold;

        @Option(names = "--warm", description = "Allows reads from memory.")
        private boolean warm;
    }

    @Override
    public Integer call() throws InterruptedException {
        return plan ? plan() : start();
    }

    private int plan() {
        boolean starts = all || wait || cache != null || until() != null;
        refuse(starts || home, "--plan excludes --home, --all, --until, --cold, --warm and --wait");
        refuse((stored == null) != (files == null), "--stored and --files are required together");
        return stored != null && site == null ? planHere() : planThere();
    }

    /** Plans for amounts that are in no catalogue, as if everything had just been read. */
    private int planHere() {
        if (maxAge == null) {
            throw new Failure(Exit.USAGE, "--max-age is required: 1h to 3660d, such as 90d");
        }
        Instant now = InstantSource.system().instant();
        ReadingWindow window = window();
        ScrubForecast forecast = ScrubForecast.of(
                List.of(new Layer(now, new Work(bytes(), files()))),
                now,
                Amounts.age("--max-age", maxAge),
                new ReadingBudget(rateOf("--limit", limit), window.secondsADay()),
                cost());
        if (service.json()) {
            service.out().println(Connection.JSON.writeValueAsString(forecast));
        } else {
            ScrubPlanReport.print(service.out(), forecast, window.toString(), "as given");
        }
        return ScrubPlanReport.exitCode(forecast);
    }

    private int planThere() {
        Query query = new Query(ADDRESS + "/plan")
                .with("site", site)
                .with("maxAgeSeconds", maxAgeSeconds())
                .with("limit", rateOf("--limit", limit))
                .with("window", end == null ? null : window())
                .with("storedBytes", stored == null ? null : bytes())
                .with("storedFiles", files == null ? null : files())
                .with("rate", rateOf("--rate", rate))
                .with("secondsPerFile", perFile == null ? null : Amounts.seconds("--per-file", perFile));
        Answer<ShownScrubPlan> answer = service.get(query.toString(), ShownScrubPlan.class);
        ShownScrubPlan told = answer.value();
        service.print(answer, out -> ScrubPlanReport.print(out, told.forecast(), told.window(), known(told)));
        return ScrubPlanReport.exitCode(told.forecast());
    }

    private String known(ShownScrubPlan plan) {
        if (rate != null && perFile != null) {
            return "as given";
        }
        return "measured at %s in %d readings, last at %s"
                .formatted(Connection.visible(plan.site()), plan.measurements(), Times.text(plan.measuredAt()));
    }

    private int start() throws InterruptedException {
        refuse(
                stored != null || files != null || rate != null || perFile != null,
                "--stored, --files, --rate and --per-file are for --plan");
        Map<String, Object> asked = new HashMap<>();
        refuse(home && site != null, "--home excludes --site");
        asked.put("home", home);
        asked.put("site", site);
        asked.put("maxAgeSeconds", maxAgeSeconds());
        asked.put("all", all);
        asked.put("limit", rateOf("--limit", limit));
        asked.put("window", end == null || end.window == null ? null : window().toString());
        asked.put("until", until());
        asked.put("cold", cache == null ? null : cache.cold && !cache.warm);
        Answer<ShownRun> started = service.post(ADDRESS, asked, ShownRun.class);
        return Dozo.startedOrFollowed(
                service,
                started,
                wait,
                "scrub %d has started".formatted(started.value().id()));
    }

    private ReadingWindow window() {
        try {
            return end == null || end.window == null ? ReadingWindow.WHOLE_DAY : ReadingWindow.of(end.window);
        } catch (IllegalArgumentException refused) {
            throw new Failure(
                    Exit.USAGE,
                    "--window %s: %s".formatted(Login.visible(String.valueOf(end.window)), refused.getMessage()));
        }
    }

    private @Nullable String until() {
        return end == null ? null : end.until;
    }

    private @Nullable Long maxAgeSeconds() {
        return maxAge == null ? null : Amounts.age("--max-age", maxAge).toSeconds();
    }

    private long bytes() {
        return Amounts.bytes("--stored", Objects.requireNonNull(stored));
    }

    private long files() {
        return Amounts.files("--files", Objects.requireNonNull(files));
    }

    /** Returns the reading cost; null unless both of its parts are given. */
    private @Nullable CostModel cost() {
        if (rate == null || perFile == null) {
            return null;
        }
        try {
            return new CostModel((double) Amounts.rate("--rate", rate), Amounts.seconds("--per-file", perFile));
        } catch (IllegalArgumentException outOfRange) {
            throw new Failure(
                    Exit.USAGE,
                    "--rate %s --per-file %s: expected 1kB to 1TB per second and 0 to 3600s"
                            .formatted(Login.visible(rate), Login.visible(perFile)));
        }
    }

    private static @Nullable Long rateOf(String option, @Nullable String typed) {
        return typed == null ? null : Amounts.rate(option, typed);
    }

    private static void refuse(boolean wrong, String message) {
        if (wrong) {
            throw new Failure(Exit.USAGE, message);
        }
    }
}
