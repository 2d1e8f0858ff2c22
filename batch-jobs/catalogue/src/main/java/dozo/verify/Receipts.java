package dozo.verify;

import dozo.file.Digest;
import java.sql.Timestamp;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The receipts: evidence that the bytes at a site have the digests of those read at the source. Appended, never changed.
 * What has no receipt is not safe, whatever else is known of it.
 */
@Component
public class Receipts {

    private final JdbcClient jdbc;
    private final InstantSource clock;

    /** An entry proven at a site: its number and the digest that was computed there and equals the source's. */
    public record Proof(int entryNumber, Digest digest) {}

    public Receipts(JdbcClient jdbc, InstantSource clock) {
        this.jdbc = jdbc;
        this.clock = clock;
    }

    /**
     * Appends a receipt. The experiment's protection is {@linkplain #lock locked} before: a trigger counts with it what is stored.
     *
     * @param manifest the current one when the unit was claimed: under its number lies what the entries replaced
     * @param wayIn how the content came there: {@code archive}, {@code sftp}
     * @param method how the digests were computed at the site
     * @param worker who did it
     */
    public void add(
            int experimentId,
            int siteId,
            long unitId,
            long runId,
            int manifest,
            List<Proof> proofs,
            String wayIn,
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
                .param("experiment", experimentId)
                .param("site", siteId)
                .param("unit", unitId)
                .param("run", runId)
                .param("manifest", manifest)
                .param("numbers", numbers)
                .param("digests", digests)
                .param("wayIn", wayIn)
                .param("method", method)
                .param("worker", worker)
                .param("now", Timestamp.from(clock.instant()))
                .update();
    }

    /**
     * Has whoever else changes what is kept of an experiment's protection wait until the transaction's end. To be called before anything
     * is asked that a sum is made of: what others have proven or sealed by then is seen, and nothing of it twice.
     */
    public void lock(int experimentId) {
        jdbc.sql("select 1 from protection where experiment_id = :experiment order by site_id for update")
                .param("experiment", experimentId)
                .query((row, n) -> 1)
                .list();
    }

    /**
     * Adds what was proven to the kept sums, as far as it is of the current manifest, and notes that the bag's tag files do not list
     * it yet. To be called after {@link #add}, in its transaction. The experiment has a manifest, and so it has sums.
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
                .param("experiment", experimentId)
                .param("site", siteId)
                .param("numbers", proofs.stream().mapToInt(Proof::entryNumber).toArray())
                .update();
        if (rows != 1) {
            throw new IllegalStateException("experiment %d has no sums at site %d".formatted(experimentId, siteId));
        }
    }

    /** Notes that from now on nothing more of a run is to come for an experiment: what the sums say is remembered as its coverage. */
    public void conclude(int experimentId, int siteId) {
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
                        where experiment_id = :experiment and site_id = :site
                        """)
                .param("experiment", experimentId)
                .param("site", siteId)
                .param("now", Timestamp.from(clock.instant()))
                .update();
    }

    /** The highest unit whose receipt the bag's tag files list, as all below it; 0: they were never written. */
    public long settledUnit(int experimentId, int siteId) {
        return jdbc.sql("select settled_unit from protection where experiment_id = :experiment and site_id = :site")
                .param("experiment", experimentId)
                .param("site", siteId)
                .query(Long.class)
                .single();
    }

    /** Notes that the bag's tag files list every receipt. Retention may have deleted what was noted last: it never goes down. */
    public void settled(int experimentId, int siteId) {
        jdbc.sql("""
                        update protection
                            set unsettled = false,
                                settled_unit = greatest(settled_unit,
                                                        (select max(unit_id) from transfer_unit
                                                         where experiment_id = :experiment and site_id = :site))
                        where experiment_id = :experiment and site_id = :site
                        """).param("experiment", experimentId).param("site", siteId).update();
    }

    /**
     * Carries the kept sums over to the manifest that was just sealed, at each site: what was proven and does not hold in it any
     * more is taken off, and what came with it has no receipt yet. Costs what ended, not what is there (ADR 0023). Must be called
     * whenever a manifest is sealed. What ended and was never proven may have had something moved aside for it by a run that died:
     * then the bag is to be settled again (ADR 0022).
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
                .param("experiment", experimentId)
                .param("now", Timestamp.from(clock.instant()))
                .update();
    }

    /**
     * Counts anew, from the receipts and what was found damaged since, what of the experiment's current manifest is proven at each
     * site, and keeps the sums in {@code protection}; what they were before stays in {@code coverage} (a trigger sees to that).
     * Reads every receipt of the experiment. A night carries sums on; a scrub counts them, so that no error of theirs lasts for longer
     * than copies go unread. Where something is not proven, the next plan asks for each entry of the manifest.
     *
     * @return whether they were kept as they are counted
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
                .param("experiment", experimentId)
                .param("now", Timestamp.from(clock.instant()))
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
     * What was computed at a site of these entries the last time they were proven; of one without a receipt, nothing. Costs the
     * receipts whose entries' numbers reach between the lowest and the highest of these: give such as are near each other.
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
                .param("experiment", experimentId)
                .param("site", siteId)
                .param("numbers", entryNumbers)
                .param("lowest", Arrays.stream(entryNumbers).min().getAsInt())
                .param("highest", Arrays.stream(entryNumbers).max().getAsInt())
                .query(row -> {
                    digests.put(row.getInt("entry_no"), Digest.of(row.getBytes("digest")));
                });
        return digests;
    }

    /**
     * How many files of a manifest have no receipt of a site. At once where the kept sums say that there are none; else it reads
     * the experiment's entries and receipts, as writing the bag's tag files does.
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
                .param("experiment", experimentId)
                .param("site", siteId)
                .param("manifest", manifest)
                .query((row, n) -> row.getLong(1))
                .single();
    }
}
