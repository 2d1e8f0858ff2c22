package dozo.verify;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.groupingBy;

import dozo.file.Digest;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.send.SiteCopy;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Repeated readings of what is stored at the sites: a queue of receipts, the oldest reading first, and the evidence of
 * each reading. One reading covers the copies of one receipt (ADR 0023).
 */
@Component
public class Readings {

    private static final int FETCH = 1_000;

    private final JdbcClient jdbc;
    private final Copies copies;

    /** The extent of a receipt, and when it was last read, or proven if that was later. */
    public record Due(long receiptId, int experimentId, long files, long bytes, Instant lastReadAt) {

        /** Returns its place in the queue. */
        public Position place() {
            return new Position(lastReadAt, receiptId);
        }
    }

    public record Position(Instant lastReadAt, long receiptId) {

        /** Before all places. */
        public static final Position BEGIN = new Position(Instant.EPOCH, 0);
    }

    /**
     * A completed reading: for every copy it is known whether it is as proven.
     *
     * @param notAsProven numbers of entries that have damages since
     */
    public record Reading(
            long receiptId,
            Instant readAt,
            long bytes,
            int copies,
            boolean cold,
            String method,
            List<Integer> notAsProven) {}

    /** The amount that was last read on the same day (UTC), with the oldest time of that day. */
    public record Age(Instant lastReadAt, long files, long bytes) {}

    /**
     * How a site or experiment keeps the promise.
     *
     * @param oldest the oldest reading; null if nothing is stored
     * @param filesRead files last read since the requested moment, {@code bytesRead} their bytes
     * @param damaged copies of files, folders and links that were found damaged and are not repaired
     */
    public record Standing(
            @Nullable Instant oldest, long files, long bytes, long filesRead, long bytesRead, long damaged) {}

    private record Covered(long receiptId, int entryNumber, Digest digest) {}

    public Readings(JdbcClient jdbc, Copies copies) {
        this.jdbc = jdbc;
        this.copies = copies;
    }

    /**
     * Claims at most {@code limit} receipts that were last read before {@code dueBefore}, the oldest first. The claim
     * is a lock on the rows: it lasts as long as the transaction. Receipts that others have claimed are skipped.
     *
     * @param after the last receipt claimed before, so that an interrupted reading is not tried twice
     */
    public List<Due> claim(int siteId, Instant dueBefore, Position after, int limit) {
        return jdbc.sql("""
                        select * from stored
                        where site_id = :site and last_read_at < :due and (last_read_at, receipt_id) > (:at, :receipt)
                        order by last_read_at, receipt_id
                        limit :limit
                        for update skip locked
                        """)
                .params(Map.of("site", siteId, "due", Timestamp.from(dueBefore)))
                .params(Map.of("at", Timestamp.from(after.lastReadAt()), "receipt", after.receiptId()))
                .param("limit", limit)
                .query(Rows.of(Due.class))
                .list();
    }

    /**
     * Returns the copies to read for each of these receipts, in the order of its entries: without known damaged ones,
     * and without those of an earlier manifest whose bytes have been proven under the same name since. A copy that two
     * receipts cover is read for both.
     */
    public Map<Long, List<SiteCopy>> toRead(int siteId, List<Due> dues) {
        Map<Long, List<SiteCopy>> toRead = new HashMap<>();
        dues.stream().collect(groupingBy(Due::experimentId)).forEach((experiment, ofExperiment) -> {
            List<Covered> covered = covered(ofExperiment);
            Map<Integer, SiteCopy> copyOf = copies(experiment, siteId, covered);
            ofExperiment.forEach(due -> toRead.put(due.receiptId(), new ArrayList<>()));
            for (Covered one : covered) {
                SiteCopy copy = copyOf.get(one.entryNumber());
                if (copy != null) {
                    requireNonNull(toRead.get(one.receiptId())).add(copy);
                }
            }
        });
        return toRead;
    }

    private Map<Integer, SiteCopy> copies(int experimentId, int siteId, List<Covered> covered) {
        Map<Integer, Digest> proven = new HashMap<>();
        covered.forEach(one -> proven.put(one.entryNumber(), one.digest()));
        Map<Integer, SiteCopy> copyOf = new HashMap<>();
        copies.ofCurrent(experimentId, proven).forEach(copy -> copyOf.put(copy.entryNumber(), copy));
        int[] ended = proven.keySet().stream()
                .filter(number -> !copyOf.containsKey(number))
                .mapToInt(Integer::intValue)
                .toArray();
        copies.of(experimentId, siteId, notProvenAgain(experimentId, siteId, ended))
                .forEach(copy -> copyOf.put(copy.entryNumber(), copy));
        return copyOf;
    }

    /**
     * Returns the entries of receipts whose copies are not known to be damaged. All digests of a receipt are read at
     * once and separated here: one by one they would cost as much as the reading.
     */
    private List<Covered> covered(List<Due> dues) {
        List<Covered> covered = new ArrayList<>();
        jdbc.sql("""
                        select r.receipt_id, r.entry_nos, r.digests,
                               array(select d.entry_no from damage d
                                     where d.experiment_id = r.experiment_id and d.site_id = r.site_id
                                       and d.receipt_id >= r.receipt_id) as damaged
                        from receipt r where r.receipt_id = any(:receipts)
                        order by r.receipt_id
                        """)
                .param("receipts", dues.stream().mapToLong(Due::receiptId).toArray())
                .query(row -> {
                    Integer[] numbers = (Integer[]) row.getArray("entry_nos").getArray();
                    Set<Integer> damaged = new HashSet<>(
                            Arrays.asList((Integer[]) row.getArray("damaged").getArray()));
                    byte[] digests = row.getBytes("digests");
                    for (int i = 0; i < numbers.length; i++) {
                        if (!damaged.contains(numbers[i])) {
                            int at = i * Digest.LENGTH_BYTES;
                            Digest digest = Digest.of(Arrays.copyOfRange(digests, at, at + Digest.LENGTH_BYTES));
                            covered.add(new Covered(row.getLong("receipt_id"), numbers[i], digest));
                        }
                    }
                });
        return covered;
    }

    /**
     * Returns those of these ended entries whose bytes have not been proven under the same name since. The others have
     * the later entry's copy.
     */
    private int[] notProvenAgain(int experimentId, int siteId, int[] ended) {
        if (ended.length == 0) {
            return ended;
        }
        return jdbc
                .sql("""
                        select e.entry_no from ended_entry e
                        where e.experiment_id = :experiment and e.entry_no = any(:ended)
                          and not exists (
                              select from versions_of(:experiment, e.directory_no, e.name) x
                              join entry_receipt later
                                on later.experiment_id = :experiment and later.site_id = :site
                               and lowest_of(later.entry_nos) <= x.entry_no and highest_of(later.entry_nos) >= x.entry_no
                               and later.entry_no = x.entry_no
                              join entry_receipt own
                                on own.experiment_id = :experiment and own.site_id = :site
                               and lowest_of(own.entry_nos) <= e.entry_no and highest_of(own.entry_nos) >= e.entry_no
                               and own.entry_no = e.entry_no and own.digest = later.digest
                              where x.kind = e.kind and x.entry_no > e.entry_no)
                        """)
                .params(Map.of("experiment", experimentId, "site", siteId, "ended", ended))
                .query((row, n) -> row.getInt(1))
                .list()
                .stream()
                .mapToInt(Integer::intValue)
                .toArray();
    }

    /** Stores the evidence of a reading, and moves its receipt to the end of the queue. */
    public void add(long runId, Reading reading) {
        jdbc.sql("""
                        with evidence as (
                            insert into reading (receipt_id, run_id, read_at, bytes, copies, cold, method, not_as_proven)
                            values (:receiptId, :run, :readAt, :bytes, :copies, :cold, :method, nullif(:notAsProven::integer[], '{}'))
                        )
                        update stored set last_read_at = greatest(last_read_at, :readAt) where receipt_id = :receiptId
                        """).params(Rows.params(reading)).param("run", runId).update();
    }

    /**
     * Puts receipts whose last reading is after {@code latest} back in the queue, at their last reading or proof until now; at now if
     * there is none. Skips receipts that a scrub has claimed. Returns their number.
     */
    public int distrust(int siteId, Instant latest, Instant now) {
        return jdbc.sql("""
                        update stored s set last_read_at = coalesce(
                            (select max(r.read_at) from reading r where r.receipt_id = s.receipt_id and r.read_at <= :now),
                            (select c.verified_at from receipt c where c.receipt_id = s.receipt_id and c.verified_at <= :now),
                            :now)
                        where s.receipt_id in (
                            select receipt_id from stored where site_id = :site and last_read_at > :latest
                            for update skip locked)
                        """)
                .params(Map.of("site", siteId, "latest", Timestamp.from(latest), "now", Timestamp.from(now)))
                .update();
    }

    /** Returns how much was last read on each day (UTC) at a site, the oldest first. The caller closes the stream. */
    public Stream<Age> ages(int siteId) {
        return jdbc.sql("""
                        select min(last_read_at) as last_read_at, sum(files) as files, sum(bytes) as bytes
                        from stored where site_id = :site
                        group by date_trunc('day', last_read_at, 'UTC')
                        order by 1
                        """).withFetchSize(FETCH).param("site", siteId).query(Rows.of(Age.class)).stream();
    }

    /** Returns how the promise stands at a site: what was read since a moment, and what was not. */
    public Standing site(int siteId, Instant since) {
        return jdbc.sql("""
                        select (select min(last_read_at) from stored where site_id = :site) as oldest, t.*, s.*, d.*
                        from (select coalesce(sum(files_stored), 0) as files, coalesce(sum(bytes_stored), 0) as bytes
                              from protection where site_id = :site) t
                        cross join (select coalesce(sum(files), 0) as files_late, coalesce(sum(bytes), 0) as bytes_late
                                    from stored where site_id = :site and last_read_at < :since) s
                        cross join (select count(*) as damaged from open_damage where site_id = :site) d
                        """)
                .params(Map.of("site", siteId, "since", Timestamp.from(since)))
                .query((row, n) -> standing(row))
                .single();
    }

    /**
     * Returns the same for what the user may see. It needs another query, because a whole site and a part of it use
     * different indexes.
     */
    public Standing site(Sight sight, int siteId, Instant since) {
        if (sight.ofEverything()) {
            return site(siteId, since);
        }
        return jdbc.sql("""
                        with own as materialized (
                            select e.experiment_id from experiment e join project p using (project_id)
                            where p.code = any(:seen::text[])
                        )
                        select t.*, s.*, d.*
                        from (select coalesce(sum(files_stored), 0) as files, coalesce(sum(bytes_stored), 0) as bytes
                              from protection join own using (experiment_id) where site_id = :site) t
                        cross join (select min(last_read_at) as oldest,
                                           coalesce(sum(files) filter (where last_read_at < :since), 0) as files_late,
                                           coalesce(sum(bytes) filter (where last_read_at < :since), 0) as bytes_late
                                    from stored join own using (experiment_id) where site_id = :site) s
                        cross join (select count(*) as damaged
                                    from open_damage join own using (experiment_id) where site_id = :site) d
                        """)
                .params(Map.of("seen", sight.seen(), "site", siteId, "since", Timestamp.from(since)))
                .query((row, n) -> standing(row))
                .single();
    }

    private static Standing standing(ResultSet row) throws SQLException {
        long files = row.getLong("files");
        long bytes = row.getLong("bytes");
        // The two are counted separately: one may be ahead for a moment.
        return new Standing(
                Rows.instant(row, "oldest"),
                files,
                bytes,
                Math.max(0, files - row.getLong("files_late")),
                Math.max(0, bytes - row.getLong("bytes_late")),
                row.getLong("damaged"));
    }
}
