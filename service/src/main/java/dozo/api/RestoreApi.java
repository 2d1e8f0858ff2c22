package dozo.api;

import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.file.Selection;
import dozo.manifest.Manifests;
import dozo.manifest.Manifests.Manifest;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Refusal;
import dozo.registry.Sites.Site;
import dozo.restore.KeptRestore;
import dozo.restore.RestoreQueue;
import dozo.restore.Restores;
import dozo.restore.Restores.RestoreFinding;
import dozo.restore.SelectionForm;
import dozo.restore.Target;
import dozo.verify.AllSeries;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.Principal;
import java.util.ArrayList;
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
public record RestoreApi(
        Experiments experiments,
        Manifests manifests,
        AllSeries series,
        RestoreQueue queue,
        Restores restores,
        SiteChoice sites,
        Moments moments) {

    /** What of a manifest is restored, wherever to. */
    sealed interface Wanted {
        @Nullable
        List<String> paths();

        @Nullable
        List<byte[]> pathsBytes();

        @Nullable
        List<String> patterns();

        @Nullable
        List<byte[]> patternsBytes();

        @Nullable
        List<String> series();

        default Selection selection(AllSeries all, Manifest manifest) {
            List<String> uids = series();
            if (uids != null && uids.isEmpty()) {
                throw noElement("series");
            }
            return SelectionForm.of(
                    bytes("paths", paths(), pathsBytes()),
                    bytes("patterns", patterns(), patternsBytes()),
                    uids == null ? List.of() : all.paths(manifest.experimentId(), manifest.number(), uids));
        }
    }

    /**
     * What to restore, and where to.
     *
     * @param inPlace true: into the experiment's source, instead of {@code folder}. What stands there and differs is put aside
     * @param folder the folder's absolute path on the service's machine
     * @param folderBytes the same in base64, instead of {@code folder}
     * @param paths folders and files of the manifest, which keep their paths below {@code folder}; with {@code patterns} at
     *     most 10,000; default: everything
     * @param pathsBytes more of them, in base64
     * @param patterns restores what matches, too: {@code *}, {@code ?} and {@code [a-z]} in names, and {@code **} in paths
     * @param patternsBytes more of them, in base64
     * @param series SeriesInstanceUIDs: restores the DICOM files of these series, too
     * @param manifest the manifest's number; default: the latest
     * @param asOf the latest manifest at this time, instead of {@code manifest}: a day, or a time as 2026-10-01T15:00:00Z
     * @param site optional if there is only one
     */
    @SuppressWarnings("ArrayRecordComponent") // JSON's base64; read once
    record NewRestore(
            @Nullable Boolean inPlace,
            @Nullable String folder,
            byte @Nullable [] folderBytes,
            @Nullable List<String> paths,
            @Nullable List<byte[]> pathsBytes,
            @Nullable List<String> patterns,
            @Nullable List<byte[]> patternsBytes,
            @Nullable List<String> series,
            @Nullable Integer manifest,
            @Nullable String asOf,
            @Nullable String site)
            implements Wanted {

        boolean isInPlace() {
            if (!Boolean.TRUE.equals(inPlace)) {
                return false;
            }
            if (folder != null || folderBytes != null) {
                throw new Refusal("folder", "expected no folder: inPlace restores into the source");
            }
            return true;
        }

        Path target() {
            if ((folder == null) == (folderBytes == null)) {
                throw new Refusal("folder", "expected either folder or folderBytes: the folder's absolute path");
            }
            return NewExperiment.path("folder", folder, folderBytes);
        }
    }

    /**
     * What to send into an archive.
     *
     * @param origin the name of an origin of the kind {@code dicomweb}, {@code flywheel} or {@code xnat}
     * @param replaces true: what has other bytes or values there is replaced; default: it stays, and is a finding
     * @param paths folders and files of the manifest; with {@code patterns} at most 10,000; default: everything
     * @param pathsBytes more of them, in base64
     * @param patterns sends what matches, too: {@code *}, {@code ?} and {@code [a-z]} in names, and {@code **} in paths
     * @param patternsBytes more of them, in base64
     * @param series SeriesInstanceUIDs: restores the DICOM files of these series, too
     * @param manifest the manifest's number; default: the latest
     * @param asOf the latest manifest at this time, instead of {@code manifest}: a day, or a time as 2026-10-01T15:00:00Z
     * @param site optional if there is only one
     */
    @SuppressWarnings("ArrayRecordComponent") // JSON's base64; read once
    record NewArchiveRestore(
            @Nullable String origin,
            @Nullable Boolean replaces,
            @Nullable List<String> paths,
            @Nullable List<byte[]> pathsBytes,
            @Nullable List<String> patterns,
            @Nullable List<byte[]> patternsBytes,
            @Nullable List<String> series,
            @Nullable Integer manifest,
            @Nullable String asOf,
            @Nullable String site)
            implements Wanted {

        Target.Archive target() {
            if (origin == null) {
                throw new Refusal("origin", "expected the name of an origin");
            }
            return new Target.Archive(origin, Boolean.TRUE.equals(replaces));
        }
    }

    /** NB: a list without elements is refused: a program whose list is empty does not want everything. */
    private static List<byte[]> bytes(String field, @Nullable List<String> texts, @Nullable List<byte[]> bytes) {
        if (texts == null && bytes == null) {
            return List.of();
        }
        List<byte[]> all = new ArrayList<>();
        (texts == null ? List.<String>of() : texts).forEach(text -> all.add(text.getBytes(StandardCharsets.UTF_8)));
        all.addAll(bytes == null ? List.of() : bytes);
        if (all.isEmpty()) {
            throw noElement(field);
        }
        return all;
    }

    private static Refusal noElement(String field) {
        return new Refusal(field, "expected at least one element; leave the list out to restore everything");
    }

    /** Lists the restores of an experiment, latest first. */
    @GetMapping
    Page<KeptRestore> list(
            @PathVariable String project,
            @PathVariable String code,
            @RequestParam(required = false) @Nullable Long after,
            @RequestParam(defaultValue = Page.LIMIT) int limit) {
        Experiment experiment = experiment(project, code);
        long before = after == null ? Long.MAX_VALUE : after;
        return Page.of(limit, most -> restores.page(experiment, before, most), KeptRestore::id);
    }

    /**
     * Restores a manifest, or what is selected of it, into a folder of the service's machine, or in place. 409: another restore
     * fills the folder, or too many wait. 422: the folder is not allowed, or the service cannot write into the source.
     */
    @PostMapping
    @ResponseStatus(HttpStatus.ACCEPTED)
    ResponseEntity<KeptRestore> request(
            @PathVariable String project, @PathVariable String code, @RequestBody NewRestore asked, Principal actor) {
        Experiment experiment = experiment(project, code);
        Path folder = asked.isInPlace() ? null : asked.target();
        Manifest manifest = manifest(experiment, asked.manifest(), asked.asOf());
        Selection selection = asked.selection(series, manifest);
        Site site = sites.needed(asked.site());
        return accepted(
                folder == null
                        ? queue.requestInPlace(experiment, manifest, selection, site, actor.getName())
                        : queue.request(experiment, manifest, selection, site, folder, actor.getName()));
    }

    /**
     * Sends the files of a manifest, or of what is selected of it, into an archive by STOW-RS, or into a Flywheel or XNAT. 409: too
     * many restores wait. 422: there is no such origin, or its key cannot be used.
     */
    @PostMapping("/archive")
    @ResponseStatus(HttpStatus.ACCEPTED)
    ResponseEntity<KeptRestore> send(
            @PathVariable String project,
            @PathVariable String code,
            @RequestBody NewArchiveRestore asked,
            Principal actor) {
        Experiment experiment = experiment(project, code);
        Manifest manifest = manifest(experiment, asked.manifest(), asked.asOf());
        Selection selection = asked.selection(series, manifest);
        Site site = sites.needed(asked.site());
        return accepted(queue.request(experiment, manifest, selection, site, asked.target(), actor.getName()));
    }

    private static ResponseEntity<KeptRestore> accepted(KeptRestore added) {
        return ResponseEntity.accepted()
                .location(URI.create("/api/v1/experiments/%s/restores/%d".formatted(added.experiment(), added.id())))
                .body(added);
    }

    /** Shows one restore, with its progress. */
    @GetMapping("/{id}")
    KeptRestore one(@PathVariable String project, @PathVariable String code, @PathVariable long id) {
        return find(project, code, id);
    }

    /** Lists what a finished restore could not restore, at most the first 1,000. */
    @GetMapping("/{id}/findings")
    Page<RestoreFinding> findings(
            @PathVariable String project,
            @PathVariable String code,
            @PathVariable long id,
            @RequestParam(defaultValue = "0") int after,
            @RequestParam(defaultValue = Page.LIMIT) int limit) {
        KeptRestore restore = find(project, code, id);
        return Page.of(limit, most -> restores.findings(restore.id(), after, most), RestoreFinding::number);
    }

    /** Stops a restore. The restored files stay. 409: it has ended. */
    @PostMapping("/{id}/stop")
    @ResponseStatus(HttpStatus.ACCEPTED)
    ResponseEntity<KeptRestore> stop(
            @PathVariable String project, @PathVariable String code, @PathVariable long id, Principal actor) {
        find(project, code, id);
        queue.stop(id, actor.getName());
        return ResponseEntity.accepted().body(find(project, code, id));
    }

    private Manifest manifest(Experiment experiment, @Nullable Integer number, @Nullable String asOf) {
        if (number != null && asOf != null) {
            throw new Refusal("asOf", "expected either manifest or asOf");
        }
        if (asOf != null) {
            return manifests
                    .asOf(experiment.id(), moments.end("asOf", asOf))
                    .orElseThrow(() -> new Refusal(
                            "asOf", "%s had no manifest yet at %s: choose a later time", experiment.name(), asOf));
        }
        Optional<Manifest> found = number == null
                ? manifests.all(experiment.id()).stream().findFirst()
                : manifests.find(experiment.id(), number);
        return found.orElseThrow(() -> new Refusal("manifest", "%s has no such manifest", experiment.name()));
    }

    private KeptRestore find(String project, String code, long id) {
        return restores.find(experiment(project, code), id).orElseThrow(Missing.thing("restore", id));
    }

    private Experiment experiment(String project, String code) {
        return experiments.find(project, code).orElseThrow(Missing.thing("experiment", project + "/" + code));
    }
}
