package dozo.ledger;

import dozo.file.Digest;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;

/** Hashes of a Merkle tree, and the checks of proofs by RFC 9162, sections 2.1.3.2 and 2.1.4.2. Needs no database. */
public final class Merkle {

    // Different for leaves and nodes: otherwise a leaf could be made that looks like a node.
    private static final byte LEAF = 0;
    private static final byte NODE = 1;

    private Merkle() {}

    /** Returns the hash of a leaf. */
    public static byte[] leaf(byte[] data) {
        return hash(LEAF, data);
    }

    /** Returns the hash of a node over two subtrees. */
    public static byte[] node(byte[] left, byte[] right) {
        return hash(NODE, left, right);
    }

    /**
     * Returns whether a proof shows that a leaf is in a tree.
     *
     * @param index of the leaf, from 0
     * @param leaf its hash
     */
    public static boolean provesInclusion(long index, long size, byte[] leaf, List<byte[]> proof, byte[] root) {
        if (index < 0 || index >= size) {
            return false;
        }
        long fn = index;
        long sn = size - 1;
        byte[] r = leaf;
        for (byte[] p : proof) {
            if (sn == 0) {
                return false;
            }
            if ((fn & 1) == 1 || fn == sn) {
                r = node(p, r);
                while ((fn & 1) == 0 && fn != 0) {
                    fn >>= 1;
                    sn >>= 1;
                }
            } else {
                r = node(r, p);
            }
            fn >>= 1;
            sn >>= 1;
        }
        return sn == 0 && Arrays.equals(r, root);
    }

    /** Returns whether a proof shows that a tree begins with all leaves of an older one, of at least one leaf. */
    public static boolean provesConsistency(long old, byte[] oldRoot, long size, List<byte[]> proof, byte[] root) {
        if (old == size) {
            return old >= 0 && proof.isEmpty() && Arrays.equals(oldRoot, root);
        }
        if (old < 1 || old > size || proof.isEmpty()) {
            return false;
        }
        int odd = Long.numberOfTrailingZeros(old);
        long fn = (old - 1) >> odd;
        long sn = (size - 1) >> odd;
        Iterator<byte[]> hashes = proof.iterator();
        // A complete old tree is a node of the new one, and its root is known.
        byte[] fr = Long.bitCount(old) == 1 ? oldRoot : hashes.next();
        byte[] sr = fr;
        while (hashes.hasNext()) {
            byte[] c = hashes.next();
            if (sn == 0) {
                return false;
            }
            if ((fn & 1) == 1 || fn == sn) {
                fr = node(c, fr);
                sr = node(c, sr);
                while ((fn & 1) == 0 && fn != 0) {
                    fn >>= 1;
                    sn >>= 1;
                }
            } else {
                sr = node(sr, c);
            }
            fn >>= 1;
            sn >>= 1;
        }
        return sn == 0 && Arrays.equals(fr, oldRoot) && Arrays.equals(sr, root);
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
