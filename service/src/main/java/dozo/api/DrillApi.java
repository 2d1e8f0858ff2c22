package dozo.api;

import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.api.http.Sheet;
import dozo.api.http.Verb;
import dozo.drill.DrillPromises;
import dozo.drill.DrillPromises.DrillPromise;
import dozo.drill.Rehearsals;
import dozo.drill.RestoreForecasts;
import dozo.drill.RestoreForecasts.Compared;
import dozo.drill.RestoreForecasts.ProjectForecast;
import dozo.export.Columns;
import dozo.ledger.Sight;
import dozo.manifest.Manifests;
import dozo.manifest.Manifests.Manifest;
import dozo.plan.RestoreCost;
import dozo.plan.RestoreCost.RestoreTime;
import dozo.plan.Work;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Refusal;
import dozo.registry.Sites.Site;
import dozo.restore.KeptRestore;
import dozo.restore.RestoreQueue;
import dozo.restore.Restores;
import dozo.restore.Restores.RestoreFinding;
import java.net.URI;
import java.security.Principal;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Drills: rehearsed restores, whether each project is rehearsed in its time, and the forecast of a restore. */
@RestController
@RequestMapping("/api/v1/drills")
public record DrillApi(
        DrillPromises promises,
        Rehearsals rehearsals,
        RestoreForecasts forecasts,
        RestoreQueue queue,
        Restores restores,
        Experiments experiments,
        Manifests manifests,
        SiteChoice sites) {

    private static final Columns<KeptRestore> COLUMNS = Columns.of(KeptRestore.class);

    /** What the command says of the cost of restores. */
    private static final String COST =
            "From {cost.restores} drills of site {site}: {cost.startSeconds time} until the first byte, then"
                    + " {cost.model.bytesPerSecond size}/s and {cost.model.secondsPerEntry ms} ms for each entry."
                    + "|Unknown: site {site} has fewer than 5 complete drills.";

    /**
     * What to rehearse.
     *
     * @param project default: the most urgent one
     * @param experiment its code in the project; default: any whose manifest is wholly safe
     * @param site default: any that has it
     */
    record NewDrill(
            @Nullable String project,
            @Nullable String experiment,
            @Nullable String site) {}

    /**
     * How long restores from a site take, by its drills.
     *
     * @param cost learnt from the latest 30 complete drills; missing: there are fewer than 5, and every forecast is unknown
     * @param experiment the forecast for the experiment of the request
     * @param projects the forecasts for all safe experiments by project, one after the other; the last one, without a name, of
     *     all of them
     * @param compared the latest complete drills, each with the forecast that the drills before it gave; the oldest first
     */
    public record ShownForecasts(
            String site,
            @Nullable RestoreCost cost,
            @Nullable RestoreTime experiment,
            List<ProjectForecast> projects,
            List<Compared> compared) {}

    /** Lists the drills, latest first. */
    @Verb(
            value = "drill list limit=100 [--project=CODE]",
            about = "Lists the latest drills: the evidence that restores work.",
            columns = {
                "DRILL={id}",
                "ENDED={endedAt}",
                "EXPERIMENT={experiment}[, only {path}|, only {paths count} paths]",
                "SITE={site}",
                "RESULT={state words}",
                ">ENTRIES={entriesVerified number}",
                ">SIZE={bytesVerified size}",
                ">TIME={seconds time}",
                ">FINDINGS={findings number}"
            },
            none = "No drill yet.",
            example = "dozo drill list --project P001")
    @Verb(
            value = "drill list --all:- [--project=CODE]",
            arguments = "--all=all drills, not only the latest 100",
            none = "No drill yet.",
            example = "dozo drill list --all")
    @GetMapping
    @Nullable
    Page<KeptRestore> list(
            @RequestParam(required = false) @Nullable String project,
            @RequestParam(required = false) @Nullable Long after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight,
            Sheet sheet) {
        long before = after == null ? Long.MAX_VALUE : after;
        return sheet.page(
                "drills",
                COLUMNS,
                before,
                limit,
                (last, most) -> restores.drills(sight, project, last, most),
                KeptRestore::id);
    }

    /** Rehearses a restore. 409: nothing of it is safe, or a drill of the project has not ended. */
    @Verb(
            value = "drill [PROJECT[/EXPERIMENT]:project/experiment] [--site=S] [--wait:-]",
            arguments = {
                "PROJECT[/EXPERIMENT]=a project, or an experiment; by default the most urgent project",
                "--site=the site; by default any that has the experiment",
                "--wait=waits for the end"
            },
            about = "Rehearses a restore: the service restores an experiment into a scratch folder, verifies every"
                    + " file, and keeps the result and the time as evidence.",
            footer = {
                "Without an experiment, the service chooses one at random whose manifest is wholly safe; without a project,",
                "from the project whose last drill is the longest ago. Of a large experiment it restores a part. A drill waits",
                "until no backup runs, and lets restores by people go first.",
                "Exit code of --wait: 0: everything was restored; 1: it was not."
            },
            says = "drill {id} of {experiment}[, only {path}|, only {paths count} paths] requested",
            follows = Verb.Follow.DRILL,
            example = "dozo drill P001/S0001 --wait")
    @PostMapping
    @ResponseStatus(HttpStatus.ACCEPTED)
    ResponseEntity<KeptRestore> request(@RequestBody(required = false) @Nullable NewDrill body, Principal actor) {
        NewDrill asked = body == null ? new NewDrill(null, null, null) : body;
        if (asked.experiment() != null && asked.project() == null) {
            throw new Refusal("project", "expected the project of the experiment");
        }
        KeptRestore requested = rehearsals.request(asked.project(), asked.experiment(), asked.site(), actor.getName());
        return ResponseEntity.accepted()
                .location(URI.create("/api/v1/drills/" + requested.id()))
                .body(requested);
    }

    /** Lists whether each project was rehearsed in its time. */
    @Verb(
            value = "drill promises",
            about = "Lists whether each project was rehearsed in its time. Exit code 1: some were not.",
            columns = {
                "PROJECT={project}",
                "STANDING={standing words}",
                ">DAYS={days}",
                "LAST WITHOUT FINDINGS={succeededAt}",
                "UNTIL={until}",
                "LAST DRILL={lastState words}"
            },
            none = "No project yet.",
            exit = "{standing=KEPT?}0|{standing=NEVER?}0|{standing=NOTHING?}0|1",
            example = "dozo drill promises")
    @GetMapping("/promises")
    Page<DrillPromise> promises(
            @RequestParam(defaultValue = "") String after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight) {
        return Page.of(limit, most -> promises.page(sight, after, most), DrillPromise::project);
    }

    /**
     * Forecasts how long restores from a site take.
     *
     * @param experiment an experiment, as {@code project/code}: adds the forecast for its latest manifest
     */
    @Verb(
            value = "drill forecast [--site=S]",
            about = "Shows how long restores from a site take, learnt from its drills. Exit code 1: unknown yet.",
            lines = COST,
            items = "projects",
            columns = {
                "PROJECT={project}|all",
                ">EXPERIMENTS={experiments number}",
                ">ENTRIES={entries number}",
                ">SIZE={bytes size}",
                "RESTORED IN=about {forecast.seconds time} ({forecast.leastSeconds time} to {forecast.mostSeconds time})"
                        + "[{forecast.beyond?}, far more than was ever rehearsed]|unknown"
            },
            sum = "project",
            exit = "{cost?}0|1",
            example = "dozo drill forecast")
    @Verb(
            value = "drill forecast PROJECT/EXPERIMENT:experiment [--site=S]",
            arguments = "PROJECT/EXPERIMENT=an experiment",
            lines = {
                COST,
                "{given.experiment}: about {experiment.seconds time} ({experiment.leastSeconds time} to"
                        + " {experiment.mostSeconds time})[{experiment.beyond?}, far more than was ever rehearsed]"
                        + "|{given.experiment}: unknown"
            },
            exit = "{cost?}0|1",
            example = "dozo drill forecast P001/S0001")
    @GetMapping("/forecast")
    ShownForecasts forecast(
            @RequestParam(required = false) @Nullable String site,
            @RequestParam(required = false) @Nullable String experiment,
            Sight sight) {
        Site at = sites.needed(site);
        Optional<Work> work = Optional.ofNullable(experiment).map(name -> work(sight, name));
        Optional<RestoreCost> cost = forecasts.cost(at.id());
        return new ShownForecasts(
                at.name(),
                cost.orElse(null),
                cost.flatMap(known -> work.map(one -> known.of(1, one))).orElse(null),
                forecasts.projects(sight, at.id()),
                forecasts.compared(sight, at.id()));
    }

    private Work work(Sight sight, String name) {
        Experiment experiment = experiments
                .find(name)
                .filter(found -> sight.sees(found.project()))
                .orElseThrow(Missing.thing("experiment", name));
        Manifest manifest = manifests
                .current(experiment.id())
                .orElseThrow(() -> new Refusal("experiment", "%s has no such manifest", experiment.name()));
        return new Work(manifest.bytes(), manifest.entries());
    }

    /** Shows one drill, with its progress. */
    @GetMapping("/{id}")
    KeptRestore one(@PathVariable long id, Sight sight) {
        return find(id, sight);
    }

    /** Lists what a finished drill could not restore, at most the first 1,000. */
    @GetMapping("/{id}/findings")
    Page<RestoreFinding> findings(
            @PathVariable long id,
            @RequestParam(defaultValue = "0") int after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight) {
        find(id, sight);
        return Page.of(limit, most -> restores.findings(id, after, most), RestoreFinding::number);
    }

    /** Stops a drill. 409: it has ended. */
    @PostMapping("/{id}/stop")
    @ResponseStatus(HttpStatus.ACCEPTED)
    ResponseEntity<KeptRestore> stop(@PathVariable long id, Principal actor, Sight sight) {
        find(id, sight);
        queue.stop(id, actor.getName());
        return ResponseEntity.accepted().body(find(id, sight));
    }

    private KeptRestore find(long id, Sight sight) {
        return restores.drill(sight, id).orElseThrow(Missing.thing("drill", id));
    }
}
