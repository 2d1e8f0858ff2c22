package dozo.ledger;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dozo.db.TestDatabase;
import dozo.file.Digest;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Roots and proofs are those of RFC 6962, with and without kept subtrees, and the verification finds a subtree that is not. */
class LedgerTreeTest {

    private static final int WHOLE = 130;

    private final HikariDataSource database = TestDatabase.fresh();
    private final TamperedLedger tampered = new TamperedLedger(database);
    private final LedgerTree tree = new LedgerTree(tampered.jdbc());

    @Test
    void everyProofOfEverySizeIsTheOneOfTheDefinition() {
        tampered.append(WHOLE);
        List<byte[]> rows = rows();
        for (int size = 1; size <= WHOLE; size++) {
            List<byte[]> all = rows.subList(0, size);
            byte[] root = root(all);
            assertThat(tree.root(size).bytes()).isEqualTo(root);
            for (int i = 0; i < size; i++) {
                List<byte[]> proof = tree.inclusion(i + 1, size);
                assertThat(proof).containsExactlyElementsOf(path(i, all));
                assertThat(Merkle.provesInclusion(i, size, Merkle.leaf(rows.get(i)), proof, root))
                        .isTrue();
                assertThat(Merkle.provesInclusion(i, size, Merkle.leaf(rows.get((i + 1) % WHOLE)), proof, root))
                        .isFalse();
            }
            for (int old = 1; old <= size; old++) {
                List<byte[]> proof = tree.consistency(old, size);
                byte[] before = root(rows.subList(0, old));
                assertThat(proof).containsExactlyElementsOf(old == size ? List.of() : subproof(old, all, true));
                assertThat(Merkle.provesConsistency(old, before, size, proof, root))
                        .isTrue();
                assertThat(Merkle.provesConsistency(
                                old, root(rows.subList(1, old + 1 > WHOLE ? WHOLE : old + 1)), size, proof, root))
                        .isFalse();
            }
        }
        assertThat(tree.consistency(0, WHOLE)).isEmpty();
        assertThat(tree.root(0)).isEqualTo(Digest.OF_NOTHING);
    }

    @Test
    void noChangedProofIsAccepted() {
        tampered.append(WHOLE);
        byte[] root = tree.root(WHOLE).bytes();
        byte[] before = tree.root(77).bytes();
        byte[] leaf = Merkle.leaf(rows().get(41));
        List<byte[]> inclusion = tree.inclusion(42, WHOLE);
        List<byte[]> consistency = tree.consistency(77, WHOLE);

        for (List<byte[]> wrong : changed(inclusion)) {
            assertThat(Merkle.provesInclusion(41, WHOLE, leaf, wrong, root)).isFalse();
        }
        for (List<byte[]> wrong : changed(consistency)) {
            assertThat(Merkle.provesConsistency(77, before, WHOLE, wrong, root)).isFalse();
        }
        assertThat(Merkle.provesInclusion(40, WHOLE, leaf, inclusion, root)).isFalse();
        assertThat(Merkle.provesInclusion(-1, WHOLE, leaf, inclusion, root)).isFalse();
        assertThat(Merkle.provesInclusion(WHOLE, WHOLE, leaf, inclusion, root)).isFalse();
        assertThat(Merkle.provesConsistency(76, before, WHOLE, consistency, root))
                .isFalse();
        assertThat(Merkle.provesConsistency(0, before, WHOLE, consistency, root))
                .isFalse();
        assertThat(Merkle.provesConsistency(WHOLE, before, 77, consistency, root))
                .isFalse();
        assertThat(Merkle.provesConsistency(WHOLE, root, WHOLE, consistency, root))
                .isFalse();
        assertThat(Merkle.provesConsistency(WHOLE, before, WHOLE, List.of(), root))
                .isFalse();
    }

    private static List<List<byte[]>> changed(List<byte[]> proof) {
        List<List<byte[]>> wrong = new ArrayList<>();
        for (int i = 0; i < proof.size(); i++) {
            List<byte[]> other = new ArrayList<>(proof);
            byte[] hash = other.get(i).clone();
            hash[i] ^= 1;
            other.set(i, hash);
            wrong.add(other);
            List<byte[]> shorter = new ArrayList<>(proof);
            shorter.remove(i);
            wrong.add(shorter);
        }
        List<byte[]> longer = new ArrayList<>(proof);
        longer.add(proof.getFirst());
        wrong.add(longer);
        return wrong;
    }

    /** Above 65,536 rows, roots of two levels are kept. */
    @Test
    void keptSubtreesGiveTheSameRootsAndProofs() {
        int rows = 70_000;
        fill(rows);
        List<byte[]> all = rows();
        Random random = new Random(57);
        for (int size : new int[] {1, 255, 256, 257, 511, 512, 65_535, 65_536, 65_537, 66_000, rows}) {
            tree.grow(size);
            byte[] root = root(all.subList(0, size));
            assertThat(tree.root(size).bytes()).as("%d rows", size).isEqualTo(root);
            for (int i = 0; i < 10; i++) {
                int row = random.nextInt(size);
                int old = 1 + random.nextInt(size);
                assertThat(Merkle.provesInclusion(
                                row, size, Merkle.leaf(all.get(row)), tree.inclusion(row + 1, size), root))
                        .isTrue();
                assertThat(Merkle.provesConsistency(
                                old, root(all.subList(0, old)), size, tree.consistency(old, size), root))
                        .isTrue();
            }
        }
        assertThat(tampered.jdbc()
                        .sql("select count(*) from ledger_subtree")
                        .query(Integer.class)
                        .single())
                .isEqualTo(rows / 256 + 1);
        assertThat(tree.check()).isEmpty();
    }

    @Test
    void growingAgainChangesNothing() {
        fill(600);
        tree.grow(300);
        tree.grow(300);
        tree.grow(600);

        assertThat(tree.root(600).bytes()).isEqualTo(root(rows()));
        assertThat(tree.check()).isEmpty();
    }

    @Test
    void aForgedSubtreeIsFound() {
        fill(70_000);
        tree.grow(70_000);
        tampered.jdbc()
                .sql("update ledger_subtree set root = sha256(root) where level = 1 and n = 3")
                .update();
        tampered.jdbc()
                .sql("update ledger_subtree set root = sha256(root) where level = 2")
                .update();

        assertThat(tree.check())
                .extracting(Breach::kind, Breach::seq)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple(Breach.Kind.TREE_DIFFERS, 769L),
                        org.assertj.core.groups.Tuple.tuple(Breach.Kind.TREE_DIFFERS, 1L));
    }

    @Test
    void rowsThatAreNotThereAreNotProven() {
        tampered.append(5);

        assertThatThrownBy(() -> tree.root(6)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> tree.inclusion(0, 5)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> tree.inclusion(6, 5)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> tree.consistency(6, 5)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> tree.consistency(-1, 5)).isInstanceOf(IllegalArgumentException.class);
    }

    /** Rows that cannot be right, but fast. */
    private void fill(int rows) {
        tampered.tamper("""
                insert into ledger (seq, at, actor, action, subject, hash)
                select n, now(), 'x', 'a.b', 'x', sha256(convert_to(n::text, 'UTF8')) from generate_series(1, %d) as n
                """.formatted(rows));
    }

    private List<byte[]> rows() {
        return tampered.jdbc()
                .sql("select hash from ledger order by seq")
                .query((row, n) -> row.getBytes(1))
                .list();
    }

    /** MTH of RFC 6962, section 2.1. */
    private static byte[] root(List<byte[]> rows) {
        if (rows.size() == 1) {
            return hash(0, rows.getFirst());
        }
        int left = Integer.highestOneBit(rows.size() - 1);
        return hash(1, root(rows.subList(0, left)), root(rows.subList(left, rows.size())));
    }

    /** PATH of section 2.1.1. */
    private static List<byte[]> path(int m, List<byte[]> rows) {
        if (rows.size() == 1) {
            return List.of();
        }
        int k = Integer.highestOneBit(rows.size() - 1);
        List<byte[]> left = rows.subList(0, k);
        List<byte[]> right = rows.subList(k, rows.size());
        List<byte[]> path = new ArrayList<>(m < k ? path(m, left) : path(m - k, right));
        path.add(root(m < k ? right : left));
        return path;
    }

    /** SUBPROOF of section 2.1.2. */
    private static List<byte[]> subproof(int m, List<byte[]> rows, boolean whole) {
        if (m == rows.size()) {
            return whole ? List.of() : List.of(root(rows));
        }
        int k = Integer.highestOneBit(rows.size() - 1);
        List<byte[]> left = rows.subList(0, k);
        List<byte[]> right = rows.subList(k, rows.size());
        List<byte[]> proof = new ArrayList<>(m <= k ? subproof(m, left, whole) : subproof(m - k, right, false));
        proof.add(root(m <= k ? right : left));
        return proof;
    }

    private static byte[] hash(int kind, byte[]... parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        all.write(kind);
        for (byte[] part : parts) {
            all.writeBytes(part);
        }
        return Digest.ofContent(all.toByteArray()).bytes();
    }
}
