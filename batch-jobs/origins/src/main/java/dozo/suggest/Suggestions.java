package dozo.suggest;

import dozo.file.FilePath;
import dozo.ledger.Sight;
import dozo.registry.Acquisition;
import dozo.registry.Code;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.GivenPaths;
import dozo.registry.Guess;
import dozo.registry.Hint;
import dozo.registry.Hint.Kind;
import dozo.registry.Refusal;
import dozo.registry.RegistrationSettings;
import dozo.registry.Scanners;
import dozo.registry.SourcePlaces;
import dozo.registry.SourcePlaces.SourceFolder;
import dozo.source.dicom.PseudonymousCode;
import dozo.source.dicomweb.Spool;
import dozo.suggest.FolderLook.Limits;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.sql.Types;
import java.text.Normalizer;
import java.time.Duration;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Suggests values for the registration of a folder. Contradicting facts become hints, not guesses. Nothing is
 * registered, and nothing but the folder is read. Studies are recognised by their UIDs, never by a name (ADR 0042).
 */
@Component
@EnableConfigurationProperties(RegistrationSettings.class)
public class Suggestions {

    private static final Logger LOG = LoggerFactory.getLogger(Suggestions.class);

    /** How many of several values a hint names; the user finds the others in the folder. */
    private static final int NAMED_MAX = 5;

    private static final Duration FILE_TIME_MAX = Duration.ofMinutes(1);
    private static final Duration FOLDERS_TIME_MAX = Duration.ofSeconds(10);

    private static final Pattern NOT_IN_CODES = Pattern.compile("[^A-Za-z0-9_-]+");
    private static final Pattern EDGES = Pattern.compile("^[-_]+|-+$");

    private final JdbcClient jdbc;
    private final SourcePlaces places;
    private final Experiments experiments;
    private final Scanners scanners;
    private final PseudonymousCode codes;
    private final InstantSource clock;
    private final ZoneId zone;
    private final RegistrationSettings settings;
    private final Looks looks = new Looks();

    public Suggestions(
            JdbcClient jdbc,
            SourcePlaces places,
            Experiments experiments,
            Scanners scanners,
            PseudonymousCode codes,
            InstantSource clock,
            ZoneId zone,
            RegistrationSettings settings) {
        this.jdbc = jdbc;
        this.places = places;
        this.experiments = experiments;
        this.scanners = scanners;
        this.codes = codes;
        this.clock = clock;
        this.zone = zone;
        this.settings = settings;
    }

    /**
     * Looks into a folder.
     *
     * @param sight unless it includes everything, the folder must be below a source root of a project in sight; about
     * other projects, it is only reported that a study is registered elsewhere
     * @throws Refusal if the folder does not exist, may not be read by this user, cannot be read or does not answer, or
     * too many folders are being read
     */
    public Suggestion of(Sight sight, Path source) {
        return of(sight, source, Limits.USUAL);
    }

    private Suggestion of(Sight sight, Path source, Limits limits) {
        SourceFolder place = places.find(sight, source);
        FolderFacts evidence =
                looks.into(place.opened(), Objects.requireNonNullElse(place.root(), Path.of("/")), limits, codes, zone);
        List<Hint> hints = new ArrayList<>(known(sight, place));
        hints.addAll(duplicates(sight, place.path(), evidence.studies()));
        String project = project(sight, place, evidence, hints);
        String modality = one(evidence.mainModalities(), Kind.SEVERAL_MODALITIES, hints);
        LocalDate day = one(plausible(evidence.days()), Kind.SEVERAL_DAYS, hints);
        String subject = one(evidence.subjects(settings.folderTitles()), Kind.SEVERAL_SUBJECTS, hints);
        String study = one(evidence.studies(), Kind.SEVERAL_STUDIES, hints);
        String scanner = scanner(evidence, hints);
        hints.addAll(remarks(evidence));
        Guess guess = new Guess(
                project,
                code(
                        sight,
                        project,
                        place.path(),
                        words(
                                day,
                                modality,
                                study == null
                                        ? GivenPaths.digest(place.path()).toString()
                                        : Spool.folderOfShown(study))),
                title(place.path(), evidence.dataset(), title(modality, day, subject)),
                modality,
                scanner,
                day,
                List.copyOf(hints));
        return new Suggestion(
                place.path(),
                guess,
                subject,
                List.copyOf(evidence.studies()),
                evidence.filesSeen(),
                evidence.filesRead(),
                evidence.whole());
    }

    /**
     * Returns how the files of a folder were acquired, as far as they agree; unknown if the folder cannot be read now.
     */
    public Acquisition acquisition(Path folder) {
        try {
            FolderFacts evidence = looks.into(folder, folder, Limits.USUAL, codes, zone);
            List<Hint> nobodyAsks = new ArrayList<>();
            return new Acquisition(
                    one(evidence.mainModalities(), Kind.SEVERAL_MODALITIES, nobodyAsks),
                    scanner(evidence, nobodyAsks),
                    one(plausible(evidence.days()), Kind.SEVERAL_DAYS, nobodyAsks));
        } catch (Refusal notNow) {
            LOG.info("headers of a folder were not read: {}", notNow.getMessage());
            return Acquisition.UNKNOWN;
        }
    }

    /**
     * Returns guesses for the lines of a file: for at most {@value FileGuesses#FOLDERS_MAX} folders, and for one
     * minute. Each folder is read once. A folder that must not be read has no guess.
     */
    public FileGuesses forFile(Sight sight) {
        return new FileGuesses(source -> of(sight, source), FILE_TIME_MAX);
    }

    /**
     * Returns guesses for folders that a person has chosen and waits for: the more folders, the less time for each. A
     * folder that must not be read has no guess.
     */
    public FileGuesses forFolders(Sight sight, int count) {
        Duration each = FOLDERS_TIME_MAX.dividedBy(Math.max(1, count));
        Limits limits = Limits.USUAL.within(each);
        return new FileGuesses(source -> of(sight, source, limits), FOLDERS_TIME_MAX);
    }

    /**
     * Records the studies in a newly registered folder, so that they are recognised when they arrive again. If the
     * folder cannot be read now, nothing is recorded.
     */
    public void note(Experiment experiment) {
        try {
            note(
                    experiment.source(),
                    looks.into(experiment.opened(), experiment.opened(), Limits.USUAL, codes, zone)
                            .studies());
        } catch (Refusal notNow) {
            LOG.info("studies of experiment {} were not recorded: {}", experiment.name(), notNow.getMessage());
        }
    }

    /** Does the same for the folders of a file's lines that are registered by now. */
    public void note(FileGuesses guesses) {
        guesses.seen().forEach(suggestion -> note(suggestion.source(), suggestion.studies()));
    }

    private void note(Path source, Collection<String> studies) {
        jdbc.sql("""
                        insert into experiment_study (experiment_id, study_uid, noted_at)
                        select e.experiment_id, u.uid, :now
                        from experiment e, unnest(:studies::text[]) as u (uid)
                        where e.source_kind = 'filesystem' and sha256(e.source_root) = sha256(:source)
                        on conflict do nothing
                        """)
                .param("source", FilePath.rawBytes(source))
                .param("now", Timestamp.from(clock.instant()))
                .param("studies", studies.toArray(String[]::new))
                .update();
    }

    private List<Hint> known(Sight sight, SourceFolder place) {
        return experiments
                .withSource(place.path())
                .map(known ->
                        new Hint(Kind.SAME_FOLDER, sight.sees(known.project()) ? known.name() : "of another project"))
                .stream()
                .toList();
    }

    /** Returns hints for experiments and proposals of the same studies, except those of this folder. */
    private List<Hint> duplicates(Sight sight, Path source, Set<String> studies) {
        if (studies.isEmpty()) {
            return List.of();
        }
        return jdbc
                .sql("""
                        with same as (
                            select experiment_id from study where study_uid = any(:studies)
                            union select experiment_id from experiment_study where study_uid = any(:studies)
                            union select experiment_id from arrival join origin using (origin_id)
                                  where kind = 'dicomweb' and item = any(:studies)
                        )
                        select p.code || '/' || e.code as name, true as registered,
                               in_sight(:seen, p.code) as seen
                        from same join experiment e using (experiment_id) join project p using (project_id)
                        where not (e.source_kind = 'filesystem' and sha256(e.source_root) = sha256(:source))
                        union all
                        select o.name || ' ' || a.arrival_id, false,
                               coalesce(in_sight(:seen, p.code), false)
                        from arrival a join origin o using (origin_id) left join project p on p.project_id = a.project_id
                        where o.kind = 'dicomweb' and a.item = any(:studies) and a.experiment_id is null
                        order by registered desc, name limit 20
                        """)
                .param("studies", studies.toArray(String[]::new))
                .param("seen", sight.seen())
                .param("source", FilePath.rawBytes(source))
                .query((row, n) -> !row.getBoolean("seen")
                        ? Hint.of(Kind.DUPLICATE_ELSEWHERE)
                        : new Hint(
                                row.getBoolean("registered") ? Kind.DUPLICATE : Kind.DUPLICATE_PROPOSED,
                                row.getString("name")))
                .list()
                .stream()
                .distinct()
                .toList();
    }

    /** Returns the project given by the booking or by the folder's place; none if the two differ. */
    private @Nullable String project(Sight sight, SourceFolder place, FolderFacts evidence, List<Hint> hints) {
        List<Optional<String>> booked = booked(sight, evidence);
        if (booked.stream().anyMatch(Optional::isEmpty)) {
            hints.add(Hint.of(Kind.BOOKED_ELSEWHERE));
            return null;
        }
        Set<String> said = booked.stream().flatMap(Optional::stream).collect(Collectors.toCollection(TreeSet::new));
        if (said.isEmpty()) {
            return one(place.projects(), Kind.SEVERAL_PROJECTS, hints);
        }
        if (said.size() == 1 && (place.projects().isEmpty() || place.projects().containsAll(said))) {
            return said.iterator().next();
        }
        said.addAll(place.projects());
        return one(said, Kind.SEVERAL_PROJECTS, hints);
    }

    /** Returns the projects of the folder's bookings; empty for those that are not in sight. */
    private List<Optional<String>> booked(Sight sight, FolderFacts evidence) {
        return jdbc.sql("""
                        select distinct case when in_sight(:seen, p.code) then p.code end as project
                        from booking b join project p using (project_id)
                        where b.study_uid = any(:studies) or b.accession = any(:accessions)
                        """)
                .param("seen", sight.seen())
                .param("studies", evidence.studies().toArray(String[]::new))
                .param("accessions", evidence.accessions().toArray(String[]::new))
                .query((row, n) -> Optional.ofNullable(row.getString("project")))
                .list();
    }

    private @Nullable String scanner(FolderFacts evidence, List<Hint> hints) {
        List<String> stations = evidence.mainStations();
        if (stations.isEmpty()) {
            return scannerByModel(evidence.mainModels(), hints);
        }
        Set<String> found = stations.stream()
                .map(station -> scanners.ofStation(station).orElseGet(() -> asCode(station)))
                .collect(Collectors.toCollection(TreeSet::new));
        String scanner = one(found, Kind.SEVERAL_SCANNERS, hints);
        if (scanner == null) {
            return null;
        }
        if (!Code.isCode(scanner)) {
            hints.add(new Hint(Kind.STATION_NOT_A_CODE, scanner));
            return null;
        }
        stations.stream()
                .filter(station -> scanners.ofStation(station).isEmpty())
                .findFirst()
                .ifPresent(station -> hints.add(new Hint(Kind.UNKNOWN_STATION, station)));
        return scanner;
    }

    /**
     * Returns the scanner that has this model as a station title. A model alone does not identify a scanner: there may
     * be two of it.
     */
    private @Nullable String scannerByModel(List<String> models, List<Hint> hints) {
        String model = one(models, Kind.ONLY_MODEL, hints);
        if (model == null) {
            return null;
        }
        String scanner = scanners.ofStation(model).orElse(null);
        if (scanner == null) {
            hints.add(new Hint(Kind.ONLY_MODEL, model));
        }
        return scanner;
    }

    /** Returns {@code Galan-3T} for {@code Galan 3T}; the unchanged name if no code can be made of it. */
    private static String asCode(String station) {
        String plain = Normalizer.normalize(station, Normalizer.Form.NFKC);
        if (Code.isCode(station) || plain.chars().anyMatch(c -> c < ' ' || c > '~')) {
            return station;
        }
        String code = NOT_IN_CODES.matcher(plain).replaceAll("-");
        code = EDGES.matcher(code).replaceAll("");
        return Code.isCode(code) ? code : station;
    }

    /** Leaves out days in the future. */
    private List<LocalDate> plausible(Set<LocalDate> days) {
        LocalDate tomorrow = clock.instant().atZone(zone).toLocalDate().plusDays(1);
        return days.stream().filter(day -> day.isBefore(tomorrow)).toList();
    }

    private static <T> @Nullable T one(Collection<T> said, Kind several, List<Hint> hints) {
        if (said.size() > 1) {
            hints.add(new Hint(several, some(said)));
        }
        return said.size() == 1 ? said.iterator().next() : null;
    }

    private static String some(Collection<?> said) {
        String first = said.stream().limit(NAMED_MAX).map(Object::toString).collect(Collectors.joining(", "));
        return said.size() > NAMED_MAX ? first + ", …" : first;
    }

    private static List<Hint> remarks(FolderFacts evidence) {
        List<Hint> remarks = new ArrayList<>();
        if (evidence.damaged() > 0) {
            remarks.add(new Hint(Kind.DAMAGED, String.valueOf(evidence.damaged())));
        }
        if (evidence.unreadable() > 0) {
            remarks.add(new Hint(Kind.UNREADABLE, String.valueOf(evidence.unreadable())));
        }
        if (!evidence.whole()) {
            remarks.add(new Hint(Kind.PART, String.valueOf(evidence.filesRead())));
        }
        if (evidence.isSilent()) {
            remarks.add(Hint.of(Kind.NOTHING));
        }
        return remarks;
    }

    /** Returns the title that the dataset gives; else the one of the headers, or the folder's name. */
    private @Nullable String title(Path folder, @Nullable Bids dataset, @Nullable String ofHeaders) {
        String known = dataset == null ? null : dataset.title(settings.folderTitles());
        String best = known == null ? ofHeaders : known;
        FilePath path = FilePath.between(Path.of("/"), folder);
        if (best != null || !settings.folderTitles() || path.isRoot()) {
            return best;
        }
        String name = FilePath.render(path.name());
        return name.length() <= Code.TITLE_LENGTH_MAX ? name : null;
    }

    private static @Nullable String title(
            @Nullable String modality, @Nullable LocalDate day, @Nullable String subject) {
        String title = Stream.of(modality, day, subject)
                .filter(Objects::nonNull)
                .map(String::valueOf)
                .collect(Collectors.joining(" "));
        return title.isEmpty() ? null : title;
    }

    /**
     * Returns a code that a person could have typed: {@code 20261001-MR-3f2a}. The last part is from the study, so that
     * a study has the same code in every folder; for a folder without exactly one study, from its path. A folder that
     * is registered keeps its code. If the code is taken in the project, a number follows.
     */
    private String code(Sight sight, @Nullable String project, Path source, String words) {
        Map<String, Boolean> taken = taken(sight, project, source, words);
        return taken.entrySet().stream()
                .filter(Map.Entry::getValue)
                .map(Map.Entry::getKey)
                .findFirst()
                .orElseGet(() -> IntStream.iterate(1, n -> n + 1)
                        .mapToObj(n -> n == 1 ? words : words + "-" + n)
                        .filter(code -> !taken.containsKey(code))
                        .findFirst()
                        .orElseThrow());
    }

    private static String words(@Nullable LocalDate day, @Nullable String modality, String digest) {
        List<String> words = new ArrayList<>();
        if (day != null) {
            words.add(day.format(DateTimeFormatter.BASIC_ISO_DATE));
        }
        words.add(modality == null ? "folder" : modality);
        // Without a day, many folders have the same words.
        words.add(digest.substring(0, day == null ? 8 : 4));
        return String.join("-", words);
    }

    /** Returns the project's codes that begin so, and any of this folder, with whether it is of this folder. */
    private Map<String, Boolean> taken(Sight sight, @Nullable String project, Path source, String begin) {
        Map<String, Boolean> taken = new HashMap<>();
        jdbc.sql("""
                        select e.code, e.source_kind = 'filesystem' and sha256(e.source_root) = sha256(:source) as same
                        from experiment e join project p using (project_id)
                        where in_sight(:seen, p.code)
                          and (p.code = :project and starts_with(e.code, :begin)
                               or (e.source_kind = 'filesystem' and sha256(e.source_root) = sha256(:source)))
                        """)
                .param("seen", sight.seen())
                .param("project", project, Types.VARCHAR)
                .param("source", FilePath.rawBytes(source))
                .param("begin", begin)
                .query(row -> {
                    taken.put(row.getString("code"), row.getBoolean("same"));
                });
        return taken;
    }
}
