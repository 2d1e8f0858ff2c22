package dozo.manifest;

import dozo.file.Digest;
import dozo.file.Entry;
import java.util.Collection;
import java.util.HashMap;
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
     * Returns by transfer unit those of its entries whose names have ever been one of several of a file: what is at the site under such a
     * name may be under others, too.
     */
    public Map<Long, Set<Integer>> ofUnits(Collection<Long> units) {
        // Most experiments have no hard links, and the second statement takes ten times as long to plan.
        List<Long> linked = jdbc.sql("""
                        select unit_id from transfer_unit u
                        where unit_id = any(:units)
                          and exists (select from entry_link where experiment_id = u.experiment_id and hard_link is not null)
                        """)
                .param("units", units.toArray(Long[]::new))
                .query((row, n) -> row.getLong(1))
                .list();
        Map<Long, Set<Integer>> shared = new HashMap<>();
        if (!linked.isEmpty()) {
            jdbc.sql("""
                            select u.unit_id, e.entry_no
                            from transfer_unit u
                            cross join lateral (select * from entry e
                                                where e.experiment_id = u.experiment_id and e.entry_no = any(u.entry_nos) and e.kind = 'f'
                                                offset 0) e
                            where u.unit_id = any(:units)
                              and exists (select from versions_of(u.experiment_id, e.directory_no, e.name) v
                                          join entry_link l on l.experiment_id = u.experiment_id and l.entry_no = v.entry_no
                                          where l.hard_link is not null)
                            """).param("units", linked.toArray(Long[]::new)).query(row -> {
                shared.computeIfAbsent(row.getLong("unit_id"), _ -> new HashSet<>())
                        .add(row.getInt("entry_no"));
            });
        }
        return shared;
    }
}
