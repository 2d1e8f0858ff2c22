package dozo.api;

import dozo.api.http.Page;
import dozo.ledger.Sight;
import dozo.plan.CostModel;
import dozo.plan.ReadingBudget;
import dozo.plan.ReadingWindow;
import dozo.plan.ReadingWindow.Opening;
import dozo.plan.ScrubForecast;
import dozo.plan.ScrubForecast.Layer;
import dozo.plan.Work;
import dozo.registry.Refusal;
import dozo.registry.Sites.Site;
import dozo.run.Operations;
import dozo.run.Promises;
import dozo.run.Promises.ExperimentPromise;
import dozo.run.Promises.HomePromise;
import dozo.run.Promises.Promise;
import dozo.run.ReadingCosts;
import dozo.run.ReadingCosts.KeptCost;
import dozo.run.ScrubRequest;
import dozo.run.ScrubSettings;
import java.security.Principal;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Scrubs: starting one, the forecast whether an age can be promised, and the state of the promise. */
@RestController
@RequestMapping("/api/v1/scrubs")
public record ScrubApi(
        Operations operations,
        Promises promises,
        ReadingCosts costs,
        ScrubSettings settings,
        SiteChoice sites,
        ShownRun.View view,
        InstantSource clock,
        ZoneId zone) {

    private static final Duration UNTIL_MAX = Duration.ofDays(366);

    /**
     * The scrub to start; defaults are the settings.
     *
     * @param home true: reads unchanged source files again, and not copies at a site
     * @param site optional if there is only one; not with {@code home}
     * @param maxAgeSeconds 1 h to 3,660 days
     * @param all true: reads everything, not only what is due
     * @param limit bytes a second
     * @param window reads until the end of this time of day, as 20:00-06:00; must be open now
     * @param until a time of day, or a time as 2026-10-01T06:00:00Z within a year; without it and {@code window}: until everything
     *     due is read
     * @param cold true: reads from the disk where possible
     */
    record NewScrub(
            @Nullable Boolean home,
            @Nullable String site,
            @Nullable Long maxAgeSeconds,
            @Nullable Boolean all,
            @Nullable Long limit,
            @Nullable String window,
            @Nullable String until,
            @Nullable Boolean cold) {}

    /**
     * A forecast for a site.
     *
     * @param window the daily reading window
     * @param measurements the number of scrubs that measured the reading cost; 0: unknown, or given in the request
     * @param measuredAt when the last of them ended
     */
    public record ShownScrubPlan(
            String site,
            String window,
            int measurements,
            @Nullable Instant measuredAt,
            ScrubForecast forecast) {}

    /**
     * The state of the promise at a site.
     *
     * @param site missing: no site is registered
     * @param home the same for unchanged source files, {@code dozo.scrub.home-age}; missing for users who see only some projects
     */
    public record ShownPromise(
            @Nullable String site,
            Promise promise,
            @Nullable HomePromise home) {}

    /** Starts a scrub, which is a run. 409: a run is in progress. */
    @PostMapping
    @ResponseStatus(HttpStatus.ACCEPTED)
    ResponseEntity<ShownRun> start(
            @RequestBody(required = false) @Nullable NewScrub body, Principal actor, Sight sight) {
        NewScrub asked = body == null ? new NewScrub(null, null, null, null, null, null, null, null) : body;
        Long limit = limit(asked.limit());
        boolean home = asked.home() != null && asked.home();
        ScrubRequest request = new ScrubRequest(
                home,
                asked.site(),
                home && asked.maxAgeSeconds() == null ? settings.homeAge() : maxAge(asked.maxAgeSeconds()),
                asked.all() != null && asked.all(),
                limit == null ? 0 : limit,
                end(asked),
                asked.cold() == null ? settings.cold() : asked.cold());
        return view.accepted(sight, operations.startScrub(request, actor.getName()));
    }

    /**
     * Says whether an age can be promised, for what is stored at the site or for the given amounts, as if just read.
     *
     * @param limit bytes a second that may be read; default: the setting
     */
    @GetMapping("/plan")
    ShownScrubPlan plan(
            @RequestParam(required = false) @Nullable String site,
            @RequestParam(required = false) @Nullable Long maxAgeSeconds,
            @RequestParam(required = false) @Nullable Long limit,
            @RequestParam(required = false) @Nullable String window,
            @RequestParam(required = false) @Nullable Long storedBytes,
            @RequestParam(required = false) @Nullable Long storedFiles,
            @RequestParam(required = false) @Nullable Long rate,
            @RequestParam(required = false) @Nullable Double secondsPerFile) {
        Site at = sites.needed(site);
        ReadingWindow open = window == null ? settings.reading().orElse(ReadingWindow.WHOLE_DAY) : window(window);
        ReadingBudget budget = new ReadingBudget(limit(limit), open.secondsADay());
        Optional<KeptCost> kept = costs.of(at.id(), settings.cold());
        CostModel cost = cost(kept.map(KeptCost::cost).orElse(null), rate, secondsPerFile);
        Instant now = clock.instant();
        Work stored = stored(storedBytes, storedFiles);
        ScrubForecast forecast = stored == null
                ? costs.forecast(at.id(), now, maxAge(maxAgeSeconds), budget, cost)
                : ScrubForecast.of(List.of(new Layer(now, stored)), now, maxAge(maxAgeSeconds), budget, cost);
        return new ShownScrubPlan(
                at.name(),
                open.toString(),
                kept.map(KeptCost::measurements).orElse(0),
                kept.map(KeptCost::measuredAt).orElse(null),
                forecast);
    }

    /** Shows the state of the promise {@code dozo.scrub.max-age} at a site. */
    @GetMapping("/promise")
    ShownPromise promise(@RequestParam(required = false) @Nullable String site, Sight sight) {
        return new ShownPromise(
                sites.of(site).map(Site::name).orElse(null),
                promises.at(sight, sites.idOf(site)),
                sight.ofEverything() ? promises.home() : null);
    }

    /** Lists the state of the promise for each experiment. */
    @GetMapping("/promise/experiments")
    Page<ExperimentPromise> experiments(
            @RequestParam(required = false) @Nullable String site,
            @RequestParam(defaultValue = "0") int after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight) {
        int id = sites.idOf(site);
        return Page.of(limit, most -> promises.experiments(sight, id, after, most), ExperimentPromise::experimentId);
    }

    private Duration maxAge(@Nullable Long seconds) {
        if (seconds == null) {
            return settings.maxAge();
        }
        long min = ScrubForecast.MAX_AGE_MIN.toSeconds();
        long max = ScrubForecast.MAX_AGE_MAX.toSeconds();
        if (seconds < min || seconds > max) {
            throw new Refusal(
                    "maxAgeSeconds", "%d: expected %d to %d seconds, that is 1 h to 3660 days", seconds, min, max);
        }
        return Duration.ofSeconds(seconds);
    }

    private @Nullable Long limit(@Nullable Long bytesPerSecond) {
        if (bytesPerSecond == null) {
            return settings.bytesPerSecond();
        }
        if (bytesPerSecond < 1) {
            throw new Refusal("limit", "%d: expected 1 byte per second or more", bytesPerSecond);
        }
        return bytesPerSecond;
    }

    private static ReadingWindow window(String typed) {
        try {
            return ReadingWindow.of(typed);
        } catch (IllegalArgumentException malformed) {
            throw new Refusal("window", ReadingWindow.EXPECTED);
        }
    }

    private static @Nullable Work stored(@Nullable Long bytes, @Nullable Long files) {
        if (bytes == null && files == null) {
            return null;
        }
        if (bytes == null || bytes < 0) {
            throw new Refusal("storedBytes", "expected 0 or more, together with storedFiles");
        }
        if (files == null || files < 0) {
            throw new Refusal("storedFiles", "expected 0 or more, together with storedBytes");
        }
        return new Work(bytes, files);
    }

    /** Returns the reading cost, or null if it is neither measured nor given: nothing is assumed. */
    private static @Nullable CostModel cost(
            @Nullable CostModel measured, @Nullable Long rate, @Nullable Double secondsPerFile) {
        if (measured == null && (rate == null || secondsPerFile == null)) {
            return null;
        }
        try {
            return new CostModel(
                    rate == null && measured != null
                            ? measured.bytesPerSecond()
                            : rate == null ? 0 : rate.doubleValue(),
                    secondsPerFile == null && measured != null
                            ? measured.secondsPerEntry()
                            : secondsPerFile == null ? 0 : secondsPerFile);
        } catch (IllegalArgumentException e) {
            throw new Refusal(
                    rate == null ? "secondsPerFile" : "rate",
                    "expected 1,000 to 10¹² bytes per second and 0 to 3,600 seconds per file");
        }
    }

    private @Nullable Instant end(NewScrub asked) {
        if (asked.window() != null && asked.until() != null) {
            throw new Refusal("until", "expected either this or a window");
        }
        Instant now = clock.instant();
        if (asked.window() != null) {
            return window(asked.window())
                    .at(now, zone)
                    .map(Opening::ends)
                    .orElseThrow(() -> new Refusal(
                            "window",
                            "it is %s now: expected a window that is open now",
                            now.atZone(zone).toLocalTime().withNano(0)));
        }
        return asked.until() == null ? null : until(asked.until(), now);
    }

    /** Parses the end. A time of day means its next occurrence. */
    private Instant until(String typed, Instant now) {
        try {
            Instant end = typed.contains("T") ? Instant.parse(typed) : next(LocalTime.parse(typed), now);
            if (end.isAfter(now) && !end.isAfter(now.plus(UNTIL_MAX))) {
                return end;
            }
        } catch (DateTimeParseException e) {
            // Refused below, like times in the past.
        }
        throw new Refusal(
                "until",
                "\"%s\": expected a time of day such as 06:00, or a time within the next year such as 2026-10-01T06:00:00Z",
                typed);
    }

    private Instant next(LocalTime time, Instant now) {
        ZonedDateTime today = now.atZone(zone).toLocalDate().atTime(time).atZone(zone);
        return (today.toInstant().isAfter(now) ? today : today.plusDays(1)).toInstant();
    }
}
