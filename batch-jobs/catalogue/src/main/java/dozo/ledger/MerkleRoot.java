package dozo.ledger;

import dozo.file.Digest;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

/**
 * The root of the Merkle tree over a stream of leaves (RFC 9162, section 2.1.1). Memory grows only with the logarithm of
 * their number.
 */
public final class MerkleRoot {

    /** The roots of the complete subtrees, the last and smallest one first. */
    private final Deque<byte[]> complete = new ArrayDeque<>();

    private long leaves;

    public void add(byte[] leaf) {
        addNode(Merkle.leaf(leaf));
    }

    /** Adds the root of a subtree instead of a leaf; all subtrees must have the same size. */
    void addNode(byte[] node) {
        byte[] subtree = node;
        // Each 1 at the end of the number is a complete subtree of the size that the new one has by then.
        for (long n = leaves; (n & 1) == 1; n >>= 1) {
            subtree = Merkle.node(complete.pop(), subtree);
        }
        complete.push(subtree);
        leaves++;
    }

    /** Returns the root over the leaves so far. */
    public Digest root() {
        if (leaves == 0) {
            return Digest.OF_NOTHING;
        }
        Iterator<byte[]> smallestFirst = complete.iterator();
        byte[] root = smallestFirst.next();
        while (smallestFirst.hasNext()) {
            root = Merkle.node(smallestFirst.next(), root);
        }
        return Digest.of(root);
    }
}
