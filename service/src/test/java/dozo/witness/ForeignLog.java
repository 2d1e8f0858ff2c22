package dozo.witness;

import dozo.file.Digest;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.MessageDigest;
import java.security.Signature;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;

/** A log that signs whatever a test wants; written from the specifications, without Dozo's code. */
final class ForeignLog {

    final String origin;
    private final KeyPair pair;
    private final List<byte[]> leaves = new ArrayList<>();

    ForeignLog(String origin) throws GeneralSecurityException {
        this(origin, KeyPairGenerator.getInstance("Ed25519").generateKeyPair());
    }

    private ForeignLog(String origin, KeyPair pair) {
        this.origin = origin;
        this.pair = pair;
    }

    /** Returns the log with another name and the same key. */
    ForeignLog named(String other) {
        return new ForeignLog(other, pair);
    }

    ForeignLog append(String... rows) {
        for (String row : rows) {
            leaves.add(hash(0, row.getBytes(StandardCharsets.UTF_8)));
        }
        return this;
    }

    /** Returns a log with the same key, and these rows. */
    ForeignLog fork(String... rows) {
        return named(origin).append(rows);
    }

    String vkey() throws GeneralSecurityException {
        return "%s+%s+%s"
                .formatted(
                        origin,
                        HexFormat.of().formatHex(id()),
                        Base64.getEncoder().encodeToString(typed()));
    }

    String note() throws GeneralSecurityException {
        return note(leaves.size(), root(leaves));
    }

    String note(long size, byte[] root) throws GeneralSecurityException {
        String text = "%s\n%d\n%s\n".formatted(origin, size, Base64.getEncoder().encodeToString(root));
        Signature signer = Signature.getInstance("Ed25519");
        signer.initSign(pair.getPrivate());
        signer.update(text.getBytes(StandardCharsets.UTF_8));
        ByteArrayOutputStream blob = new ByteArrayOutputStream();
        blob.writeBytes(id());
        blob.writeBytes(signer.sign());
        return "%s\n\u2014 %s %s\n".formatted(text, origin, Base64.getEncoder().encodeToString(blob.toByteArray()));
    }

    /** Returns a request with the right proof from the first rows. */
    String request(int old) throws GeneralSecurityException {
        return request(old, proof(old, leaves, true), note());
    }

    static String request(long old, List<byte[]> proof, String note) {
        StringBuilder body = new StringBuilder("old %d\n".formatted(old));
        proof.forEach(
                hash -> body.append(Base64.getEncoder().encodeToString(hash)).append('\n'));
        return body.append('\n').append(note).toString();
    }

    byte[] root() {
        return root(leaves);
    }

    private byte[] id() throws GeneralSecurityException {
        MessageDigest digest = MessageDigest.getInstance("SHA-256");
        digest.update((origin + "\n").getBytes(StandardCharsets.UTF_8));
        return Arrays.copyOf(digest.digest(typed()), 4);
    }

    private byte[] typed() {
        byte[] der = pair.getPublic().getEncoded();
        byte[] typed = Arrays.copyOfRange(der, der.length - 33, der.length);
        typed[0] = 1;
        return typed;
    }

    private static byte[] root(List<byte[]> nodes) {
        if (nodes.isEmpty()) {
            return Digest.OF_NOTHING.bytes();
        }
        if (nodes.size() == 1) {
            return nodes.getFirst();
        }
        int k = Integer.highestOneBit(nodes.size() - 1);
        return hash(1, root(nodes.subList(0, k)), root(nodes.subList(k, nodes.size())));
    }

    private static List<byte[]> proof(int m, List<byte[]> nodes, boolean whole) {
        if (m == 0 || m == nodes.size()) {
            return whole ? List.of() : List.of(root(nodes));
        }
        int k = Integer.highestOneBit(nodes.size() - 1);
        List<byte[]> left = nodes.subList(0, k);
        List<byte[]> right = nodes.subList(k, nodes.size());
        List<byte[]> proof = new ArrayList<>(m <= k ? proof(m, left, whole) : proof(m - k, right, false));
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
