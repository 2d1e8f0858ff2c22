package dozo.api;

import dozo.file.FilePath;
import dozo.ledger.Findings;
import dozo.ledger.Findings.KeptFinding;
import dozo.ledger.Sight;
import dozo.registry.Refusal;
import dozo.run.Operations;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import java.net.URI;
import java.security.Principal;
import java.time.Instant;
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

/** Runs, their progress and their findings. */
@RestController
@RequestMapping("/api/v1/runs")
class RunApi {

    private final Runs runs;
    private final Operations operations;
    private final Findings findings;
    private final ShownRun.View view;

    /**
     * What is to run.
     *
     * @param site may be missing where there is only one
     */
    record NewRun(@Nullable String site) {}

    /**
     * One finding.
     *
     * @param path as people can read it
     * @param pathBytes its bytes in base64
     */
    @SuppressWarnings("ArrayRecordComponent") // JSON's base64; written once
    record ShownFinding(
            long id,
            @Nullable String experiment,
            String reason,
            @Nullable String path,
            byte @Nullable [] pathBytes,
            String message,
            Instant foundAt) {

        static ShownFinding of(KeptFinding finding) {
            Optional<FilePath> path = Optional.ofNullable(finding.path());
            return new ShownFinding(
                    finding.id(),
                    finding.experiment(),
                    finding.reason().name(),
                    path.map(FilePath::toString).orElse(null),
                    path.map(FilePath::bytes).orElse(null),
                    finding.message(),
                    finding.foundAt());
        }
    }

    RunApi(Runs runs, Operations operations, Findings findings, ShownRun.View view) {
        this.runs = runs;
        this.operations = operations;
        this.findings = findings;
        this.view = view;
    }

    /** The runs, latest first. */
    @GetMapping
    Page<ShownRun> list(
            @RequestParam(required = false) @Nullable Long after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight) {
        long before = after == null ? Long.MAX_VALUE : after;
        return Page.of(limit, most -> runs.page(sight, before, most), Run::id).map(run -> view.of(sight, run));
    }

    /** Starts a nightly backup. */
    @PostMapping
    @ResponseStatus(HttpStatus.ACCEPTED)
    ResponseEntity<ShownRun> start(
            @RequestBody(required = false) @Nullable NewRun asked, Principal actor, Sight sight) {
        try {
            Run run = operations.start(asked == null ? null : asked.site(), actor.getName());
            return ResponseEntity.accepted()
                    .location(URI.create("/api/v1/runs/" + run.id()))
                    .body(view.of(sight, run));
        } catch (Refusal refusal) {
            throw Conflict.unless(!refusal.field().equals("run"), refusal);
        }
    }

    /** One run, with its progress. */
    @GetMapping("/{id}")
    ShownRun one(@PathVariable long id, Sight sight) {
        return view.of(sight, find(sight, id));
    }

    /** Stops a run: no more units are begun. */
    @PostMapping("/{id}/stop")
    @ResponseStatus(HttpStatus.ACCEPTED)
    ResponseEntity<ShownRun> stop(@PathVariable long id, Principal actor, Sight sight) {
        find(sight, id);
        try {
            operations.stop(id, actor.getName());
        } catch (Refusal notRunning) {
            throw new Conflict(notRunning);
        }
        return ResponseEntity.accepted().body(view.of(sight, find(sight, id)));
    }

    /** The findings of a run, in the order they were found. */
    @GetMapping("/{id}/findings")
    Page<ShownFinding> findings(
            @PathVariable long id,
            @RequestParam(defaultValue = "0") long after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight) {
        find(sight, id);
        return Page.of(limit, most -> findings.of(sight, id, after, most), KeptFinding::id)
                .map(ShownFinding::of);
    }

    private Run find(Sight sight, long id) {
        return runs.find(sight, id).orElseThrow(Missing.thing("run", id));
    }
}
