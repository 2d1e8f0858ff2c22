package dozo.verify;

import dozo.file.Digest;
import dozo.file.Zoned;
import dozo.ledger.Rows;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;

/**
 * Repeated readings of source files that have not changed: a queue of ranges of entries, the oldest reading first (ADR 0108). A range
 * begins as all new entries of an experiment, and is split into what is read at once.
 */
@Component
public class HomeReadings {

    private final JdbcTemplate template;
    private final JdbcClient jdbc;

    /** A range of an experiment's entries, and when it was last read; at first, when its manifest was sealed. */
    public record Due(int experimentId, int firstEntryNo, int lastEntryNo, Instant lastReadAt) {}

    /**
     * What is read at once: the beginning of a range.
     *
     * @param lastEntryNo its end
     * @param files the sizes in bytes of the files in it that still hold, by their entries' numbers
     * @param sealed their digests when they were first sent, of those that have a receipt
     */
    public record Batch(Due due, int lastEntryNo, Map<Integer, Long> files, Map<Integer, Digest> sealed) {}

    /** What a file was seen to be. */
    public enum State {
        EQUAL(true, false),
        /** Other bytes with the same size and time. */
        ROTTEN(true, true),
        UNKNOWN(false, true),
        /** Not read: without a receipt, or the next night's business. */
        LEFT(false, false);

        private final boolean read;
        private final boolean again;

        State(boolean read, boolean again) {
            this.read = read;
            this.again = again;
        }

        boolean isAsGoodAs(State other) {
            return read == other.read && again == other.again;
        }
    }

    /** What one file was seen to be; its digest if other bytes were read. */
    public record Result(State state, @Nullable Digest found) {}

    /**
     * The last reading of a copy at a site.
     *
     * @param copyIsSealed whether the copy has the digest of the entry's first receipt, and is not known to be damaged
     */
    public record AtSite(String site, boolean copyIsSealed, Instant lastReadAt) {}

    private record Piece(int first, int last, State state) {}

    public HomeReadings(JdbcTemplate template) {
        this.template = template;
        this.jdbc = JdbcClient.create(template);
    }

    /** Adds the entries that have come since the last call. Harmless if it is repeated. */
    public void enlist() {
        jdbc.sql("""
                        insert into home_reading (experiment_id, first_entry_no, last_entry_no, last_read_at)
                        select e.experiment_id, l.last_entry_no + 1, x.newest, m.sealed_at
                        from living_experiment e
                        cross join lateral (
                            select coalesce(max(last_entry_no), 0) as last_entry_no
                            from home_reading where experiment_id = e.experiment_id) l
                        cross join lateral (select max(entry_no) as newest from entry where experiment_id = e.experiment_id) x
                        cross join lateral (
                            select sealed_at from entry n
                            join manifest on manifest.experiment_id = n.experiment_id and manifest_no = since_manifest
                            where n.experiment_id = e.experiment_id and n.entry_no > l.last_entry_no
                            order by n.entry_no limit 1) m
                        where x.newest > l.last_entry_no
                        on conflict do nothing
                        """).update();
    }

    /** Returns the oldest reading of a living experiment's entries; empty: there is none. */
    public Optional<Instant> oldest() {
        return jdbc.sql("""
                        select min(last_read_at) as at from home_reading join living_experiment using (experiment_id)
                        where source_kind <> 'none'
                        having count(*) > 0
                        """)
                .query((row, n) -> row.getTimestamp("at").toInstant())
                .optional();
    }

    /**
     * Returns the next range that a run has not come to: those that every home scrub reads, then those last read before a moment, the
     * oldest first. Experiments that are over, or have no source, are skipped.
     */
    public Optional<Due> next(long runId, Instant dueBefore) {
        return jdbc.sql("""
                        select h.* from home_reading h join living_experiment using (experiment_id)
                        where source_kind <> 'none' and run_id is distinct from :run and (again or last_read_at < :due)
                        order by again desc, last_read_at, experiment_id, first_entry_no
                        limit 1
                        """)
                .param("run", runId)
                .param("due", Timestamp.from(dueBefore))
                .query(Rows.of(Due.class))
                .optional();
    }

    /** Returns the beginning of a range, at most so many files and bytes; at least one file, however large. */
    public Batch begin(Due due, int filesMax, long bytesMax) {
        Map<Integer, Long> files = new HashMap<>();
        int last = due.lastEntryNo;
        long bytes = 0;
        for (Sized file : files(due, filesMax + 1)) {
            bytes += file.sizeBytes;
            if (!files.isEmpty() && (files.size() == filesMax || bytes > bytesMax)) {
                last = file.entryNo - 1;
                break;
            }
            files.put(file.entryNo, file.sizeBytes);
        }
        return new Batch(due, last, files, sealed(due.experimentId, due.firstEntryNo, last));
    }

    private record Sized(int entryNo, long sizeBytes) {}

    private List<Sized> files(Due due, int limit) {
        return jdbc.sql("""
                        select entry_no, size_bytes from entry
                        where experiment_id = :experiment and entry_no between :first and :last and kind = 'f'
                        order by entry_no limit :limit
                        """)
                .param("experiment", due.experimentId)
                .param("first", due.firstEntryNo)
                .param("last", due.lastEntryNo)
                .param("limit", limit)
                .query(Rows.of(Sized.class))
                .list();
    }

    /** NB: the first receipt of each: a later one may be of bytes that had rotted before another site got them. */
    private Map<Integer, Digest> sealed(int experimentId, int first, int last) {
        Map<Integer, Digest> sealed = new HashMap<>();
        jdbc.sql("""
                        select distinct on (entry_no) entry_no, digest from entry_receipt
                        where experiment_id = :experiment and lowest_of(entry_nos) <= :last and highest_of(entry_nos) >= :first
                          and entry_no between :first and :last
                        order by entry_no, receipt_id
                        """)
                .param("experiment", experimentId)
                .param("first", first)
                .param("last", last)
                .query(row -> {
                    sealed.put(row.getInt("entry_no"), Digest.of(row.getBytes("digest")));
                });
        return sealed;
    }

    /**
     * Stores what a run has seen of a batch: the range is split where files differ in it. Files without a result count as left.
     *
     * @param results by the number of the entry
     */
    @Transactional(propagation = Propagation.MANDATORY)
    public void add(long runId, Batch batch, Map<Integer, Result> results, Instant now) {
        Due due = batch.due;
        jdbc.sql("""
                        update home_reading set first_entry_no = :next
                        where experiment_id = :experiment and first_entry_no = :first and last_entry_no >= :next
                        """)
                .param("next", batch.lastEntryNo + 1)
                .param("experiment", due.experimentId)
                .param("first", due.firstEntryNo)
                .update();
        jdbc.sql("delete from home_reading where experiment_id = :experiment and first_entry_no = :first")
                .param("experiment", due.experimentId)
                .param("first", due.firstEntryNo)
                .update();
        List<Piece> pieces = pieces(batch, results);
        template.batchUpdate("""
                insert into home_reading (experiment_id, first_entry_no, last_entry_no, last_read_at, run_id, again)
                values (?, ?, ?, ?, ?, ?)
                """, pieces, pieces.size(), (statement, piece) -> {
            statement.setInt(1, due.experimentId);
            statement.setInt(2, piece.first);
            statement.setInt(3, piece.last);
            statement.setTimestamp(4, Timestamp.from(piece.state.read ? now : due.lastReadAt));
            statement.setLong(5, runId);
            statement.setBoolean(6, piece.state.again);
        });
        List<Map.Entry<Integer, Result>> damaged = results.entrySet().stream()
                .filter(each -> each.getValue().state.again)
                .toList();
        template.batchUpdate("""
                insert into home_damage (experiment_id, entry_no, run_id, found_at, found_digest) values (?, ?, ?, ?, ?)
                """, damaged, Math.max(1, damaged.size()), (statement, each) -> {
            Digest found = each.getValue().found;
            statement.setInt(1, due.experimentId);
            statement.setInt(2, each.getKey());
            statement.setLong(3, runId);
            statement.setTimestamp(4, Timestamp.from(now));
            statement.setBytes(5, found == null ? null : found.bytes());
        });
    }

    /** Returns the parts of a batch whose files are alike. Numbers between files are those of folders, links and ended entries. */
    private static List<Piece> pieces(Batch batch, Map<Integer, Result> results) {
        List<Piece> pieces = new ArrayList<>();
        int first = batch.due.firstEntryNo;
        State state = null;
        for (int number : batch.files.keySet().stream().sorted().toList()) {
            Result result = results.get(number);
            State its = result == null ? State.LEFT : result.state;
            if (state != null && !state.isAsGoodAs(its)) {
                pieces.add(new Piece(first, number - 1, state));
                first = number;
            }
            state = its;
        }
        pieces.add(new Piece(first, batch.lastEntryNo, state == null ? State.EQUAL : state));
        return pieces;
    }

    /** Returns for each of these entries at which sites copies are, by site. */
    public Map<Integer, List<AtSite>> atSites(int experimentId, Collection<Integer> entries) {
        Map<Integer, List<AtSite>> atSites = new HashMap<>();
        jdbc.sql("""
                        select distinct on (r.entry_no, s.name) r.entry_no, s.name, stored.last_read_at,
                               r.digest = first_value(r.digest) over (partition by r.entry_no order by r.receipt_id)
                                   and not exists (select from open_damage d
                                                   where d.experiment_id = r.experiment_id and d.site_id = r.site_id
                                                     and d.entry_no = r.entry_no) as is_sealed
                        from entry_receipt r
                        join site s using (site_id)
                        join stored using (receipt_id)
                        where r.experiment_id = :experiment and r.entry_no = any(:entries) and s.removed_at is null
                        order by r.entry_no, s.name, r.receipt_id desc
                        """)
                .param("experiment", experimentId)
                .param("entries", entries.toArray(Integer[]::new))
                .query(row -> {
                    atSites.computeIfAbsent(row.getInt("entry_no"), _ -> new ArrayList<>())
                            .add(new AtSite(
                                    row.getString("name"),
                                    row.getBoolean("is_sealed"),
                                    row.getTimestamp("last_read_at").toInstant()));
                });
        return atSites;
    }

    /** Returns what is to be said of a file's copies, as a list; empty if there is none. */
    public static String copies(List<AtSite> sites) {
        return sites.stream()
                .map(each -> "%s (%s, last read at %s)"
                        .formatted(
                                each.site(),
                                each.copyIsSealed() ? "as it was sent" : "damaged, or other bytes",
                                Zoned.text(each.lastReadAt())))
                .collect(Collectors.joining(", "));
    }
}
