package dozo.verify;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.file.SiteNames;
import dozo.registry.Experiments;
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
 * Locates the copy of each proven entry at a site: under its name in the bag, or among the versions. It is there once
 * other content was proven under its name, or a file or link under the name of a folder above it.
 *
 * <p>The place follows from the receipts alone, as if every run had finished. A run that died after moving a copy
 * aside, before proving its replacement, leaves the copy under the number of an earlier manifest. If a copy is missing,
 * the caller also searches the other versions and recognises it by its digest (ADR 0022).
 */
@Component
public class Copies {

    private final JdbcClient jdbc;

    public Copies(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /**
     * Returns the copies of these entries, in the order of their numbers, without entries that have no receipt. Costs
     * the entries of their folders: pass thousands that are close together.
     */
    public List<SiteCopy> of(int experimentId, int siteId, int[] entryNumbers) {
        return of("entry_receipt", experimentId, siteId, entryNumbers);
    }

    /** Returns the same, also of entries that the site claims to hold and nobody has verified yet: where they are if that is true. */
    public List<SiteCopy> ofClaimed(int experimentId, int siteId, int[] entryNumbers) {
        return of("claimed_entry", experimentId, siteId, entryNumbers);
    }

    /** @param proofs the view that says which entries are at the site */
    private List<SiteCopy> of(String proofs, int experimentId, int siteId, int[] entryNumbers) {
        if (entryNumbers.length == 0) {
            return List.of();
        }
        SiteNames names = names(experimentId);
        return jdbc.sql("""
                        with wanted as (
                            select e.entry_no, e.directory_no, e.name, e.kind, e.size_bytes, d.path as folder
                            from entry_version e join directory d using (experiment_id, directory_no)
                            where e.experiment_id = :experiment and e.entry_no = any(:numbers)
                        ), proven as (
                            select distinct on (w.entry_no) w.*, p.digest
                            from wanted w join %1$s p on p.entry_no = w.entry_no
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
                            from later l join %1$s r on r.entry_no = l.later_no
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
                        """.formatted(proofs))
                .params(Map.of("experiment", experimentId, "site", siteId, "numbers", entryNumbers))
                .param("lowest", Arrays.stream(entryNumbers).min().getAsInt())
                .param("highest", Arrays.stream(entryNumbers).max().getAsInt())
                .query((row, n) -> copy(row, names, Digest.of(row.getBytes("digest"))))
                .list();
    }

    /**
     * Returns the copies of those of these proven entries that are in the current manifest. They stand in the bag, so
     * no search for replacements is needed.
     *
     * @param proven entries by number, each with the digest computed when it was last proven
     */
    List<SiteCopy> ofCurrent(int experimentId, Map<Integer, Digest> proven) {
        SiteNames names = names(experimentId);
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
                .query((row, n) -> copy(row, names, requireNonNull(proven.get(row.getInt("entry_no")))))
                .list();
    }

    /**
     * Returns at most {@code limit} entries after {@code afterEntry} whose copy should stand in the bag, but may have
     * been moved aside by a run that died: a later entry at its name, or at that of a folder above it, was never
     * proven. Costs the entries and receipts of the experiment, like writing the bag's tag files.
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
                .params(Map.of("experiment", experimentId, "site", siteId, "after", afterEntry, "limit", limit))
                .query((row, n) -> row.getInt(1))
                .list()
                .stream()
                .mapToInt(Integer::intValue)
                .toArray();
    }

    private SiteNames names(int experimentId) {
        return jdbc.sql("select name_key, names_lost from experiment where experiment_id = :experiment")
                .param("experiment", experimentId)
                .query((row, n) -> Experiments.names(row))
                .single();
    }

    private static SiteCopy copy(ResultSet row, SiteNames names, Digest digest) throws SQLException {
        SiteFolders folders = SiteFolders.of(row.getString("experiment"));
        FilePath name = FilePath.of(row.getBytes("path"));
        Integer replacedBy = row.getObject("manifest_no", Integer.class);
        FilePath top = replacedBy == null ? folders.data() : folders.versionsOfData(replacedBy);
        return new SiteCopy(
                row.getInt("entry_no"),
                EntryKind.of(row.getString("kind").charAt(0)),
                name,
                top.resolve(names.of(name)),
                digest,
                row.getLong("size_bytes"),
                replacedBy == null);
    }
}
