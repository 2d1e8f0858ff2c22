package dozo.registry;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import java.nio.file.Path;
import java.sql.Array;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.core.simple.JdbcClient.StatementSpec;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

@Component
public class Projects {

    private static final RowMapper<Project> PROJECT = (row, n) -> new Project(
            row.getInt("project_id"),
            row.getString("code"),
            row.getString("title"),
            new Threshold(row.getInt("tripwire_percent"), row.getInt("tripwire_entries")),
            paths(row.getArray("source_roots")),
            paths(row.getArray("restore_roots")),
            row.getObject("drill_days", Integer.class),
            row.getInt("priority"),
            row.getBoolean("coded"),
            row.getObject("late_hours", Integer.class),
            row.getTimestamp("created_at").toInstant(),
            Retirement.of(row));

    private static final String CODES = "codes";
    private static final String KEPT = "kept";

    private static final int DRILL_DAYS_MAX = 3_660;
    private static final int PRIORITY_MAX = 100;
    private static final int LATE_HOURS_MAX = 87_840;

    private final JdbcClient jdbc;
    private final Ledger ledger;
    private final InstantSource clock;

    /**
     * How much of an experiment must be lost for the tripwire to freeze it (ADR 0019).
     *
     * @param percent of files and links, or of bytes: 1 to 100
     * @param entries the least number of files and links, 10 or more; in a smaller
     *     experiment {@code percent} of it, but at least half
     */
    public record Threshold(int percent, int entries) {

        private static final int ENTRIES_MIN = 10;

        /** Refuses values outside these limits ({@link Refusal}); so does the database. */
        public Threshold {
            if (percent < 1 || percent > 100) {
                throw new Refusal("percent", "%d: expected 1 to 100", percent);
            }
            if (entries < ENTRIES_MIN) {
                throw new Refusal("entries", "%d: expected %d or more", entries, ENTRIES_MIN);
            }
        }

        private String text() {
            return "tripwire at %d %%, %d entries".formatted(percent, entries);
        }
    }

    /**
     * A project owns experiments; its code names its folder at a site.
     *
     * @param roots the folders below which its sources are, as they were entered
     * @param restoreRoots the folders below which its experiments may be restored, as they were entered
     * @param drillDays the number of days within which it must be rehearsed; null: that of the setting
     * @param priority its share of the time that sending takes, compared with the other projects: 1 to 100
     * @param coded whether experiments that are registered from now on get codes instead of names at the sites
     * @param lateHours how long its data may wait for the second copy, in hours; null: as long as the setting says
     * @param retired since when it is over; null: it is not
     */
    public record Project(
            int id,
            String code,
            String title,
            Threshold tripwire,
            List<Path> roots,
            List<Path> restoreRoots,
            @Nullable Integer drillDays,
            int priority,
            boolean coded,
            @Nullable Integer lateHours,
            Instant createdAt,
            @Nullable Retirement retired) {

        /**
         * Returns this project, to which something is added.
         *
         * @throws Refusal if it is retired
         */
        public Project living(String field) {
            if (retired != null) {
                throw Projects.retired(field, code);
            }
            return this;
        }

        /** Returns what new experiments have at the sites instead of the names of their sources: codes; or kept. */
        public String siteNames() {
            return coded ? CODES : KEPT;
        }
    }

    public Projects(JdbcClient jdbc, Ledger ledger, InstantSource clock) {
        this.jdbc = jdbc;
        this.ledger = ledger;
        this.clock = clock;
    }

    /**
     * Creates a project.
     *
     * @throws Refusal if the code is malformed or taken
     */
    @Transactional
    public Project create(String code, String title, String actor) {
        return insert(code, title, actor)
                .orElseThrow(() -> Refusal.conflict("code", "project %s exists already", code));
    }

    /**
     * Returns the project with this code, and creates it if there is none. Callers at the same time get the same one.
     *
     * @throws Refusal if the code is malformed
     */
    @Transactional
    public Project findOrCreate(String code, String actor) {
        return insert(code, "", actor).or(() -> find(code)).orElseThrow();
    }

    /** Inserts a project; empty: the code is taken. */
    private Optional<Project> insert(String code, String title, String actor) {
        Code.checked("code", code);
        Code.checkedTitle(title);
        Optional<Project> inserted = jdbc.sql("""
                        insert into project (code, title, created_at) values (:code, :title, :now)
                        on conflict (code) do nothing returning *
                        """)
                .param("code", code)
                .param("title", title)
                .param("now", Timestamp.from(clock.instant()))
                .query(PROJECT)
                .optional();
        // Without the title: it may contain a person's name, and ledger rows are permanent.
        inserted.ifPresent(_ -> ledger.append(actor, "project.created", code, Map.of()));
        return inserted;
    }

    /**
     * Creates a project with source roots and a choice of names at the sites.
     *
     * @throws Refusal as {@link #create(String, String, String)}, {@link #setSiteNames} and {@link #setRoots}
     */
    @Transactional
    public Project create(String code, String title, String siteNames, List<Path> roots, String actor) {
        create(code, title, actor);
        Project project = setSiteNames(code, siteNames, actor).orElseThrow();
        return roots.isEmpty() ? project : setRoots(code, roots, actor).orElseThrow();
    }

    /**
     * Sets the title, by which people know a project; its code names a folder at the sites and stays.
     *
     * @return the changed project; empty if there is none with this code
     * @throws Refusal if it is too long or not one line
     */
    @Transactional
    public Optional<Project> setTitle(String code, String title, String actor) {
        return change(
                code,
                Project::title,
                Code.checkedTitle(title.strip()),
                // It may contain a person's name, and ledger rows are permanent.
                each -> "title " + Digest.ofText(each),
                jdbc.sql("update project set title = :title where code = :code returning *")
                        .param("title", title.strip()),
                actor);
    }

    /**
     * Sets the threshold of a project's tripwire, effective from the next look at a source. Frozen experiments stay
     * frozen.
     *
     * @return the changed project; empty if there is none with this code
     */
    @Transactional
    public Optional<Project> setTripwire(String code, Threshold tripwire, String actor) {
        return change(
                code,
                Project::tripwire,
                tripwire,
                Threshold::text,
                jdbc.sql("""
                                update project set tripwire_percent = :percent, tripwire_entries = :entries
                                where code = :code returning *
                                """).param("percent", tripwire.percent()).param("entries", tripwire.entries()),
                actor);
    }

    /**
     * Sets the number of days within which a project must be rehearsed.
     *
     * @param days 1 to 3,660; null: the number of the setting
     * @return the changed project; empty if there is none with this code
     * @throws Refusal if the number is outside these limits
     */
    @Transactional
    public Optional<Project> setDrillDays(String code, @Nullable Integer days, String actor) {
        if (days != null && (days < 1 || days > DRILL_DAYS_MAX)) {
            throw new Refusal("days", "%d: expected 1 to %d", days, DRILL_DAYS_MAX);
        }
        return change(
                code,
                Project::drillDays,
                days,
                wanted -> wanted == null ? "drills as by the setting" : "drills within %d days".formatted(wanted),
                jdbc.sql("update project set drill_days = :days where code = :code returning *")
                        .param("days", days),
                actor);
    }

    /**
     * Sets the share of the time that a project gets, from the next night on: a project with twice the priority of another one
     * gets twice the time. Experiments that their scanner deletes come first, whatever the priority (ADR 0076).
     *
     * @param priority 1 to 100; 10 unless it was changed
     * @return the changed project; empty if there is none with this code
     * @throws Refusal if the number is outside these limits
     */
    @Transactional
    public Optional<Project> setPriority(String code, int priority, String actor) {
        if (priority < 1 || priority > PRIORITY_MAX) {
            throw new Refusal("priority", "%d: expected 1 to %d", priority, PRIORITY_MAX);
        }
        return change(
                code,
                Project::priority,
                priority,
                "priority %d"::formatted,
                jdbc.sql("update project set priority = :priority where code = :code returning *")
                        .param("priority", priority),
                actor);
    }

    /**
     * Sets how long the data of a project may wait for the second copy until it is at risk.
     *
     * @param hours 1 to 87,840 (3,660 days); null: as long as the setting says
     * @return the changed project; empty if there is none with this code
     * @throws Refusal if the number is outside these limits
     */
    @Transactional
    public Optional<Project> setLateHours(String code, @Nullable Integer hours, String actor) {
        if (hours != null && (hours < 1 || hours > LATE_HOURS_MAX)) {
            throw new Refusal("hours", "%d: expected 1 to %d", hours, LATE_HOURS_MAX);
        }
        return change(
                code,
                Project::lateHours,
                hours,
                wanted -> wanted == null ? "late as by the setting" : "late after %d hours".formatted(wanted),
                jdbc.sql("update project set late_hours = :hours where code = :code returning *")
                        .param("hours", hours, Types.INTEGER),
                actor);
    }

    /**
     * Sets how the names of sources are written at the sites, for experiments that are registered from now on. Those that are
     * registered already stay as they are (ADR 0092).
     *
     * @param siteNames codes, or kept
     * @return the changed project; empty if there is none with this code
     * @throws Refusal if it is neither
     */
    @Transactional
    public Optional<Project> setSiteNames(String code, String siteNames, String actor) {
        if (!List.of(CODES, KEPT).contains(siteNames)) {
            throw new Refusal("siteNames", "\"%s\": expected codes or kept", siteNames);
        }
        return setCoded(code, siteNames.equals(CODES), actor);
    }

    Optional<Project> setCoded(String code, boolean coded, String actor) {
        return change(
                code,
                Project::coded,
                coded,
                codes -> codes ? "names at sites: codes" : "names at sites: kept",
                jdbc.sql("update project set coded = :coded where code = :code returning *")
                        .param("coded", coded),
                actor);
    }

    /**
     * Sets the folders below which the sources of a project are. Registered experiments stay registered, and bound ones
     * stay bound.
     *
     * @return the changed project; empty if there is none with this code
     * @throws Refusal if one of them is not a folder of the service's machine, or overlaps with a restore folder, or
     * there are too many
     */
    @Transactional
    public Optional<Project> setRoots(String code, List<Path> roots, String actor) {
        return setRoots(code, roots, List.of(), actor);
    }

    /** @param kept roots that the project has, which need not be there now */
    @Transactional
    Optional<Project> setRoots(String code, List<Path> roots, List<Path> kept, String actor) {
        List<Path> checked = SourceRoots.checked(roots);
        List<Path> restoreRoots = jdbc
                .sql("select restore_roots from project where restore_roots <> '{}'")
                .query((row, n) -> paths(row.getArray("restore_roots")))
                .list()
                .stream()
                .flatMap(List::stream)
                .toList();
        SourceRoots.overlap(checked, restoreRoots).ifPresent(root -> {
            throw new Refusal("roots", "%s overlaps with a restore folder", GivenPaths.shown(root));
        });
        List<Path> all = SourceRoots.limited(
                Stream.concat(checked.stream(), kept.stream()).distinct().toList());
        return change(
                code,
                Project::roots,
                all,
                folders -> "source roots " + SourceRoots.text(folders),
                jdbc.sql("update project set source_roots = :roots::bytea[] where code = :code returning *")
                        .param("roots", raw(all)),
                actor);
    }

    /**
     * Sets the folders below which the experiments of a project may be restored; {@link RestorePlaces} has checked
     * them.
     */
    @Transactional
    Optional<Project> setRestoreRoots(String code, List<Path> checked, String actor) {
        return change(
                code,
                Project::restoreRoots,
                checked,
                folders -> "restore folders " + SourceRoots.text(folders),
                jdbc.sql("update project set restore_roots = :roots::bytea[] where code = :code returning *")
                        .param("roots", raw(checked)),
                actor);
    }

    private static byte[][] raw(List<Path> folders) {
        return folders.stream().map(FilePath::rawBytes).toArray(byte[][]::new);
    }

    /**
     * Changes one attribute of a project, and records it in the ledger; does nothing if it has the wanted value.
     *
     * @param update lacks only the project's code
     */
    private <T extends @Nullable Object> Optional<Project> change(
            String code,
            Function<Project, T> attribute,
            T wanted,
            Function<T, String> text,
            StatementSpec update,
            String actor) {
        Optional<Project> before = locked(code);
        if (before.isEmpty() || Objects.equals(attribute.apply(before.get()), wanted)) {
            return before;
        }
        Project after = update.param("code", code).query(PROJECT).single();
        ledger.change(actor, "project.changed", code, text.apply(attribute.apply(before.get())), text.apply(wanted));
        return Optional.of(after);
    }

    /** Returns a project, locked, so that the ledger's "before" is what the change replaces. */
    private Optional<Project> locked(String code) {
        return jdbc.sql("select * from project where code = :code for no key update")
                .param("code", code)
                .query(PROJECT)
                .optional();
    }

    /** Returns the paths in a column of the type {@code bytea[]}. */
    static List<Path> paths(Array column) throws SQLException {
        return Arrays.stream((byte[][]) column.getArray()).map(FilePath::pathOf).toList();
    }

    /** Locks a project against other changes until the end of the transaction. */
    @Transactional(propagation = Propagation.MANDATORY)
    public void lock(String code) {
        jdbc.sql("select from project where code = :code for no key update")
                .param("code", code)
                .query()
                .listOfRows();
    }

    public Optional<Project> find(String code) {
        return jdbc.sql("select * from project where code = :code")
                .param("code", code)
                .query(PROJECT)
                .optional();
    }

    /** Returns a visible project that gets an experiment; refuses if there is none, or it is retired. */
    Project owner(Sight sight, String code) {
        return find(code)
                .filter(_ -> sight.sees(code))
                .orElseThrow(() -> Experiments.noProject(code))
                .living("project");
    }

    static Refusal retired(String field, String code) {
        return Refusal.conflict(field, "project %s is retired; bring it back first", code);
    }

    public List<Project> page(String after, int limit) {
        return page(Sight.EVERYTHING, after, limit);
    }

    /** Returns at most {@code limit} projects with codes after {@code after}, by code, without retired ones. */
    public List<Project> page(Sight sight, String after, int limit) {
        return jdbc.sql("""
                        select p.* from project p
                        where p.code > :after and in_sight(:seen, p.code) and p.retired_at is null
                        order by p.code limit :limit
                        """)
                .param("seen", sight.seen())
                .param("after", after)
                .param("limit", limit)
                .query(PROJECT)
                .list();
    }
}
