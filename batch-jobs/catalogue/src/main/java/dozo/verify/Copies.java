package dozo.verify;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.send.SiteCopy;
import dozo.send.SiteFolders;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Where the copy of each proven entry lies at a site: under its name in the bag, or among the versions once another content was
 * proven under that name, or something that is no folder under the name of a folder above it.
 *
 * <p>It follows from receipts alone, so it says where a copy was put when all went its way. A run that died after it had moved a
 * copy aside, and before what replaces it was proven, leaves it under the number of an earlier manifest; whoever misses it looks
 * under the others too, and knows it by its digest (ADR 0022).
 */
@Component
public class Copies {

    private final JdbcClient jdbc;

    public Copies(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /**
     * The copies of these entries, in the order of their numbers; of an entry without a receipt there is none. Costs the entries
     * of the folders that they are in: give thousands that are near each other.
     */
    public List<SiteCopy> of(int experimentId, int siteId, int[] entryNumbers) {
        if (entryNumbers.length == 0) {
            return List.of();
        }
        return jdbc.sql("""
                        with wanted as (
                            select e.entry_no, e.directory_no, e.name, e.kind, e.size_bytes, d.path as folder
                            from entry_version e join directory d using (experiment_id, directory_no)
                            where e.experiment_id = :experiment and e.entry_no = any(:numbers)
                        ), proven as (
                            select distinct on (w.entry_no) w.*, p.digest
                            from wanted w join entry_receipt p on p.entry_no = w.entry_no
                            where p.experiment_id = :experiment and p.site_id = :site
                              and lowest_of(p.entry_nos) <= :highest and highest_of(p.entry_nos) >= :lowest
                            order by w.entry_no, p.receipt_id desc
                        ), no_folder_above as (
                            select w.directory_no, x.entry_no
                            from (select distinct directory_no, folder from wanted) w
                            cross join lateral names_on_way(w.folder) n
                            cross join lateral (select directory_no from directory
                                                where experiment_id = :experiment and sha256(path) = sha256(n.folder)
                                                offset 0) d
                            cross join lateral versions_of(:experiment, d.directory_no, n.name) x
                            where x.kind <> 'd'
                        ), later as (
                            select p.entry_no, p.digest, x.entry_no as later_no, x.kind = p.kind as same_kind
                            from proven p
                            cross join lateral versions_of(:experiment, p.directory_no, p.name) x
                            where x.entry_no > p.entry_no
                            union all
                            select p.entry_no, p.digest, x.entry_no, false
                            from proven p join no_folder_above x on x.directory_no = p.directory_no and x.entry_no > p.entry_no
                        ), replaced as (
                            select distinct on (l.entry_no) l.entry_no, r.manifest_no
                            from later l join entry_receipt r on r.entry_no = l.later_no
                            where r.experiment_id = :experiment and r.site_id = :site
                              and lowest_of(r.entry_nos) <= (select max(later_no) from later)
                              and highest_of(r.entry_nos) >= (select min(later_no) from later)
                              and not (l.same_kind and r.digest = l.digest)
                            order by l.entry_no, l.later_no, r.receipt_id
                        )
                        select p.entry_no, p.kind, entry_path(p.folder, p.name) as path, p.digest, p.size_bytes, r.manifest_no,
                               project.code || '/' || experiment.code as experiment
                        from proven p left join replaced r using (entry_no)
                        cross join experiment join project using (project_id)
                        where experiment.experiment_id = :experiment
                        order by p.entry_no
                        """)
                .param("experiment", experimentId)
                .param("site", siteId)
                .param("numbers", entryNumbers)
                .param("lowest", Arrays.stream(entryNumbers).min().getAsInt())
                .param("highest", Arrays.stream(entryNumbers).max().getAsInt())
                .query((row, n) -> copy(row, Digest.of(row.getBytes("digest"))))
                .list();
    }

    /**
     * The copies of those of these proven entries that are in the current manifest: they stand, so it takes no looking for what
     * replaced them.
     *
     * @param proven entries by their numbers, each with what was computed the last time it was proven
     */
    List<SiteCopy> ofCurrent(int experimentId, Map<Integer, Digest> proven) {
        return jdbc.sql("""
                        select e.entry_no, e.kind, entry_path(d.path, e.name) as path, e.size_bytes, null::integer as manifest_no,
                               project.code || '/' || experiment.code as experiment
                        from entry e join directory d using (experiment_id, directory_no)
                        cross join experiment join project using (project_id)
                        where e.experiment_id = :experiment and e.entry_no = any(:numbers)
                          and experiment.experiment_id = :experiment
                        """)
                .param("experiment", experimentId)
                .param(
                        "numbers",
                        proven.keySet().stream().mapToInt(Integer::intValue).toArray())
                .query((row, n) -> copy(row, requireNonNull(proven.get(row.getInt("entry_no")))))
                .list();
    }

    /**
     * At most {@code limit} entries after one whose copy should stand in the bag and may have been moved aside by a run that died:
     * there is a later entry at its name, or at that of a folder above it, that was never proven. Costs the entries and receipts of
     * the experiment, as writing the bag's tag files does.
     */
    public int[] perhapsAside(int experimentId, int siteId, int afterEntry, int limit) {
        return jdbc
                .sql("""
                        with unproven as (
                            select e.directory_no, e.name, e.entry_no, e.kind
                            from entry_version e
                            where e.experiment_id = :experiment
                              and not exists (select from entry_receipt r
                                              where r.experiment_id = :experiment and r.site_id = :site
                                                and r.entry_no = e.entry_no)
                        ), taken as (
                            select entry_path(d.path, u.name) as path, max(u.entry_no) as entry_no,
                                   max(u.entry_no) filter (where u.kind <> 'd') as no_folder_no
                            from unproven u
                            join directory d on d.experiment_id = :experiment and d.directory_no = u.directory_no
                            group by 1
                        ), was_folder as (
                            select t.path, t.no_folder_no
                            from taken t join directory d on d.experiment_id = :experiment and sha256(d.path) = sha256(t.path)
                            where t.no_folder_no is not null
                        ), standing as materialized (
                            select path, entry_no from standing_entry(:experiment, :site) where entry_no > :after
                        )
                        select s.entry_no from standing s join taken t on t.path = s.path and t.entry_no > s.entry_no
                        union
                        select s.entry_no from standing s join was_folder w
                          on w.no_folder_no > s.entry_no
                         and substring(s.path for length(w.path) + 1) = w.path || '\\x2f'::bytea
                        order by 1
                        limit :limit
                        """)
                .param("experiment", experimentId)
                .param("site", siteId)
                .param("after", afterEntry)
                .param("limit", limit)
                .query((row, n) -> row.getInt(1))
                .list()
                .stream()
                .mapToInt(Integer::intValue)
                .toArray();
    }

    private static SiteCopy copy(ResultSet row, Digest digest) throws SQLException {
        SiteFolders folders = SiteFolders.of(row.getString("experiment"));
        FilePath name = FilePath.of(row.getBytes("path"));
        Integer replacedBy = row.getObject("manifest_no", Integer.class);
        FilePath top = replacedBy == null ? folders.data() : folders.versionsOfData(replacedBy);
        return new SiteCopy(
                row.getInt("entry_no"),
                EntryKind.of(row.getString("kind").charAt(0)),
                name,
                top.resolve(name),
                digest,
                row.getLong("size_bytes"),
                replacedBy == null);
    }
}
