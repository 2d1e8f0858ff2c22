package dozo.restore;

import dozo.copy.Copy.Finding;
import dozo.copy.Copy.Progress;
import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.PathPattern;
import dozo.file.Problem;
import dozo.file.Selection;
import dozo.file.Zoned;
import dozo.ledger.Ledger;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.manifest.Manifests.Manifest;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Refusal;
import dozo.registry.Sites.Site;
import dozo.restore.ArchiveRestore.Counts;
import java.nio.file.Path;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * The restores that were requested from the service: by whom, into which folder, their progress and results (ADR 0049).
 */
@Component
public class Restores {

    /** The maximum number of stored findings of a restore; all are counted. */
    public static final int FINDINGS_MAX = 1_000;

    /** The maximum number of restores that wait or run. */
    static final int OPEN_MAX = 100;

    private static final String SELECT = """
            select r.*, p.code as project, p.code || '/' || e.code as experiment, m.sealed_at, s.name as site,
                   d.restore_id is not null as drill, d.seconds, d.first_byte_seconds,
                   a.origin, a.replaces, a.studies, a.series, a.sent, a.found_equal, a.differing, a.not_sent
            from restore r join experiment e using (experiment_id) join project p using (project_id)
            join manifest m using (experiment_id, manifest_no) join site s using (site_id)
            left join drill d using (restore_id) left join archive_restore a using (restore_id)
            """;

    private final JdbcClient jdbc;
    private final Ledger ledger;
    private final InstantSource clock;

    /** The latest restore that this process began. It stays when it is over, for readers who saw it run just before. */
    private volatile @Nullable BegunRestore latest;

    public enum RestoreState {
        WAITING,
        RUNNING,
        /** The complete content of the manifest is in the folder, proven. */
        COMPLETE,
        /** It finished, but could not bring everything back. */
        FINDINGS,
        /** It did not finish: the site or the folder could not be used. */
        FAILED,
        /** A user stopped it. */
        STOPPED,
        /** A drill whose process ended. It shows nothing about the copies. */
        BROKEN_OFF;

        public boolean goesOn() {
            return this == WAITING || this == RUNNING;
        }
    }

    private record Open(long restoreId, @Nullable Path folder) {

        boolean overlaps(Path other) {
            return folder != null && (folder.startsWith(other) || other.startsWith(folder));
        }
    }

    /**
     * How long a drill took, by a clock that nobody sets.
     *
     * @param firstByteSeconds when the first byte of content arrived; null: there was none
     */
    record Took(double seconds, @Nullable Double firstByteSeconds) {}

    /** Something that could not be restored; the path is relative to the folder. {@code pathBytes} is the exact name. */
    @SuppressWarnings("ArrayRecordComponent") // JSON's base64; written once
    public record RestoreFinding(int number, Problem reason, String path, byte[] pathBytes, String message) {}

    public Restores(JdbcClient jdbc, Ledger ledger, InstantSource clock) {
        this.jdbc = jdbc;
        this.ledger = ledger;
        this.clock = clock;
    }

    /**
     * Adds a restore to the queue.
     *
     * @throws Refusal if too many wait, an open restore fills this folder, one inside it or one above it, or it is a
     *     drill, and another one of the project has not ended
     */
    @Transactional
    KeptRestore add(
            Experiment experiment, Manifest manifest, Selection selection, Site site, Target target, String actor) {
        if (target instanceof Target.Scratch) {
            refuseOpenDrill(experiment.project());
        }
        List<Open> open = jdbc.sql("select restore_id, folder from restore where ended_at is null order by restore_id")
                .query(Rows.of(Open.class))
                .list();
        if (open.size() >= OPEN_MAX) {
            throw Refusal.conflict("restore", "%d restores are waiting already; try again later", OPEN_MAX);
        }
        Path folder = folder(target);
        if (folder != null) {
            refuseOverlap(folder, open);
        }
        long id = jdbc.sql("""
                        insert into restore (experiment_id, manifest_no, paths, patterns, site_id, folder, in_place, aside,
                            requested_by, requested_at)
                        values (:experiment, :manifest, :paths, :patterns, :site, :folder, :inPlace, :aside, :actor, :now)
                        returning restore_id
                        """)
                .param("experiment", experiment.id())
                .param("manifest", manifest.number())
                .param("paths", selection.paths().stream().map(FilePath::bytes).toArray(byte[][]::new))
                .param(
                        "patterns",
                        selection.patterns().stream().map(PathPattern::bytes).toArray(byte[][]::new))
                .param("site", site.id())
                .param("folder", bytes(folder), Types.BINARY)
                .param("inPlace", target instanceof Target.InPlace)
                .param("aside", target instanceof Target.InPlace place ? bytes(place.aside()) : null, Types.BINARY)
                .param("actor", actor)
                .param("now", Timestamp.from(clock.instant()))
                .query((row, n) -> row.getLong(1))
                .single();
        switch (target) {
            case Target.Folder _, Target.InPlace _ -> {}
            case Target.Scratch _ ->
                jdbc.sql("insert into drill (restore_id) values (:id)")
                        .param("id", id)
                        .update();
            case Target.Archive archive ->
                jdbc.sql("insert into archive_restore (restore_id, origin, replaces) values (:id, :origin, :replaces)")
                        .param("id", id)
                        .param("origin", archive.origin())
                        .param("replaces", archive.replaces())
                        .update();
        }
        KeptRestore added = find(id).orElseThrow();
        Map<String, Object> detail = told(added);
        detail.put("files", manifest.files());
        detail.put("bytes", manifest.bytes());
        ledger.append(actor, added.drill() ? "drill.requested" : "restore.requested", experiment.name(), detail);
        return added;
    }

    private static @Nullable Path folder(Target target) {
        return switch (target) {
            case Target.Folder filled -> filled.folder();
            case Target.Scratch scratch -> scratch.folder();
            case Target.InPlace place -> place.source();
            case Target.Archive _ -> null;
        };
    }

    private static byte @Nullable [] bytes(@Nullable Path path) {
        return path == null ? null : FilePath.rawBytes(path);
    }

    private static void refuseOverlap(Path folder, List<Open> open) {
        open.stream().filter(other -> other.overlaps(folder)).findFirst().ifPresent(other -> {
            throw Refusal.conflict(
                    "folder",
                    "restore %d writes to this folder, or to one inside or above it: wait until it has ended",
                    other.restoreId);
        });
    }

    /** Refuses a drill while another one of the project waits or runs. */
    public void refuseOpenDrill(String project) {
        openDrill(project).ifPresent(id -> {
            throw Refusal.conflict("project", "drill %d of project %s has not ended yet", id, project);
        });
    }

    /** Returns the number of the drill of a project that waits or runs. */
    public Optional<Long> openDrill(String project) {
        return all(
                        "where r.ended_at is null and d.restore_id is not null and p.code = :project",
                        Map.of("project", project))
                .stream()
                .map(KeptRestore::id)
                .findFirst();
    }

    private List<KeptRestore> all(String where, Map<String, ?> values) {
        return jdbc.sql(SELECT + where).params(values).query(mapper()).list();
    }

    private Optional<KeptRestore> find(long id) {
        return all("where r.restore_id = :id", Map.of("id", id)).stream().findFirst();
    }

    /** Returns a restore of an experiment. Drills are not among them. */
    public Optional<KeptRestore> find(Experiment experiment, long id) {
        return find(id).filter(kept -> !kept.drill() && kept.experiment().equals(experiment.name()));
    }

    /** Returns a visible drill. */
    public Optional<KeptRestore> drill(Sight sight, long id) {
        return find(id).filter(kept -> kept.drill() && sight.sees(kept.project()));
    }

    /**
     * Returns the next restore: those that a dead process left come before those that wait, and drills last. No drill
     * begins during a backup, which it would slow down.
     */
    Optional<KeptRestore> next() {
        return all("""
                        where r.ended_at is null
                          and (d.restore_id is null or r.state = 'RUNNING'
                               or not exists (select from run where kind not in ('scrub', 'homeScrub') and state = 'RUNNING'))
                        order by r.state = 'WAITING', d.restore_id is not null, r.restore_id limit 1
                        """, Map.of()).stream().findFirst();
    }

    /** Returns the sites from which a restore, not a drill, runs. */
    public Set<Integer> sitesInUse() {
        return Set.copyOf(jdbc.sql("""
                        select distinct site_id from restore r
                        where ended_at is null and state = 'RUNNING' and not exists (select from drill d where d.restore_id = r.restore_id)
                        """).query((row, n) -> row.getInt(1)).list());
    }

    /** Returns at most {@code limit} restores of an experiment before one, the latest first. Drills are not among them. */
    public List<KeptRestore> page(Experiment experiment, long before, int limit) {
        return all("""
                        where r.experiment_id = :experiment and d.restore_id is null and r.restore_id < :before
                        order by r.restore_id desc limit :limit
                        """, Map.of("experiment", experiment.id(), "before", before, "limit", limit));
    }

    /**
     * Returns at most {@code limit} visible drills before one, the latest first.
     *
     * @param project null: of all projects
     */
    public List<KeptRestore> drills(Sight sight, @Nullable String project, long before, int limit) {
        return jdbc.sql(SELECT + """
                        where d.restore_id < :before and in_sight(:seen, p.code) and (:project::text is null or p.code = :project)
                        order by d.restore_id desc limit :limit
                        """)
                .param("before", before)
                .param("seen", sight.seen())
                .param("project", project)
                .param("limit", limit)
                .query(mapper())
                .list();
    }

    /** Returns at most {@code limit} drills that restored everything from a site, the latest first. */
    public List<KeptRestore> measured(int siteId, int limit) {
        return all("""
                        where r.site_id = :site and r.state = 'COMPLETE' and d.first_byte_seconds is not null
                        order by d.restore_id desc limit :limit
                        """, Map.of("site", siteId, "limit", limit));
    }

    /**
     * Returns at most {@code limit} findings, after a number, of a restore that has ended, in the order they were
     * found.
     */
    public List<RestoreFinding> findings(long id, int after, int limit) {
        return jdbc.sql("""
                        select * from restore_finding where restore_id = :id and finding_no > :after
                        order by finding_no limit :limit
                        """)
                .param("id", id)
                .param("after", after)
                .param("limit", limit)
                .query((row, n) -> new RestoreFinding(
                        row.getInt("finding_no"),
                        Problem.valueOf(row.getString("reason")),
                        FilePath.render(row.getBytes("path")),
                        row.getBytes("path"),
                        row.getString("message")))
                .list();
    }

    Optional<BegunRestore> latest() {
        return Optional.ofNullable(latest);
    }

    void began(BegunRestore now) {
        latest = now;
    }

    /** NB: progress is asked for before the query, so that no connection waits for it. */
    private RowMapper<KeptRestore> mapper() {
        BegunRestore begun = latest;
        Progress now = begun == null || (begun.over && !begun.ended) ? null : begun.copy.progress();
        return (row, n) -> begun != null
                        && now != null
                        && begun.id == row.getLong("restore_id")
                        && row.getTimestamp("ended_at") == null
                ? restore(row, now, begun.counts(), begun.found)
                : restore(row, recorded(row), recordedCounts(row), row.getLong("findings"));
    }

    private static Progress recorded(ResultSet row) throws SQLException {
        return new Progress(
                row.getLong("entries"),
                row.getLong("bytes"),
                true,
                row.getLong("entries_verified"),
                row.getLong("bytes_verified"),
                0,
                0);
    }

    private static Counts recordedCounts(ResultSet row) throws SQLException {
        return new Counts(
                row.getLong("studies"),
                row.getLong("series"),
                row.getLong("sent"),
                row.getLong("found_equal"),
                row.getLong("differing"),
                row.getLong("not_sent"));
    }

    private static KeptRestore restore(ResultSet row, Progress progress, Counts counts, long findings)
            throws SQLException {
        List<byte[]> paths = List.of((byte[][]) row.getArray("paths").getArray());
        List<byte[]> patterns = List.of((byte[][]) row.getArray("patterns").getArray());
        byte[] only = !patterns.isEmpty() || paths.size() > 1 ? null : paths.isEmpty() ? new byte[0] : paths.getFirst();
        byte[] folder = row.getBytes("folder");
        byte[] aside = row.getBytes("aside");
        String origin = row.getString("origin");
        return new KeptRestore(
                row.getLong("restore_id"),
                row.getString("experiment"),
                row.getString("project"),
                row.getInt("manifest_no"),
                row.getTimestamp("sealed_at").toInstant(),
                only == null ? null : FilePath.render(only),
                only,
                paths.stream().map(FilePath::render).toList(),
                paths,
                patterns.stream().map(FilePath::render).toList(),
                patterns,
                row.getString("site"),
                folder == null ? null : FilePath.render(folder),
                folder,
                row.getBoolean("in_place"),
                aside == null ? null : FilePath.render(aside),
                aside,
                origin,
                row.getBoolean("replaces"),
                origin == null ? null : counts,
                row.getBoolean("drill"),
                RestoreState.valueOf(row.getString("state")),
                row.getString("requested_by"),
                row.getTimestamp("requested_at").toInstant(),
                Rows.instant(row, "started_at"),
                Rows.instant(row, "ended_at"),
                progress.entries(),
                progress.bytes(),
                progress.entriesVerified(),
                progress.bytesVerified(),
                findings,
                row.getString("message"),
                (Double) row.getObject("seconds"),
                (Double) row.getObject("first_byte_seconds"));
    }

    /** Marks a restore as running; returns false if it has ended in the meantime. */
    @Transactional
    boolean begin(long id) {
        return jdbc.sql("""
                        update restore set state = 'RUNNING', started_at = coalesce(started_at, :now)
                        where restore_id = :id and ended_at is null
                        """)
                        .param("now", Timestamp.from(clock.instant()))
                        .param("id", id)
                        .update()
                == 1;
    }

    /** Lets a drill that has begun wait again. */
    @Transactional
    void putBack(long id) {
        jdbc.sql("update restore set state = 'WAITING', started_at = null where restore_id = :id and ended_at is null")
                .param("id", id)
                .update();
    }

    /**
     * Records that a user wants to stop a restore.
     *
     * @throws Refusal if it has ended
     */
    @Transactional
    void stopping(long id, String actor) {
        KeptRestore going = find(id).filter(kept -> kept.state().goesOn()).orElseThrow(() -> hasEnded(id));
        ledger.append(
                actor,
                going.drill() ? "drill.stopping" : "restore.stopping",
                going.experiment(),
                Map.of(going.drill() ? "drill" : "restore", id));
    }

    static Refusal hasEnded(long id) {
        return Refusal.conflict("restore", "restore %d has ended", id);
    }

    /** Says that a restore was interrupted because its site is away, and is tried again. */
    void waits(long id, String why) {
        jdbc.sql("update restore set message = :message where restore_id = :id and ended_at is null")
                .param(
                        "message",
                        "the site was lost at %s, and is tried again: %s".formatted(Zoned.text(clock.instant()), why))
                .param("id", id)
                .update();
    }

    /**
     * Records the result of a restore. If it has ended already, nothing is changed.
     *
     * @param now null: this process did not begin it
     */
    @Transactional
    void end(long id, RestoreState state, String message, Progress progress, @Nullable BegunRestore now) {
        long found = now == null ? 0 : now.found;
        Took took = now == null ? null : now.took;
        List<Finding> findings = now == null ? List.of() : now.findings;
        int ended = jdbc.sql("""
                        update restore set state = :state, message = :message, entries = :entries, bytes = :bytes,
                            entries_verified = :entriesVerified, bytes_verified = :bytesVerified, findings = :found,
                            aside = case when started_at is null or :nothingAside then null else aside end, ended_at = :now
                        where restore_id = :id and ended_at is null
                        """)
                .param("state", state.name())
                .param("message", message)
                .param("entries", progress.entries())
                .param("bytes", progress.bytes())
                .param("entriesVerified", progress.entriesVerified())
                .param("bytesVerified", progress.bytesVerified())
                .param("found", found)
                .param("nothingAside", now != null && now.nothingAside)
                .param("now", Timestamp.from(clock.instant()))
                .param("id", id)
                .update();
        if (ended == 0) {
            return;
        }
        if (took != null) {
            jdbc.sql("update drill set seconds = :seconds, first_byte_seconds = :firstByte where restore_id = :id")
                    .param("seconds", took.seconds)
                    .param("firstByte", took.firstByteSeconds)
                    .param("id", id)
                    .update();
        }
        Counts counts = now == null ? Counts.NONE : now.counts();
        jdbc.sql("""
                        update archive_restore set studies = :studies, series = :series, sent = :sent,
                            found_equal = :foundEqual, differing = :differing, not_sent = :notSent
                        where restore_id = :id
                        """).params(Rows.params(counts)).param("id", id).update();
        int number = 0;
        for (Finding finding : findings) {
            number++;
            jdbc.sql("insert into restore_finding values (:id, :number, :path, :reason, :message)")
                    .param("id", id)
                    .param("number", number)
                    .param("path", finding.path().bytes())
                    .param("reason", finding.problem().name())
                    .param("message", finding.message().replace("\0", "\\0"))
                    .update();
        }
        KeptRestore kept = find(id).orElseThrow();
        Map<String, Object> detail = told(kept);
        detail.put("state", state);
        detail.put("entries_verified", progress.entriesVerified());
        detail.put("bytes_verified", progress.bytesVerified());
        detail.put("findings", found);
        if (kept.counts() != null) {
            detail.put("sent", counts.sent());
            detail.put("found_equal", counts.foundEqual());
            detail.put("differing", counts.differing());
            detail.put("not_sent", counts.notSent());
        }
        if (took != null) {
            detail.put("seconds", took.seconds);
        }
        ledger.append(Ledger.SYSTEM, kept.drill() ? "drill.ended" : "restore.ended", kept.experiment(), detail);
    }

    /**
     * Returns the details for the ledger. The folder and what is restored are digests: both may be named after people,
     * and ledger rows are permanent.
     */
    private static Map<String, Object> told(KeptRestore restore) {
        Map<String, Object> told = new HashMap<>(Map.of(
                restore.drill() ? "drill" : "restore",
                restore.id(),
                "manifest",
                restore.manifest(),
                "site",
                restore.site()));
        switch (restore.target()) {
            case Target.Folder filled -> told.put("folder", Digest.ofContent(FilePath.rawBytes(filled.folder())));
            case Target.Scratch _ -> {}
            case Target.InPlace place -> {
                told.put("folder", Digest.ofContent(FilePath.rawBytes(place.source())));
                told.put("in_place", true);
            }
            case Target.Archive archive -> {
                told.put("origin", archive.origin());
                told.put("replaces", archive.replaces());
            }
        }
        Selection selection = restore.selection();
        if (!selection.isAll()) {
            told.put("part", Digest.ofContent(selection.bytes()));
        }
        return told;
    }
}
