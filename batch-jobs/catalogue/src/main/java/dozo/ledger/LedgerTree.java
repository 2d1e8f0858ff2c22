package dozo.ledger;

import dozo.file.Digest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * The ledger as a Merkle tree (RFC 6962, ADR 0113). Leaf {@code i} is the hash of row {@code i + 1}. Roots of full subtrees of 256,
 * 256² and 256³ rows are kept, so that no root and no proof reads the whole ledger.
 */
@Component
public class LedgerTree {

    private static final int WIDTH = 256;
    private static final int WIDTH_BITS = 8;
    private static final int LEVELS = 3;
    private static final int FETCH = 10_000;
    private static final byte[] NOTHING = {};

    private final JdbcClient jdbc;

    public LedgerTree(JdbcClient jdbc) {
        this.jdbc = jdbc;
    }

    /**
     * Keeps the roots of subtrees that became full up to a row. The first time, it reads every row up to it. Running it twice, or in
     * two processes, writes the same.
     */
    @Transactional
    public void grow(long size) {
        for (int level = 1; level <= LEVELS; level++) {
            long full = size >> (WIDTH_BITS * level);
            long kept = jdbc.sql("select coalesce(max(n) + 1, 0) from ledger_subtree where level = :level")
                    .param("level", level)
                    .query(Long.class)
                    .single();
            if (kept < full) {
                grow(level, kept, full);
            }
        }
    }

    private void grow(int level, long first, long end) {
        for (long n = first; n < end; n += WIDTH) {
            List<byte[]> roots = new ArrayList<>();
            List<byte[]> below = nodes(level - 1, n << WIDTH_BITS, Math.min(end, n + WIDTH) << WIDTH_BITS);
            for (int i = 0; i < below.size(); i += WIDTH) {
                roots.add(over(below.subList(i, i + WIDTH)));
            }
            jdbc.sql("""
                            insert into ledger_subtree (level, n, root)
                            select :level, :first + k - 1, root from unnest(:roots::bytea[]) with ordinality as t (root, k)
                            on conflict do nothing
                            """)
                    .params(Map.of("level", level, "first", n))
                    .param("roots", roots.toArray(byte[][]::new))
                    .update();
        }
    }

    /**
     * Returns the root over the first rows.
     *
     * @throws IllegalStateException if there are not as many
     */
    @Transactional(readOnly = true)
    public Digest root(long size) {
        return size == 0 ? Digest.OF_NOTHING : Digest.of(root(0, size));
    }

    /** Returns the proof that a row is among the first {@code size}: at most 63 hashes. */
    @Transactional(readOnly = true)
    public List<byte[]> inclusion(long seq, long size) {
        if (seq < 1 || seq > size) {
            throw new IllegalArgumentException("row %d is not among %d rows".formatted(seq, size));
        }
        List<byte[]> proof = new ArrayList<>();
        long begin = 0;
        long end = size;
        while (end - begin > 1) {
            long middle = begin + leftOf(end - begin);
            boolean left = seq - 1 < middle;
            proof.add(left ? root(middle, end) : root(begin, middle));
            begin = left ? begin : middle;
            end = left ? middle : end;
        }
        return proof.reversed();
    }

    /** Returns the proof that the first {@code size} rows begin with the first {@code old} ones; empty for 0 and for {@code size}. */
    @Transactional(readOnly = true)
    public List<byte[]> consistency(long old, long size) {
        if (old < 0 || old > size) {
            throw new IllegalArgumentException("%d rows do not begin with %d".formatted(size, old));
        }
        List<byte[]> proof = new ArrayList<>();
        long begin = 0;
        long end = size;
        if (old == 0 || old == size) {
            return proof;
        }
        while (end != old) {
            long middle = begin + leftOf(end - begin);
            boolean left = old <= middle;
            proof.add(left ? root(middle, end) : root(begin, middle));
            begin = left ? begin : middle;
            end = left ? middle : end;
        }
        if (begin > 0) {
            proof.add(root(begin, end));
        }
        return proof.reversed();
    }

    /** Returns the largest power of two below a number of at least 2. */
    private static long leftOf(long leaves) {
        return Long.highestOneBit(leaves - 1);
    }

    private byte[] root(long begin, long end) {
        long leaves = end - begin;
        if (Long.bitCount(leaves) > 1 && leaves > WIDTH) {
            long middle = begin + leftOf(leaves);
            return Merkle.node(root(begin, middle), root(middle, end));
        }
        int level = Math.min(LEVELS, Long.numberOfTrailingZeros(Long.highestOneBit(leaves)) / WIDTH_BITS);
        int bits = WIDTH_BITS * level;
        return over(nodes(level, begin >> bits, end >> bits));
    }

    /** Returns nodes of a level, all of which must be there; of level 0 the hashes of leaves. */
    private List<byte[]> nodes(int level, long begin, long end) {
        List<byte[]> nodes = level == 0
                ? jdbc.sql("select hash from ledger where seq > :begin and seq <= :end order by seq")
                        .params(Map.of("begin", begin, "end", end))
                        .query((row, n) -> Merkle.leaf(row.getBytes(1)))
                        .list()
                : jdbc.sql("""
                                select root from ledger_subtree where level = :level and n >= :begin and n < :end order by n
                                """)
                        .params(Map.of("level", level, "begin", begin, "end", end))
                        .query((row, n) -> row.getBytes(1))
                        .list();
        if (nodes.size() != end - begin) {
            throw new IllegalStateException("the tree over the ledger has %d of %d nodes of level %d from %d on"
                    .formatted(nodes.size(), end - begin, level, begin));
        }
        return nodes;
    }

    private static byte[] over(List<byte[]> nodes) {
        MerkleRoot root = new MerkleRoot();
        nodes.forEach(root::addNode);
        return root.root().bytes();
    }

    /** Computes the tree anew from the rows, and compares the kept subtrees and all checkpoints with it. */
    @Transactional(readOnly = true)
    public List<Breach> check() {
        NavigableMap<Long, Digest> roots = new TreeMap<>();
        jdbc.sql("select size, root from checkpoint").query(row -> {
            roots.putIfAbsent(row.getLong("size"), Digest.of(row.getBytes("root")));
        });
        Fresh fresh = new Fresh(roots);
        try (Stream<byte[]> rows = jdbc
                .sql("select hash from ledger order by seq")
                .withFetchSize(FETCH)
                .query((row, n) -> Objects.requireNonNullElse(row.getBytes(1), NOTHING))
                .stream()) {
            rows.forEach(fresh::add);
        }
        fresh.end();
        return fresh.breaches.kept();
    }

    /** The tree as it follows from the rows. */
    private final class Fresh {

        private final Breaches breaches = new Breaches();
        private final NavigableMap<Long, Digest> roots;
        private final MerkleRoot whole = new MerkleRoot();
        private final List<List<byte[]>> open = new ArrayList<>();
        private final long[] full = new long[LEVELS + 1];
        private long size;

        Fresh(NavigableMap<Long, Digest> roots) {
            this.roots = roots;
            for (int level = 0; level < LEVELS; level++) {
                open.add(new ArrayList<>(WIDTH));
            }
        }

        void add(byte[] hash) {
            whole.add(hash);
            size++;
            Digest kept = roots.get(size);
            if (kept != null && !kept.equals(whole.root())) {
                breaches.add(differs("the checkpoint of row %d differs from the rows".formatted(size), size));
            }
            add(0, Merkle.leaf(hash));
        }

        private void add(int level, byte[] node) {
            List<byte[]> nodes = open.get(level);
            nodes.add(node);
            if (nodes.size() == WIDTH) {
                byte[] root = over(nodes);
                nodes.clear();
                compare(level + 1, full[level + 1]++, root);
                if (level + 1 < LEVELS) {
                    add(level + 1, root);
                }
            }
        }

        private void compare(int level, long n, byte[] root) {
            jdbc.sql("select root from ledger_subtree where level = :level and n = :n")
                    .params(Map.of("level", level, "n", n))
                    .query((row, k) -> row.getBytes(1))
                    .optional()
                    .filter(kept -> !Arrays.equals(kept, root))
                    .ifPresent(_ -> breaches.add(differs(
                            "subtree %d of level %d differs from the rows".formatted(n, level),
                            (n << (WIDTH_BITS * level)) + 1)));
        }

        void end() {
            if (!roots.isEmpty() && roots.lastKey() > size) {
                breaches.add(differs(
                        "the checkpoint of row %d is beyond the last row".formatted(roots.lastKey()), size + 1));
            }
        }

        private static Breach differs(String message, long seq) {
            return new Breach(Breach.Kind.TREE_DIFFERS, seq, message);
        }
    }
}
