package dozo.verify;

import dozo.file.Digest;
import dozo.file.FilePath;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The receipts: evidence that the bytes at a site have the digests of those read at the source. They are appended and
 * never changed. An entry without a receipt is not safe, whatever else is known about it.
 */
@Component
public class Receipts {

    private final JdbcClient jdbc;
    private final InstantSource clock;

    /** An entry proven at a site: its number and the digest that was computed there and equals the source's. */
    public record Proof(int entryNumber, Digest digest) {}

    /**
     * A file of the current manifest with the digest of the content that the source had when it was read.
     *
     * @param path below the source
     */
    public record ReadFile(FilePath path, long sizeBytes, Digest digest) {}

    public Receipts(JdbcClient jdbc, InstantSource clock) {
        this.jdbc = jdbc;
        this.clock = clock;
    }

    /**
     * Appends a receipt. It {@linkplain #lock locks} the experiment's protection first, because a trigger updates the
     * sums of what is stored there.
     *
     * @param manifest the current one when the unit was claimed: the copies that the entries replaced are stored under
     * its number
     * @param wayIn how the content was sent: {@code archive}, {@code sftp}, {@code link}; null: unknown, because it was found there
     * @param method how the digests were computed at the site
     * @param worker who verified them
     */
    public void add(
            int experimentId,
            int siteId,
            long unitId,
            long runId,
            int manifest,
            List<Proof> proofs,
            @Nullable String wayIn,
            String method,
            String worker) {
        lock(experimentId);
        int[] numbers = new int[proofs.size()];
        byte[] digests = new byte[proofs.size() * Digest.LENGTH_BYTES];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = proofs.get(i).entryNumber();
            System.arraycopy(proofs.get(i).digest().bytes(), 0, digests, i * Digest.LENGTH_BYTES, Digest.LENGTH_BYTES);
        }
        jdbc.sql("""
                        insert into receipt (experiment_id, site_id, unit_id, run_id, manifest_no, entry_nos, digests, method,
                                             worker, verified_at, way_in)
                        values (:experiment, :site, :unit, :run, :manifest, :numbers, :digests, :method, :worker, :now, :wayIn)
                        """)
                .params(Map.of("experiment", experimentId, "site", siteId, "unit", unitId, "run", runId))
                .params(Map.of("manifest", manifest, "numbers", numbers, "digests", digests))
                .param("wayIn", wayIn, Types.VARCHAR)
                .params(Map.of("method", method, "worker", worker, "now", Timestamp.from(clock.instant())))
                .update();
    }

    /**
     * Locks the protection of experiments against other changes until the end of the transaction. Must be called before
     * any query whose result enters a sum: then everything that others have proven or sealed is seen, and counted once.
     */
    public void lock(int... experimentIds) {
        jdbc.sql("""
                        select 1 from protection where experiment_id = any(:experiments)
                        order by experiment_id, site_id for update
                        """).param("experiments", experimentIds).query((row, n) -> 1).list();
    }

    /**
     * Adds new proofs to the stored sums if they are in the current manifest, and records that the bag's tag files do
     * not list them yet. Must be called after {@link #add}, in its transaction. The experiment must have a manifest,
     * and so has sums.
     */
    public void addToProtection(int experimentId, int siteId, List<Proof> proofs) {
        int rows = jdbc.sql("""
                        update protection
                            set files_safe = files_safe + h.files, bytes_safe = bytes_safe + h.bytes,
                                entries_safe = entries_safe + h.entries, files_proven = files_proven + h.files,
                                bytes_proven = bytes_proven + h.bytes, unsettled = true
                        from (select count(*) filter (where kind = 'f') as files, coalesce(sum(size_bytes), 0) as bytes,
                                     count(*) as entries
                              from entry where experiment_id = :experiment and entry_no = any(:numbers)) h
                        where experiment_id = :experiment and site_id = :site
                        """)
                .params(Map.of("experiment", experimentId, "site", siteId))
                .param("numbers", proofs.stream().mapToInt(Proof::entryNumber).toArray())
                .update();
        if (rows != 1) {
            throw new IllegalStateException("experiment %d has no sums at site %d".formatted(experimentId, siteId));
        }
    }

    /**
     * Returns files of an experiment's current manifest in random order. Those without a receipt, whose digests are unknown,
     * are left out.
     *
     * @param most from how many files
     * @param sizeMax only files of at most this size, in bytes
     */
    public List<ReadFile> sample(int experimentId, int most, long sizeMax) {
        return jdbc.sql("""
                        select entry_path(d.path, e.name) as path, e.size_bytes, r.digest
                        from (select * from entry where experiment_id = :experiment and kind = 'f' and size_bytes <= :size
                              order by random() limit :most) e
                        join directory d on d.experiment_id = :experiment and d.directory_no = e.directory_no
                        cross join lateral (
                            select digest from entry_receipt r
                            where r.experiment_id = :experiment and r.entry_no = e.entry_no
                              and lowest_of(r.entry_nos) <= e.entry_no and highest_of(r.entry_nos) >= e.entry_no
                            order by receipt_id desc limit 1) r
                        """)
                .params(Map.of("experiment", experimentId, "most", most, "size", sizeMax))
                .query((row, n) -> new ReadFile(
                        FilePath.of(row.getBytes("path")),
                        row.getLong("size_bytes"),
                        Digest.of(row.getBytes("digest"))))
                .list();
    }

    /** Records that a run adds nothing more to these experiments: the present sums become their coverage. */
    public void conclude(int[] experimentIds, int siteId) {
        jdbc.sql("""
                        update protection p
                            set safe_manifest = case when entries_safe = entries then manifest_no else safe_manifest end,
                                unprotected_since =
                                    case when entries_safe < entries
                                         then coalesce(unprotected_since,
                                                       (select min(m.sealed_at) from manifest m
                                                        where m.experiment_id = p.experiment_id
                                                          and m.manifest_no > coalesce(p.safe_manifest, 0))) end,
                                files_proven = 0, bytes_proven = 0, counted_at = :now
                        where experiment_id = any(:experiments) and site_id = :site
                        """)
                .params(Map.of("experiments", experimentIds, "site", siteId, "now", Timestamp.from(clock.instant())))
                .update();
    }

    /** Returns the highest unit up to which each bag's tag files list all receipts; 0: they were never written. */
    public Map<Integer, Long> settledUnits(int[] experimentIds, int siteId) {
        Map<Integer, Long> units = new HashMap<>();
        jdbc.sql("""
                        select experiment_id, settled_unit from protection
                        where experiment_id = any(:experiments) and site_id = :site
                        """)
                .params(Map.of("experiments", experimentIds, "site", siteId))
                .query(row -> {
                    units.put(row.getInt(1), row.getLong(2));
                });
        return units;
    }

    /**
     * Records that the tag files of these bags list every receipt. The unit never decreases, because retention may have
     * deleted the last one.
     */
    public void settled(int[] experimentIds, int siteId) {
        jdbc.sql("""
                        update protection p
                            set unsettled = false,
                                settled_unit = greatest(settled_unit,
                                                        (select max(unit_id) from transfer_unit u
                                                         where u.experiment_id = p.experiment_id and u.site_id = p.site_id))
                        where experiment_id = any(:experiments) and site_id = :site
                        """)
                .params(Map.of("experiments", experimentIds, "site", siteId))
                .update();
    }

    /** Begins the sums at each site of experiments whose first manifest was just sealed: nothing of it has a receipt. */
    public void begin(int[] experimentIds) {
        jdbc.sql("""
                        insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe,
                                                bytes_safe, entries_safe, unprotected_since, counted_at, unsettled)
                        select m.experiment_id, s.site_id, m.manifest_no, m.files, m.bytes, m.files + m.folders + m.links, 0,
                               0, 0, m.sealed_at, :now, false
                        from manifest m cross join site s
                        where m.experiment_id = any(:experiments)
                        """)
                .params(Map.of("experiments", experimentIds, "now", Timestamp.from(clock.instant())))
                .update();
    }

    /**
     * Updates the stored sums at each site for the manifest that was just sealed: proven entries that have ended are
     * subtracted, and new ones have no receipt yet. Costs what ended, not what exists (ADR 0023). Must be called
     * whenever a manifest is sealed. For an unproven entry that ended, a run that died may have moved a copy aside:
     * then the bag must be settled again (ADR 0022).
     */
    public void carryOver(int experimentId) {
        lock(experimentId);
        jdbc.sql("""
                        with current as (
                            select *, files + folders + links as entries from manifest
                            where experiment_id = :experiment order by manifest_no desc limit 1
                        ), kept as (
                            select s.site_id, c.manifest_no, c.files, c.bytes, c.entries, c.sealed_at,
                                   coalesce(p.manifest_no, 0) as before, coalesce(p.files_safe, 0) as files_safe,
                                   coalesce(p.bytes_safe, 0) as bytes_safe, coalesce(p.entries_safe, 0) as entries_safe,
                                   p.safe_manifest, p.unprotected_since
                            from site s cross join current c
                            left join protection p on p.experiment_id = :experiment and p.site_id = s.site_id
                        ), ended as (
                            select k.site_id, e.entry_no, e.kind, e.size_bytes
                            from kept k join ended_entry e
                              on e.experiment_id = :experiment
                             and e.until_manifest > k.before and e.until_manifest <= k.manifest_no
                             and e.since_manifest <= k.before
                        ), lost as (
                            select e.site_id, count(*) filter (where e.kind = 'f') as files, sum(e.size_bytes) as bytes,
                                   count(*) as entries
                            from ended e
                            where exists (select from proven_entry r
                                          where r.experiment_id = :experiment and r.site_id = e.site_id
                                            and lowest_of(r.entry_nos) <= e.entry_no and highest_of(r.entry_nos) >= e.entry_no
                                            and r.entry_no = e.entry_no)
                            group by e.site_id
                        ), carried as (
                            select k.*, exists (select from stored t where t.experiment_id = :experiment
                                                                       and t.site_id = k.site_id)
                                        and (select count(*) from ended e where e.site_id = k.site_id)
                                            > coalesce(l.entries, 0) as aside,
                                   k.files_safe - coalesce(l.files, 0) as files_now,
                                   k.bytes_safe - coalesce(l.bytes, 0) as bytes_now,
                                   k.entries_safe - coalesce(l.entries, 0) as entries_now
                            from kept k left join lost l using (site_id)
                        )
                        insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe,
                                                bytes_safe, entries_safe, safe_manifest, unprotected_since, counted_at,
                                                unsettled)
                        select :experiment, site_id, manifest_no, files, bytes, entries, files_now, bytes_now, entries_now,
                               case when entries_now = entries then manifest_no else safe_manifest end,
                               case when entries_now < entries
                                    then coalesce(unprotected_since,
                                                  (select min(u.sealed_at) from manifest u
                                                   where u.experiment_id = :experiment
                                                     and u.manifest_no = coalesce(c.safe_manifest, 0) + 1),
                                                  sealed_at) end,
                               :now, aside
                        from carried c
                        on conflict (experiment_id, site_id) do update
                            set manifest_no = excluded.manifest_no, files = excluded.files, bytes = excluded.bytes,
                                entries = excluded.entries, files_safe = excluded.files_safe,
                                bytes_safe = excluded.bytes_safe, entries_safe = excluded.entries_safe,
                                safe_manifest = excluded.safe_manifest, unprotected_since = excluded.unprotected_since,
                                files_proven = 0, bytes_proven = 0, counted_at = excluded.counted_at,
                                unsettled = protection.unsettled or excluded.unsettled
                        """)
                .params(Map.of("experiment", experimentId, "now", Timestamp.from(clock.instant())))
                .update();
    }

    /**
     * Recounts what is proven of the experiment's current manifest at each site, from the receipts and the damages, and
     * stores the sums in {@code protection}. A trigger keeps the previous sums in {@code coverage}. Reads every receipt
     * of the experiment. A night updates the sums; a scrub recounts them, so that an error in them lasts no longer than
     * copies go unread. If something is unproven, the next plan checks every entry of the manifest.
     *
     * @return whether the stored sums were right
     */
    public boolean count(int experimentId) {
        lock(experimentId);
        List<String> kept = sums(experimentId);
        jdbc.sql("""
                        with proven as (
                            select distinct site_id, entry_no from proven_entry where experiment_id = :experiment
                        ), holding as (
                            select p.site_id, e.kind, e.size_bytes
                            from proven p join entry e
                              on e.experiment_id = :experiment and e.entry_no = p.entry_no
                        ), now_safe as (
                            select s.site_id, count(*) filter (where h.kind = 'f') as files,
                                   coalesce(sum(h.size_bytes), 0) as bytes, count(h.kind) as entries
                            from site s left join holding h using (site_id)
                            group by s.site_id
                        ), current as (
                            select *, files + folders + links as entries from manifest
                            where experiment_id = :experiment order by manifest_no desc limit 1
                        ), counted as (
                            select c.manifest_no, c.files, c.bytes, c.entries, c.sealed_at, n.site_id, n.files as files_safe,
                                   n.bytes as bytes_safe, n.entries as entries_safe,
                                   case when n.entries = c.entries then c.manifest_no end as safe_manifest,
                                   p.safe_manifest as safe_before,
                                   p.unprotected_since
                            from now_safe n cross join current c
                            left join protection p on p.experiment_id = :experiment and p.site_id = n.site_id
                        )
                        insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe,
                                                bytes_safe, entries_safe, safe_manifest, unprotected_since, counted_at)
                        select :experiment, site_id, manifest_no, files, bytes, entries, files_safe, bytes_safe, entries_safe,
                               safe_manifest,
                               case when entries_safe < entries
                                    then coalesce(unprotected_since,
                                                  (select min(u.sealed_at) from manifest u
                                                   where u.experiment_id = :experiment
                                                     and u.manifest_no = coalesce(c.safe_before, 0) + 1),
                                                  c.sealed_at) end,
                               :now
                        from counted c
                        on conflict (experiment_id, site_id) do update
                            set manifest_no = excluded.manifest_no, files = excluded.files, bytes = excluded.bytes,
                                entries = excluded.entries, files_safe = excluded.files_safe,
                                bytes_safe = excluded.bytes_safe, entries_safe = excluded.entries_safe,
                                safe_manifest = excluded.safe_manifest, unprotected_since = excluded.unprotected_since,
                                files_proven = 0, bytes_proven = 0, counted_at = excluded.counted_at
                        """)
                .params(Map.of("experiment", experimentId, "now", Timestamp.from(clock.instant())))
                .update();
        return kept.equals(sums(experimentId));
    }

    private List<String> sums(int experimentId) {
        return jdbc.sql("""
                        select concat_ws(' ', site_id, manifest_no, files_safe, bytes_safe, entries_safe) from protection
                        where experiment_id = :experiment order by site_id
                        """)
                .param("experiment", experimentId)
                .query((row, n) -> row.getString(1))
                .list();
    }

    /**
     * Returns the digests of these entries from their latest proofs, without entries that have no receipt. Costs the
     * receipts whose entry numbers overlap the range of these: pass entries that are close together.
     */
    public Map<Integer, Digest> digests(int experimentId, int siteId, int[] entryNumbers) {
        Map<Integer, Digest> digests = new HashMap<>();
        if (entryNumbers.length == 0) {
            return digests;
        }
        jdbc.sql("""
                        select distinct on (entry_no) entry_no, digest from entry_receipt
                        where experiment_id = :experiment and site_id = :site
                          and lowest_of(entry_nos) <= :highest and highest_of(entry_nos) >= :lowest
                          and entry_no = any(:numbers)
                        order by entry_no, receipt_id desc
                        """)
                .params(Map.of("experiment", experimentId, "site", siteId, "numbers", entryNumbers))
                .param("lowest", Arrays.stream(entryNumbers).min().getAsInt())
                .param("highest", Arrays.stream(entryNumbers).max().getAsInt())
                .query(row -> {
                    digests.put(row.getInt("entry_no"), Digest.of(row.getBytes("digest")));
                });
        return digests;
    }

    /**
     * Counts the files of a manifest that have no receipt from a site. It answers at once if the stored sums show that
     * there are none. Otherwise it reads the experiment's entries and receipts, like writing the bag's tag files.
     */
    public long filesWithout(int experimentId, int siteId, int manifest) {
        return jdbc.sql("""
                        select case when exists (select from protection
                                                 where experiment_id = :experiment and site_id = :site
                                                   and manifest_no = :manifest and files_safe = files)
                               then 0
                               else (select count(*) from entry_version e
                                     where e.experiment_id = :experiment and e.kind = 'f' and e.since_manifest <= :manifest
                                       and (e.until_manifest is null or e.until_manifest > :manifest)
                                       and not exists (select from entry_receipt r
                                                       where r.experiment_id = :experiment and r.site_id = :site
                                                         and r.entry_no = e.entry_no))
                               end
                        """)
                .params(Map.of("experiment", experimentId, "site", siteId, "manifest", manifest))
                .query((row, n) -> row.getLong(1))
                .single();
    }
}
