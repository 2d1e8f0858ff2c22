package dozo.certificate;

import dozo.file.Digest;
import java.security.MessageDigest;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;

/**
 * The root of the Merkle tree over a stream of leaves (RFC 9162, section 2.1.1). Memory grows only with the logarithm of
 * their number.
 */
final class MerkleRoot {

    // Different for leaves and nodes: otherwise a leaf could be made that looks like a node.
    private static final byte LEAF = 0;
    private static final byte NODE = 1;

    /** The roots of the complete subtrees, the last and smallest one first. */
    private final Deque<byte[]> complete = new ArrayDeque<>();

    private long leaves;

    void add(byte[] leaf) {
        byte[] subtree = hash(LEAF, leaf);
        // Each 1 at the end of the number is a complete subtree of the size that the new one has by then.
        for (long n = leaves; (n & 1) == 1; n >>= 1) {
            subtree = hash(NODE, complete.pop(), subtree);
        }
        complete.push(subtree);
        leaves++;
    }

    /** Returns the root over the leaves so far. */
    Digest root() {
        if (leaves == 0) {
            return Digest.OF_NOTHING;
        }
        Iterator<byte[]> smallestFirst = complete.iterator();
        byte[] root = smallestFirst.next();
        while (smallestFirst.hasNext()) {
            root = hash(NODE, smallestFirst.next(), root);
        }
        return Digest.of(root);
    }

    private static byte[] hash(byte kind, byte[]... parts) {
        MessageDigest digest = Digest.algorithm();
        digest.update(kind);
        for (byte[] part : parts) {
            digest.update(part);
        }
        return digest.digest();
    }
}
