package dozo.api;

import dozo.api.http.Missing;
import dozo.ledger.Sight;
import dozo.plan.NightForecast.Night;
import dozo.plan.NightForecast.Range;
import dozo.registry.Sites.Site;
import dozo.run.Forecasts;
import dozo.run.Forecasts.Line;
import dozo.run.Forecasts.Made;
import dozo.run.Forecasts.Outcome;
import dozo.run.Forecasts.Outlook;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** What a night will have verified by the end of its window. */
@RestController
@RequestMapping("/api/v1")
public record ForecastApi(Forecasts forecasts, Runs runs, SiteChoice sites) {

    /**
     * A forecast, for the user's projects.
     *
     * @param madeAt when
     * @param untilAt the end of the window: when the timetable closes the site or lowers its limit, or the next night begins, or a
     *     day later
     * @param nights how many earlier nights were measured; 0: it is a guess
     * @param whole missing for users who see only some projects
     * @param experiments in the order of sending, with the probability of each
     */
    public record ShownForecast(
            String site,
            Instant madeAt,
            Instant untilAt,
            int nights,
            @Nullable Whole whole,
            List<ShownLine> experiments) {

        static ShownForecast of(String site, Made made, Sight sight) {
            Outlook outlook = made.outlook();
            return new ShownForecast(
                    site,
                    outlook.madeAt(),
                    outlook.untilAt(),
                    outlook.nights(),
                    sight.ofEverything() ? Whole.of(made) : null,
                    made.lines().stream().map(ShownLine::of).toList());
        }
    }

    /**
     * All experiments together. A range contains what will be with a probability of 80 %; its middle is as probably exceeded as
     * not.
     *
     * @param experiments how many are not safe, with {@code bytes}
     * @param unknown how many more were never read, at a site where no experiment was: nothing is expected of them
     * @param verified the bytes by the end of the window
     * @param safe the experiments by the end of the window
     * @param safeAt when all are safe; missing: later than a year
     * @param nights until everything is safe; empty for a run
     * @param outcome what had become true by the end of the window; missing: it is not over
     */
    public record Whole(
            int experiments,
            int unknown,
            long bytes,
            Range<Long> verified,
            Range<Integer> safe,
            Moment safeAt,
            List<Night> nights,
            @Nullable Outcome outcome) {

        static Whole of(Made made) {
            Outlook outlook = made.outlook();
            return new Whole(
                    outlook.experiments(),
                    outlook.unknown(),
                    outlook.bytes(),
                    outlook.verified(),
                    outlook.safe(),
                    new Moment(
                            outlook.safeAt().low(),
                            outlook.safeAt().middle(),
                            outlook.safeAt().high()),
                    made.nights(),
                    outlook.outcome());
        }
    }

    /** A range of time. */
    public record Moment(
            @Nullable Instant low,
            @Nullable Instant middle,
            @Nullable Instant high) {}

    /**
     * The forecast of one experiment.
     *
     * @param experiment its project and code
     * @param bytes that are not safe
     * @param estimated whether they are an estimate, because its source was never read
     * @param probability that it is safe by the end of the window
     * @param safeAt when it is safe, as probably earlier as later; missing: later than a year
     * @param deletedAt when its scanner deletes it; missing: not known to
     * @param deletedProbability that it is deleted before it is safe
     * @param safe whether it was safe by the end of the window; missing: that is not over
     */
    public record ShownLine(
            String experiment,
            String title,
            long bytes,
            boolean estimated,
            double probability,
            @Nullable Instant safeAt,
            @Nullable Instant deletedAt,
            double deletedProbability,
            @Nullable Boolean safe) {

        static ShownLine of(Line line) {
            return new ShownLine(
                    line.project() + "/" + line.code(),
                    line.title(),
                    line.bytes(),
                    line.estimated(),
                    line.probability(),
                    line.safeAt(),
                    line.deletedAt(),
                    line.deletedProbability(),
                    line.safe());
        }
    }

    /** Forecasts a night that begins now. */
    @GetMapping("/forecast")
    ShownForecast now(@RequestParam(required = false) @Nullable String site, Sight sight) {
        Site to = sites.needed(site);
        return ShownForecast.of(to.name(), forecasts.now(sight, to.id()), sight);
    }

    /**
     * Shows the forecast that was made when a night began, and after its window what had become true. 404: the run is no nightly
     * backup, or had nothing to send. The experiments are missing after the retention time.
     */
    @GetMapping("/runs/{id}/forecast")
    ShownForecast ofRun(@PathVariable long id, Sight sight) {
        Run run = runs.find(sight, id).orElseThrow(Missing.thing("run", id));
        Made made = forecasts.of(sight, id).orElseThrow(Missing.thing("forecast of run", id));
        return ShownForecast.of(run.site(), made, sight);
    }
}
