package dozo.manifest;

import dozo.file.Digest;
import dozo.file.Entry;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The groups of hard links of manifests, and what of them is stored at sites (ADR 0072). */
@Component
public class LinkGroups {

    private final JdbcClient jdbc;

    /** An entry of the current manifest with a proven copy, which is under its name at the site. */
    public record Stored(Entry entry, Digest digest) {}

    LinkGroups(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /** Returns a stored name for each file that these entries are names of, if it has one. */
    public List<Stored> stored(int experimentId, int siteId, int[] entryNumbers) {
        return jdbc.sql("""
                        select e.*, d.path, g.hard_link, null::bytea as link_target, s.digest
                        from (select distinct l.hard_link, e.size_bytes, e.modified_ns, e.mode
                              from entry e join entry_link l using (experiment_id, entry_no)
                              where e.experiment_id = :experiment and e.entry_no = any(:numbers)
                                and l.hard_link is not null) g
                        cross join lateral (
                            select name.entry_no, proof.digest
                            from entry_link l
                            join entry name on name.experiment_id = :experiment and name.entry_no = l.entry_no
                            cross join lateral group_proof(:experiment, :site, name.entry_no) proof
                            where l.experiment_id = :experiment and l.hard_link = g.hard_link
                              and (name.size_bytes, name.modified_ns, name.mode) = (g.size_bytes, g.modified_ns, g.mode)
                            order by l.entry_no
                            limit 1) s
                        join entry e on e.experiment_id = :experiment and e.entry_no = s.entry_no
                        join directory d on d.experiment_id = :experiment and d.directory_no = e.directory_no
                        """)
                .params(Map.of("experiment", experimentId, "site", siteId, "numbers", entryNumbers))
                .query((row, n) -> new Stored(Manifests.ENTRY.mapRow(row, n), Digest.of(row.getBytes("digest"))))
                .list();
    }

    /**
     * Returns those of these entries whose names have ever been one of several of a file: what is at the site under such a
     * name may be under others, too.
     */
    public Set<Integer> shared(int experimentId, int[] entryNumbers) {
        return new HashSet<>(jdbc.sql("""
                        select e.entry_no
                        from entry e
                        where e.experiment_id = :experiment and e.entry_no = any(:numbers) and e.kind = 'f'
                          and exists (select from entry_link where experiment_id = :experiment and hard_link is not null)
                          and exists (select from versions_of(:experiment, e.directory_no, e.name) v
                                      join entry_link l on l.experiment_id = :experiment and l.entry_no = v.entry_no
                                      where l.hard_link is not null)
                        """)
                .params(Map.of("experiment", experimentId, "numbers", entryNumbers))
                .query((row, n) -> row.getInt(1))
                .list());
    }
}
