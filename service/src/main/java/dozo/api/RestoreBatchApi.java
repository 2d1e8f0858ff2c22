package dozo.api;

import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.api.http.Verb;
import dozo.ledger.Sight;
import dozo.registry.Refusal;
import dozo.restore.BatchTarget;
import dozo.restore.Chosen;
import dozo.restore.Chosen.Order;
import dozo.restore.RestoreBatch;
import dozo.restore.RestoreBatches;
import dozo.restore.RestoreBatches.BatchItem;
import dozo.restore.RestoreQueue;
import dozo.restore.Restores.RestoreState;
import dozo.restore.Target;
import java.net.URI;
import java.security.Principal;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
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

/** Restores of many experiments by the service, one after the other, in an order. */
@Verb.Group(name = "restore-batch", about = "Restores of many experiments", section = "Daily work")
@RestController
@RequestMapping("/api/v1/restore-batches")
public record RestoreBatchApi(RestoreBatches batches, RestoreQueue queue, SiteChoice sites, Moments moments) {

    /**
     * What to restore, in which order, and where to.
     *
     * @param project all its experiments that are not retired
     * @param all true: all that are not retired, instead of those of a project
     * @param experiments their names {@code PROJECT/EXPERIMENT} in the order of their restores, instead of {@code project} or {@code
     *     all}; at most 100,000
     * @param order of {@code project} or {@code all}: {@code NEWEST} (default): the latest acquired first; {@code BOOKINGS}: projects
     *     with the earliest booking from today on first
     * @param inPlace true: into the experiments' sources, instead of {@code folder}. What stands there and differs is put aside
     * @param folder the absolute path of an existing folder on the service's machine. Each experiment gets a folder {@code
     *     PROJECT.EXPERIMENT} in it
     * @param folderBytes the same in base64, instead of {@code folder}
     * @param asOf the latest manifests at this time: a day, or a time as 2026-10-01T15:00:00Z; default: the latest
     * @param site optional if there is only one
     */
    @SuppressWarnings("ArrayRecordComponent") // JSON's base64; read once
    record NewBatch(
            @Nullable String project,
            @Nullable Boolean all,
            @Nullable List<String> experiments,
            @Nullable Order order,
            @Nullable Boolean inPlace,
            @Nullable String folder,
            byte @Nullable [] folderBytes,
            @Nullable String asOf,
            @Nullable String site) {

        BatchTarget target() {
            boolean sources = Boolean.TRUE.equals(inPlace);
            if (Stream.of(sources, folder != null, folderBytes != null)
                            .filter(given -> given)
                            .count()
                    != 1) {
                throw new Refusal("folder", "expected either a folder, or inPlace");
            }
            return sources
                    ? new BatchTarget.Sources()
                    : new BatchTarget.Below(NewExperiment.path("folder", folder, folderBytes));
        }
    }

    /**
     * What to send into an archive, in which order.
     *
     * @param project all its experiments that are not retired
     * @param all true: all that are not retired, instead of those of a project
     * @param experiments their names {@code PROJECT/EXPERIMENT} in the order of their restores, instead of {@code project} or {@code
     *     all}; at most 100,000
     * @param order of {@code project} or {@code all}: {@code NEWEST} (default): the latest acquired first; {@code BOOKINGS}: projects
     *     with the earliest booking from today on first
     * @param origin the name of an origin of the kind {@code dicomweb}, {@code flywheel} or {@code xnat}
     * @param replaces true: the archive may replace instances that have other bytes; default: they stay, and are findings
     * @param asOf the latest manifests at this time: a day, or a time as 2026-10-01T15:00:00Z; default: the latest
     * @param site optional if there is only one
     */
    record NewArchiveBatch(
            @Nullable String project,
            @Nullable Boolean all,
            @Nullable List<String> experiments,
            @Nullable Order order,
            @Nullable String origin,
            @Nullable Boolean replaces,
            @Nullable String asOf,
            @Nullable String site) {

        Target.Archive target() {
            if (origin == null) {
                throw new Refusal("origin", "expected the name of an origin");
            }
            return new Target.Archive(origin, Boolean.TRUE.equals(replaces));
        }
    }

    private static Chosen chosen(
            @Nullable String project,
            @Nullable Boolean all,
            @Nullable List<String> experiments,
            @Nullable Order order) {
        boolean listed = experiments != null && !experiments.isEmpty();
        if (Stream.of(project != null, Boolean.TRUE.equals(all), listed)
                        .filter(given -> given)
                        .count()
                != 1) {
            throw new Refusal("experiments", "expected either a project, a list of experiments, or all");
        }
        if (experiments == null || !listed) {
            return new Chosen.All(project, order == null ? Order.NEWEST : order);
        }
        if (order != null) {
            throw new Refusal("order", "expected no order: that of the list counts");
        }
        return new Chosen.Listed(experiments);
    }

    /** Lists the batches with experiments of the user's projects, latest first. */
    @Verb(
            value = "restore-batch list limit=100",
            about = "Lists the latest batches: restores of many experiments.",
            columns = {
                ">BATCH={id}",
                "STATE={state words}",
                "INTO={origin}|{folder}|in place",
                ">EXPERIMENTS={experiments number}",
                ">COMPLETE={complete number}",
                ">FINDINGS={withFindings number}",
                ">FAILED={failed number}",
                ">LEFT={bytesLeft size}",
                "ENDS IN=about {forecast.seconds time} ({forecast.leastSeconds time} to {forecast.mostSeconds time})",
                "BY={requestedBy}"
            },
            none = "No batch yet.",
            example = "dozo restore-batch list")
    @GetMapping
    Page<RestoreBatch> list(
            @RequestParam(required = false) @Nullable Long after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight) {
        long before = after == null ? Long.MAX_VALUE : after;
        return Page.of(limit, most -> batches.page(sight, before, most), RestoreBatch::id);
    }

    /**
     * Restores experiments into folders of the service's machine, or in place, one after the other. Other restores go between them.
     * 409: too many batches wait. 422: an experiment is unknown, or the folder is not allowed.
     */
    @PostMapping
    @ResponseStatus(HttpStatus.ACCEPTED)
    ResponseEntity<RestoreBatch> request(@RequestBody NewBatch asked, Principal actor, Sight sight) {
        Chosen chosen = chosen(asked.project(), asked.all(), asked.experiments(), asked.order());
        return requested(chosen, asked.asOf(), asked.target(), asked.site(), actor, sight);
    }

    /**
     * Sends experiments into an archive by STOW-RS, or into a Flywheel or XNAT, one after the other. 409: too many batches wait.
     * 422: an experiment is unknown, or there is no such archive.
     */
    @PostMapping("/archive")
    @ResponseStatus(HttpStatus.ACCEPTED)
    ResponseEntity<RestoreBatch> send(@RequestBody NewArchiveBatch asked, Principal actor, Sight sight) {
        Chosen chosen = chosen(asked.project(), asked.all(), asked.experiments(), asked.order());
        return requested(chosen, asked.asOf(), asked.target(), asked.site(), actor, sight);
    }

    private ResponseEntity<RestoreBatch> requested(
            Chosen chosen,
            @Nullable String asOf,
            BatchTarget target,
            @Nullable String site,
            Principal actor,
            Sight sight) {
        Instant moment = moments.endOrNull("asOf", asOf);
        long id = queue.requestBatch(sight, chosen, moment, target, sites.needed(site), actor.getName());
        return ResponseEntity.accepted()
                .location(URI.create("/api/v1/restore-batches/" + id))
                .body(find(id, sight));
    }

    /** Shows one batch, how far it is, and how long it takes. */
    @Verb(
            value = "restore-batch show BATCH:id",
            arguments = "BATCH=a batch",
            lines = {
                "batch {id}: {state words}, from {site}",
                "  {complete number} of {experiments number} experiments complete; with findings: {withFindings number},"
                        + " failed: {failed number}, stopped: {stopped number}; running: {running number}, waiting:"
                        + " {waiting number}",
                "  left: {filesLeft number} files, {bytesLeft size}[; about {forecast.seconds time}"
                        + " ({forecast.leastSeconds time} to {forecast.mostSeconds time})]"
            },
            example = "dozo restore-batch show 3")
    @GetMapping("/{id}")
    RestoreBatch one(@PathVariable long id, Sight sight) {
        return find(id, sight);
    }

    /**
     * Lists the experiments of a batch in their order.
     *
     * @param state only these
     * @param after only those after this position
     */
    @Verb(
            value = "restore-batch items BATCH:id [--state=STATE]",
            arguments = "BATCH=a batch",
            columns = {
                ">NO.={position}",
                "EXPERIMENT={experiment}",
                "STATE={state words}",
                ">FILES={files number}",
                ">SIZE={bytes size}",
                ">FINDINGS={findings number}",
                "MESSAGE={message}"
            },
            none = "No experiment.",
            example = "dozo restore-batch items 3 --state FAILED")
    @GetMapping("/{id}/items")
    Page<BatchItem> items(
            @PathVariable long id,
            @RequestParam(required = false) @Nullable RestoreState state,
            @RequestParam(defaultValue = "0") int after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight) {
        find(id, sight);
        return Page.of(limit, most -> batches.items(sight, id, state, after, most), BatchItem::position);
    }

    /** Stops a batch and its restore that runs. What is restored stays. 409: it has ended. 422: it has experiments of other projects. */
    @Verb(
            value = "restore-batch stop BATCH:id",
            arguments = "BATCH=a batch",
            says = "batch {id} is stopped",
            example = "dozo restore-batch stop 3")
    @PostMapping("/{id}/stop")
    RestoreBatch stop(@PathVariable long id, Principal actor, Sight sight) {
        find(id, sight);
        queue.stopBatch(sight, id, actor.getName());
        return find(id, sight);
    }

    /** Continues a batch that has ended with everything that is not complete. 409: it goes on, or is complete. */
    @Verb(
            value = "restore-batch resume BATCH:id",
            arguments = "BATCH=a batch",
            says = "batch {id} continues",
            example = "dozo restore-batch resume 3")
    @PostMapping("/{id}/resume")
    RestoreBatch resume(@PathVariable long id, Principal actor, Sight sight) {
        find(id, sight);
        queue.resumeBatch(sight, id, actor.getName());
        return find(id, sight);
    }

    private RestoreBatch find(long id, Sight sight) {
        return batches.find(sight, id).orElseThrow(Missing.thing("batch", id));
    }
}
