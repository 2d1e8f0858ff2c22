package dozo.api;

import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.api.http.Sheet;
import dozo.api.http.Verb;
import dozo.export.Columns;
import dozo.ledger.Sight;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Holds;
import dozo.registry.Holds.Hold;
import dozo.registry.Refusal;
import dozo.web.Change;
import java.security.Principal;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Retention holds: while one stands, nothing about its experiments is forgotten or erased. */
@Verb.Group(name = "hold", about = "Retention holds", section = "Audit")
@RestController
@RequestMapping("/api/v1/holds")
public record HoldApi(Holds holds, Experiments experiments) {

    private static final Columns<Hold> COLUMNS = Columns.of(Hold.class);

    /**
     * A hold to place.
     *
     * @param project required
     * @param experiment its code in the project; missing: all experiments of the project, also later ones
     * @param reason why, in one line; required
     * @param until from then on it does not stand any more; missing: until somebody ends it
     */
    record NewHold(
            @Nullable String project,
            @Nullable String experiment,
            @Nullable String reason,
            @Nullable Instant until) {}

    /**
     * The end of a hold.
     *
     * @param reason why, in one line; required
     */
    record HoldEnd(@Nullable String reason) {}

    /**
     * Lists holds, the latest first.
     *
     * @param all also those that do not stand any more
     * @param after only earlier ones than this
     */
    @Verb(
            value = "hold list [--all]",
            columns = {
                ">HOLD={id}",
                "ON={project}/{experiment}|{project}",
                "SINCE={placedAt}",
                "BY={placedBy}",
                "UNTIL={until}",
                "REASON={reason}",
                "ENDED={endedAt}"
            },
            none = "No hold stands.",
            example = "dozo hold list --all")
    @GetMapping
    @Nullable
    Page<Hold> list(
            @RequestParam(defaultValue = "false") boolean all,
            @RequestParam(required = false) @Nullable Long after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight,
            Sheet sheet) {
        long before = after == null ? Long.MAX_VALUE : after;
        return sheet.page(
                "holds", COLUMNS, before, limit, (last, most) -> holds.page(sight, all, last, most), Hold::id);
    }

    /** Places a hold: until it is ended, nothing of the experiment or project is forgotten or erased. */
    @Verb(
            value = "hold add P[/E]:project/experiment --reason=TEXT [--until=TIME]",
            arguments = "P[/E]=a project, or an experiment",
            says = "hold {id} stands on {project}/{experiment}|hold {id} stands on {project}",
            example = "dozo hold add P001/S0001 --reason ethics-board-17 --until 2036-10-01T00:00:00Z")
    @PostMapping
    @ResponseStatus(HttpStatus.CREATED)
    Hold place(@RequestBody NewHold asked, Principal actor) {
        String project = asked.project == null ? "" : asked.project;
        Integer experiment = asked.experiment == null
                ? null
                : experiments
                        .find(project, asked.experiment)
                        .map(Experiment::id)
                        .orElseThrow(() -> new Refusal(
                                "experiment", "experiment \"%s\" does not exist", project + "/" + asked.experiment));
        return holds.place(project, experiment, asked.reason == null ? "" : asked.reason, asked.until, actor.getName());
    }

    /** Ends a hold. */
    @Verb(
            value = "hold end HOLD:id --reason=TEXT",
            says = "hold {id} is ended",
            example = "dozo hold end 3 --reason closed")
    @Change(
            destroys = true,
            undo = "POST /holds?project={project}&experiment={experiment}&reason={reason}&until={until}")
    @PostMapping("/{id}/end")
    Hold end(@PathVariable long id, @RequestBody HoldEnd asked, Principal actor) {
        return holds.end(id, asked.reason == null ? "" : asked.reason, actor.getName())
                .orElseThrow(Missing.thing("hold", id));
    }
}
