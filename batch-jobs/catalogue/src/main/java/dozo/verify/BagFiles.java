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
 * The files that stand below the {@code data} folder of an experiment's bag, in the order in which their entries came: for each name the
 * latest proven one, also where the source has deleted it since, because nothing is deleted at the site; but not below what has been a
 * file or link since, because the folder that they were in stands among the versions. The same as {@code standing_entry} gives, without a
 * sort of everything, and together with what stood there before.
 */
@Component
public class BagFiles {

    private static final int PAGE_LEAST = 1_000;
    private static final int PAGE_MOST = 10_000;

    /** What the paths of a page should come to: they can be short, or 4 KB long each. */
    private static final long PAGE_BYTES = 4 << 20;

    private static final int FETCH = 1_000;

    /** In place of a unit: nobody has taken the name. */
    private static final long NEVER = Long.MAX_VALUE;

    private final JdbcClient jdbc;

    /** A file that stands at the site under its final name, with the digest it was proven to have. */
    public record ProvenFile(FilePath path, Digest digest, long sizeBytes) {}

    /** What is told of a file; some stood there once and do not any more, as others have their names now. */
    public interface Listener<X extends Exception> {
        void file(ProvenFile file, boolean stands, boolean stood) throws X;
    }

    private record Row(int entryNumber, FilePath path, long sizeBytes) {}

    /** What has the name of an earlier entry since a unit; numbers of units grow. */
    private record Superseded(int entryNumber, long unit) {}

    /**
     * The latest file or link that was proven where a folder stood once, 0: none.
     *
     * @param settledEntryNumber the latest of those that were proven up to the settled unit
     */
    private record Replaced(int entryNumber, int settledEntryNumber) {

        private static final Replaced NOTHING = new Replaced(0, 0);
    }

    public BagFiles(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /**
     * Tells of all files that stand at a site or stood there when a unit was the last. Call inside a transaction, with
     * {@link Receipts#lock} before: a manifest that is sealed meanwhile would be half seen.
     *
     * @param settledUnit the highest unit then
     */
    public <X extends Exception> void each(int experimentId, int siteId, long settledUnit, Listener<X> listener)
            throws X {
        Map<FilePath, Replaced> replaced = replacedFolders(experimentId, siteId, settledUnit);
        try (Stream<Superseded> all = superseded(experimentId, siteId)) {
            Iterator<Superseded> superseded = all.iterator();
            Superseded next = next(superseded);
            List<Row> page = page(experimentId, 0, PAGE_LEAST);
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
                        listener.file(new ProvenFile(row.path, digest, row.sizeBytes), stands, stood);
                    }
                }
                page = page(experimentId, page.getLast().entryNumber, nextLimit(page));
            }
        }
    }

    /** The latest file or link that took the place of a folder on the way to a path. */
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

    /** Files whether proven or not, in the order of their numbers. */
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
                .param("experiment", experimentId)
                .param("after", after)
                .param("page", limit)
                .query((row, n) ->
                        new Row(row.getInt("entry_no"), FilePath.of(row.getBytes("path")), row.getLong("size_bytes")))
                .list();
    }

    /** For each row of a page: the unit that proved it first, and where the digest of the latest receipt is. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
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

    /** NB: whole receipts. To have PostgreSQL cut each digest out took twenty times as long. */
    private Proven proven(int experimentId, int siteId, List<Row> page) {
        int[] numbers = page.stream().mapToInt(Row::entryNumber).toArray();
        Proven proven = new Proven(new long[numbers.length], new byte[numbers.length][], new int[numbers.length]);
        jdbc.sql("""
                        select unit_id, entry_nos, digests from receipt
                        where experiment_id = :experiment and site_id = :site
                          and lowest_of(entry_nos) <= :highest and highest_of(entry_nos) >= :lowest
                        order by receipt_id
                        """)
                .param("experiment", experimentId)
                .param("site", siteId)
                .param("lowest", numbers[0])
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
     * The files whose names others have that were proven later, in the order of their numbers. Costs what came after the first manifest.
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
                .param("experiment", experimentId)
                .param("site", siteId)
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
                .param("experiment", experimentId)
                .param("site", siteId)
                .param("settled", settledUnit)
                .query(row -> {
                    replaced.put(
                            FilePath.of(row.getBytes("path")),
                            new Replaced(row.getInt("last"), row.getInt("last_settled")));
                });
        return replaced;
    }

    /** What came after the first manifest and was proven, and by which units. */
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
