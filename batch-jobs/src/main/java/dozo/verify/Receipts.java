package dozo.verify;

import dozo.file.Digest;
import dozo.file.FilePath;
import java.sql.Timestamp;
import java.time.InstantSource;
import java.util.List;
import java.util.stream.Stream;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * The receipts: evidence that the bytes at a site have the digests of those read at the source. Appended, never changed.
 * What has no receipt is not safe, whatever else is known of it.
 */
@Component
public class Receipts {

    private static final int FETCH = 5_000;

    private final JdbcClient jdbc;
    private final InstantSource clock;

    /** An entry proven at a site: its number and the digest that was computed there and equals the source's. */
    public record Proof(int entryNumber, Digest digest) {}

    /** A file that stands at the site under its final name, with the digest it was proven to have. */
    public record ProvenFile(FilePath path, Digest digest, long sizeBytes) {}

    public Receipts(JdbcClient jdbc, InstantSource clock) {
        this.jdbc = jdbc;
        this.clock = clock;
    }

    /**
     * Appends a receipt.
     *
     * @param method how the digests were computed at the site
     * @param worker who did it
     */
    public void add(
            int experimentId, int siteId, long unitId, long runId, List<Proof> proofs, String method, String worker) {
        int[] numbers = new int[proofs.size()];
        byte[] digests = new byte[proofs.size() * Digest.LENGTH_BYTES];
        for (int i = 0; i < numbers.length; i++) {
            numbers[i] = proofs.get(i).entryNumber();
            System.arraycopy(proofs.get(i).digest().bytes(), 0, digests, i * Digest.LENGTH_BYTES, Digest.LENGTH_BYTES);
        }
        jdbc.sql("""
                        insert into receipt (experiment_id, site_id, unit_id, run_id, entry_nos, digests, method, worker,
                                             verified_at)
                        values (:experiment, :site, :unit, :run, :numbers, :digests, :method, :worker, :now)
                        """)
                .param("experiment", experimentId)
                .param("site", siteId)
                .param("unit", unitId)
                .param("run", runId)
                .param("numbers", numbers)
                .param("digests", digests)
                .param("method", method)
                .param("worker", worker)
                .param("now", Timestamp.from(clock.instant()))
                .update();
    }

    /**
     * Counts, from the receipts, what of the experiment's current manifest is proven at the site, and keeps the sums in
     * {@code protection}.
     */
    public void count(int experimentId, int siteId) {
        jdbc.sql("""
                        insert into protection (experiment_id, site_id, files, bytes, entries, counted_at)
                        select :experiment, :site, count(*) filter (where e.kind = 'f'), coalesce(sum(e.size_bytes), 0),
                               count(*), :now
                        from entry e
                        where e.experiment_id = :experiment and e.until_manifest is null
                          and e.entry_no in (select unnest(entry_nos) from receipt
                                             where experiment_id = :experiment and site_id = :site)
                        on conflict (experiment_id, site_id) do update
                            set files = excluded.files, bytes = excluded.bytes, entries = excluded.entries,
                                counted_at = excluded.counted_at
                        """)
                .param("experiment", experimentId)
                .param("site", siteId)
                .param("now", Timestamp.from(clock.instant()))
                .update();
    }

    /**
     * Every file that stands at the site below the experiment's {@code data} folder, by path: for each name the latest
     * proven entry, also where the source has deleted it since, because nothing is deleted at the site; but not below what
     * was a folder and is a file or link now, because that folder stands among the versions. Close the stream.
     */
    public Stream<ProvenFile> standing(int experimentId, int siteId) {
        return jdbc
                .sql("""
                        with proof as (
                            select entry_no, substring(r.digests from ((i - 1) * 32 + 1)::integer for 32) as digest
                            from receipt r, unnest(r.entry_nos) with ordinality as n (entry_no, i)
                            where r.experiment_id = :experiment and r.site_id = :site
                        ), latest as (
                            select distinct on (e.directory_no, e.name)
                                   case when d.path = '' then e.name else d.path || '\\x2f'::bytea || e.name end as path,
                                   e.kind, e.size_bytes, proof.digest
                            from entry e join proof using (entry_no) join directory d using (experiment_id, directory_no)
                            where e.experiment_id = :experiment
                            order by e.directory_no, e.name, e.entry_no desc
                        ), was_folder as (
                            select l.path from latest l
                            where l.kind <> 'd' and exists (select from directory d
                                                            where d.experiment_id = :experiment
                                                              and sha256(d.path) = sha256(l.path))
                        )
                        select path, digest, size_bytes from latest l
                        where kind = 'f'
                          and not exists (select from was_folder w
                                          where substring(l.path for length(w.path) + 1) = w.path || '\\x2f'::bytea)
                        order by path
                        """)
                .withFetchSize(FETCH)
                .param("experiment", experimentId)
                .param("site", siteId)
                .query((row, n) -> new ProvenFile(
                        FilePath.of(row.getBytes("path")),
                        Digest.of(row.getBytes("digest")),
                        row.getLong("size_bytes")))
                .stream();
    }
}
