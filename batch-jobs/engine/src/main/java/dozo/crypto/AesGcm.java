package dozo.crypto;

import static dozo.crypto.Libcrypto.demand;

import java.lang.foreign.MemorySegment;
import java.lang.ref.Cleaner;
import java.lang.ref.Reference;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import javax.crypto.AEADBadTagException;

/**
 * AES-GCM by libcrypto as SSH uses it (RFC 5647): the nonce is incremented from message to message, and each message is
 * followed by its tag of 16 bytes. Not thread-safe. The key is wiped and its memory freed after the object becomes
 * unreachable.
 */
public final class AesGcm {

    private static final int TAG_BYTES = 16;
    private static final int NONCE_BYTES = 12;
    private static final int KEY_128_BYTES = 16;
    private static final int KEY_256_BYTES = 32;

    // EVP_CTRL_… of openssl/evp.h
    private static final int GET_TAG = 0x10;
    private static final int SET_TAG = 0x11;
    private static final int SET_NONCE = 0x12;
    private static final int NEXT_NONCE = 0x13;

    private static final Cleaner CLEANER = Cleaner.create();

    private final Libcrypto libcrypto;
    private final boolean encrypts;
    private final MemorySegment context;
    private final MemorySegment nonce = MemorySegment.ofArray(new byte[NONCE_BYTES]);
    private final MemorySegment length = MemorySegment.ofArray(new int[1]);

    private AesGcm(Libcrypto libcrypto, boolean encrypts, byte[] key, byte[] firstNonce) {
        if ((key.length != KEY_128_BYTES && key.length != KEY_256_BYTES) || firstNonce.length != NONCE_BYTES) {
            throw new IllegalArgumentException("expected a key of 16 or 32 bytes and a nonce of 12");
        }
        this.libcrypto = libcrypto;
        this.encrypts = encrypts;
        try {
            context = (MemorySegment) libcrypto.contextNew.invokeExact();
            if (context.address() == 0) {
                throw new OutOfMemoryError("libcrypto has no memory for a cipher");
            }
            MemorySegment held = context;
            CLEANER.register(this, () -> free(libcrypto, held));
            MemorySegment cipher = key.length == KEY_128_BYTES ? libcrypto.aes128Gcm : libcrypto.aes256Gcm;
            int direction = encrypts ? 1 : 0;
            demand((int) libcrypto.cipherInit.invokeExact(
                    context, cipher, MemorySegment.NULL, MemorySegment.ofArray(key), MemorySegment.NULL, direction));
            // -1: the whole nonce. Its last eight bytes are incremented.
            control(SET_NONCE, -1, MemorySegment.ofArray(firstNonce));
        } catch (Throwable e) {
            throw Libcrypto.defect(e);
        }
    }

    /** Returns a cipher for a key of 16 or 32 bytes and a first nonce of 12; empty if libcrypto is not used. */
    public static Optional<AesGcm> of(boolean encrypts, byte[] key, byte[] firstNonce) {
        return Libcrypto.found().map(libcrypto -> new AesGcm(libcrypto, encrypts, key, firstNonce));
    }

    /** Returns whether libcrypto is used. */
    public static boolean isThere() {
        return Libcrypto.found().isPresent();
    }

    private static void free(Libcrypto libcrypto, MemorySegment context) {
        try {
            libcrypto.contextFree.invokeExact(context);
        } catch (Throwable e) {
            throw Libcrypto.defect(e);
        }
    }

    private void control(int what, int number, MemorySegment value) throws Throwable {
        demand((int) libcrypto.cipherControl.invokeExact(context, what, number, value));
    }

    /**
     * Encrypts or decrypts the next message in place. The tag after it is written or checked.
     *
     * @param header holds the bytes that are only authenticated
     * @throws AEADBadTagException if the message was changed on its way; the cipher must not be used any more then
     */
    public void next(byte[] header, int headerFrom, int headerLength, byte[] message, int from, int count)
            throws AEADBadTagException {
        MemorySegment text = MemorySegment.ofArray(message).asSlice(from, count);
        MemorySegment tag = MemorySegment.ofArray(message).asSlice(from + count, TAG_BYTES);
        boolean genuine;
        try {
            control(NEXT_NONCE, 1, nonce);
            if (!encrypts) {
                control(SET_TAG, TAG_BYTES, tag);
            }
            if (headerLength > 0) {
                update(MemorySegment.NULL, MemorySegment.ofArray(header).asSlice(headerFrom, headerLength));
            }
            for (long at = 0; at < count; at += Libcrypto.CALL_BYTES_MAX) {
                MemorySegment part = text.asSlice(at, Math.min(Libcrypto.CALL_BYTES_MAX, count - at));
                update(part, part);
            }
            // Writes nothing in this mode; returns 0 if the tag is wrong.
            genuine = (int) libcrypto.cipherFinal.invokeExact(context, tag, length) == 1;
            if (encrypts) {
                if (!genuine) {
                    throw new IllegalStateException("libcrypto failed to encrypt a message");
                }
                control(GET_TAG, TAG_BYTES, tag);
            }
        } catch (Throwable e) {
            throw Libcrypto.defect(e);
        } finally {
            // Otherwise the cipher might be freed while the library uses it.
            Reference.reachabilityFence(this);
        }
        if (!genuine) {
            throw new AEADBadTagException("a message was changed in transit");
        }
    }

    private void update(MemorySegment out, MemorySegment in) throws Throwable {
        demand((int) libcrypto.cipherUpdate.invokeExact(context, out, length, in, (int) in.byteSize()));
    }

    /**
     * Checks test cases 4 and 16 of "The Galois/Counter Mode of Operation" (McGrew, Viega), in both directions, and a
     * wrong tag.
     */
    static void check(Libcrypto libcrypto) {
        check(
                libcrypto,
                "feffe9928665731c6d6a8f9467308308",
                "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
                        + "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091"
                        + "5bc94fbc3221a5db94fae95ae7121a47");
        check(
                libcrypto,
                "feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308",
                "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                        + "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
                        + "76fc6ece0f4e1768cddf8853bb2d551b");
    }

    private static void check(Libcrypto libcrypto, String key, String sealed) {
        HexFormat hex = HexFormat.of();
        byte[] nonce = hex.parseHex("cafebabefacedbaddecaf888");
        byte[] header = hex.parseHex("feedfacedeadbeeffeedfacedeadbeefabaddad2");
        byte[] text = hex.parseHex("d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
                + "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39");
        byte[] message = Arrays.copyOf(text, text.length + TAG_BYTES);
        boolean ended = passes(new AesGcm(libcrypto, true, hex.parseHex(key), nonce), header, message);
        byte[] changed = message.clone();
        changed[0] ^= 1;
        if (!ended
                || !Arrays.equals(message, hex.parseHex(sealed))
                || !passes(new AesGcm(libcrypto, false, hex.parseHex(key), nonce), header, message)
                || !Arrays.equals(Arrays.copyOf(message, text.length), text)) {
            throw new IllegalStateException("libcrypto computes a wrong AES-GCM");
        }
        if (passes(new AesGcm(libcrypto, false, hex.parseHex(key), nonce), header, changed)) {
            throw new IllegalStateException("libcrypto accepts a changed message");
        }
    }

    private static boolean passes(AesGcm cipher, byte[] header, byte[] message) {
        try {
            cipher.next(header, 0, header.length, message, 0, message.length - TAG_BYTES);
            return true;
        } catch (AEADBadTagException e) {
            return false;
        }
    }
}
