package dozo.api;

import static java.util.Objects.requireNonNull;

import dozo.api.ShownExperiment.ShownFreeze;
import dozo.api.http.Editions;
import dozo.api.http.IfMatch;
import dozo.api.http.Missing;
import dozo.api.http.Page;
import dozo.api.http.Sheet;
import dozo.api.http.Verb;
import dozo.export.Columns;
import dozo.file.FilePath;
import dozo.ledger.Sight;
import dozo.manifest.Freezes;
import dozo.manifest.Freezes.Freeze;
import dozo.registry.Acquisition;
import dozo.registry.BulkRegistration;
import dozo.registry.BulkRegistration.Answer;
import dozo.registry.BulkRegistration.Mode;
import dozo.registry.Corrections;
import dozo.registry.Corrections.Correction;
import dozo.registry.ExperimentOrder;
import dozo.registry.ExperimentOrder.Place;
import dozo.registry.ExperimentSearch;
import dozo.registry.ExperimentSearch.Filter;
import dozo.registry.ExperimentSearch.Found;
import dozo.registry.ExperimentSearch.State;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Guess;
import dozo.registry.Hint;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.registry.SourceList;
import dozo.registry.Verdict;
import dozo.registry.Verdict.Outcome;
import dozo.registry.WrittenDay;
import dozo.suggest.FileGuesses;
import dozo.suggest.Suggestion;
import dozo.suggest.Suggestions;
import dozo.web.Change;
import jakarta.validation.Valid;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Path;
import java.security.Principal;
import java.time.LocalDate;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.DeleteMapping;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PatchMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.PutMapping;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestHeader;
import org.springframework.web.bind.annotation.RequestMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** Experiments. */
@RestController
@RequestMapping("/api/v1/experiments")
public record ExperimentApi(
        Experiments experiments,
        ExperimentSearch search,
        BulkRegistration bulk,
        Suggestions suggestions,
        Freezes freezes,
        SiteChoice sites,
        Editions editions,
        Corrections corrections) {

    private static final Columns<ShownExperiment> COLUMNS = Columns.of(ShownExperiment.class)
            .without("sourceBytes", "list", "listBytes", "listForm", "frozen", "retired")
            .and(Columns.of("frozenAt", ShownFreeze::frozenAt).in(ShownExperiment::frozen));

    /** A line of a sheet, with its place in the order. */
    private record Line(ShownExperiment shown, Place place) {}

    /**
     * What a folder could be registered as. Fields that are unknown or ambiguous are missing.
     *
     * @param subject the pseudonymous code of the only subject in its files
     * @param studies the StudyInstanceUIDs in its files
     * @param filesSeen the number of files found, of which {@code filesRead} were read
     * @param whole whether the whole folder was searched
     * @param hints what to check before registering it
     */
    @SuppressWarnings("ArrayRecordComponent") // JSON's base64; written once
    public record ShownSuggestion(
            String source,
            byte[] sourceBytes,
            @Nullable String project,
            @Nullable String code,
            @Nullable String title,
            @Nullable String modality,
            @Nullable String scanner,
            @Nullable LocalDate acquired,
            @Nullable String subject,
            List<String> studies,
            int filesSeen,
            int filesRead,
            boolean whole,
            List<Hint> hints) {

        static ShownSuggestion of(Suggestion suggestion) {
            byte[] source = FilePath.rawBytes(suggestion.source());
            Guess guess = suggestion.guess();
            return new ShownSuggestion(
                    FilePath.render(source),
                    source,
                    guess.project(),
                    guess.code(),
                    guess.title(),
                    guess.modality(),
                    guess.scanner(),
                    guess.acquired(),
                    suggestion.subject(),
                    suggestion.studies(),
                    suggestion.filesSeen(),
                    suggestion.filesRead(),
                    suggestion.whole(),
                    suggestion.hints());
        }
    }

    /**
     * The result for a CSV file.
     *
     * @param encoding the encoding of the file
     * @param mode all or each
     * @param accepted valid lines that were not registered
     */
    public record ShownBulk(
            String encoding,
            String separator,
            String mode,
            boolean dryRun,
            long registered,
            long accepted,
            long unchanged,
            long refused,
            List<Verdict> lines) {}

    /**
     * Lists the experiments that match; all without parameters. {@code frozen} excludes the other parameters. Retired ones are only
     * found by {@code q} or {@code state}.
     *
     * @param sort registered (default: by id), name, title, modality, scanner, acquired, state, files, size or safe; with
     *     {@code -} before it in descending order
     */
    @Verb(
            value =
                    "experiments [TEXT:q] [--project=P] [--modality=M] [--scanner=N] [--from=DAY:acquiredFrom] [--until=DAY:acquiredUntil] [--state=STATE] [--source=PATH] [--site=S] [--sort=KEY]",
            arguments = {
                "TEXT=part of the code or title, or the start of PROJECT or PROJECT/CODE; with a / also part of the source's path",
                "--source=only with this part in the source's path",
                "--state=only lost, damaged, frozen, source-missing, late, blocked, at-risk (all of these), copying, complete, arriving, planned, verified or retired",
                "--sort=by registered (default), name, title, modality, scanner, acquired, state, files, size or safe; with - before it in descending order (--sort=-size)"
            },
            about = "Lists experiments, with search.",
            columns = {
                "EXPERIMENT={project}/{code}",
                "TITLE={title}|",
                "~STATE={state=frozen?}{state}|{state=retired?}{state}|{state}[{frozen?} frozen]|{retired?}retired|[{frozen?}frozen]",
                "SIZE={bytes size}|",
                "ACQUIRED={acquired}|",
                "MODALITY={modality}|",
                "SCANNER={scanner}|",
                "SOURCE={source}|"
            },
            none = "No such experiment.",
            example = "dozo experiments --state damaged")
    @GetMapping
    @Nullable
    Page<ShownExperiment> list(
            @RequestParam(required = false) @Nullable String q,
            @RequestParam(required = false) @Nullable String project,
            @RequestParam(required = false) @Nullable String modality,
            @RequestParam(required = false) @Nullable String scanner,
            @RequestParam(required = false) @Nullable LocalDate acquiredFrom,
            @RequestParam(required = false) @Nullable LocalDate acquiredUntil,
            @RequestParam(required = false) @Nullable State state,
            @RequestParam(required = false) @Nullable String site,
            @RequestParam(required = false) @Nullable String source,
            @RequestParam(defaultValue = "false") boolean frozen,
            @RequestParam(required = false) @Nullable ExperimentOrder sort,
            @RequestParam(defaultValue = "0") String after,
            @RequestParam(defaultValue = Page.LIMIT) int limit,
            Sight sight,
            Sheet sheet) {
        ExperimentOrder order = sort == null ? ExperimentOrder.REGISTERED : sort;
        Place begin = after.equals("0") ? null : Place.of(order.by(), after);
        if (frozen && !sheet.wanted()) {
            return frozen(sight, begin == null ? 0 : begin.id(), limit);
        }
        State only = frozen ? State.FROZEN : state;
        Filter wanted = new Filter(q, project, modality, scanner, acquiredFrom, acquiredUntil, only, source);
        // If there are several sites, an experiment has a state at each of them. The list does not require a choice of
        // one.
        boolean anywhere = !order.by().atSite() && (wanted.state() == null || wanted.state() == State.FROZEN);
        OptionalInt one = anywhere ? sites.idIfClear(site) : OptionalInt.of(sites.idOf(site));
        int at = one.orElse(Sites.NO_SITE);
        if (sheet.wanted()) {
            Sheet.Pages<Line, @Nullable Place> pages = (last, most) -> {
                List<Found> found = search.page(sight, wanted, at, order, last, most);
                List<ShownExperiment> shown = shown(found, one.isPresent());
                return IntStream.range(0, found.size())
                        .mapToObj(i -> new Line(shown.get(i), found.get(i).place()))
                        .toList();
            };
            sheet.send("experiments", COLUMNS.in(Line::shown), Sheet.paged(Sheet.PAGE, begin, pages, Line::place));
            return null;
        }
        Page<Found> page = Page.of(limit, most -> search.page(sight, wanted, at, order, begin, most), Found::place);
        return new Page<>(shown(page.items(), one.isPresent()), page.next());
    }

    /** Returns experiments in REST's form, with their states if the site is clear. */
    private List<ShownExperiment> shown(List<Found> found, boolean atSite) {
        int[] ids = found.stream().mapToInt(each -> each.experiment().id()).toArray();
        Map<Integer, Freeze> frozen =
                freezes.frozen(ids).stream().collect(Collectors.toMap(Freeze::experimentId, Function.identity()));
        return found.stream()
                .map(each -> ShownExperiment.of(
                        each.experiment(),
                        frozen.get(each.experiment().id()),
                        atSite ? each.state() : null,
                        atSite ? each.held() : null))
                .toList();
    }

    private Page<ShownExperiment> frozen(Sight sight, int after, int limit) {
        Page<Freeze> page = Page.of(limit, most -> freezes.page(sight, after, most), Freeze::experimentId);
        int[] ids = page.items().stream().mapToInt(Freeze::experimentId).toArray();
        Map<Integer, Experiment> named =
                experiments.of(ids).stream().collect(Collectors.toMap(Experiment::id, Function.identity()));
        return page.map(freeze -> ShownExperiment.of(requireNonNull(named.get(freeze.experimentId())), freeze));
    }

    /**
     * Registers the experiments of a CSV file. The response is 200 even if all lines are refused. The charset of the content type
     * is the file's encoding, if given. 422: the whole file cannot be parsed.
     */
    @PostMapping(path = "/bulk", consumes = "text/csv")
    ShownBulk registerAll(
            @RequestParam(defaultValue = "all") Mode mode,
            @RequestParam(defaultValue = "false") boolean dryRun,
            @RequestParam(defaultValue = "false") boolean suggest,
            @RequestHeader("Content-Type") String type,
            InputStream csv,
            Principal actor,
            Sight sight)
            throws IOException {
        FileGuesses guesses = suggest ? suggestions.forFile(sight) : null;
        Answer answer = bulk.register(sight, csv, Sheet.charset(type), mode, dryRun, guesses, actor.getName());
        if (guesses != null && !dryRun) {
            suggestions.note(guesses);
        }
        return new ShownBulk(
                answer.encoding(),
                String.valueOf(answer.separator()),
                mode.word(),
                dryRun,
                answer.count(Outcome.REGISTERED),
                answer.count(Outcome.ACCEPTED),
                answer.count(Outcome.UNCHANGED),
                answer.count(Outcome.REFUSED),
                answer.lines());
    }

    /** Searches a folder and suggests what to register it as; registers nothing. 409: too many folders are being read. */
    @GetMapping("/suggestions")
    ShownSuggestion suggest(
            @RequestParam(required = false) @Nullable String source,
            @RequestParam(required = false) @Nullable String sourceBytes,
            Sight sight) {
        if ((source == null) == (sourceBytes == null)) {
            throw new Refusal("source", "expected either source or sourceBytes: the folder's absolute path");
        }
        try {
            byte[] bytes = sourceBytes == null ? null : Base64.getDecoder().decode(sourceBytes);
            return ShownSuggestion.of(suggestions.of(sight, NewExperiment.path("source", source, bytes)));
        } catch (IllegalArgumentException e) {
            throw new Refusal("sourceBytes", "expected the path in base64");
        }
    }

    static @Nullable LocalDate day(String field, @Nullable String text) {
        return text == null ? null : WrittenDay.ofIso(field, text);
    }

    /** Shows one experiment. */
    @GetMapping("/{project}/{code}")
    ShownExperiment one(@PathVariable String project, @PathVariable String code) {
        return shown(project, code, experiments.find(project, code));
    }

    /** Sets a file list, which runs read instead of walking the source, from the next run on. */
    @Verb(
            value = "source PROJECT/EXPERIMENT:project/code --list=FILE:listBytes --list-form=FORM",
            arguments = {
                "PROJECT/EXPERIMENT=the experiment",
                "--list=a file list to read instead of walking the folder, on the service's machine"
            },
            about =
                    "Sets how runs find an experiment's files, from the next run on: by a file list or by walking the folder.",
            says = "from the next run on, {project}/{code} is read from the list {list}",
            example = "dozo source P001/S0001 --list /data/lists/S0001 --list-form find")
    @PutMapping("/{project}/{code}/list")
    ShownExperiment setList(
            @PathVariable String project,
            @PathVariable String code,
            @RequestBody NewExperiment.NewList list,
            IfMatch seen,
            Principal actor,
            Sight sight) {
        return changeList(project, code, list.sourceList(), seen, actor, sight);
    }

    /** Removes the file list: runs walk the source again, from the next run on. */
    @Verb(
            value = "source PROJECT/EXPERIMENT:project/code --walk:-",
            arguments = {"PROJECT/EXPERIMENT=the experiment", "--walk=walks the folder"},
            says = "from the next run on, {project}/{code} is walked",
            example = "dozo source P001/S0001 --walk")
    @DeleteMapping("/{project}/{code}/list")
    ShownExperiment walk(
            @PathVariable String project, @PathVariable String code, IfMatch seen, Principal actor, Sight sight) {
        return changeList(project, code, null, seen, actor, sight);
    }

    private ShownExperiment changeList(
            String project, String code, @Nullable SourceList list, IfMatch seen, Principal actor, Sight sight) {
        return shown(
                project,
                code,
                editions.change(
                        seen,
                        () -> experiments.lock(project, code),
                        () -> experiments.find(project, code).map(this::shown),
                        () -> experiments.setList(sight, project, code, list, actor.getName())));
    }

    private ShownExperiment shown(String project, String code, Optional<Experiment> found) {
        return shown(found.orElseThrow(Missing.thing("experiment", project + "/" + code)));
    }

    private ShownExperiment shown(Experiment experiment) {
        Freeze freeze =
                freezes.find(experiment.id()).filter(kept -> !kept.released()).orElse(null);
        return ShownExperiment.of(experiment, freeze);
    }

    /**
     * Corrects what was typed of an experiment. Fields that are missing stay; an empty one is unknown from now on. Nothing is sent again.
     */
    @Verb(
            about = "Corrects what was typed of an experiment, or of all experiments of a CSV file.",
            value =
                    "edit PROJECT/EXPERIMENT:project/code [--title=TEXT] [--modality=CODE] [--scanner=CODE] [--acquired=DAY] [--subject=CODE] [--note=TEXT]",
            arguments = "PROJECT/EXPERIMENT=the experiment",
            says = "{project}/{code} is corrected",
            example = {
                "dozo edit P001/S0001 --title 'Visual grating, second visit' --acquired 2026-10-01",
                "dozo edit P001/S0001 --scanner ''"
            })
    @PatchMapping("/{project}/{code}")
    ShownExperiment edit(
            @PathVariable String project,
            @PathVariable String code,
            @RequestBody Correction correction,
            IfMatch seen,
            Principal actor) {
        return shown(
                project,
                code,
                editions.change(
                        seen,
                        () -> experiments.lock(project, code),
                        () -> experiments.find(project, code).map(this::shown),
                        () -> corrections.correct(project, code, correction, actor.getName())));
    }

    /** Releases a frozen experiment: the next run seals the source as it is. 409: it is not frozen. */
    @Verb(
            value = "release PROJECT/EXPERIMENT:project/code",
            arguments = "PROJECT/EXPERIMENT=the experiment",
            says = "released {project}/{code}: the next run seals the present content of its source",
            example = "dozo release P001/S0001")
    @Change(destroys = true)
    @PostMapping("/{project}/{code}/release")
    ShownExperiment release(@PathVariable String project, @PathVariable String code, Principal actor) {
        Experiment experiment =
                experiments.find(project, code).orElseThrow(Missing.thing("experiment", project + "/" + code));
        freezes.release(experiment, actor.getName(), null);
        return ShownExperiment.of(experiment, null);
    }

    /** Registers an experiment. */
    @PostMapping
    @ResponseStatus(HttpStatus.CREATED)
    ResponseEntity<ShownExperiment> register(@Valid @RequestBody NewExperiment asked, Principal actor, Sight sight) {
        Path source = asked.folder();
        SourceList list = asked.sourceList();
        Acquisition acquisition = asked.acquisition();
        Experiment experiment = experiments.register(
                sight,
                asked.project(),
                asked.code(),
                asked.title() == null ? "" : asked.title(),
                source,
                list,
                acquisition,
                actor.getName());
        suggestions.note(experiment);
        return ResponseEntity.created(URI.create("/api/v1/experiments/" + experiment.name()))
                .body(ShownExperiment.of(experiment, null));
    }
}
