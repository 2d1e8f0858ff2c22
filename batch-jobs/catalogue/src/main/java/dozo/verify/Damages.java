package dozo.verify;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.ledger.Rows;
import dozo.send.DamageKind;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The damages: copies that differed from their proven state when they were read again. They are evidence and invalidate
 * receipts: a damaged entry is not proven until it has a later receipt.
 */
@Component
public class Damages {

    private static final int BATCH = 1_000;

    private final JdbcTemplate template;
    private final JdbcClient jdbc;

    /**
     * A damaged copy.
     *
     * @param receiptId its latest receipt: this and earlier ones are void for it
     * @param found its digest now; null if there are no bytes
     */
    public record Damage(
            int entryNumber,
            long receiptId,
            DamageKind kind,
            @Nullable Digest found) {}

    /**
     * The number of an experiment's damaged copies that are not repaired, and since when the first of them is known.
     */
    public record OpenDamages(int experimentId, long copies, Instant since) {}

    /**
     * An entry of a manifest whose copy is damaged and not repaired.
     *
     * @param folder the folder that contains it
     */
    public record DamagedEntry(int entryNumber, FilePath folder) {}

    public Damages(JdbcTemplate template) {
        this.template = template;
        this.jdbc = JdbcClient.create(template);
    }

    /**
     * Stores damages of one experiment and subtracts them from the sums of what is safe. The entries must have counted
     * as proven: a known damage must not be added twice.
     */
    public void add(long runId, int experimentId, int siteId, List<Damage> damages, Instant now) {
        if (damages.isEmpty()) {
            return;
        }
        template.batchUpdate("""
                insert into damage (experiment_id, site_id, entry_no, receipt_id, run_id, found_at, kind, found_digest)
                values (?, ?, ?, ?, ?, ?, ?, ?)
                """, damages, BATCH, (statement, damage) -> {
            statement.setInt(1, experimentId);
            statement.setInt(2, siteId);
            statement.setInt(3, damage.entryNumber());
            statement.setLong(4, damage.receiptId());
            statement.setLong(5, runId);
            statement.setTimestamp(6, Timestamp.from(now));
            statement.setString(7, damage.kind().name());
            statement.setBytes(8, damage.found() == null ? null : damage.found().bytes());
        });
        takeFromProtection(experimentId, siteId, damages, now);
    }

    /**
     * Subtracts exactly these damages instead of recounting: a failing disk damages thousands of receipts, one after
     * the other.
     */
    private void takeFromProtection(int experimentId, int siteId, List<Damage> damages, Instant now) {
        jdbc.sql("""
                        update protection p
                            set files_safe = p.files_safe - l.files, bytes_safe = p.bytes_safe - l.bytes,
                                entries_safe = p.entries_safe - l.entries,
                                unprotected_since = coalesce(p.unprotected_since, :now),
                                files_proven = 0, bytes_proven = 0, counted_at = :now
                        from (select count(*) as entries, count(*) filter (where kind = 'f') as files,
                                     coalesce(sum(size_bytes), 0) as bytes
                              from entry
                              where experiment_id = :experiment and entry_no = any(:numbers)) l
                        where p.experiment_id = :experiment and p.site_id = :site and l.entries > 0
                        """)
                .params(Map.of("experiment", experimentId, "site", siteId))
                .param("numbers", damages.stream().mapToInt(Damage::entryNumber).toArray())
                .param("now", Timestamp.from(now))
                .update();
    }

    /**
     * Returns by transfer unit the proven digests of those of its entries that are damaged now, or have a receipt of another site.
     * What is sent must have the same digests: otherwise the source has rotted since.
     */
    public Map<Long, Map<Integer, Digest>> ofUnits(Collection<Long> units) {
        Map<Long, Map<Integer, Digest>> proven = new HashMap<>();
        jdbc.sql("""
                        select distinct on (unit_id, entry_no) * from (
                            select u.unit_id, d.entry_no, r.digest, d.receipt_id as latest, null as first
                            from transfer_unit u join open_damage d using (experiment_id, site_id)
                            join entry_receipt r using (receipt_id, entry_no)
                            where u.unit_id = any(:units) and d.entry_no = any(u.entry_nos)
                            union all
                            select u.unit_id, r.entry_no, r.digest, null, r.receipt_id
                            from transfer_unit u
                            join site s on s.site_id <> u.site_id
                            join entry_receipt r
                              on r.experiment_id = u.experiment_id and r.site_id = s.site_id
                             and lowest_of(r.entry_nos) <= highest_of(u.entry_nos)
                             and highest_of(r.entry_nos) >= lowest_of(u.entry_nos)
                            join lateral unnest(u.entry_nos) as n (entry_no) on n.entry_no = r.entry_no
                            where u.unit_id = any(:units)
                        ) known
                        order by unit_id, entry_no, latest desc nulls last, first
                        """).param("units", units.toArray(Long[]::new)).query(row -> {
            proven.computeIfAbsent(row.getLong("unit_id"), _ -> new HashMap<>())
                    .put(row.getInt("entry_no"), Digest.of(row.getBytes("digest")));
        });
        return proven;
    }

    /** Returns the entries of a manifest that are damaged at a site. */
    public List<DamagedEntry> of(int experimentId, int siteId, int manifest) {
        return jdbc.sql("""
                        select distinct x.entry_no, f.path
                        from open_damage x
                        join lateral (
                            select directory_no from entry
                            where experiment_id = x.experiment_id and entry_no = x.entry_no and since_manifest <= :manifest
                            union all
                            select directory_no from ended_entry
                            where experiment_id = x.experiment_id and entry_no = x.entry_no and since_manifest <= :manifest
                              and until_manifest > :manifest
                        ) e on true
                        join directory f on f.experiment_id = x.experiment_id and f.directory_no = e.directory_no
                        where x.experiment_id = :experiment and x.site_id = :site
                        """)
                .params(Map.of("experiment", experimentId, "site", siteId, "manifest", manifest))
                .query((row, n) -> new DamagedEntry(row.getInt("entry_no"), FilePath.of(row.getBytes("path"))))
                .list();
    }

    /** Returns the experiments with copies at a site that are damaged and not repaired. */
    public List<OpenDamages> open(int siteId) {
        return jdbc.sql("""
                        select experiment_id, count(distinct entry_no) as copies, min(found_at) as since
                        from open_damage where site_id = :site
                        group by experiment_id order by experiment_id
                        """)
                .param("site", siteId)
                .query(Rows.of(OpenDamages.class))
                .list();
    }
}
