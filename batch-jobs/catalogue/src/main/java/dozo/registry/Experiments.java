package dozo.registry;

import dozo.file.FilePath;
import dozo.file.SiteNames;
import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.registry.Projects.Project;
import dozo.registry.SourceList.Form;
import dozo.registry.SourceRoots.Placed;
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
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;
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

    static final String SELECT = """
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
            row.getString("subject"),
            row.getString("note"),
            row.getTimestamp("registered_at").toInstant(),
            row.getString("registered_by"),
            Retirement.of(row));

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
     * @param subject the pseudonymous code of the person who was examined; null: unknown
     * @param note what people want to remember of it; empty: nothing
     * @param retired since when it is over; null: it is not
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
            @Nullable String subject,
            String note,
            Instant registeredAt,
            String registeredBy,
            @Nullable Retirement retired) {

        /**
         * Returns the path for opening the source without following a link. For a bound source it is the registered
         * path: a link placed there later is not followed. For all others, the links on the path are resolved now.
         */
        public Path opened() {
            return bound ? source : GivenPaths.withoutLinks(source);
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
        Project owner = projects.owner(sight, project);
        SourceRoots roots = SourceRoots.of(project, owner.roots());
        Placed placed = roots.place("source", GivenPaths.checked("source", source), sight);
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
        GivenPaths.folder("source", root);
        SourceList checkedList = list == null ? null : checkedList(roots, list, sight);
        Said said = new Said(title, placed, checkedList, acquisition, actor);
        if (found.isPresent()) {
            complete(found.get(), said);
            return registered(project, code, actor);
        }
        return insert(owner, code, SourceKind.FILESYSTEM, said);
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
        Project owner = projects.owner(sight, project);
        String code = Code.checked("code", wanted != null ? wanted : owner.coded() ? Code.opaque() : proposed);
        refuseTakenCode(project, code);
        if (kind == SourceKind.FILESYSTEM) {
            refuseTakenSource(sight, root);
            GivenPaths.folder("source", root);
        }
        return insert(owner, code, kind, new Said(title, new Placed(root, true), null, acquisition, actor));
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
            Placed unknown = new Placed(unknownSource(project, code), true);
            Said nothing = new Said("", unknown, null, Acquisition.UNKNOWN, actor);
            insert(projects.findOrCreate(project, actor), code, SourceKind.NONE, nothing);
        }
        if (coded) {
            projects.setCoded(project, true, actor);
            jdbc.sql("""
                            update experiment
                                set names_lost = true, source_kind = 'none', source_root = :unknown, source_bound = true
                            where code = :code and project_id = (select project_id from project where code = :project)
                            """)
                    .params(Map.of("code", code, "project", project))
                    .param("unknown", FilePath.rawBytes(unknownSource(project, code)))
                    .update();
        }
        return find(project, code).orElseThrow();
    }

    private static Path unknownSource(String project, String code) {
        return Path.of("/source-unknown", project, code);
    }

    /** What a user says of an experiment. */
    private record Said(
            String title, Placed source, @Nullable SourceList list, Acquisition acquisition, String actor) {}

    /** Sets the source and what else a user says of an experiment that was found at a site. */
    private void complete(Experiment found, Said said) {
        StatementSpec update = jdbc.sql("""
                        update experiment
                            set title = :title, source_kind = 'filesystem', source_root = :root, source_bound = :bound,
                                list_file = :list, list_form = :form, list_bound = :listBound, modality = :modality,
                                scanner = :scanner, acquired_on = :day, registered_at = :now, registered_by = :actor
                        where experiment_id = :id
                        """).param("id", found.id());
        described(update, said).update();
    }

    private Experiment insert(Project owner, String code, SourceKind kind, Said said) {
        try {
            StatementSpec insert = jdbc.sql("""
                            insert into experiment (project_id, code, title, source_kind, source_root, source_bound, list_file,
                                                    list_form, list_bound, modality, scanner, acquired_on, registered_at,
                                                    registered_by, name_key)
                            values (:project, :code, :title, :kind, :root, :bound, :list, :form, :listBound,
                                    :modality, :scanner, :day, :now, :actor,
                                    case when :kind <> 'none' then new_name_key(:project) end)
                            """)
                    .params(Map.of("project", owner.id(), "code", code))
                    .param("kind", kind.word());
            described(insert, said).update();
        } catch (DuplicateKeyException e) {
            throw Refusal.conflict(
                    "code", "experiment %s/%s or its folder has just been registered", owner.code(), code);
        }
        return registered(owner.code(), code, said.actor);
    }

    private Experiment registered(String project, String code, String actor) {
        Experiment registered = find(project, code).orElseThrow();
        Map<String, String> details = RegistrationDetails.of(
                registered.source(), registered.kind(), registered.acquisition(), registered.list());
        ledger.append(actor, RegistrationDetails.REGISTERED, registered.name(), details);
        return registered;
    }

    /** Sets the parameters for what a user says of an experiment. */
    private StatementSpec described(StatementSpec statement, Said said) {
        SourceList list = said.list;
        return statement
                .params(Map.of("title", said.title, "actor", said.actor, "now", Timestamp.from(clock.instant())))
                .params(Map.of("root", FilePath.rawBytes(said.source.path()), "bound", said.source.bound()))
                .param("listBound", list != null && list.bound())
                .param("list", list == null ? null : FilePath.rawBytes(list.file()), Types.BINARY)
                .param("form", list == null ? null : list.form().word(), Types.VARCHAR)
                .params(Rows.params(said.acquisition));
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
                    "source", "folder %s is still the source of experiment %s", GivenPaths.shown(root), known.name());
        });
        jdbc.sql("update experiment set source_root = :root, source_bound = true where experiment_id = :id")
                .params(Map.of("root", FilePath.rawBytes(root), "id", experiment.id()))
                .update();
        ledger.change(
                actor,
                "experiment.changed",
                experiment.name(),
                RegistrationDetails.of(experiment.source()),
                RegistrationDetails.of(root));
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
        lock(project, code);
        Optional<Experiment> before = find(project, code);
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
        ledger.change(
                actor,
                "experiment.changed",
                before.get().name(),
                RegistrationDetails.of(before.get().list()),
                RegistrationDetails.of(checked));
        return find(project, code);
    }

    public Optional<Experiment> find(String project, String code) {
        return jdbc.sql(SELECT + "where p.code = :project and e.code = :code")
                .params(Map.of("project", project, "code", code))
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

    /** Returns those experiments with these {@linkplain Experiment#name() names} that are visible, by name. */
    public Map<String, Experiment> named(Sight sight, Collection<String> names) {
        List<String[]> parts = names.stream()
                .map(name -> name.split("/", -1))
                .filter(each -> each.length == 2)
                .toList();
        return jdbc
                .sql(SELECT + """
                        join unnest(:projects::text[], :codes::text[]) n (project, code)
                             on p.code = n.project and e.code = n.code
                        where in_sight(:seen, p.code)
                        """)
                .param("projects", parts.stream().map(each -> each[0]).toArray(String[]::new))
                .param("codes", parts.stream().map(each -> each[1]).toArray(String[]::new))
                .param("seen", sight.seen())
                .query(EXPERIMENT)
                .list()
                .stream()
                .collect(Collectors.toMap(Experiment::name, Function.identity(), (one, _) -> one));
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
                .params(Map.of("seen", sight.seen(), "after", after, "limit", limit))
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
        Placed placed = roots.place("list", GivenPaths.checked("list", list.file()), sight);
        return new SourceList(GivenPaths.file("list", placed.path()), list.form(), placed.bound());
    }

    /** Returns the refusal for a project that is missing or not visible. */
    public static Refusal noProject(String code) {
        return new Refusal("project", "project \"%s\" does not exist; create it first", code);
    }

    void refuseTakenSource(Sight sight, Path root) {
        withSource(root).ifPresent(known -> {
            throw sight.sees(known.project())
                    ? Refusal.conflict(
                            "source",
                            "folder %s is already the source of experiment %s",
                            GivenPaths.shown(root),
                            known.name())
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
}
