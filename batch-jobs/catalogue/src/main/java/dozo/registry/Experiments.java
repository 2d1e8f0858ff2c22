package dozo.registry;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.SiteNames;
import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import dozo.registry.Projects.Project;
import dozo.registry.SourceList.Form;
import dozo.registry.SourceRoots.Placed;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.DuplicateKeyException;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.core.simple.JdbcClient.StatementSpec;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

@Component
public class Experiments {

    /** The message if the user may not see the other experiment: not even its name is shown. */
    public static final String FOREIGN_SOURCE = "this folder is already the source of an experiment of another project";

    static final String REGISTERED = "experiment.registered";

    /** The ledger's details of every registered experiment. */
    static final List<String> TOLD = List.of("source_sha256", "kind", "modality", "scanner", "acquired");

    private static final int PATH_LENGTH_BYTES_MAX = 4_096;

    private static final FileQuestion<Boolean> IS_FOLDER = new FileQuestion<>(Files::isDirectory);
    private static final FileQuestion<Boolean> IS_FILE = new FileQuestion<>(Files::isRegularFile);

    private static final String SELECT = """
            select e.*, p.code as project from experiment e join project p using (project_id)
            """;

    static final RowMapper<Experiment> EXPERIMENT = (row, n) -> new Experiment(
            row.getInt("experiment_id"),
            row.getString("project"),
            row.getString("code"),
            row.getString("title"),
            SourceKind.of(row.getString("source_kind")),
            FilePath.pathOf(row.getBytes("source_root")),
            row.getBoolean("source_bound"),
            list(row),
            names(row),
            new Acquisition(
                    row.getString("modality"), row.getString("scanner"), row.getObject("acquired_on", LocalDate.class)),
            row.getTimestamp("registered_at").toInstant(),
            row.getString("registered_by"));

    private final JdbcClient jdbc;
    private final Projects projects;
    private final Ledger ledger;
    private final InstantSource clock;

    /**
     * One scanning visit or study with a source.
     *
     * @param project its project's code
     * @param code opaque; with the project's it names the folder at a site
     * @param source the folder its files are in
     * @param bound whether the source is below a root of the project, without a link on its path
     * @param list the file list of the source; null: the source is walked
     * @param names how its names are written at the sites
     * @param acquisition how and when it was acquired, as far as known
     */
    public record Experiment(
            int id,
            String project,
            String code,
            String title,
            SourceKind kind,
            Path source,
            boolean bound,
            @Nullable SourceList list,
            SiteNames names,
            Acquisition acquisition,
            Instant registeredAt,
            String registeredBy) {

        /**
         * Returns the path for opening the source without following a link. For a bound source it is the registered
         * path: a link placed there later is not followed. For all others, the links on the path are resolved now.
         */
        public Path opened() {
            return bound ? source : withoutLinks(source);
        }

        /** Returns {@code project/experiment}: its name for people and the ledger, and its folder at a site. */
        public String name() {
            return project + "/" + code;
        }
    }

    public Experiments(JdbcClient jdbc, Projects projects, Ledger ledger, InstantSource clock) {
        this.jdbc = jdbc;
        this.projects = projects;
        this.ledger = ledger;
        this.clock = clock;
    }

    /**
     * Registers an experiment that is walked and whose acquisition is unknown, for a user who may register everything.
     */
    @Transactional
    public Experiment register(String project, String code, String title, Path source, String actor) {
        return register(Sight.EVERYTHING, project, code, title, source, null, Acquisition.UNKNOWN, actor);
    }

    /**
     * Registers an experiment whose files are in a folder of the service's machine. One that was found at a site and whose
     * source is unknown gets this source, title and acquisition.
     *
     * @param sight what the user may see: if not everything, folder and list must be below a root of the project
     * @throws Refusal if the project is missing, the code is malformed or taken, the folder is missing, outside the
     * roots or another experiment's, the list is missing or outside the roots, or it was acquired in the future
     */
    @Transactional
    public Experiment register(
            Sight sight,
            String project,
            String code,
            String title,
            Path source,
            @Nullable SourceList list,
            Acquisition acquisition,
            String actor) {
        Code.checked("code", code);
        checkDay(acquisition, clock);
        Code.checkedTitle(title);
        Project owner =
                projects.find(project).filter(known -> sight.sees(project)).orElseThrow(() -> noProject(project));
        SourceRoots roots = SourceRoots.of(project, owner.roots());
        Placed placed = roots.place("source", checkedPath("source", source), sight);
        Path root = placed.path();
        lock(project, code);
        Optional<Experiment> found = find(project, code).filter(known -> known.kind() == SourceKind.NONE);
        if (found.isPresent() && found.get().names().equals(SiteNames.LOST)) {
            throw Refusal.conflict(
                    "code",
                    "the names of experiment %s at the site are codes that nobody can resolve any more; register the folder under another code",
                    found.get().name());
        }
        if (found.isEmpty()) {
            refuseTakenCode(project, code);
        }
        refuseTakenSource(sight, root);
        checkedFolder("source", root);
        SourceList checkedList = list == null ? null : checkedList(roots, list, sight);
        if (found.isPresent()) {
            complete(found.get(), title, placed, checkedList, acquisition, actor);
            Experiment registered = find(project, code).orElseThrow();
            ledger.append(actor, REGISTERED, registered.name(), detail(registered));
            return registered;
        }
        return insert(owner, code, title, SourceKind.FILESYSTEM, placed, checkedList, acquisition, actor);
    }

    /**
     * Registers an experiment that an origin delivers into one of Dozo's folders, which need not exist yet, or that an
     * origin found in an existing folder. No link on its path is followed.
     *
     * @param wanted its code; null: {@code proposed}, unless the project's names are codes at the sites: then one that says nothing
     * @param proposed made of what the origin calls it
     * @param kind for a file system, the folder is the origin's and stays where it is
     * @param root without links
     * @param sight what the accepting user may see
     * @throws Refusal if the project is missing, the code is malformed or taken, the found folder is missing or another
     * experiment's, or it was acquired in the future
     */
    @Transactional
    public Experiment registerCollected(
            Sight sight,
            String project,
            @Nullable String wanted,
            String proposed,
            String title,
            SourceKind kind,
            Path root,
            Acquisition acquisition,
            String actor) {
        checkDay(acquisition, clock);
        Code.checkedTitle(title);
        Project owner =
                projects.find(project).filter(known -> sight.sees(project)).orElseThrow(() -> noProject(project));
        String code = Code.checked("code", wanted != null ? wanted : owner.coded() ? Code.opaque() : proposed);
        refuseTakenCode(project, code);
        if (kind == SourceKind.FILESYSTEM) {
            refuseTakenSource(sight, root);
            checkedFolder("source", root);
        }
        return insert(owner, code, title, kind, new Placed(root, true), null, acquisition, actor);
    }

    /**
     * Registers an experiment that was found at a site: its title and source are unknown until a user registers it
     * again. Returns the experiment that has the codes already, if there is one.
     *
     * @param coded whether its names at the site are codes: these become its names, its source is unknown from now on, so that no
     *     other names ever join them, and the project's next experiments get codes
     * @throws Refusal if a code is malformed
     */
    @Transactional
    public Experiment registerFound(String project, String code, boolean coded, String actor) {
        Code.checked("code", code);
        Optional<Experiment> known = find(project, code);
        if (known.isEmpty()) {
            insert(
                    projects.findOrCreate(project, actor),
                    code,
                    "",
                    SourceKind.NONE,
                    new Placed(unknownSource(project, code), true),
                    null,
                    Acquisition.UNKNOWN,
                    actor);
        }
        if (coded) {
            projects.setCoded(project, true, actor);
            jdbc.sql("""
                            update experiment
                                set names_lost = true, source_kind = 'none', source_root = :unknown, source_bound = true
                            where code = :code and project_id = (select project_id from project where code = :project)
                            """)
                    .param("code", code)
                    .param("project", project)
                    .param("unknown", FilePath.rawBytes(unknownSource(project, code)))
                    .update();
        }
        return find(project, code).orElseThrow();
    }

    private static Path unknownSource(String project, String code) {
        return Path.of("/source-unknown", project, code);
    }

    /** Sets the source and what else a user says of an experiment that was found at a site. */
    private void complete(
            Experiment found,
            String title,
            Placed source,
            @Nullable SourceList list,
            Acquisition acquisition,
            String actor) {
        StatementSpec update = jdbc.sql("""
                        update experiment
                            set title = :title, source_kind = 'filesystem', source_root = :root, source_bound = :bound,
                                list_file = :list, list_form = :form, list_bound = :listBound, modality = :modality,
                                scanner = :scanner, acquired_on = :day, registered_at = :now, registered_by = :actor
                        where experiment_id = :id
                        """).param("id", found.id());
        described(update, title, source, list, acquisition, actor).update();
    }

    private Experiment insert(
            Project owner,
            String code,
            String title,
            SourceKind kind,
            Placed source,
            @Nullable SourceList list,
            Acquisition acquisition,
            String actor) {
        try {
            StatementSpec insert = jdbc.sql("""
                            insert into experiment (project_id, code, title, source_kind, source_root, source_bound, list_file,
                                                    list_form, list_bound, modality, scanner, acquired_on, registered_at,
                                                    registered_by, name_key)
                            values (:project, :code, :title, :kind, :root, :bound, :list, :form, :listBound,
                                    :modality, :scanner, :day, :now, :actor,
                                    case when :kind <> 'none' then new_name_key(:project) end)
                            """)
                    .param("project", owner.id())
                    .param("code", code)
                    .param("kind", kind.word());
            described(insert, title, source, list, acquisition, actor).update();
        } catch (DuplicateKeyException e) {
            throw Refusal.conflict(
                    "code", "experiment %s/%s or its folder has just been registered", owner.code(), code);
        }
        Experiment registered = find(owner.code(), code).orElseThrow();
        ledger.append(actor, REGISTERED, registered.name(), detail(registered));
        return registered;
    }

    /** Sets the parameters for what a user says of an experiment. */
    private StatementSpec described(
            StatementSpec statement,
            String title,
            Placed source,
            @Nullable SourceList list,
            Acquisition acquisition,
            String actor) {
        return statement
                .param("title", title)
                .param("root", FilePath.rawBytes(source.path()))
                .param("bound", source.bound())
                .param("listBound", list != null && list.bound())
                .param("list", list == null ? null : FilePath.rawBytes(list.file()), Types.BINARY)
                .param("form", list == null ? null : list.form().word(), Types.VARCHAR)
                .param("modality", acquisition.modality(), Types.VARCHAR)
                .param("scanner", acquisition.scanner(), Types.VARCHAR)
                .param("day", acquisition.day(), Types.DATE)
                .param("now", Timestamp.from(clock.instant()))
                .param("actor", actor);
    }

    /**
     * Records that the folder of an experiment was renamed. Its list, if it has one, stays.
     *
     * @param root without links
     * @throws Refusal if the folder is another experiment's
     */
    @Transactional
    public void moved(Experiment experiment, Path root, String actor) {
        withSource(root).ifPresent(known -> {
            throw Refusal.conflict(
                    "source", "folder %s is still the source of experiment %s", shown(root), known.name());
        });
        jdbc.sql("update experiment set source_root = :root, source_bound = true where experiment_id = :id")
                .param("root", FilePath.rawBytes(root))
                .param("id", experiment.id())
                .update();
        ledger.append(
                actor,
                "experiment.changed",
                experiment.name(),
                Map.of("before", "folder " + digest(experiment.source()), "after", "folder " + digest(root)));
    }

    /** Locks an experiment against other changes until the end of the transaction. */
    @Transactional(propagation = Propagation.MANDATORY)
    public void lock(String project, String code) {
        jdbc.sql("""
                        select from experiment e join project p using (project_id)
                        where p.code = :project and e.code = :code for no key update of e
                        """).param("project", project).param("code", code).query().listOfRows();
    }

    /**
     * Sets or removes the file list of an experiment's source, effective from the next look.
     *
     * @param list null: the source is walked
     * @param sight if it is not of everything, the list must be below a root of the project
     * @return the changed experiment; empty if there is none
     * @throws Refusal if the list is missing, or outside the roots
     */
    @Transactional
    public Optional<Experiment> setList(
            Sight sight, String project, String code, @Nullable SourceList list, String actor) {
        Optional<Project> owner = projects.find(project).filter(known -> sight.sees(project));
        if (owner.isEmpty()) {
            return Optional.empty();
        }
        SourceList checked = list == null
                ? null
                : checkedList(SourceRoots.of(project, owner.get().roots()), list, sight);
        // Locked, so that the ledger's "before" is what this change replaces.
        Optional<Experiment> before = jdbc.sql(
                        SELECT + "where p.code = :project and e.code = :code for no key update of e")
                .param("project", project)
                .param("code", code)
                .query(EXPERIMENT)
                .optional();
        if (before.isEmpty() || Objects.equals(before.get().list(), checked)) {
            return before;
        }
        jdbc.sql(
                        "update experiment set list_file = :list, list_form = :form, list_bound = :bound where experiment_id = :id")
                .param("bound", checked != null && checked.bound())
                .param("list", checked == null ? null : FilePath.rawBytes(checked.file()), Types.BINARY)
                .param("form", checked == null ? null : checked.form().word(), Types.VARCHAR)
                .param("id", before.get().id())
                .update();
        ledger.append(
                actor,
                "experiment.changed",
                before.get().name(),
                Map.of("before", toldBy(before.get().list()), "after", toldBy(checked)));
        return find(project, code);
    }

    private static String toldBy(@Nullable SourceList list) {
        return list == null
                ? "walked"
                : "list %s by %s".formatted(digest(list.file()), list.form().word());
    }

    private static Map<String, String> detail(Experiment registered) {
        Map<String, String> detail = new HashMap<>();
        List<String> values = told(registered.source(), registered.kind(), registered.acquisition());
        for (int i = 0; i < TOLD.size(); i++) {
            detail.put(TOLD.get(i), values.get(i));
        }
        SourceList list = registered.list();
        if (list != null) {
            detail.put("list_sha256", digest(list.file()));
            detail.put("list_form", list.form().word());
        }
        return detail;
    }

    /**
     * Returns the digest of a path's bytes: folders may be named after people, and ledger rows are permanent. The
     * experiment has the path itself.
     */
    private static String digest(Path path) {
        return Digest.ofContent(FilePath.rawBytes(path)).toString();
    }

    /** Returns the values of {@link #TOLD}, in that order. */
    static List<String> told(Path source, SourceKind kind, Acquisition acquisition) {
        return List.of(
                digest(source),
                kind.word(),
                known(acquisition.modality()),
                known(acquisition.scanner()),
                known(acquisition.day()));
    }

    public Optional<Experiment> find(String project, String code) {
        return jdbc.sql(SELECT + "where p.code = :project and e.code = :code")
                .param("project", project)
                .param("code", code)
                .query(EXPERIMENT)
                .optional();
    }

    /** Returns an experiment by its {@link Experiment#name() name}. */
    public Optional<Experiment> find(String name) {
        int slash = name.indexOf('/');
        return slash < 0 ? Optional.empty() : find(name.substring(0, slash), name.substring(slash + 1));
    }

    public Optional<Experiment> find(int id) {
        return jdbc.sql(SELECT + "where e.experiment_id = :id")
                .param("id", id)
                .query(EXPERIMENT)
                .optional();
    }

    /** Returns the experiment with this source folder. */
    public Optional<Experiment> withSource(Path source) {
        return jdbc.sql(SELECT + "where e.source_kind = 'filesystem' and sha256(e.source_root) = sha256(:root)")
                .param("root", FilePath.rawBytes(source))
                .query(EXPERIMENT)
                .optional();
    }

    /** Returns those of these experiments that exist, by id. */
    public List<Experiment> of(int[] ids) {
        return jdbc.sql(SELECT + "where e.experiment_id = any(:ids) order by e.experiment_id")
                .param("ids", ids)
                .query(EXPERIMENT)
                .list();
    }

    public List<Experiment> page(int after, int limit) {
        return page(Sight.EVERYTHING, after, limit);
    }

    /** Returns at most {@code limit} experiments with an id above {@code after}, by id. */
    public List<Experiment> page(Sight sight, int after, int limit) {
        return jdbc.sql(SELECT + """
                        where e.experiment_id > :after and in_sight(:seen, p.code)
                        order by e.experiment_id limit :limit
                        """)
                .param("seen", sight.seen())
                .param("after", after)
                .param("limit", limit)
                .query(EXPERIMENT)
                .list();
    }

    /** Refuses a day in the future. Tomorrow is valid, because in some time zones it has begun. */
    static void checkDay(Acquisition acquisition, InstantSource clock) {
        LocalDate latest = clock.instant().atZone(ZoneOffset.UTC).toLocalDate().plusDays(1);
        if (acquisition.day() != null && acquisition.day().isAfter(latest)) {
            throw new Refusal("acquired", "%s is in the future", acquisition.day());
        }
    }

    static String known(@Nullable Object attribute) {
        return attribute == null ? "unknown" : attribute.toString();
    }

    /** Returns how the names of the experiment in this row are written at the sites. */
    public static SiteNames names(ResultSet row) throws SQLException {
        return row.getBoolean("names_lost") ? SiteNames.LOST : SiteNames.of(row.getBytes("name_key"));
    }

    private static @Nullable SourceList list(ResultSet row) throws SQLException {
        byte[] file = row.getBytes("list_file");
        return file == null
                ? null
                : new SourceList(
                        FilePath.pathOf(file), Form.of(row.getString("list_form")), row.getBoolean("list_bound"));
    }

    private static SourceList checkedList(SourceRoots roots, SourceList list, Sight sight) {
        Placed placed = roots.place("list", checkedPath("list", list.file()), sight);
        if (!answer("list", IS_FILE, placed.path())) {
            throw new Refusal("list", "there is no file %s on the service's machine", shown(placed.path()));
        }
        return new SourceList(placed.path(), list.form(), placed.bound());
    }

    static Path checkedFolder(String field, Path folder) {
        if (!answer(field, IS_FOLDER, folder)) {
            throw new Refusal(field, "there is no folder %s on the service's machine", shown(folder));
        }
        return folder;
    }

    private static boolean answer(String field, FileQuestion<Boolean> question, Path path) {
        try {
            return question.about(field, path, FileQuestion.PERSON);
        } catch (IOException notToBeSeen) {
            return false;
        }
    }

    /** Resolves the links on a path; returns the path itself if there is nothing. */
    static Path withoutLinks(Path path) {
        try {
            return path.toRealPath();
        } catch (IOException notThere) {
            return path;
        }
    }

    /** Returns the path without {@code .} and {@code ..}; refuses a path that is relative or too long. */
    public static Path checkedPath(String field, Path path) {
        if (!path.isAbsolute()) {
            throw new Refusal(field, "\"%s\": expected an absolute path", shown(path));
        }
        Path plain = path.normalize();
        if (FilePath.rawBytes(plain).length > PATH_LENGTH_BYTES_MAX) {
            throw new Refusal(field, "expected a path of at most %d bytes", PATH_LENGTH_BYTES_MAX);
        }
        return plain;
    }

    /** Returns the refusal for a project that is missing or not visible. */
    public static Refusal noProject(String code) {
        return new Refusal("project", "project \"%s\" does not exist; create it first", code);
    }

    private void refuseTakenSource(Sight sight, Path root) {
        withSource(root).ifPresent(known -> {
            throw sight.sees(known.project())
                    ? Refusal.conflict(
                            "source", "folder %s is already the source of experiment %s", shown(root), known.name())
                    : Refusal.conflict("source", FOREIGN_SOURCE);
        });
    }

    private void refuseTakenCode(String project, String code) {
        find(project, code).ifPresent(known -> {
            throw Refusal.conflict(
                    "code",
                    "experiment %s is registered already (by %s, %s)",
                    known.name(),
                    known.registeredBy(),
                    known.registeredAt());
        });
        if (!erased(jdbc, List.of(project + "/" + code)).isEmpty()) {
            throw erased(project + "/" + code);
        }
    }

    /** Returns the refusal of the code of an experiment that was erased. */
    static Refusal erased(String name) {
        return Refusal.conflict("code", "experiment %s was erased; its code is not given again", name);
    }

    /** Returns those of these experiments, by {@code PROJECT/EXPERIMENT}, that were erased. */
    public Set<String> erased(Collection<String> names) {
        return erased(jdbc, names);
    }

    static Set<String> erased(JdbcClient jdbc, Collection<String> names) {
        return Set.copyOf(jdbc.sql("""
                        select p.code || '/' || x.code from erasure x join project p using (project_id)
                        where x.begun_at is not null and p.code || '/' || x.code = any(:names)
                        """)
                .param("names", names.toArray(String[]::new))
                .query((row, n) -> row.getString(1))
                .list());
    }

    static String shown(Path path) {
        return FilePath.render(FilePath.rawText(path));
    }
}
