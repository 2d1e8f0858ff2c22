package dozo.verify;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The bags at the sites: their tag files, and whether they contain what they should. A listing is compared with the
 * expected content as sets in the database, so that nothing has to fit into memory.
 */
@Component
public class Bags {

    private static final int BATCH = 5_000;

    private final JdbcTemplate template;
    private final JdbcClient jdbc;

    /**
     * An object in a bag's data folder.
     *
     * @param path below the data folder
     * @param kind null: neither file nor folder nor link
     */
    public record Lying(FilePath path, @Nullable EntryKind kind, long sizeBytes) {}

    /** A copy that is missing, has another kind or another size; with its latest receipt. */
    public record Missed(int entryNumber, long receiptId) {}

    public Bags(JdbcTemplate template) {
        this.template = template;
        this.jdbc = JdbcClient.create(template);
    }

    /** Records the present tag files of experiments' bags, in place of earlier records. */
    public void written(Map<Integer, Map<FilePath, Digest>> bags, int siteId) {
        int[] ids = bags.keySet().stream().mapToInt(Integer::intValue).toArray();
        jdbc.sql("delete from tag_file where experiment_id = any(:experiments) and site_id = :site")
                .params(Map.of("experiments", ids, "site", siteId))
                .update();
        List<Integer> experiments = new ArrayList<>();
        List<byte[]> names = new ArrayList<>();
        List<byte[]> digests = new ArrayList<>();
        bags.forEach((experiment, tagFiles) -> tagFiles.forEach((name, digest) -> {
            experiments.add(experiment);
            names.add(name.bytes());
            digests.add(digest.bytes());
        }));
        jdbc.sql("""
                        insert into tag_file (experiment_id, site_id, name, digest)
                        select t.experiment, :site, t.name, t.digest
                        from unnest(:experiments::integer[], :names::bytea[], :digests::bytea[]) as t (experiment, name, digest)
                        """)
                .param("site", siteId)
                .param("experiments", experiments.toArray(Integer[]::new))
                .param("names", names.toArray(byte[][]::new))
                .param("digests", digests.toArray(byte[][]::new))
                .update();
        jdbc.sql(
                        "update protection set tags_unknown = false where experiment_id = any(:experiments) and site_id = :site")
                .params(Map.of("experiments", ids, "site", siteId))
                .update();
    }

    /**
     * Records that the tag files of experiments' bags are about to be written, in a transaction that ends before the
     * writing begins.
     *
     * @return the present tag files of each bag, by their names in it. Without those of bags where they are unknown,
     * because an earlier writer did not finish, or they were found altered
     */
    public Map<Integer, Map<FilePath, Digest>> beginWriting(int[] experimentIds, int siteId) {
        Map<Integer, Map<FilePath, Digest>> known = new HashMap<>();
        jdbc.sql("""
                        update protection set tags_unknown = true
                        where experiment_id = any(:experiments) and site_id = :site and not tags_unknown
                        returning experiment_id
                        """)
                .params(Map.of("experiments", experimentIds, "site", siteId))
                .query(row -> {
                    known.put(row.getInt(1), new LinkedHashMap<>());
                });
        jdbc.sql("select * from tag_file where experiment_id = any(:experiments) and site_id = :site")
                .params(Map.of(
                        "experiments",
                        known.keySet().stream().mapToInt(Integer::intValue).toArray(),
                        "site",
                        siteId))
                .query(row -> {
                    requireNonNull(known.get(row.getInt("experiment_id")))
                            .put(FilePath.of(row.getBytes("name")), Digest.of(row.getBytes("digest")));
                });
        return known;
    }

    /**
     * Returns the tag files of a bag by their names in it; none if they were not recorded, or do not list all receipts
     * yet.
     */
    public Map<FilePath, Digest> tagFiles(int experimentId, int siteId) {
        Map<FilePath, Digest> tagFiles = new LinkedHashMap<>();
        jdbc.sql("""
                        select name, digest from tag_file join protection using (experiment_id, site_id)
                        where experiment_id = :experiment and site_id = :site and not unsettled
                        order by name
                        """).param("experiment", experimentId).param("site", siteId).query(row -> {
            tagFiles.put(FilePath.of(row.getBytes("name")), Digest.of(row.getBytes("digest")));
        });
        return tagFiles;
    }

    /** Returns whether a bag's tag files may not be those that were recorded. */
    public boolean tagsUnknown(int experimentId, int siteId) {
        return jdbc.sql("select tags_unknown from protection where experiment_id = :experiment and site_id = :site")
                .params(Map.of("experiment", experimentId, "site", siteId))
                .query(Boolean.class)
                .single();
    }

    /** Makes the next night write the tag files again. */
    public void writeAgain(int experimentId, int siteId) {
        jdbc.sql(
                        "update protection set unsettled = true, tags_unknown = true where experiment_id = :experiment and site_id = :site")
                .params(Map.of("experiment", experimentId, "site", siteId))
                .update();
    }

    /**
     * Returns the first experiment after {@code after} with stored copies whose bag was last examined before a moment
     * or never.
     */
    public Optional<Integer> nextToExamine(int siteId, Instant before, int after) {
        return jdbc.sql("""
                        select min(experiment_id) from protection p
                        where site_id = :site and experiment_id > :after and (examined_at is null or examined_at < :before)
                          and exists (select from stored s
                                      where s.experiment_id = p.experiment_id and s.site_id = p.site_id)
                        """)
                .params(Map.of("site", siteId, "before", Timestamp.from(before), "after", after))
                .query((row, n) -> Optional.ofNullable(row.getObject(1, Integer.class)))
                .single();
    }

    /** Records that a bag was examined. */
    public void examined(int experimentId, int siteId, Instant at) {
        jdbc.sql("update protection set examined_at = :at where experiment_id = :experiment and site_id = :site")
                .params(Map.of("experiment", experimentId, "site", siteId, "at", Timestamp.from(at)))
                .update();
    }

    /** Returns the codes of the projects with stored copies at a site. */
    public List<String> projects(int siteId) {
        return jdbc.sql("""
                        select code from project p
                        where exists (select from experiment e join protection t using (experiment_id)
                                      where e.project_id = p.project_id and t.site_id = :site and t.files_stored > 0)
                        order by code
                        """)
                .param("site", siteId)
                .query((row, n) -> row.getString("code"))
                .list();
    }

    /** Begins the comparison of a bag with its expected content; all of it is one transaction. */
    public void beginListing(int experimentId, int siteId) {
        jdbc.sql("drop table if exists lying, standing").update();
        jdbc.sql(
                        "create temp table lying (path bytea not null, kind \"char\", size_bytes bigint not null) on commit drop")
                .update();
        jdbc.sql("""
                        create temp table standing on commit drop as
                        select path_at_site(e, s.path) as path, s.entry_no, s.kind, s.size_bytes, s.receipt_id,
                               exists (select from damage d
                                            where d.experiment_id = %1$d and d.site_id = %2$d and d.entry_no = s.entry_no
                                              and d.receipt_id >= s.receipt_id) as damaged
                        from standing_entry(%1$d, %2$d) s join experiment e on e.experiment_id = %1$d
                        """.formatted(experimentId, siteId)).update();
    }

    /** Adds objects to the listing. */
    public void addLying(List<Lying> lying) {
        template.batchUpdate(
                "insert into lying (path, kind, size_bytes) values (?, ?::\"char\", ?)",
                lying,
                BATCH,
                (statement, one) -> {
                    statement.setBytes(1, one.path().bytes());
                    statement.setString(
                            2,
                            one.kind() == null
                                    ? null
                                    : String.valueOf(one.kind().code()));
                    statement.setLong(3, one.sizeBytes());
                });
    }

    /** Ends the listing, so that it can be compared. */
    public void endListing() {
        jdbc.sql("analyze lying, standing").update();
    }

    /**
     * Returns at most {@code limit} copies after an entry that are missing or differ and are not known to be damaged.
     */
    public List<Missed> missed(int afterEntry, int limit) {
        return jdbc.sql("""
                        select s.entry_no, s.receipt_id
                        from standing s left join lying l on l.path = s.path
                        where not s.damaged and s.entry_no > :after
                          and (l.path is null or l.kind is distinct from s.kind
                               or s.kind = 'f' and l.size_bytes <> s.size_bytes)
                        group by s.entry_no, s.receipt_id
                        order by s.entry_no
                        limit :limit
                        """)
                .params(Map.of("after", afterEntry, "limit", limit))
                .query((row, n) -> new Missed(row.getInt("entry_no"), row.getLong("receipt_id")))
                .list();
    }

    /**
     * Returns at most {@code limit} paths that nothing explains. Excluded are the name of an expected copy, whatever
     * object has it, entries that are still to be sent, and every folder that was ever seen at the source.
     */
    public List<FilePath> unexpected(int experimentId, int limit) {
        return jdbc.sql("""
                        select distinct l.path from lying l
                        where not exists (select from standing s where s.path = l.path)
                          and not exists (select from entry e join directory d using (experiment_id, directory_no)
                                          join experiment x using (experiment_id)
                                          where e.experiment_id = :experiment
                                            and path_at_site(x, entry_path(d.path, e.name)) = l.path)
                          and not exists (select from directory d join experiment x using (experiment_id)
                                          where l.kind = 'd' and d.experiment_id = :experiment
                                            and path_at_site(x, d.path) = l.path)
                        order by l.path
                        limit :limit
                        """)
                .params(Map.of("experiment", experimentId, "limit", limit))
                .query((row, n) -> FilePath.of(row.getBytes("path")))
                .list();
    }
}
