package dozo.api;

import dozo.file.FilePath;
import dozo.ledger.Sight;
import dozo.manifest.Freezes;
import dozo.manifest.Freezes.Freeze;
import dozo.registry.Acquisition;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Refusal;
import dozo.registry.SourceList;
import jakarta.validation.Valid;
import jakarta.validation.constraints.NotBlank;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.Principal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.format.DateTimeParseException;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;

/** Experiments. */
@RestController
@RequestMapping("/api/v1/experiments")
class ExperimentApi {

    /** Of an experiment that the asker may not see, not even the name is told. */
    private static final String FOREIGN_SOURCE =
            "this folder is already the source of an experiment of another project";

    private final Experiments experiments;
    private final Freezes freezes;

    /**
     * What is registered.
     *
     * @param source the folder, as text
     * @param sourceBytes the folder's bytes in base64, instead of the text: for names that are no UTF-8
     * @param list a file list to read in place of a walk, with {@code listForm}: find or policy
     * @param listBytes the list's path in base64, instead of the text
     * @param modality with {@code scanner} and {@code acquired}, a day as 2026-10-01: missing where it is not known
     */
    @SuppressWarnings("ArrayRecordComponent") // JSON's base64; read once
    record NewExperiment(
            @NotBlank(message = "the code of a project is needed")
            String project,

            @NotBlank(message = "a code is needed") String code,
            @Nullable String title,
            @Nullable String source,
            byte @Nullable [] sourceBytes,
            @Nullable String list,
            byte @Nullable [] listBytes,
            @Nullable String listForm,
            @Nullable String modality,
            @Nullable String scanner,
            @Nullable String acquired) {

        Acquisition acquisition() {
            try {
                return new Acquisition(modality, scanner, acquired == null ? null : LocalDate.parse(acquired));
            } catch (DateTimeParseException e) {
                throw new Refusal("acquired", "\"%s\" is no day: one as 2026-10-01 is accepted".formatted(acquired));
            }
        }

        Path folder() {
            if ((source == null) == (sourceBytes == null)) {
                throw new Refusal("source", "either source or sourceBytes is needed: the folder's absolute path");
            }
            return path("source", source, sourceBytes);
        }

        @Nullable
        SourceList sourceList() {
            return list == null && listBytes == null && listForm == null
                    ? null
                    : new NewList(list, listBytes, listForm).sourceList();
        }
    }

    /** What says what a source holds: a file by its absolute path as text or in base64, and find or policy. */
    @SuppressWarnings("ArrayRecordComponent") // JSON's base64; read once
    record NewList(
            @Nullable String list,
            byte @Nullable [] listBytes,
            @Nullable String listForm) {

        SourceList sourceList() {
            if ((list == null) == (listBytes == null)) {
                throw new Refusal(
                        "list", "with listForm, either list or listBytes is needed: the file's absolute path");
            }
            if (listForm == null) {
                throw new Refusal("listForm", "with a list its form is needed: find or policy");
            }
            return new SourceList(path("list", list, listBytes), SourceList.Form.of(listForm));
        }
    }

    private static Path path(String field, @Nullable String text, byte @Nullable [] bytes) {
        byte[] path = text == null ? bytes : text.getBytes(StandardCharsets.UTF_8);
        if (path == null || path.length == 0 || path[0] != '/') {
            throw new Refusal(
                    field,
                    "\"%s\" is no absolute path: one that begins with / is accepted"
                            .formatted(path == null ? "" : FilePath.render(path)));
        }
        try {
            return FilePath.pathOf(path);
        } catch (IllegalArgumentException e) {
            throw new Refusal(field, "\"%s\" is no path".formatted(FilePath.render(path)));
        }
    }

    /** Why nothing of an experiment is done, and since when. */
    record ShownFreeze(Instant frozenAt, long entriesLost, long bytesLost, String message) {

        static @Nullable ShownFreeze of(@Nullable Freeze freeze) {
            return freeze == null
                    ? null
                    : new ShownFreeze(freeze.frozenAt(), freeze.entriesLost(), freeze.bytesLost(), freeze.message());
        }
    }

    /**
     * An experiment.
     *
     * @param frozen missing when it is not, or is released
     */
    @SuppressWarnings("ArrayRecordComponent") // JSON's base64; written once
    record ShownExperiment(
            int id,
            String project,
            String code,
            String title,
            String kind,
            String source,
            byte[] sourceBytes,
            @Nullable String list,
            byte @Nullable [] listBytes,
            @Nullable String listForm,
            @Nullable String modality,
            @Nullable String scanner,
            @Nullable LocalDate acquired,
            Instant registeredAt,
            String registeredBy,
            @Nullable ShownFreeze frozen) {

        static ShownExperiment of(Experiment experiment, @Nullable Freeze freeze) {
            byte[] source = FilePath.rawBytes(experiment.source());
            SourceList list = experiment.list();
            byte[] listFile = list == null ? null : FilePath.rawBytes(list.file());
            return new ShownExperiment(
                    experiment.id(),
                    experiment.project(),
                    experiment.code(),
                    experiment.title(),
                    experiment.kind().word(),
                    FilePath.render(source),
                    source,
                    listFile == null ? null : FilePath.render(listFile),
                    listFile,
                    list == null ? null : list.form().word(),
                    experiment.acquisition().modality(),
                    experiment.acquisition().scanner(),
                    experiment.acquisition().day(),
                    experiment.registeredAt(),
                    experiment.registeredBy(),
                    ShownFreeze.of(freeze));
        }
    }

    ExperimentApi(Experiments experiments, Freezes freezes) {
        this.experiments = experiments;
        this.freezes = freezes;
    }

    @GetMapping
    Page<ShownExperiment> list(
            @RequestParam(defaultValue = "0") int after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight) {
        Page<Experiment> page = Page.of(limit, most -> experiments.page(sight, after, most), Experiment::id);
        int[] ids = page.items().stream().mapToInt(Experiment::id).toArray();
        Map<Integer, Freeze> frozen =
                freezes.frozen(ids).stream().collect(Collectors.toMap(Freeze::experimentId, Function.identity()));
        return page.map(experiment -> ShownExperiment.of(experiment, frozen.get(experiment.id())));
    }

    @GetMapping("/{project}/{code}")
    ShownExperiment one(@PathVariable String project, @PathVariable String code) {
        return shown(project, code, experiments.find(project, code));
    }

    /** From the next run on the source is what this list says. */
    @PutMapping("/{project}/{code}/list")
    ShownExperiment setList(
            @PathVariable String project, @PathVariable String code, @RequestBody NewList list, Principal actor) {
        return shown(project, code, experiments.setList(project, code, list.sourceList(), actor.getName()));
    }

    /** From the next run on the source is walked. */
    @DeleteMapping("/{project}/{code}/list")
    ShownExperiment walk(@PathVariable String project, @PathVariable String code, Principal actor) {
        return shown(project, code, experiments.setList(project, code, null, actor.getName()));
    }

    private ShownExperiment shown(String project, String code, Optional<Experiment> found) {
        Experiment experiment = found.orElseThrow(Missing.thing("experiment", project + "/" + code));
        Freeze freeze =
                freezes.find(experiment.id()).filter(kept -> !kept.released()).orElse(null);
        return ShownExperiment.of(experiment, freeze);
    }

    /** Lets the next run seal what a frozen experiment's source holds. */
    @PostMapping("/{project}/{code}/release")
    ShownExperiment release(@PathVariable String project, @PathVariable String code, Principal actor) {
        Experiment experiment =
                experiments.find(project, code).orElseThrow(Missing.thing("experiment", project + "/" + code));
        try {
            freezes.release(experiment, actor.getName());
        } catch (Refusal notFrozen) {
            throw Conflict.unless(false, notFrozen);
        }
        return ShownExperiment.of(experiment, null);
    }

    @PostMapping
    ResponseEntity<ShownExperiment> register(@Valid @RequestBody NewExperiment asked, Principal actor, Sight sight) {
        if (!sight.sees(asked.project())) {
            throw Experiments.noProject(asked.project());
        }
        Path source = asked.folder();
        SourceList list = asked.sourceList();
        Acquisition acquisition = asked.acquisition();
        try {
            Experiment experiment = experiments.register(
                    asked.project(),
                    asked.code(),
                    asked.title() == null ? "" : asked.title(),
                    source,
                    list,
                    acquisition,
                    actor.getName());
            return ResponseEntity.created(URI.create("/api/v1/experiments/" + experiment.name()))
                    .body(ShownExperiment.of(experiment, null));
        } catch (Refusal refusal) {
            Optional<Experiment> holder = experiments.withSource(source.normalize());
            boolean free = experiments.find(asked.project(), asked.code()).isEmpty() && holder.isEmpty();
            boolean foreign = refusal.field().equals("source")
                    && holder.filter(known -> !sight.sees(known.project())).isPresent();
            throw Conflict.unless(free, foreign ? new Refusal("source", FOREIGN_SOURCE) : refusal);
        }
    }
}
