package dozo.audit;

import dozo.file.FilePath;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The evidence of every file, folder and link at a moment. Rows come through a cursor, experiment by experiment, so memory
 * grows neither with the files of one nor with the number of experiments.
 */
@Component
public class FileEvidence {

    private static final int FETCH = 5_000;

    /** The number of experiments that are looked up at once. */
    private static final int PAGE = 1_000;

    private final JdbcClient jdbc;
    private final TransactionTemplate reading;

    private record Then(int experimentId, String project, String code, int manifest) {}

    /**
     * The evidence of one entry of the manifest that was current at the moment.
     *
     * @param kind {@code f}, {@code d} or {@code l}: file, folder, link
     * @param pathBytes the exact name, if {@code path} is not UTF-8
     * @param sha256 the digest of its last receipt, computed at the site; missing: there was none
     * @param verifiedAt when it was
     * @param method by what
     * @param lastReadAt when a scrub last read what the receipt is about; missing: never, as far as kept
     * @param state {@code safe}; {@code unverified}: no receipt; else what was found instead of the copy, and not repaired by then:
     *     {@code missing}, {@code truncated}, {@code altered}, {@code replaced}, {@code relinked}
     */
    @SuppressWarnings("ArrayRecordComponent") // written once
    public record FileLine(
            String project,
            String experiment,
            int manifest,
            String path,
            byte @Nullable [] pathBytes,
            String kind,
            long bytes,
            @Nullable String sha256,
            @Nullable Instant verifiedAt,
            @Nullable String method,
            @Nullable Instant lastReadAt,
            String state) {}

    public FileEvidence(JdbcClient jdbc, PlatformTransactionManager transactions) {
        this.jdbc = jdbc;
        this.reading = new TransactionTemplate(transactions);
        reading.setReadOnly(true);
    }

    /** Passes on all lines of the visible experiments in the order of their registration, and of the entries. */
    public void each(Sight sight, int siteId, Instant at, Consumer<FileLine> line) {
        List<Then> page = experiments(sight, at, 0);
        while (!page.isEmpty()) {
            page.forEach(experiment -> reading.executeWithoutResult(_ -> each(experiment, siteId, at, line)));
            page = experiments(sight, at, page.getLast().experimentId);
        }
    }

    private List<Then> experiments(Sight sight, Instant at, int after) {
        return jdbc.sql("""
                        select e.experiment_id, p.code as project, e.code, m.manifest_no as manifest
                        from experiment e join project p using (project_id)
                        cross join lateral (select max(manifest_no) as manifest_no from manifest
                                            where experiment_id = e.experiment_id and sealed_at <= :at) m
                        where e.experiment_id > :after and in_sight(:seen, p.code) and m.manifest_no is not null
                        order by e.experiment_id limit :limit
                        """)
                .param("at", Timestamp.from(at))
                .param("after", after)
                .param("seen", sight.seen())
                .param("limit", PAGE)
                .query(Rows.of(Then.class))
                .list();
    }

    private void each(Then experiment, int siteId, Instant at, Consumer<FileLine> line) {
        // NB: the planner expects one entry in a flat folder, and would look through all receipts again for each entry.
        jdbc.sql("set local enable_nestloop = off").update();
        jdbc.sql("""
                        with known as materialized (
                            select r.receipt_id, r.method, r.verified_at,
                                   (select max(read_at) from reading d where d.receipt_id = r.receipt_id and d.read_at <= :at) as read_at
                            from receipt r
                            where r.experiment_id = :experiment and r.site_id = :site and r.verified_at <= :at
                        ), proof as (
                            select distinct on (r.entry_no) r.entry_no, r.digest, receipt_id, k.method, k.verified_at, k.read_at
                            from entry_receipt r join known k using (receipt_id)
                            where r.experiment_id = :experiment and r.site_id = :site
                            order by r.entry_no, receipt_id desc
                        ), bad as (
                            select distinct on (entry_no) entry_no, receipt_id, lower(kind) as kind
                            from damage
                            where experiment_id = :experiment and site_id = :site and found_at <= :at
                            order by entry_no, receipt_id desc
                        )
                        select entry_path(d.path, e.name) as path, e.kind, e.size_bytes, p.digest, p.verified_at, p.method, p.read_at,
                               case when p.entry_no is null then 'unverified' else coalesce(b.kind, 'safe') end as state
                        from entry_version e
                        join directory d on d.experiment_id = :experiment and d.directory_no = e.directory_no
                        left join proof p on p.entry_no = e.entry_no
                        left join bad b on b.entry_no = e.entry_no and b.receipt_id >= p.receipt_id
                        where e.experiment_id = :experiment and e.since_manifest <= :manifest
                          and (e.until_manifest is null or e.until_manifest > :manifest)
                        order by e.entry_no
                        """)
                .withFetchSize(FETCH)
                .param("experiment", experiment.experimentId)
                .param("site", siteId)
                .param("manifest", experiment.manifest)
                .param("at", Timestamp.from(at))
                .query(row -> {
                    line.accept(line(experiment, row));
                });
    }

    private static FileLine line(Then experiment, ResultSet row) throws SQLException {
        FilePath path = FilePath.of(row.getBytes("path"));
        byte[] digest = row.getBytes("digest");
        String text = path.toString();
        return new FileLine(
                experiment.project,
                experiment.code,
                experiment.manifest,
                text,
                FilePath.of(text.getBytes(java.nio.charset.StandardCharsets.UTF_8))
                                .equals(path)
                        ? null
                        : path.bytes(),
                row.getString("kind"),
                row.getLong("size_bytes"),
                digest == null ? null : HexFormat.of().formatHex(digest),
                Rows.instant(row, "verified_at"),
                row.getString("method"),
                Rows.instant(row, "read_at"),
                row.getString("state"));
    }
}
