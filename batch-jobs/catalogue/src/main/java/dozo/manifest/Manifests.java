package dozo.manifest;

import static java.util.Objects.requireNonNull;

import dozo.file.Attributes;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Owner;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The sealed manifests and their entries. */
@Component
public class Manifests {

    private static final int FETCH = 1_000;

    static final RowMapper<Manifest> MANIFEST = (row, n) -> new Manifest(
            row.getInt("experiment_id"),
            row.getInt("manifest_no"),
            row.getTimestamp("sealed_at").toInstant(),
            row.getLong("files"),
            row.getLong("bytes"),
            row.getLong("folders"),
            row.getLong("links"));

    static final RowMapper<Entry> ENTRY =
            (row, n) -> entry(row, "", FilePath.of(row.getBytes("path")).resolve(row.getBytes("name")));

    /** An entry with its owner and its extended attributes. */
    private static final RowMapper<Entry> WHOLE_ENTRY = (row, n) -> {
        Entry entry = requireNonNull(ENTRY.mapRow(row, n));
        return new Entry(entry.number(), entry.path(), entry.facts().with(owner(row), attributes(row)));
    };

    /** The entries {@code e} that hold. */
    static final String HOLDING = """
            select e.*, d.path, l.hard_link, l.link_target
            from entry e join directory d using (experiment_id, directory_no)
            left join entry_link l using (experiment_id, entry_no)
            """;

    private final JdbcClient jdbc;

    /** The totals of a sealed manifest. */
    public record Manifest(
            int experimentId, int number, Instant sealedAt, long files, long bytes, long folders, long links) {

        /** Returns the manifest to compare the first one with: without entries, usually number 0. */
        static Manifest none(int experimentId, int number) {
            return new Manifest(experimentId, number, Instant.EPOCH, 0, 0, 0, 0);
        }

        public long entries() {
            return files + folders + links;
        }
    }

    /**
     * The change of one path between two manifests.
     *
     * @param before null if it is new
     * @param after null if it is gone
     */
    public record Change(
            FilePath path, @Nullable Entry before, @Nullable Entry after) {

        public Change {
            if (before == null && after == null) {
                throw new IllegalArgumentException("no change: " + path);
            }
        }

        public ChangeKind kind() {
            if (before == null) {
                return ChangeKind.NEW;
            }
            if (after == null) {
                return ChangeKind.GONE;
            }
            return before.facts().kind() == after.facts().kind() ? ChangeKind.CHANGED : ChangeKind.TYPE_CHANGED;
        }
    }

    private record Folder(int number, FilePath path) {}

    /** A file of a manifest: the entry's number and path. */
    public record NumberedFile(int number, FilePath path) {}

    /** How two manifests differ at one path. */
    public enum ChangeKind {
        NEW,
        CHANGED,
        /** It was a file, folder or link, and is now another of these. */
        TYPE_CHANGED,
        GONE
    }

    /**
     * The entries that changed after manifest {@code :from} until {@code :to}: as they were, and as they are. What never
     * changed is not read. The first manifest has nothing before it.
     */
    static final String BEFORE_AND_AFTER = """
            with before as (
                select e.*, l.hard_link, l.link_target, o.uid, o.gid
                from ended_entry e left join entry_link l using (experiment_id, entry_no)
                left join entry_owner o using (experiment_id, entry_no)
                where experiment_id = :experiment and since_manifest <= :from
                  and until_manifest > :from and until_manifest <= :to
            ), after as (
                select e.*, l.hard_link, l.link_target, o.uid, o.gid
                from entry_version e left join entry_link l using (experiment_id, entry_no)
                left join entry_owner o using (experiment_id, entry_no)
                where experiment_id = :experiment and since_manifest > 1
                  and since_manifest > :from and since_manifest <= :to
                  and (until_manifest is null or until_manifest > :to)
            )
            """;

    /** Whether an entry {@code b} before differs from {@code a} after; what was undone in between does not. */
    static final String DIFFERS = """
            ((b.kind, b.size_bytes, b.modified_ns, b.mode, b.hard_link, b.link_target)
                 is distinct from (a.kind, a.size_bytes, a.modified_ns, a.mode, a.hard_link, a.link_target)
             or (b.uid, b.gid) is distinct from (a.uid, a.gid)
                and -1 not in (coalesce(b.uid, 0), coalesce(a.uid, 0)))
            """;

    public Manifests(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** Returns the experiment's latest manifest. */
    public Optional<Manifest> current(int experimentId) {
        return jdbc.sql("""
                        select * from manifest where experiment_id = :experiment order by manifest_no desc limit 1
                        """).param("experiment", experimentId).query(MANIFEST).optional();
    }

    /** Returns whether something of the manifest before is gone in the experiment's latest one. */
    public boolean lacksEarlier(int experimentId) {
        return jdbc.sql("""
                        select entries_gone > 0 from manifest
                        where experiment_id = :experiment order by manifest_no desc limit 1
                        """)
                .param("experiment", experimentId)
                .query(Boolean.class)
                .optional()
                .orElse(false);
    }

    public Optional<Manifest> find(int experimentId, int number) {
        return jdbc.sql("select * from manifest where experiment_id = :experiment and manifest_no = :number")
                .params(Map.of("experiment", experimentId, "number", number))
                .query(MANIFEST)
                .optional();
    }

    /**
     * Returns the manifest that was current at an instant: the highest number, in case the clock was set back between
     * two.
     */
    public Optional<Manifest> asOf(int experimentId, Instant instant) {
        return jdbc.sql("""
                        select * from manifest where experiment_id = :experiment and sealed_at <= :instant
                        order by manifest_no desc limit 1
                        """)
                .params(Map.of("experiment", experimentId, "instant", Timestamp.from(instant)))
                .query(MANIFEST)
                .optional();
    }

    /**
     * Returns at most {@code limit} entries of any manifest after a path, in the order of their folders' paths and then
     * of their names, byte by byte. A page costs as much as all entries of its folders.
     *
     * @param after the last entry of the previous page, {@link FilePath#ROOT} for the first page
     */
    public List<Entry> page(int experimentId, int manifest, FilePath after, int limit) {
        FilePath folder = after.parent();
        List<Entry> page = new ArrayList<>(folder(experimentId, manifest, folder, after.name(), limit));
        // Reads more folders at a time while they contain nothing: folders that were created later or had already
        // vanished.
        for (int folders = 4; page.size() < limit; folders = Math.min(2 * folders, FETCH)) {
            List<Folder> next = foldersAfter(experimentId, folder, folders);
            if (next.isEmpty()) {
                return page;
            }
            page.addAll(entries(experimentId, manifest, next, new byte[0], limit - page.size()));
            folder = next.getLast().path();
        }
        return page;
    }

    private List<Folder> foldersAfter(int experimentId, FilePath folder, int limit) {
        return jdbc.sql("""
                        select directory_no, path from directory
                        where experiment_id = :experiment
                          and substring(path for 1000) >= substring(:folder for 1000) and path > :folder
                        order by substring(path for 1000), path
                        limit :limit
                        """)
                .params(Map.of("experiment", experimentId, "folder", folder.bytes(), "limit", limit))
                .query((row, n) -> new Folder(row.getInt("directory_no"), FilePath.of(row.getBytes("path"))))
                .list();
    }

    /**
     * Returns the entries of these folders, in their order and by name, with names above {@code after}. NB: large
     * folders have negative numbers and an index by name; the entries of all others are read and sorted.
     */
    private List<Entry> entries(int experimentId, int manifest, List<Folder> folders, byte[] after, int limit) {
        return jdbc.sql("""
                        select d.path, e.*, l.hard_link, l.link_target, t.attributes,
                               coalesce(o.uid, u.uid) as uid, coalesce(o.gid, u.gid) as gid
                        from unnest(:numbers) with ordinality f (directory_no, n)
                        join directory d on d.experiment_id = :experiment and d.directory_no = f.directory_no
                        cross join lateral (
                            (select entry_no, kind, size_bytes, modified_ns, mode, name, null::integer as until_manifest
                             from entries_of(:experiment, f.directory_no)
                             where f.directory_no > 0 and since_manifest <= :manifest and name > :after
                             order by name
                             limit :limit)
                            union all
                            (select entry_no, kind, size_bytes, modified_ns, mode, name, null from entry
                             where experiment_id = :experiment and directory_no = f.directory_no and directory_no < 0
                               and since_manifest <= :manifest and name > :after
                             order by name
                             limit :limit)
                            union all
                            (select entry_no, kind, size_bytes, modified_ns, mode, name, until_manifest from ended_entry
                             where experiment_id = :experiment and directory_no = f.directory_no
                               and since_manifest <= :manifest and until_manifest > :manifest and name > :after
                             order by name
                             limit :limit)) e
                        left join entry_link l on l.experiment_id = :experiment and l.entry_no = e.entry_no
                        left join entry_attribute t on t.experiment_id = :experiment and t.entry_no = e.entry_no
                        left join entry_owner o on o.experiment_id = :experiment and o.entry_no = e.entry_no
                        left join experiment_owner u on u.experiment_id = :experiment
                             and (e.until_manifest is null or e.until_manifest > u.manifest_no)
                        order by f.n, e.name
                        limit :limit
                        """)
                .param("numbers", folders.stream().mapToInt(Folder::number).toArray())
                .params(Map.of("experiment", experimentId, "manifest", manifest, "after", after, "limit", limit))
                .query(WHOLE_ENTRY)
                .list();
    }

    /**
     * Returns at most {@code limit} entries of one folder in any manifest, by name.
     *
     * @param after the last name of the previous page, empty for the first page
     */
    public List<Entry> folder(int experimentId, int manifest, FilePath folder, byte[] after, int limit) {
        return jdbc.sql("""
                        select directory_no from directory
                        where experiment_id = :experiment and sha256(path) = sha256(:folder)
                        """)
                .params(Map.of("experiment", experimentId, "folder", folder.bytes()))
                .query((row, n) -> new Folder(row.getInt("directory_no"), folder))
                .optional()
                .map(found -> entries(experimentId, manifest, List.of(found), after, limit))
                .orElse(List.of());
    }

    /**
     * Returns at most {@code limit} paths at which two manifests differ, after a path, in the order of {@link #page}.
     * Entries that appeared and vanished between the two are not included. Each page costs as much as the changes
     * between the two manifests, whatever their size.
     *
     * @param from the earlier manifest's number, at least 1
     * @param folder only of this folder, without the folders in it; null: of all folders
     */
    public List<Change> changes(
            int experimentId, int from, int to, @Nullable FilePath folder, FilePath after, int limit) {
        if (from < 1 || to < from) {
            throw new IllegalArgumentException(
                    "expected manifest numbers 1 <= from <= to, not %d and %d".formatted(from, to));
        }
        return jdbc.sql(BEFORE_AND_AFTER + """
                        select d.path, name,
                               b.entry_no as before_entry_no, b.kind as before_kind, b.size_bytes as before_size_bytes,
                               b.modified_ns as before_modified_ns, b.mode as before_mode,
                               b.hard_link as before_hard_link, b.link_target as before_link_target,
                               a.entry_no as after_entry_no, a.kind as after_kind, a.size_bytes as after_size_bytes,
                               a.modified_ns as after_modified_ns, a.mode as after_mode,
                               a.hard_link as after_hard_link, a.link_target as after_link_target
                        from before b full join after a using (directory_no, name)
                        join directory d on d.experiment_id = :experiment and d.directory_no = coalesce(b.directory_no, a.directory_no)
                        where\s""" + DIFFERS + """
                          and (:only::bytea is null or d.path = :only) and (d.path, name) > (:folder, :name)
                        order by d.path, name
                        limit :limit
                        """)
                .params(Map.of("experiment", experimentId, "from", from, "to", to))
                .param("only", folder == null ? null : folder.bytes(), Types.BINARY)
                .params(Map.of("folder", after.parent().bytes(), "name", after.name(), "limit", limit))
                .query((row, n) -> change(row))
                .list();
    }

    /**
     * Returns at most {@code limit} files of any manifest after an entry, by number: the order in which they appeared,
     * and that of the receipts. The cost of a page does not depend on the number of files.
     */
    public List<NumberedFile> files(int experimentId, int manifest, int afterEntry, int limit) {
        return jdbc.sql("""
                        select e.entry_no, d.path, e.name
                        from (
                            (select entry_no, directory_no, name from entry
                             where experiment_id = :experiment and entry_no > :after and kind = 'f'
                               and since_manifest <= :manifest
                             order by entry_no
                             limit :limit)
                            union all
                            (select entry_no, directory_no, name from ended_entry
                             where experiment_id = :experiment and entry_no > :after and kind = 'f'
                               and since_manifest <= :manifest and until_manifest > :manifest
                             order by entry_no
                             limit :limit)
                            order by entry_no
                            limit :limit) e
                        join directory d on d.experiment_id = :experiment and d.directory_no = e.directory_no
                        order by e.entry_no
                        """)
                .params(Map.of("experiment", experimentId, "manifest", manifest, "after", afterEntry, "limit", limit))
                .query((row, n) -> new NumberedFile(
                        row.getInt("entry_no"),
                        FilePath.of(row.getBytes("path")).resolve(row.getBytes("name"))))
                .list();
    }

    /** Returns an experiment's manifests, latest first. */
    public List<Manifest> all(int experimentId) {
        return jdbc.sql("select * from manifest where experiment_id = :experiment order by manifest_no desc")
                .param("experiment", experimentId)
                .query(MANIFEST)
                .list();
    }

    /** Returns the entries with these numbers that still hold, in the order of their numbers. */
    public List<Entry> current(int experimentId, int[] numbers) {
        return jdbc.sql(HOLDING + """
                        where e.experiment_id = :experiment and e.entry_no = any(:numbers)
                        order by e.entry_no
                        """)
                .params(Map.of("experiment", experimentId, "numbers", numbers))
                .query(ENTRY)
                .list();
    }

    /** Returns the entries of these transfer units that still hold, by unit, in the order of their numbers. */
    public Map<Long, List<Entry>> ofUnits(Collection<Long> units) {
        Map<Long, List<Entry>> entries = new HashMap<>();
        jdbc.sql("""
                        select u.unit_id, h.*
                        from transfer_unit u cross join lateral (
                            %s
                            where e.experiment_id = u.experiment_id and e.entry_no = any(u.entry_nos)
                            offset 0) h
                        where u.unit_id = any(:units)
                        order by u.unit_id, h.entry_no
                        """.formatted(HOLDING))
                .param("units", units.toArray(Long[]::new))
                .query(row -> {
                    entries.computeIfAbsent(row.getLong("unit_id"), _ -> new ArrayList<>())
                            .add(requireNonNull(ENTRY.mapRow(row, 0)));
                });
        return entries;
    }

    /** Returns the latest manifest of each of these experiments that has one. */
    public Map<Integer, Manifest> current(int[] experimentIds) {
        return jdbc.sql("""
                        select m.* from unnest(:experiments) x (id)
                        cross join lateral (select * from manifest where experiment_id = x.id order by manifest_no desc limit 1) m
                        """).param("experiments", experimentIds).query(MANIFEST).list().stream()
                .collect(Collectors.toMap(Manifest::experimentId, manifest -> manifest));
    }

    /** Returns the current manifest's folders that are proven at a site, the deepest first. */
    public List<Entry> provenFolders(int experimentId, int siteId) {
        return jdbc.sql(HOLDING + """
                        where e.experiment_id = :experiment and e.kind = 'd'
                          and e.entry_no in (select entry_no from proven_entry
                                             where experiment_id = :experiment and site_id = :site)
                        order by length(d.path) desc, d.path
                        """)
                .params(Map.of("experiment", experimentId, "site", siteId))
                .query(ENTRY)
                .list();
    }

    /**
     * Returns the folders at a site in which something was proven since a unit, and those that were proven themselves
     * since then, the deepest first. Costs what was proven since.
     *
     * @param unit the unit's number; numbers increase
     */
    public List<Entry> foldersTouched(int experimentId, int siteId, long unit) {
        List<FilePath> touched = new ArrayList<>(jdbc.sql("""
                        with fresh as (
                            select n.entry_no
                            from receipt r cross join lateral unnest(r.entry_nos) as n (entry_no)
                            where r.experiment_id = :experiment and r.site_id = :site and r.unit_id > :unit
                        ), version as (
                            select e.directory_no, e.kind, e.name
                            from fresh join entry_version e using (entry_no) where e.experiment_id = :experiment
                        )
                        select d.path from version join directory d using (directory_no) where d.experiment_id = :experiment
                        union
                        select entry_path(d.path, name) from version join directory d using (directory_no)
                        where d.experiment_id = :experiment and kind = 'd'
                        """)
                .params(Map.of("experiment", experimentId, "site", siteId, "unit", unit))
                .query((row, n) -> FilePath.of(row.getBytes("path")))
                .list());
        touched.removeIf(FilePath::isRoot);
        return jdbc.sql("""
                        select e.*, d.path, l.hard_link, l.link_target
                        from unnest(:parents::bytea[], :names::bytea[]) as t (parent, own)
                        join directory d on d.experiment_id = :experiment and sha256(d.path) = sha256(t.parent)
                        cross join lateral versions_of(:experiment, d.directory_no, t.own) e
                        left join entry_link l on l.experiment_id = :experiment and l.entry_no = e.entry_no
                        where e.until_manifest is null and e.kind = 'd'
                        order by length(d.path) desc, d.path
                        """)
                .param("experiment", experimentId)
                .param(
                        "parents",
                        touched.stream().map(path -> path.parent().bytes()).toArray(byte[][]::new))
                .param("names", touched.stream().map(FilePath::name).toArray(byte[][]::new))
                .query(ENTRY)
                .list();
    }

    private static Change change(ResultSet row) throws SQLException {
        FilePath path = FilePath.of(row.getBytes("path")).resolve(row.getBytes("name"));
        return new Change(
                path,
                row.getObject("before_entry_no") == null ? null : entry(row, "before_", path),
                row.getObject("after_entry_no") == null ? null : entry(row, "after_", path));
    }

    private static @Nullable Owner owner(ResultSet row) throws SQLException {
        long user = row.getLong("uid");
        // Entries that came from a list have -1.
        return row.wasNull() || user < 0 ? null : new Owner(user, row.getLong("gid"));
    }

    private static Attributes attributes(ResultSet row) throws SQLException {
        Array attributes = row.getArray("attributes");
        return attributes == null ? Attributes.NONE : Attributes.of((byte[][]) attributes.getArray());
    }

    private static Entry entry(ResultSet row, String prefix, FilePath path) throws SQLException {
        return new Entry(
                row.getInt(prefix + "entry_no"),
                path,
                new Facts(
                        EntryKind.of(row.getString(prefix + "kind").charAt(0)),
                        row.getLong(prefix + "size_bytes"),
                        row.getLong(prefix + "modified_ns"),
                        Facts.UNKNOWN_NANOS,
                        row.getInt(prefix + "mode"),
                        row.getObject(prefix + "hard_link", Long.class),
                        row.getBytes(prefix + "link_target")));
    }
}
