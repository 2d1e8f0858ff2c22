package dozo.api;

import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.api.http.Sheet;
import dozo.api.http.Verb;
import dozo.api.http.Verb.Follow;
import dozo.export.Columns;
import dozo.ledger.Findings;
import dozo.ledger.Findings.KeptFinding;
import dozo.ledger.Sight;
import dozo.remote.TuningDecision;
import dozo.run.Operations;
import dozo.run.RunExperiments;
import dozo.run.RunExperiments.RunExperiment;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Tunings;
import dozo.web.Change;
import java.security.Principal;
import java.util.List;
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

/** Runs, their progress and their findings. */
@RestController
@RequestMapping("/api/v1/runs")
record RunApi(
        Runs runs,
        Operations operations,
        RunExperiments experiments,
        Findings findings,
        Tunings tunings,
        ShownRun.View view) {

    private static final Columns<Run> COLUMNS = Columns.of(Run.class)
            .without("siteId", "part")
            .and("project", run -> run.part().project())
            .and("origin", run -> run.part().origin());

    /**
     * The backup to start.
     *
     * @param site optional if there is only one
     */
    record NewRun(@Nullable String site) {}

    /**
     * The experiments to back up.
     *
     * @param experiments 1 to 1,000 experiments, each {@code project/experiment}; required
     * @param site optional if there is only one
     */
    record ChosenExperiments(
            @Nullable List<String> experiments, @Nullable String site) {}

    /** Lists the runs, latest first. {@code after} means older than. */
    @GetMapping
    @Nullable
    Page<ShownRun> list(
            @RequestParam(required = false) @Nullable Long after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight,
            Sheet sheet) {
        long before = after == null ? Long.MAX_VALUE : after;
        return sheet.or(
                () -> Page.of(limit, most -> runs.page(sight, before, most), Run::id)
                        .map(run -> view.of(sight, run)),
                "runs",
                COLUMNS,
                Sheet.paged(Sheet.PAGE, before, (last, most) -> runs.page(sight, last, most), Run::id));
    }

    /**
     * Starts a nightly backup. Asks a running scrub to stop, and waits up to 60 s for it. 409: a backup is running or paused, or
     * the scrub has not ended; repeat the request.
     */
    @Verb(
            value = "run [--site=S] [--wait:-]",
            arguments = {"--wait=waits for the end; the exit code is that of the run"},
            says = "run {id} has started",
            follows = Follow.RUN,
            example = "dozo run --wait")
    @PostMapping
    @ResponseStatus(HttpStatus.ACCEPTED)
    ResponseEntity<ShownRun> start(
            @RequestBody(required = false) @Nullable NewRun asked, Principal actor, Sight sight) {
        return view.accepted(sight, operations.start(asked == null ? null : asked.site(), actor.getName()));
    }

    /**
     * Starts a backup of only these experiments, and returns the new run. It counts as no night. Asks a running scrub to stop, and
     * waits up to 60 s for it. 409: an experiment is retired, a run is in progress, or the scrub has not ended; repeat the request.
     */
    @Verb(
            value = "run --experiment=PROJECT/EXPERIMENT,…:experiments [--site=S] [--wait:-]",
            arguments = {
                "--experiment=only this experiment; also several, with commas between them",
                "--wait=waits for the end; the exit code is that of the run"
            },
            says = "run {id} has started: {chosen.experiments} experiments are backed up",
            follows = Follow.RUN,
            example = "dozo run --experiment P001/S0001,P001/S0002 --wait")
    @PostMapping("/experiments")
    @ResponseStatus(HttpStatus.ACCEPTED)
    ResponseEntity<ShownRun> startChosen(@RequestBody ChosenExperiments asked, Principal actor, Sight sight) {
        List<String> experiments = asked.experiments == null ? List.of() : asked.experiments;
        return view.accepted(sight, operations.backUp(asked.site, experiments, sight, actor.getName()));
    }

    /** Shows one run, with its progress. */
    @GetMapping("/{id}")
    ShownRun one(@PathVariable long id, Sight sight) {
        return view.of(sight, find(sight, id));
    }

    /**
     * Stops a run: no more units start. A paused run, or one that a dead process left, ends at once. 409: it has ended.
     */
    @Verb(
            value = "stop [RUN:id] [--wait:-]",
            arguments = {
                "--wait=waits for the end; the exit code is 0, whatever the result; 3: the run is not running",
                "RUN=the run's number; by default the run in progress"
            },
            about = "Stops a run: units under way are finished, and the next run continues where it ended.",
            says = "run {id} is stopping",
            follows = Follow.STOP,
            example = "dozo stop --wait")
    @Change(destroys = true)
    @PostMapping("/{id}/stop")
    @ResponseStatus(HttpStatus.ACCEPTED)
    ResponseEntity<ShownRun> stop(@PathVariable long id, Principal actor, Sight sight) {
        return changed(sight, id, () -> operations.stop(id, actor.getName()));
    }

    /** Pauses a run: nothing new starts until it is resumed. 409: it is not running, or is stopping. */
    @Verb(
            value = "pause [RUN:id] [--wait:-]",
            arguments = {
                "--wait=waits until nothing is under way",
                "RUN=the run's number; by default the run in progress"
            },
            about = "Pauses a run: units under way are finished, and nothing new starts until it is resumed.",
            says = {
                "{endedAt?}run {id} had already finished",
                "{underWay?}run {id} is paused; it finishes the units under way",
                "run {id} is paused"
            },
            follows = Follow.PAUSE,
            example = "dozo pause --wait")
    @Change(undo = "POST /runs/{id}/resume")
    @PostMapping("/{id}/pause")
    @ResponseStatus(HttpStatus.ACCEPTED)
    ResponseEntity<ShownRun> pause(@PathVariable long id, Principal actor, Sight sight) {
        return changed(sight, id, () -> operations.pause(id, actor.getName()));
    }

    /**
     * Resumes a paused run, when the units under way have ended. 409: they have not ended after 60 s, or the run is not paused.
     */
    @Verb(
            value = "resume [RUN:id] [--wait:-]",
            arguments = {
                "--wait=waits for the end; the exit code is that of the run",
                "RUN=the run's number; by default the run in progress"
            },
            says = "run {id} continues",
            follows = Follow.RUN,
            example = "dozo resume")
    @Change(undo = "POST /runs/{id}/pause")
    @PostMapping("/{id}/resume")
    @ResponseStatus(HttpStatus.ACCEPTED)
    ResponseEntity<ShownRun> resume(@PathVariable long id, Principal actor, Sight sight) {
        return changed(sight, id, () -> operations.resume(id, actor.getName()));
    }

    /**
     * Starts a backup of only those experiments that have open findings in this run, and returns the new run. 409: there are none,
     * or a run is in progress.
     */
    @Verb(
            value = "retry RUN:id [--wait:-]",
            arguments = {
                "--wait=waits for the end; the exit code is that of the run",
                "RUN=the number of the run that has the findings"
            },
            says = "run {id} has started: {retry.experiments} experiments are retried",
            follows = Follow.RUN,
            example = "dozo retry 42")
    @PostMapping("/{id}/retry")
    @ResponseStatus(HttpStatus.ACCEPTED)
    ResponseEntity<ShownRun> retry(@PathVariable long id, Principal actor, Sight sight) {
        find(sight, id);
        return view.accepted(sight, operations.retry(id, actor.getName()));
    }

    /** Lists the findings of a run, in the order of their first detection. Empty after the retention time. */
    @GetMapping("/{id}/findings")
    Page<KeptFinding> findings(
            @PathVariable long id,
            @RequestParam(defaultValue = "0") long after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight) {
        find(sight, id);
        return Page.of(limit, most -> findings.of(sight, id, after, most), KeptFinding::id);
    }

    /**
     * Lists the experiments of a run, the worst first: those of which it sent or found something, or is reading; a run of chosen
     * experiments lists them all. While the run goes on, an experiment may move between two pages. Empty for a scrub without findings.
     */
    @Verb(
            value = "run experiments RUN:id",
            arguments = "RUN=the run's number",
            columns = {
                "EXPERIMENT={project}/{code}",
                "STATE={state words}",
                ">FILES={files number}|",
                ">SIZE={bytes size}|",
                ">SENT={share} %",
                ">FINDINGS={findings?}{findings number}|",
                "TITLE={title}"
            },
            none = "The run has sent and found nothing.",
            example = "dozo run experiments 42")
    @GetMapping("/{id}/experiments")
    Page<RunExperiment> experiments(
            @PathVariable long id,
            @RequestParam(defaultValue = "0") long after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight) {
        find(sight, id);
        return Page.of(limit, most -> experiments.page(sight, id, after, most), RunExperiment::place);
    }

    /**
     * Lists why the numbers of connections to the site and of channels on each were chosen or changed, the oldest decision first. Empty
     * if they are fixed, after the retention time, and for users who see only some projects.
     */
    @GetMapping("/{id}/tuning")
    List<TuningDecision> tuning(@PathVariable long id, Sight sight) {
        find(sight, id);
        return sight.ofEverything() ? tunings.of(id) : List.of();
    }

    private ResponseEntity<ShownRun> changed(Sight sight, long id, Runnable change) {
        find(sight, id);
        change.run();
        return ResponseEntity.accepted().body(view.of(sight, find(sight, id)));
    }

    private Run find(Sight sight, long id) {
        return runs.find(sight, id).orElseThrow(Missing.thing("run", id));
    }
}
