package dozo.verify;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.send.SiteCopy;
import java.nio.ByteBuffer;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;

/**
 * What a site claims to hold, in a catalogue that was rebuilt from it. Nothing of it is safe: once it is verified, a
 * receipt replaces it.
 */
@Component
public class FoundCopies {

    /** The maximum of one row, which becomes one receipt: what a scrub later reads as one. */
    private static final int ENTRIES_MAX = 1_000;

    private static final long BYTES_MAX = 32L << 20;
    private static final int FETCH = 1_000;
    private static final int BATCH = 100;

    private static final String ADD = """
            insert into found_copy (experiment_id, site_id, manifest_no, entry_nos, digests) values (?, ?, ?, ?, ?)
            """;

    private final JdbcTemplate template;
    private final JdbcClient jdbc;
    private final Copies copies;

    /** Says which digest a file has by the lists of the site, by its path below the source's root. */
    public interface Claims {
        Digest of(FilePath path);
    }

    /**
     * Entries that a site claims to hold.
     *
     * @param manifest as of a receipt
     * @param claimed the digest of each entry by its number
     */
    public record Found(long id, int experimentId, int manifest, Map<Integer, Digest> claimed) {

        int[] numbers() {
            return claimed.keySet().stream().mapToInt(Integer::intValue).toArray();
        }
    }

    private record Claim(int entryNumber, Digest digest, long sizeBytes) {}

    public FoundCopies(JdbcTemplate template, Copies copies) {
        this.template = template;
        this.jdbc = JdbcClient.create(template);
        this.copies = copies;
    }

    /**
     * Adds all entries of an experiment's current manifest: files with the digests of the site's lists, links with those
     * of their texts, folders with that of nothing. Must be called inside a transaction.
     */
    public void addAll(int experimentId, int siteId, int manifest, Claims claims) {
        try (Stream<Claim> all = jdbc
                .sql("""
                        select e.entry_no, e.kind, e.size_bytes, entry_path(d.path, e.name) as path, l.link_target
                        from entry e join directory d using (experiment_id, directory_no)
                        left join entry_link l using (experiment_id, entry_no)
                        where e.experiment_id = :experiment
                        order by e.entry_no
                        """)
                .withFetchSize(FETCH)
                .param("experiment", experimentId)
                .query((row, n) -> claim(row, claims))
                .stream()) {
            List<List<Claim>> full = new ArrayList<>();
            List<Claim> open = new ArrayList<>();
            long bytes = 0;
            for (Iterator<Claim> next = all.iterator(); next.hasNext(); ) {
                Claim claim = next.next();
                if (!open.isEmpty() && (open.size() == ENTRIES_MAX || bytes + claim.sizeBytes > BYTES_MAX)) {
                    full.add(open);
                    open = new ArrayList<>();
                    bytes = 0;
                }
                open.add(claim);
                bytes += claim.sizeBytes;
                if (full.size() == BATCH) {
                    add(experimentId, siteId, manifest, full);
                    full.clear();
                }
            }
            if (!open.isEmpty()) {
                full.add(open);
            }
            add(experimentId, siteId, manifest, full);
        }
    }

    private static Claim claim(ResultSet row, Claims claims) throws SQLException {
        byte @Nullable [] target = row.getBytes("link_target");
        Digest digest = switch (EntryKind.of(row.getString("kind").charAt(0))) {
            case FILE -> claims.of(FilePath.of(row.getBytes("path")));
            case LINK -> Digest.ofContent(requireNonNull(target));
            case DIRECTORY -> Digest.OF_NOTHING;
        };
        return new Claim(row.getInt("entry_no"), digest, row.getLong("size_bytes"));
    }

    private void add(int experimentId, int siteId, int manifest, List<List<Claim>> rows) {
        template.batchUpdate(ADD, rows, BATCH, (statement, claims) -> {
            ByteBuffer digests = ByteBuffer.allocate(Digest.LENGTH_BYTES * claims.size());
            claims.forEach(claim -> digests.put(claim.digest.bytes()));
            statement.setInt(1, experimentId);
            statement.setInt(2, siteId);
            statement.setInt(3, manifest);
            statement.setObject(4, claims.stream().mapToInt(Claim::entryNumber).toArray());
            statement.setBytes(5, digests.array());
        });
    }

    /** Returns whether anything is not verified yet. */
    public boolean any() {
        return jdbc.sql("select exists (select from found_copy)")
                .query(Boolean.class)
                .single();
    }

    /** Returns the number of entries that are not verified yet at a site. */
    public long entries(int siteId) {
        return jdbc.sql("select coalesce(sum(cardinality(entry_nos)), 0) from found_copy where site_id = :site")
                .param("site", siteId)
                .query(Long.class)
                .single();
    }

    /** Returns those of these experiments of which not everything is verified yet at a site. */
    public Set<Integer> waiting(Collection<Integer> experimentIds, int siteId) {
        return new HashSet<>(jdbc.sql("""
                        select e.id from unnest(:experiments::integer[]) as e (id)
                        where exists (select from found_copy f where f.experiment_id = e.id and f.site_id = :site)
                        """)
                .param(
                        "experiments",
                        experimentIds.stream().mapToInt(Integer::intValue).toArray())
                .param("site", siteId)
                .query(Integer.class)
                .list());
    }

    /** Returns the first experiment after another with copies that are not verified yet. */
    public Optional<Integer> nextExperiment(int siteId, int after) {
        return jdbc.sql("select min(experiment_id) from found_copy where site_id = :site and experiment_id > :after")
                .params(Map.of("site", siteId, "after", after))
                .query((row, n) -> Optional.ofNullable(row.getObject(1, Integer.class)))
                .single();
    }

    /** Returns the last row of an experiment; 0: there is none. */
    public long last(int experimentId, int siteId) {
        return jdbc.sql("""
                        select coalesce(max(found_id), 0) from found_copy
                        where experiment_id = :experiment and site_id = :site
                        """)
                .params(Map.of("experiment", experimentId, "site", siteId))
                .query(Long.class)
                .single();
    }

    /** Returns at most {@code limit} rows of an experiment after one, up to {@code last}. */
    public List<Found> page(int experimentId, int siteId, long after, long last, int limit) {
        return jdbc.sql("""
                        select * from found_copy
                        where experiment_id = :experiment and site_id = :site and found_id > :after and found_id <= :last
                        order by found_id
                        limit :limit
                        """)
                .params(Map.of("experiment", experimentId, "site", siteId, "after", after, "last", last))
                .param("limit", limit)
                .query((row, n) -> new Found(
                        row.getLong("found_id"), row.getInt("experiment_id"), row.getInt("manifest_no"), claimed(row)))
                .list();
    }

    private static Map<Integer, Digest> claimed(ResultSet row) throws SQLException {
        Integer[] numbers = (Integer[]) row.getArray("entry_nos").getArray();
        byte[] digests = row.getBytes("digests");
        Map<Integer, Digest> claimed = new HashMap<>();
        for (int i = 0; i < numbers.length; i++) {
            int from = i * Digest.LENGTH_BYTES;
            claimed.put(numbers[i], Digest.of(Arrays.copyOfRange(digests, from, from + Digest.LENGTH_BYTES)));
        }
        return claimed;
    }

    /** Returns where the copies of a row are, if what the site claims is true. */
    public List<SiteCopy> copies(Found found, int siteId) {
        List<SiteCopy> all = new ArrayList<>(copies.ofCurrent(found.experimentId, found.claimed));
        Set<Integer> current = new HashSet<>();
        all.forEach(copy -> current.add(copy.entryNumber()));
        int[] ended = Arrays.stream(found.numbers())
                .filter(number -> !current.contains(number))
                .toArray();
        all.addAll(copies.ofClaimed(found.experimentId, siteId, ended));
        return all;
    }

    /**
     * Removes a row whose copies were looked at, except those entries whose state is still unknown. Returns whether the
     * row was there: if not, somebody else has done this.
     */
    public boolean remove(Found found, int siteId, Collection<Integer> unknown) {
        int removed = jdbc.sql("delete from found_copy where found_id = :id")
                .param("id", found.id)
                .update();
        if (removed == 1 && !unknown.isEmpty()) {
            add(
                    found.experimentId,
                    siteId,
                    found.manifest,
                    List.of(unknown.stream()
                            .map(number -> new Claim(number, requireNonNull(found.claimed.get(number)), 0))
                            .toList()));
        }
        return removed == 1;
    }
}
