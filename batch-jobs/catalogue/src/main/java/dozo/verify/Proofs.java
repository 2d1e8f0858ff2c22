package dozo.verify;

import dozo.file.Digest;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.ledger.Rows;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/** The evidence that one file is safe: every content that a path has had, with its receipts. */
@Component
public class Proofs {

    private static final RowMapper<FileReceipt> RECEIPT = Rows.of(FileReceipt.class);

    private final JdbcClient jdbc;

    /**
     * One content of a path, as an entry of manifests, with one of its receipts.
     *
     * @param entry its number among the experiment's entries
     * @param kind file, directory or link
     * @param sinceManifest the first manifest with it, sealed at {@code sealedAt}
     * @param untilManifest the first manifest without it, sealed at {@code goneAt}; missing: it is in the latest manifest
     * @param receipt missing: there is none, so the content is not safe; nor is it if all its receipts are void
     */
    public record FileProof(
            int entry,
            EntryKind kind,
            long bytes,
            Instant modified,
            int sinceManifest,
            Instant sealedAt,
            @Nullable Integer untilManifest,
            @Nullable Instant goneAt,
            @Nullable FileReceipt receipt) {

        /** Returns whether the source had it at the last look. */
        public boolean holds() {
            return untilManifest == null;
        }
    }

    /**
     * A receipt, the evidence that a copy was verified: the digest that was computed at the site, how, by whom, when, and in which
     * run.
     *
     * @param wayIn how the content was sent: {@code archive}, {@code sftp}, or {@code link}: not again, as a hard link to a
     *     stored file; missing in older receipts
     * @param lastReadAt when a scrub last read what the receipt is about; missing: never, as far as kept
     * @param damagedAt when the copy was found damaged, which voids the receipt; missing: not found damaged
     */
    public record FileReceipt(
            long id,
            long run,
            long unit,
            Digest sha256,
            @Nullable String wayIn,
            String method,
            String worker,
            Instant verifiedAt,
            @Nullable Instant lastReadAt,
            @Nullable Instant damagedAt) {}

    public Proofs(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /**
     * Returns at most {@code limit} proofs of a path of an experiment at a site: the latest content first, and for each
     * the latest receipt first. None: no manifest has ever had this path.
     */
    public List<FileProof> of(int experimentId, int siteId, FilePath path, int limit) {
        return jdbc.sql("""
                        select e.entry_no, e.kind, e.size_bytes, e.modified_ns,
                               e.since_manifest, s.sealed_at, e.until_manifest, u.sealed_at as gone_at,
                               r.receipt_id as id, r.run_id as run, r.unit_id as unit, r.way_in, r.method, r.worker, r.verified_at,
                               substring(r.digests from (array_position(r.entry_nos, e.entry_no) - 1) * 32 + 1 for 32) as sha256,
                               (select max(d.read_at) from reading d where d.receipt_id = r.receipt_id) as last_read_at,
                               (select min(b.found_at) from damage b
                                where b.experiment_id = e.experiment_id and b.site_id = r.site_id
                                  and b.entry_no = e.entry_no and b.receipt_id >= r.receipt_id) as damaged_at
                        from directory d
                        cross join lateral versions_of(:experiment, d.directory_no, :name) e
                        join manifest s on s.experiment_id = e.experiment_id and s.manifest_no = e.since_manifest
                        left join manifest u on u.experiment_id = e.experiment_id and u.manifest_no = e.until_manifest
                        left join receipt r on r.experiment_id = e.experiment_id and r.site_id = :site
                                           and lowest_of(r.entry_nos) <= e.entry_no and highest_of(r.entry_nos) >= e.entry_no
                                           and e.entry_no = any(r.entry_nos)
                        where d.experiment_id = :experiment and sha256(d.path) = sha256(:folder)
                        order by e.entry_no desc, r.receipt_id desc
                        limit :limit
                        """)
                .params(Map.of("experiment", experimentId, "site", siteId, "name", path.name(), "limit", limit))
                .param("folder", path.parent().bytes())
                .query(Proofs::proof)
                .list();
    }

    /** Returns those of these entries that are proven at a site: with a receipt, and not found damaged since. */
    public Set<Integer> proven(int experimentId, int siteId, int[] entryNumbers) {
        // The range narrows the receipts by index: the index has only the lowest and highest entry number of each
        // receipt.
        return new HashSet<>(jdbc.sql("""
                        select distinct n.entry_no
                        from receipt r cross join lateral unnest(r.entry_nos) as n (entry_no)
                        where r.experiment_id = :experiment and r.site_id = :site
                          and lowest_of(r.entry_nos) <= :highest and highest_of(r.entry_nos) >= :lowest
                          and n.entry_no = any(:numbers)
                          and not exists (select from damage b
                                          where b.experiment_id = :experiment and b.site_id = :site
                                            and b.entry_no = n.entry_no and b.receipt_id >= r.receipt_id)
                        """)
                .params(Map.of("experiment", experimentId, "site", siteId))
                .param("lowest", Arrays.stream(entryNumbers).min().orElse(0))
                .params(Map.of("highest", Arrays.stream(entryNumbers).max().orElse(0), "numbers", entryNumbers))
                .query((row, n) -> row.getInt(1))
                .list());
    }

    private static FileProof proof(ResultSet row, int n) throws SQLException {
        return new FileProof(
                row.getInt("entry_no"),
                EntryKind.of(row.getString("kind").charAt(0)),
                row.getLong("size_bytes"),
                Instant.ofEpochSecond(0, row.getLong("modified_ns")),
                row.getInt("since_manifest"),
                row.getTimestamp("sealed_at").toInstant(),
                row.getObject("until_manifest", Integer.class),
                Rows.instant(row, "gone_at"),
                row.getBytes("sha256") == null ? null : RECEIPT.mapRow(row, n));
    }
}
