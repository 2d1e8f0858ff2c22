package dozo.manifest;

import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The sealed manifests and their entries. */
@Component
public class Manifests {

    private static final int FETCH = 1_000;

    private static final RowMapper<Manifest> MANIFEST = (row, n) -> new Manifest(
            row.getInt("experiment_id"),
            row.getInt("manifest_no"),
            row.getTimestamp("sealed_at").toInstant(),
            row.getLong("files"),
            row.getLong("bytes"),
            row.getLong("folders"),
            row.getLong("links"));

    static final RowMapper<Entry> ENTRY = (row, n) -> new Entry(
            row.getInt("entry_no"),
            FilePath.of(row.getBytes("path")).resolve(row.getBytes("name")),
            new Facts(
                    EntryKind.of(row.getString("kind").charAt(0)),
                    row.getLong("size_bytes"),
                    row.getLong("modified_ns"),
                    row.getLong("changed_ns"),
                    row.getInt("mode"),
                    row.getObject("hard_link", Long.class),
                    row.getBytes("link_target")));

    private final JdbcClient jdbc;

    /** A sealed inventory's totals. */
    public record Manifest(
            int experimentId, int number, Instant sealedAt, long files, long bytes, long folders, long links) {

        /** Entries of every kind. */
        public long entries() {
            return files + folders + links;
        }
    }

    /** So many entries, and the bytes in them. */
    public record Sum(long entries, long bytes) {}

    public Manifests(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** The experiment's latest manifest. */
    public Optional<Manifest> current(int experimentId) {
        return jdbc.sql("""
                        select * from manifest where experiment_id = :experiment order by manifest_no desc limit 1
                        """).param("experiment", experimentId).query(MANIFEST).optional();
    }

    /** An experiment's manifests, latest first. */
    public List<Manifest> all(int experimentId) {
        return jdbc.sql("select * from manifest where experiment_id = :experiment order by manifest_no desc")
                .param("experiment", experimentId)
                .query(MANIFEST)
                .list();
    }

    /** The entries with these numbers that still hold, in the order of their numbers. */
    public List<Entry> current(int experimentId, int[] numbers) {
        return jdbc.sql("""
                        select e.*, d.path
                        from entry e join directory d using (experiment_id, directory_no)
                        where e.experiment_id = :experiment and e.entry_no = any(:numbers) and e.until_manifest is null
                        order by e.entry_no
                        """)
                .param("experiment", experimentId)
                .param("numbers", numbers)
                .query(ENTRY)
                .list();
    }

    /**
     * The current manifest's entries without a receipt at a site, in the order of their numbers. Close the stream; inside a
     * transaction it holds a bounded number of rows.
     */
    public Stream<Entry> unprotected(int experimentId, int siteId) {
        return jdbc
                .sql("""
                        select e.*, d.path
                        from entry e join directory d using (experiment_id, directory_no)
                        where e.experiment_id = :experiment and e.until_manifest is null
                          and not exists (select from (select unnest(entry_nos) as entry_no from receipt
                                                       where experiment_id = :experiment and site_id = :site) proven
                                          where proven.entry_no = e.entry_no)
                        order by e.entry_no
                        """)
                .withFetchSize(FETCH)
                .param("experiment", experimentId)
                .param("site", siteId)
                .query(ENTRY)
                .stream();
    }

    /** The sums of the unprotected entries that are no longer than this: what {@link #unprotected} would give of them. */
    public Sum unprotectedUpTo(int experimentId, int siteId, long sizeBytes) {
        return jdbc.sql("""
                        select count(*) as entries, coalesce(sum(size_bytes), 0) as bytes
                        from entry e
                        where e.experiment_id = :experiment and e.until_manifest is null and e.size_bytes <= :size
                          and not exists (select from (select unnest(entry_nos) as entry_no from receipt
                                                       where experiment_id = :experiment and site_id = :site) proven
                                          where proven.entry_no = e.entry_no)
                        """)
                .param("experiment", experimentId)
                .param("site", siteId)
                .param("size", sizeBytes)
                .query((row, n) -> new Sum(row.getLong("entries"), row.getLong("bytes")))
                .single();
    }

    /** The current manifest's folders that stand at a site, the deepest first. */
    public List<Entry> provenFolders(int experimentId, int siteId) {
        return jdbc.sql("""
                        select e.*, d.path
                        from entry e join directory d using (experiment_id, directory_no)
                        where e.experiment_id = :experiment and e.until_manifest is null and e.kind = 'd'
                          and e.entry_no in (select unnest(entry_nos) from receipt
                                             where experiment_id = :experiment and site_id = :site)
                        order by length(d.path) desc, d.path
                        """)
                .param("experiment", experimentId)
                .param("site", siteId)
                .query(ENTRY)
                .list();
    }

    /** Makes the current manifest: the totals of the entries that hold, under the next number. */
    Manifest seal(int experimentId, int number, Instant now, int added, int changed, int gone) {
        return jdbc.sql("""
                        insert into manifest (experiment_id, manifest_no, sealed_at, files, bytes, folders, links,
                                              entries_new, entries_changed, entries_gone)
                        select :experiment, :number, :now,
                               count(*) filter (where kind = 'f'), coalesce(sum(size_bytes), 0),
                               count(*) filter (where kind = 'd'), count(*) filter (where kind = 'l'),
                               :added, :changed, :gone
                        from entry where experiment_id = :experiment and until_manifest is null
                        returning *
                        """)
                .param("experiment", experimentId)
                .param("number", number)
                .param("now", Timestamp.from(now))
                .param("added", added)
                .param("changed", changed)
                .param("gone", gone)
                .query(MANIFEST)
                .single();
    }
}
