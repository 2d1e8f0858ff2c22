package dozo.metrics;

import static java.util.Objects.requireNonNull;

import dozo.db.ActiveService;
import dozo.drill.DrillPromises.Standing;
import dozo.ledger.Coverage;
import dozo.ledger.Coverage.Group;
import dozo.ledger.Coverage.Totals;
import dozo.ledger.Dimension;
import dozo.ledger.Sight;
import dozo.registry.Capacities;
import dozo.registry.Sites.Site;
import dozo.run.Headlines;
import dozo.run.Headlines.Headline;
import dozo.run.Headlines.Kind;
import dozo.run.Promises.Promise;
import dozo.run.RunTimes;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunKind;
import dozo.run.Runs.RunState;
import dozo.run.Services;
import dozo.run.Services.SeenService;
import dozo.run.Services.ServiceState;
import dozo.start.Pools;
import dozo.transfer.RunWorkers;
import dozo.transfer.TransferUnits.Progress;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import javax.sql.DataSource;
import org.springframework.stereotype.Component;

/** Takes all metrics from the catalogue, as the overview does. Asks no site. */
@Component
class Measuring {

    /** With more projects, none has metrics of its own: each is two series for each site. */
    static final int PROJECTS_MAX = 50;

    private final Headlines headlines;
    private final Coverage coverage;
    private final Capacities capacities;
    private final Runs runs;
    private final RunTimes runTimes;
    private final RunWorkers workers;
    private final Services services;
    private final ActiveService active;
    private final DataSource database;
    private final InstantSource clock;

    Measuring(
            Headlines headlines,
            Coverage coverage,
            Capacities capacities,
            Runs runs,
            RunTimes runTimes,
            RunWorkers workers,
            Services services,
            ActiveService active,
            DataSource database,
            InstantSource clock) {
        this.headlines = headlines;
        this.coverage = coverage;
        this.capacities = capacities;
        this.runs = runs;
        this.runTimes = runTimes;
        this.workers = workers;
        this.services = services;
        this.active = active;
        this.database = database;
        this.clock = clock;
    }

    /** Returns the values of now. Fails if the database does. */
    List<Sample> measure() {
        Instant now = clock.instant();
        List<Sample> samples = new ArrayList<>();
        List<Headline> all = headlines.all(Sight.EVERYTHING);
        all.forEach(headline -> addSite(samples, headline, now));
        // The same for all sites.
        Headline first = all.getFirst();
        samples.add(new Sample(Metric.DRILL_OVERDUE, drills(first, Standing.OVERDUE)));
        samples.add(new Sample(Metric.DRILL_FAILED, drills(first, Standing.FAILED)));
        addRuns(samples);
        addServices(samples);
        Instant end = clock.instant();
        samples.add(new Sample(Metric.SNAPSHOT_TIME, seconds(now)));
        samples.add(new Sample(Metric.SNAPSHOT_COST, seconds(Duration.between(now, end))));
        return samples;
    }

    private void addSite(List<Sample> samples, Headline headline, Instant now) {
        String site = Optional.ofNullable(headline.siteName()).orElse("");
        Totals all = headline.all();
        samples.add(new Sample(Metric.COVERAGE_EXPERIMENTS, all.experiments(), site));
        samples.add(new Sample(Metric.COVERAGE_EXPERIMENTS_SAFE, all.experimentsSafe(), site));
        samples.add(new Sample(Metric.COVERAGE_FILES, all.files(), site));
        samples.add(new Sample(Metric.COVERAGE_FILES_SAFE, all.filesSafe(), site));
        samples.add(new Sample(Metric.COVERAGE_BYTES, all.bytes(), site));
        samples.add(new Sample(Metric.COVERAGE_BYTES_SAFE, all.bytesSafe(), site));
        Instant waits = Optional.ofNullable(all.oldestUnprotected()).orElse(now);
        samples.add(new Sample(Metric.OLDEST_UNPROTECTED, age(waits, now), site));
        Arrays.stream(Kind.values()).filter(Kind::ofExperiments).forEach(state -> {
            long count = headline.risks().stream()
                    .filter(risk -> risk.state().name().equals(state.name()))
                    .mapToLong(risk -> risk.experiments())
                    .sum();
            samples.add(new Sample(Metric.AT_RISK, count, site, state.word()));
        });
        samples.add(new Sample(Metric.HEADLINE, 1, site, headline.kind().word()));
        samples.add(new Sample(Metric.HEADLINE_BAD, number(headline.kind().bad()), site));
        Promise promise = headline.promise();
        if (promise.oldestReadAt() != null) {
            samples.add(new Sample(Metric.SCRUB_OLDEST, age(promise.oldestReadAt(), now), site));
        }
        samples.add(new Sample(Metric.SCRUB_PROMISE, promise.maxAgeSeconds(), site));
        samples.add(new Sample(Metric.SCRUB_DAMAGED, promise.damaged(), site));
        headline.reasons()
                .forEach(reason -> samples.add(new Sample(
                        Metric.FINDINGS, reason.count(), site, reason.reason().name())));
        if (headline.site() != null) {
            addOfSite(samples, headline.site(), now);
        }
    }

    private void addOfSite(List<Sample> samples, Site site, Instant now) {
        capacities.history(site.id(), now).reversed().stream().findFirst().ifPresent(seen -> {
            samples.add(new Sample(Metric.SITE_FREE, seen.freeBytes(), site.name()));
            samples.add(new Sample(Metric.SITE_TOTAL, seen.totalBytes(), site.name()));
            samples.add(new Sample(Metric.SITE_CHECKED, seconds(seen.at()), site.name()));
        });
        List<Group> projects =
                coverage.groups(Sight.EVERYTHING, Dimension.PROJECT, site.id(), null, "", PROJECTS_MAX + 1);
        if (projects.size() <= PROJECTS_MAX) {
            for (Group project : projects) {
                String code = String.valueOf(project.name());
                Totals totals = requireNonNull(project.totals());
                samples.add(new Sample(Metric.PROJECT_EXPERIMENTS, totals.experiments(), site.name(), code));
                samples.add(new Sample(Metric.PROJECT_EXPERIMENTS_SAFE, totals.experimentsSafe(), site.name(), code));
            }
        }
    }

    private static long drills(Headline headline, Standing standing) {
        return headline.drills().stream()
                .filter(each -> each.standing() == standing)
                .count();
    }

    private void addRuns(List<Sample> samples) {
        Optional<Run> run = runs.goingOn();
        for (RunKind kind : RunKind.values()) {
            boolean isActive = run.filter(each -> each.kind() == kind).isPresent();
            samples.add(new Sample(Metric.RUN_ACTIVE, number(isActive), kind.code()));
        }
        boolean isPaused = run.filter(each -> each.state() == RunState.PAUSED).isPresent();
        samples.add(new Sample(Metric.RUN_PAUSED, number(isPaused)));
        run.ifPresent(each -> {
            Progress progress = runs.progress(Sight.EVERYTHING, each.id());
            samples.add(new Sample(Metric.RUN_BYTES, progress.bytesMoved()));
            samples.add(new Sample(Metric.RUN_PLANNED, progress.bytes()));
            samples.add(new Sample(Metric.RUN_DONE, progress.bytesDone()));
            samples.add(new Sample(Metric.RUN_FAILED, progress.unitsFailed()));
        });
        samples.add(new Sample(
                Metric.WORKERS,
                run.stream()
                        .flatMap(each -> workers.of(each.id()).stream())
                        .filter(worker -> !worker.ended())
                        .count()));
        runTimes.lastEnds()
                .forEach(last -> samples.add(new Sample(
                        Metric.RUN_LAST_END,
                        seconds(last.at()),
                        last.kind().code(),
                        last.state().name())));
    }

    private void addServices(List<Sample> samples) {
        samples.add(new Sample(Metric.SERVICE_ACTIVE, number(active.isHere())));
        List<SeenService> seen = services.all();
        for (ServiceState state : ServiceState.values()) {
            long count = seen.stream().filter(each -> each.state() == state).count();
            samples.add(new Sample(Metric.SERVICES, count, state.name()));
        }
        if (database instanceof Pools pools) {
            pools.usage().forEach(each -> {
                samples.add(new Sample(Metric.CONNECTIONS, each.active(), each.pool(), "active"));
                samples.add(new Sample(Metric.CONNECTIONS, each.idle(), each.pool(), "idle"));
                samples.add(new Sample(Metric.CONNECTIONS, each.waiting(), each.pool(), "waiting"));
            });
        }
    }

    private static int number(boolean is) {
        return is ? 1 : 0;
    }

    /** NB: not below 0, if a clock was set back. */
    private static double age(Instant since, Instant now) {
        return Math.max(0, seconds(Duration.between(since, now)));
    }

    private static double seconds(Duration duration) {
        return duration.toMillis() / 1_000.0;
    }

    private static double seconds(Instant at) {
        return at.toEpochMilli() / 1_000.0;
    }
}
