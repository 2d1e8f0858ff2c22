package dozo.command;

import dozo.plan.CostModel;
import dozo.plan.ReadingBudget;
import dozo.plan.ReadingWindow;
import dozo.plan.ScrubForecast;
import dozo.plan.ScrubForecast.Layer;
import dozo.plan.Work;
import java.io.PrintWriter;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** Reads stored copies again, oldest first, or tells whether a promised age can be kept. */
@Command(
        name = "scrub",
        mixinStandardHelpOptions = true,
        description =
                "Reads stored copies at a site again, oldest first; with --plan, tells whether an age can be promised.",
        footer = {
            "",
            "What is left out is as the service's settings have it (dozo.scrub).",
            "A plan with --stored and without --site is made here; no service is asked."
        })
final class ScrubCommand implements Callable<Integer> {

    private static final String ADDRESS = "/api/v1/scrubs";

    @Spec
    private @Nullable CommandSpec spec;

    @Mixin
    private @Nullable Connection connection;

    @Option(names = "--plan", description = "Tell whether the age can be promised; nothing is read. 0: it can.")
    private boolean plan;

    @Option(names = "--site", paramLabel = "S", description = "At which site; not needed for the only one.")
    private @Nullable String site;

    @Option(
            names = "--max-age",
            paramLabel = "AGE",
            description = "No copy's last reading is to be older: 36h, 90d, 12w; 1h to 3660d.")
    private @Nullable String maxAge;

    @Option(names = "--limit", paramLabel = "RATE", description = "Read at most so many bytes a second: 200MB, 16MiB.")
    private @Nullable String limit;

    @ArgGroup
    private @Nullable End end;

    @ArgGroup
    private @Nullable Cache cache;

    @Option(names = "--all", description = "Read everything, not only what is due.")
    private boolean all;

    @Option(names = "--wait", description = "Follow it to its end; the exit code is that of its result.")
    private boolean wait;

    @Option(names = "--stored", paramLabel = "SIZE", description = "Plan for so much, as 1.27PiB, just read.")
    private @Nullable String stored;

    @Option(names = "--files", paramLabel = "N", description = "In so many files; with --stored.")
    private @Nullable String files;

    @Option(names = "--rate", paramLabel = "RATE", description = "Plan for a site that reads so fast, not as measured.")
    private @Nullable String rate;

    @Option(names = "--per-file", paramLabel = "TIME", description = "And spends so much on each file besides: 4ms.")
    private @Nullable String perFile;

    /** When it is to be over; one of them. */
    private static final class End {

        @Option(
                names = "--window",
                paramLabel = "FROM-UNTIL",
                description = "Read from one time of the day until another: 20:00-06:00.")
        private @Nullable String window;

        @Option(names = "--until", paramLabel = "TIME", description = "Read until then: 06:00, 2026-10-01T06:00:00Z.")
        private @Nullable String until;
    }

    /** What is to answer; one of them. */
    private static final class Cache {

        @Option(names = "--cold", description = "The site's disk is to answer, not its memory, where that can be had.")
        private boolean cold;

        @Option(names = "--warm", description = "Its memory may answer.")
        private boolean warm;
    }

    @Override
    public Integer call() throws InterruptedException {
        return plan ? plan() : start();
    }

    private int plan() {
        boolean starts = all || wait || cache != null || until() != null;
        refuse(starts, "--all, --until, --cold, --warm and --wait are for starting a scrub; --plan starts none");
        refuse((stored == null) != (files == null), "--stored and --files go together");
        return stored != null && site == null ? planHere() : planThere();
    }

    /** A plan for what is in no catalogue: as if all of it had been read just now. */
    private int planHere() {
        if (maxAge == null) {
            throw new Failure(Exit.USAGE, "--max-age is needed: 1h to 3660d is accepted, as 90d");
        }
        Instant now = InstantSource.system().instant();
        ReadingWindow window = window();
        ScrubForecast forecast = ScrubForecast.of(
                List.of(new Layer(now, new Work(bytes(), files()))),
                now,
                Amounts.age("--max-age", maxAge),
                new ReadingBudget(rateOf("--limit", limit), window.secondsADay()),
                cost());
        if (service().json()) {
            say(Connection.JSON.writeValueAsString(forecast));
        } else {
            ScrubPlanReport.print(out(), forecast, window.toString(), "as was said");
        }
        return ScrubPlanReport.exitCode(forecast);
    }

    private int planThere() {
        StringBuilder path = new StringBuilder(ADDRESS + "/plan?");
        add(path, "site", site);
        add(path, "maxAgeSeconds", maxAgeSeconds());
        add(path, "limit", rateOf("--limit", limit));
        add(path, "window", end == null ? null : window());
        add(path, "storedBytes", stored == null ? null : bytes());
        add(path, "storedFiles", files == null ? null : files());
        add(path, "rate", rateOf("--rate", rate));
        add(path, "secondsPerFile", perFile == null ? null : Amounts.seconds("--per-file", perFile));
        JsonNode answer = service().get(path.toString());
        ScrubForecast forecast = Connection.JSON.treeToValue(answer.path("forecast"), ScrubForecast.class);
        if (service().json()) {
            say(Connection.JSON.writeValueAsString(answer));
        } else {
            ScrubPlanReport.print(out(), forecast, answer.path("window").asString(), known(answer));
        }
        return ScrubPlanReport.exitCode(forecast);
    }

    private String known(JsonNode answer) {
        long measurements = answer.path("measurements").asLong();
        if (rate != null && perFile != null) {
            return "as was said";
        }
        return "measured at %s in %d readings, last at %s"
                .formatted(
                        Connection.visible(answer.path("site").asString("")),
                        measurements,
                        answer.path("measuredAt").asString("-"));
    }

    private int start() throws InterruptedException {
        refuse(
                stored != null || files != null || rate != null || perFile != null,
                "--stored, --files, --rate and --per-file are for --plan");
        Map<String, Object> asked = new HashMap<>();
        asked.put("site", site);
        asked.put("maxAgeSeconds", maxAgeSeconds());
        asked.put("all", all);
        asked.put("limit", rateOf("--limit", limit));
        asked.put("window", end == null || end.window == null ? null : window().toString());
        asked.put("until", until());
        asked.put("cold", cache == null ? null : cache.cold && !cache.warm);
        JsonNode started = service().post(ADDRESS, asked);
        long run = started.path("id").asLong();
        if (!wait) {
            Dozo.say(out(), service(), started, "scrub %d is started".formatted(run));
            return Exit.WELL;
        }
        CommandLine commandLine = Objects.requireNonNull(spec).commandLine();
        JsonNode ended = Dozo.followed(commandLine.getErr(), service(), started);
        Dozo.print(out(), service(), ended);
        return RunReport.exitCode(Dozo.run(ended).state());
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

    /** Only both together say what reading costs. */
    private @Nullable CostModel cost() {
        if (rate == null || perFile == null) {
            return null;
        }
        try {
            return new CostModel((double) Amounts.rate("--rate", rate), Amounts.seconds("--per-file", perFile));
        } catch (IllegalArgumentException outOfRange) {
            throw new Failure(
                    Exit.USAGE,
                    "--rate %s --per-file %s: 1kB to 1TB a second and 0 to 3600s are accepted"
                            .formatted(Login.visible(rate), Login.visible(perFile)));
        }
    }

    private static @Nullable Long rateOf(String option, @Nullable String typed) {
        return typed == null ? null : Amounts.rate(option, typed);
    }

    private static void add(StringBuilder path, String name, @Nullable Object value) {
        if (value != null) {
            path.append(name)
                    .append('=')
                    .append(Connection.encoded(value.toString()))
                    .append('&');
        }
    }

    private static void refuse(boolean wrong, String message) {
        if (wrong) {
            throw new Failure(Exit.USAGE, message);
        }
    }

    private void say(String line) {
        out().println(line);
        out().flush();
    }

    private Connection service() {
        return Objects.requireNonNull(connection);
    }

    private PrintWriter out() {
        return Objects.requireNonNull(spec).commandLine().getOut();
    }
}
