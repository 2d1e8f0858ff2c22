package dozo.api;

import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.manifest.Manifests;
import dozo.manifest.Manifests.Manifest;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Refusal;
import dozo.registry.Sites.Site;
import dozo.restore.RestoreQueue;
import dozo.restore.Restores;
import dozo.restore.Restores.KeptFinding;
import dozo.restore.Restores.KeptRestore;
import dozo.restore.Restores.RestoreState;
import java.net.URI;
import java.nio.file.Path;
import java.security.Principal;
import java.time.Instant;
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

/** Restores of an experiment by the service, into folders that an administrator has allowed. */
@RestController
@RequestMapping("/api/v1/experiments/{project}/{code}/restores")
public class RestoreApi {

    private final Experiments experiments;
    private final Manifests manifests;
    private final RestoreQueue queue;
    private final Restores restores;
    private final SiteChoice sites;
    private final Moments moments;

    /**
     * A restore request.
     *
     * @param folder the folder's absolute path on the service's machine, as text
     * @param folderBytes the same in base64, instead of the text
     * @param manifest the manifest's number; the latest if neither it nor {@code asOf} is given
     * @param asOf selects the manifest that was the latest then: a day, or a time such as 2026-10-01T15:00:00Z
     * @param site may be omitted if there is only one
     */
    @SuppressWarnings("ArrayRecordComponent") // JSON's base64; read once
    record NewRestore(
            @Nullable String folder,
            byte @Nullable [] folderBytes,
            @Nullable Integer manifest,
            @Nullable String asOf,
            @Nullable String site) {

        Path path() {
            if ((folder == null) == (folderBytes == null)) {
                throw new Refusal("folder", "expected either folder or folderBytes: the folder's absolute path");
            }
            return ExperimentApi.path("folder", folder, folderBytes);
        }
    }

    /**
     * A restore and its progress.
     *
     * @param folder the path without symbolic links, as text
     * @param entries number of files, folders and links of the manifest that were found so far
     * @param bytes total size of the files found so far
     * @param entriesVerified number of entries that are in the folder and verified
     * @param findings number of findings so far
     * @param message why it failed
     */
    @SuppressWarnings("ArrayRecordComponent") // JSON's base64; written once
    public record ShownRestore(
            long id,
            String experiment,
            int manifest,
            String site,
            String folder,
            byte[] folderBytes,
            RestoreState state,
            String requestedBy,
            Instant requestedAt,
            @Nullable Instant startedAt,
            @Nullable Instant endedAt,
            long entries,
            long bytes,
            long entriesVerified,
            long bytesVerified,
            long findings,
            String message) {

        static ShownRestore of(KeptRestore restore) {
            byte[] folder = FilePath.rawBytes(restore.folder());
            return new ShownRestore(
                    restore.id(),
                    restore.experiment(),
                    restore.manifest(),
                    restore.site(),
                    FilePath.render(folder),
                    folder,
                    restore.state(),
                    restore.requestedBy(),
                    restore.requestedAt(),
                    restore.startedAt(),
                    restore.endedAt(),
                    restore.entries(),
                    restore.bytes(),
                    restore.entriesVerified(),
                    restore.bytesVerified(),
                    restore.findings(),
                    restore.message());
        }
    }

    /** An entry that was not restored. The path is relative to the folder. */
    @SuppressWarnings("ArrayRecordComponent") // JSON's base64; written once
    public record ShownRestoreFinding(int number, Problem reason, String path, byte[] pathBytes, String message) {

        static ShownRestoreFinding of(KeptFinding finding) {
            return new ShownRestoreFinding(
                    finding.number(),
                    finding.reason(),
                    finding.path().toString(),
                    finding.path().bytes(),
                    finding.message());
        }
    }

    RestoreApi(
            Experiments experiments,
            Manifests manifests,
            RestoreQueue queue,
            Restores restores,
            SiteChoice sites,
            Moments moments) {
        this.experiments = experiments;
        this.manifests = manifests;
        this.queue = queue;
        this.restores = restores;
        this.sites = sites;
        this.moments = moments;
    }

    /** Lists the restores of an experiment, latest first. */
    @GetMapping
    Page<ShownRestore> list(
            @PathVariable String project,
            @PathVariable String code,
            @RequestParam(required = false) @Nullable Long after,
            @RequestParam(defaultValue = Page.LIMIT) int limit) {
        Experiment experiment = experiment(project, code);
        long before = after == null ? Long.MAX_VALUE : after;
        return Page.of(limit, most -> queue.page(experiment, before, most), KeptRestore::id)
                .map(ShownRestore::of);
    }

    /** Starts a restore of an experiment's manifest into a folder by the service. */
    @PostMapping
    @ResponseStatus(HttpStatus.ACCEPTED)
    ResponseEntity<ShownRestore> request(
            @PathVariable String project, @PathVariable String code, @RequestBody NewRestore asked, Principal actor) {
        Experiment experiment = experiment(project, code);
        Path folder = asked.path();
        Manifest manifest = manifest(experiment, asked);
        Site site = sites.of(asked.site())
                .orElseThrow(() -> new Refusal("site", "there is no site yet; register one first"));
        KeptRestore added = queue.request(experiment, manifest, site, folder, actor.getName());
        return ResponseEntity.accepted()
                .location(URI.create("/api/v1/experiments/%s/restores/%d".formatted(experiment.name(), added.id())))
                .body(ShownRestore.of(added));
    }

    /** Returns one restore, with its progress. */
    @GetMapping("/{id}")
    ShownRestore one(@PathVariable String project, @PathVariable String code, @PathVariable long id) {
        return ShownRestore.of(find(project, code, id));
    }

    /** Lists what an ended restore could not bring back, at most the first 1,000 findings. */
    @GetMapping("/{id}/findings")
    Page<ShownRestoreFinding> findings(
            @PathVariable String project,
            @PathVariable String code,
            @PathVariable long id,
            @RequestParam(defaultValue = "0") int after,
            @RequestParam(defaultValue = Page.LIMIT) int limit) {
        KeptRestore restore = find(project, code, id);
        return Page.of(limit, most -> restores.findings(restore.id(), after, most), KeptFinding::number)
                .map(ShownRestoreFinding::of);
    }

    /** Stops a restore. What it has restored so far stays in the folder. */
    @PostMapping("/{id}/stop")
    @ResponseStatus(HttpStatus.ACCEPTED)
    ResponseEntity<ShownRestore> stop(
            @PathVariable String project, @PathVariable String code, @PathVariable long id, Principal actor) {
        find(project, code, id);
        queue.stop(id, actor.getName());
        return ResponseEntity.accepted().body(ShownRestore.of(find(project, code, id)));
    }

    private Manifest manifest(Experiment experiment, NewRestore asked) {
        if (asked.manifest() != null && asked.asOf() != null) {
            throw new Refusal("asOf", "expected either manifest or asOf");
        }
        Optional<Manifest> found;
        if (asked.manifest() != null) {
            found = manifests.find(experiment.id(), asked.manifest());
        } else if (asked.asOf() != null) {
            found = manifests.asOf(experiment.id(), moments.end("asOf", asked.asOf()));
        } else {
            List<Manifest> all = manifests.all(experiment.id());
            found = all.stream().findFirst();
        }
        return found.orElseThrow(() ->
                new Refusal(asked.asOf() == null ? "manifest" : "asOf", "%s has no such manifest", experiment.name()));
    }

    private KeptRestore find(String project, String code, long id) {
        return queue.find(experiment(project, code), id).orElseThrow(Missing.thing("restore", id));
    }

    private Experiment experiment(String project, String code) {
        return experiments.find(project, code).orElseThrow(Missing.thing("experiment", project + "/" + code));
    }
}
