package dozo.verify;

import dozo.file.Digest;
import dozo.file.FilePath;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * Lists the files below the {@code data} folder of an experiment's bag, in the order of their entry numbers. For each
 * name it is the latest proven file, even if the source has deleted it since, because nothing is deleted at the site.
 * Files below a folder that a file or link has replaced since are not listed: that folder is among the versions. The
 * files are those of {@code standing_entry}, but without sorting everything, and together with the files that stood
 * there before.
 */
@Component
public class BagFiles {

    private static final int PAGE_LEAST = 250;
    private static final int PAGE_MOST = 10_000;

    /**
     * The intended total length of a page's paths: a path can be short, or 4 KB long. A page needs three times as much
     * memory, because the driver holds it in hexadecimal digits too.
     */
    private static final long PAGE_BYTES = 1 << 20;

    private static final int FETCH = 1_000;

    /** Instead of a unit: no later entry has the name. */
    private static final long NEVER = Long.MAX_VALUE;

    private final JdbcClient jdbc;

    /** A file that stands at the site under its final name, with its proven digest. */
    public record ProvenFile(FilePath path, Digest digest, long sizeBytes) {}

    /**
     * Receives each file with the number of its entry, and whether it stands now and stood then. A file can have lost its
     * name to a later one.
     */
    public interface Listener<X extends Exception> {
        void file(int entryNumber, ProvenFile file, boolean stands, boolean stood) throws X;
    }

    private record Row(int entryNumber, FilePath path, long sizeBytes) {}

    /** An entry, and the first unit that proved a later entry with its name; unit numbers increase. */
    private record Superseded(int entryNumber, long unit) {}

    /**
     * The latest file or link that was proven in place of a former folder, 0: none.
     *
     * @param settledEntryNumber the latest one that was proven up to the settled unit
     */
    private record Replaced(int entryNumber, int settledEntryNumber) {

        private static final Replaced NOTHING = new Replaced(0, 0);
    }

    public BagFiles(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /**
     * Reports all files that stand at a site now, or stood there when {@code settledUnit} was the last unit. Must be
     * called inside a transaction, after {@link Receipts#lock}: otherwise a manifest sealed in the meantime would be
     * seen in part.
     *
     * @param settledUnit the highest unit at that time
     */
    public <X extends Exception> void each(int experimentId, int siteId, long settledUnit, Listener<X> listener)
            throws X {
        boolean several = hasSeveralManifests(experimentId);
        Map<FilePath, Replaced> replaced = several ? replacedFolders(experimentId, siteId, settledUnit) : Map.of();
        try (Stream<Superseded> all = several ? superseded(experimentId, siteId) : Stream.of()) {
            Iterator<Superseded> superseded = all.iterator();
            Superseded next = next(superseded);
            int limit = PAGE_LEAST;
            List<Row> page = page(experimentId, 0, limit);
            while (!page.isEmpty()) {
                Proven proven = proven(experimentId, siteId, page);
                for (int i = 0; i < page.size(); i++) {
                    Row row = page.get(i);
                    while (next != null && next.entryNumber < row.entryNumber) {
                        next = next(superseded);
                    }
                    Digest digest = proven.digest(i);
                    if (digest == null) {
                        continue;
                    }
                    long since = next != null && next.entryNumber == row.entryNumber ? next.unit : NEVER;
                    Replaced above = above(row.path, replaced);
                    boolean stands = since == NEVER && row.entryNumber > above.entryNumber;
                    boolean stood = proven.units[i] <= settledUnit
                            && since > settledUnit
                            && row.entryNumber > above.settledEntryNumber;
                    if (stands || stood) {
                        listener.file(row.entryNumber, new ProvenFile(row.path, digest, row.sizeBytes), stands, stood);
                    }
                }
                int last = page.getLast().entryNumber;
                boolean more = page.size() == limit;
                limit = nextLimit(page);
                // Frees the page before the next one is read.
                page = List.of();
                page = more ? page(experimentId, last, limit) : page;
            }
        }
    }

    /** Returns whether entries may have been replaced. */
    private boolean hasSeveralManifests(int experimentId) {
        return jdbc.sql("select exists (select from manifest where experiment_id = :experiment and manifest_no > 1)")
                .param("experiment", experimentId)
                .query(Boolean.class)
                .single();
    }

    /** Returns the latest file or link that replaced a folder on the way to a path. */
    private static Replaced above(FilePath path, Map<FilePath, Replaced> replaced) {
        Replaced latest = Replaced.NOTHING;
        for (FilePath folder = path.parent(); !replaced.isEmpty() && !folder.isRoot(); folder = folder.parent()) {
            Replaced one = replaced.getOrDefault(folder, Replaced.NOTHING);
            latest = new Replaced(
                    Math.max(latest.entryNumber, one.entryNumber),
                    Math.max(latest.settledEntryNumber, one.settledEntryNumber));
        }
        return latest;
    }

    private static @Nullable Superseded next(Iterator<Superseded> superseded) {
        return superseded.hasNext() ? superseded.next() : null;
    }

    private static int nextLimit(List<Row> page) {
        long bytes = page.stream().mapToLong(row -> row.path.bytes().length).sum();
        return Math.clamp(PAGE_BYTES * page.size() / Math.max(1, bytes), PAGE_LEAST, PAGE_MOST);
    }

    /** Returns files, proven or not, in the order of their numbers. */
    private List<Row> page(int experimentId, int after, int limit) {
        return jdbc.sql("""
                        select e.entry_no, entry_path(d.path, e.name) as path, e.size_bytes
                        from (
                            (select entry_no, directory_no, name, size_bytes from entry
                             where experiment_id = :experiment and entry_no > :after and kind = 'f'
                             order by entry_no
                             limit :page)
                            union all
                            (select entry_no, directory_no, name, size_bytes from ended_entry
                             where experiment_id = :experiment and entry_no > :after and kind = 'f'
                             order by entry_no
                             limit :page)
                            order by entry_no
                            limit :page) e
                        join directory d on d.experiment_id = :experiment and d.directory_no = e.directory_no
                        order by e.entry_no
                        """)
                .params(Map.of("experiment", experimentId, "after", after, "page", limit))
                .query((row, n) ->
                        new Row(row.getInt("entry_no"), FilePath.of(row.getBytes("path")), row.getLong("size_bytes")))
                .list();
    }

    /** For each row of a page: the first unit that proved it, and the place of its digest in the latest receipt. */
    @SuppressWarnings("ArrayRecordComponent") // is never compared
    private record Proven(long[] units, byte[][] digests, int[] places) {

        @Nullable
        Digest digest(int row) {
            byte[] digests = this.digests[row];
            if (digests == null) {
                return null;
            }
            int from = places[row] * Digest.LENGTH_BYTES;
            return Digest.of(Arrays.copyOfRange(digests, from, from + Digest.LENGTH_BYTES));
        }
    }

    /** NB: reads whole receipts. Extracting each digest in PostgreSQL took twenty times as long. */
    private Proven proven(int experimentId, int siteId, List<Row> page) {
        int[] numbers = page.stream().mapToInt(Row::entryNumber).toArray();
        Proven proven = new Proven(new long[numbers.length], new byte[numbers.length][], new int[numbers.length]);
        jdbc.sql("""
                        select unit_id, entry_nos, digests from receipt
                        where experiment_id = :experiment and site_id = :site
                          and lowest_of(entry_nos) <= :highest and highest_of(entry_nos) >= :lowest
                        order by receipt_id
                        """)
                .params(Map.of("experiment", experimentId, "site", siteId, "lowest", numbers[0]))
                .param("highest", numbers[numbers.length - 1])
                .query(receipt -> {
                    long unit = receipt.getLong("unit_id");
                    byte[] digests = receipt.getBytes("digests");
                    Integer[] entries =
                            (Integer[]) receipt.getArray("entry_nos").getArray();
                    for (int i = 0; i < entries.length; i++) {
                        int row = Arrays.binarySearch(numbers, entries[i]);
                        if (row >= 0) {
                            proven.units[row] = proven.digests[row] == null ? unit : Math.min(unit, proven.units[row]);
                            proven.digests[row] = digests;
                            proven.places[row] = i;
                        }
                    }
                });
        return proven;
    }

    /**
     * Returns the files whose names later proven entries have, in the order of their numbers. Costs what appeared after
     * the first manifest.
     */
    private Stream<Superseded> superseded(int experimentId, int siteId) {
        return jdbc
                .sql(LATER + """
                        select e.entry_no, min(l.unit_id) as unit_id
                        from ended_entry e join later l using (directory_no, name)
                        where e.experiment_id = :experiment and e.kind = 'f' and l.entry_no > e.entry_no
                        group by e.entry_no
                        order by e.entry_no
                        """)
                .withFetchSize(FETCH)
                .params(Map.of("experiment", experimentId, "site", siteId))
                .query((row, n) -> new Superseded(row.getInt("entry_no"), row.getLong("unit_id")))
                .stream();
    }

    private Map<FilePath, Replaced> replacedFolders(int experimentId, int siteId, long settledUnit) {
        Map<FilePath, Replaced> replaced = new HashMap<>();
        jdbc.sql(LATER + """
                        select d.path, max(l.entry_no) as last,
                               coalesce(max(l.entry_no) filter (where l.unit_id <= :settled), 0) as last_settled
                        from later l
                        join directory p on p.experiment_id = :experiment and p.directory_no = l.directory_no
                        join directory d on d.experiment_id = :experiment
                                        and sha256(d.path) = sha256(entry_path(p.path, l.name))
                        where l.kind <> 'd'
                        group by d.path
                        """)
                .params(Map.of("experiment", experimentId, "site", siteId, "settled", settledUnit))
                .query(row -> {
                    replaced.put(
                            FilePath.of(row.getBytes("path")),
                            new Replaced(row.getInt("last"), row.getInt("last_settled")));
                });
        return replaced;
    }

    /** The proven entries that appeared after the first manifest, with the units that proved them. */
    private static final String LATER = """
            with came as (
                select directory_no, name, entry_no, kind from entry_version
                where experiment_id = :experiment and since_manifest > 1
            ), later as (
                select c.*, r.unit_id
                from receipt r cross join lateral unnest(r.entry_nos) as n (entry_no) join came c using (entry_no)
                where r.experiment_id = :experiment and r.site_id = :site
                  and highest_of(r.entry_nos) >= (select min(entry_no) from came)
            )
            """;
}
