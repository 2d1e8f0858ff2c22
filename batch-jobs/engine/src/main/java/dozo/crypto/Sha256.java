package dozo.crypto;

import static dozo.crypto.Libcrypto.CALL_BYTES_MAX;
import static dozo.crypto.Libcrypto.demand;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.HexFormat;

/** SHA-256 (FIPS 180-4) by libcrypto. */
public final class Sha256 extends MessageDigest {

    private static final int LENGTH_BYTES = 32;

    /** {@code SHA256_CTX} has 112 bytes in all of version 3. */
    private static final int STATE_LONGS = 16;

    private final Libcrypto libcrypto;
    private final MemorySegment state = MemorySegment.ofArray(new long[STATE_LONGS]);

    private Sha256(Libcrypto libcrypto) {
        super("SHA-256");
        this.libcrypto = libcrypto;
        engineReset();
    }

    /** Returns a new computation, by libcrypto if it is used, otherwise by Java. */
    public static MessageDigest fresh() {
        return Libcrypto.found().<MessageDigest>map(Sha256::new).orElseGet(Sha256::ofJava);
    }

    private static MessageDigest ofJava() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** Checks FIPS 180-4's examples, whole and byte by byte. */
    static void check(Libcrypto libcrypto) {
        check(libcrypto, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
        check(libcrypto, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
        check(
                libcrypto,
                "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
                "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    }

    private static void check(Libcrypto libcrypto, String text, String digest) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        Sha256 whole = new Sha256(libcrypto);
        whole.update(bytes);
        Sha256 pieces = new Sha256(libcrypto);
        for (byte b : bytes) {
            pieces.update(b);
        }
        byte[] known = HexFormat.of().parseHex(digest);
        if (!Arrays.equals(whole.digest(), known) || !Arrays.equals(pieces.digest(), known)) {
            throw new IllegalStateException("libcrypto computes a wrong SHA-256");
        }
    }

    @Override
    protected int engineGetDigestLength() {
        return LENGTH_BYTES;
    }

    @Override
    protected void engineUpdate(byte one) {
        engineUpdate(new byte[] {one}, 0, 1);
    }

    @Override
    protected void engineUpdate(byte[] bytes, int from, int length) {
        update(MemorySegment.ofArray(bytes).asSlice(from, length));
    }

    @Override
    protected void engineUpdate(ByteBuffer bytes) {
        update(MemorySegment.ofBuffer(bytes));
        bytes.position(bytes.limit());
    }

    private void update(MemorySegment bytes) {
        for (long at = 0; at < bytes.byteSize(); at += CALL_BYTES_MAX) {
            long length = Math.min(CALL_BYTES_MAX, bytes.byteSize() - at);
            try {
                demand((int) libcrypto.sha256Update.invokeExact(state, bytes.asSlice(at, length), length));
            } catch (Throwable e) {
                throw Libcrypto.defect(e);
            }
        }
    }

    @Override
    protected byte[] engineDigest() {
        byte[] digest = new byte[LENGTH_BYTES];
        try {
            demand((int) libcrypto.sha256Final.invokeExact(MemorySegment.ofArray(digest), state));
        } catch (Throwable e) {
            throw Libcrypto.defect(e);
        }
        engineReset();
        return digest;
    }

    @Override
    protected void engineReset() {
        try {
            demand((int) libcrypto.sha256Init.invokeExact(state));
        } catch (Throwable e) {
            throw Libcrypto.defect(e);
        }
    }

    @Override
    public Object clone() {
        Sha256 copy = new Sha256(libcrypto);
        copy.state.copyFrom(state);
        return copy;
    }
}
