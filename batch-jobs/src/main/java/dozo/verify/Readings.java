package dozo.verify;

import static java.util.Objects.requireNonNull;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * What lies at the sites and is read again: a queue of receipts, oldest reading first, and the evidence of each reading. What is
 * read again as one is what a receipt covers (ADR 0023).
 */
@Component
public class Readings {

    private static final int FETCH = 1_000;

    private final JdbcClient jdbc;

    /** What a receipt covers, and when it was last read, or proven where that was later. */
    public record Due(long receiptId, int experimentId, long files, long bytes, Instant lastReadAt) {

        /** Where the queue goes on behind it. */
        public Place place() {
            return new Place(lastReadAt, receiptId);
        }
    }

    /** A place in the queue. */
    public record Place(Instant lastReadAt, long receiptId) {

        /** Before everything. */
        public static final Place BEGIN = new Place(Instant.EPOCH, 0);
    }

    /**
     * A reading that came to its end: of every copy it is known whether it is as proven.
     *
     * @param notAsProven numbers of entries that are in the damages since
     */
    public record Reading(
            long receiptId,
            Instant readAt,
            long bytes,
            int copies,
            boolean cold,
            String method,
            List<Integer> notAsProven) {}

    /** So much was last read on the same day (UTC), the oldest of it at this instant. */
    public record Age(Instant lastReadAt, long files, long bytes) {}

    /**
     * How the promise stands.
     *
     * @param oldest the oldest reading; null where nothing is stored
     * @param filesRead files last read since the moment that was asked for, {@code bytesRead} their bytes
     * @param damaged copies found damaged and not repaired, of files, folders and links
     */
    public record Standing(
            @Nullable Instant oldest, long files, long bytes, long filesRead, long bytesRead, long damaged) {}

    public Readings(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /**
     * Claims at most {@code limit} receipts that were last read before {@code dueBefore}, the oldest first. The claim is the rows'
     * lock: it lasts as long as the transaction. What others have claimed is passed over.
     *
     * @param after the last one claimed before; what could not be read to its end is so not tried twice
     */
    public List<Due> claim(int siteId, Instant dueBefore, Place after, int limit) {
        return jdbc.sql("""
                        select * from stored
                        where site_id = :site and last_read_at < :due and (last_read_at, receipt_id) > (:at, :receipt)
                        order by last_read_at, receipt_id
                        limit :limit
                        for update skip locked
                        """)
                .param("site", siteId)
                .param("due", Timestamp.from(dueBefore))
                .param("at", Timestamp.from(after.lastReadAt()))
                .param("receipt", after.receiptId())
                .param("limit", limit)
                .query((row, n) -> new Due(
                        row.getLong("receipt_id"),
                        row.getInt("experiment_id"),
                        row.getLong("files"),
                        row.getLong("bytes"),
                        row.getTimestamp("last_read_at").toInstant()))
                .list();
    }

    /**
     * Which entries are read with each of these receipts: not those that a later receipt has too, nor those that are known to be
     * damaged, nor those of an earlier manifest whose bytes have been proven under the same name since.
     */
    public Map<Long, List<Integer>> toRead(List<Due> dues) {
        Map<Long, List<Integer>> toRead = new HashMap<>();
        dues.forEach(due -> toRead.put(due.receiptId(), new ArrayList<>()));
        jdbc.sql("""
                        with asked as (
                            select experiment_id, site_id, receipt_id, entry_nos,
                                   lowest_of(entry_nos) as lowest, highest_of(entry_nos) as highest
                            from receipt where receipt_id = any(:receipts)
                        ), covered as (
                            select a.experiment_id, a.site_id, r.receipt_id, r.entry_no, r.digest
                            from asked a join entry_receipt r using (receipt_id)
                        ), again as (
                            select a.receipt_id, n.entry_no
                            from asked a
                            join receipt r on r.experiment_id = a.experiment_id and r.site_id = a.site_id
                                          and lowest_of(r.entry_nos) <= a.highest and highest_of(r.entry_nos) >= a.lowest
                                          and r.receipt_id > a.receipt_id
                            cross join unnest(r.entry_nos) as n (entry_no)
                        ), same_bytes as (
                            select c.receipt_id, c.entry_no
                            from covered c
                            join ended_entry e on e.experiment_id = c.experiment_id and e.entry_no = c.entry_no
                            join lateral versions_of(e.experiment_id, e.directory_no, e.name) x
                              on x.kind = e.kind and x.entry_no > e.entry_no
                            join entry_receipt r on r.experiment_id = x.experiment_id and r.site_id = c.site_id
                                                and lowest_of(r.entry_nos) <= x.entry_no
                                                and highest_of(r.entry_nos) >= x.entry_no
                                                and r.entry_no = x.entry_no and r.digest = c.digest
                        )
                        select receipt_id, entry_no from covered c
                        where not exists (select from again a where a.receipt_id = c.receipt_id and a.entry_no = c.entry_no)
                          and not exists (select from same_bytes s
                                          where s.receipt_id = c.receipt_id and s.entry_no = c.entry_no)
                          and not exists (select from damage d
                                          where d.experiment_id = c.experiment_id and d.site_id = c.site_id
                                            and d.entry_no = c.entry_no and d.receipt_id >= c.receipt_id)
                        order by receipt_id, entry_no
                        """)
                .param("receipts", dues.stream().mapToLong(Due::receiptId).toArray())
                .query(row -> {
                    requireNonNull(toRead.get(row.getLong("receipt_id"))).add(row.getInt("entry_no"));
                });
        return toRead;
    }

    /** Keeps the evidence of a reading, and puts what was read at the end of the queue. */
    public void add(long runId, Reading reading) {
        jdbc.sql("""
                        with evidence as (
                            insert into reading (receipt_id, run_id, read_at, bytes, copies, cold, method, not_as_proven)
                            values (:receipt, :run, :at, :bytes, :copies, :cold, :method, nullif(:bad, '{}'::integer[]))
                        )
                        update stored set last_read_at = greatest(last_read_at, :at) where receipt_id = :receipt
                        """)
                .param("receipt", reading.receiptId())
                .param("run", runId)
                .param("at", Timestamp.from(reading.readAt()))
                .param("bytes", reading.bytes())
                .param("copies", reading.copies())
                .param("cold", reading.cold())
                .param("method", reading.method())
                .param(
                        "bad",
                        reading.notAsProven().stream()
                                .mapToInt(Integer::intValue)
                                .toArray())
                .update();
    }

    /** How much was last read on each day (UTC) at a site, the oldest first. Close the stream. */
    public Stream<Age> ages(int siteId) {
        return jdbc
                .sql("""
                        select min(last_read_at) as oldest, sum(files) as files, sum(bytes) as bytes
                        from stored where site_id = :site
                        group by date_trunc('day', last_read_at, 'UTC')
                        order by 1
                        """)
                .withFetchSize(FETCH)
                .param("site", siteId)
                .query((row, n) ->
                        new Age(row.getTimestamp("oldest").toInstant(), row.getLong("files"), row.getLong("bytes")))
                .stream();
    }

    /** How the promise stands at a site: what was read since a moment, and what was not. */
    public Standing site(int siteId, Instant since) {
        return jdbc.sql("""
                        select (select min(last_read_at) from stored where site_id = :site) as oldest, t.*, s.*, d.*
                        from (select coalesce(sum(files_stored), 0) as files, coalesce(sum(bytes_stored), 0) as bytes
                              from protection where site_id = :site) t
                        cross join (select coalesce(sum(files), 0) as files_late, coalesce(sum(bytes), 0) as bytes_late
                                    from stored where site_id = :site and last_read_at < :since) s
                        cross join (select count(*) as damaged from open_damage where site_id = :site) d
                        """)
                .param("site", siteId)
                .param("since", Timestamp.from(since))
                .query((row, n) -> standing(row))
                .single();
    }

    /** How it stands for one experiment. */
    public Standing experiment(int experimentId, int siteId, Instant since) {
        return jdbc.sql("""
                        select t.*, s.*, d.*
                        from (select coalesce(sum(files_stored), 0) as files, coalesce(sum(bytes_stored), 0) as bytes
                              from protection where experiment_id = :experiment and site_id = :site) t
                        cross join (select min(last_read_at) as oldest,
                                           coalesce(sum(files) filter (where last_read_at < :since), 0) as files_late,
                                           coalesce(sum(bytes) filter (where last_read_at < :since), 0) as bytes_late
                                    from stored where experiment_id = :experiment and site_id = :site) s
                        cross join (select count(*) as damaged from open_damage
                                    where experiment_id = :experiment and site_id = :site) d
                        """)
                .param("experiment", experimentId)
                .param("site", siteId)
                .param("since", Timestamp.from(since))
                .query((row, n) -> standing(row))
                .single();
    }

    private static Standing standing(ResultSet row) throws SQLException {
        Timestamp oldest = row.getTimestamp("oldest");
        long files = row.getLong("files");
        long bytes = row.getLong("bytes");
        return new Standing(
                oldest == null ? null : oldest.toInstant(),
                files,
                bytes,
                files - row.getLong("files_late"),
                bytes - row.getLong("bytes_late"),
                row.getLong("damaged"));
    }
}
