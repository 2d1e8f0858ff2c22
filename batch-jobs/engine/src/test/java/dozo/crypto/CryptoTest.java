package dozo.crypto;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.db.ChildJava;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Random;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;
import org.junit.jupiter.api.Test;

/** Every implementation gives the same results as Java's own. */
class CryptoTest {

    private static final int TAG_BYTES = 16;

    private final Random random = new Random(20);

    @Test
    void digestsAreThoseOfJavaHoweverTheBytesCome() throws Exception {
        MessageDigest reused = Sha256.fresh();
        for (int length : new int[] {0, 1, 63, 64, 65, 65_536, 65_537, 1_000_003}) {
            byte[] bytes = bytes(length);
            byte[] expected = MessageDigest.getInstance("SHA-256").digest(bytes);
            assertThat(reused.digest(bytes)).isEqualTo(expected);

            int cut = length == 0 ? 0 : random.nextInt(length);
            reused.update(bytes, 0, cut);
            MessageDigest copy = (MessageDigest) reused.clone();
            reused.update(ByteBuffer.allocateDirect(length - cut)
                    .put(bytes, cut, length - cut)
                    .flip());
            copy.update(ByteBuffer.wrap(bytes, cut, length - cut));
            assertThat(reused.digest()).isEqualTo(expected);
            assertThat(copy.digest()).isEqualTo(expected);

            reused.update((byte) 1);
            reused.reset();
        }
    }

    @Test
    void messagesAreThoseOfJavaOneAfterTheOther() throws Exception {
        assertThat(AesGcm.isThere()).as(Libcrypto.note()).isTrue();
        for (int keyBytes : new int[] {16, 32}) {
            byte[] key = bytes(keyBytes);
            byte[] nonce = bytes(12);
            // Makes the counter overflow four bytes.
            Arrays.fill(nonce, 8, 12, (byte) -1);
            AesGcm to = AesGcm.of(true, key, nonce).orElseThrow();
            AesGcm from = AesGcm.of(false, key, nonce).orElseThrow();
            for (int length : new int[] {16, 0, 1, 32_768, 65_536, 65_537, 300_000}) {
                byte[] text = bytes(length);
                byte[] message = new byte[4 + length + TAG_BYTES];
                System.arraycopy(text, 0, message, 4, length);
                byte[] header = Arrays.copyOf(message, 4);

                to.next(message, 0, 4, message, 4, length);

                assertThat(Arrays.copyOfRange(message, 4, message.length)).isEqualTo(byJava(key, nonce, header, text));
                from.next(header, 0, 4, message, 4, length);
                assertThat(Arrays.copyOfRange(message, 4, 4 + length)).isEqualTo(text);
                ByteBuffer count = ByteBuffer.wrap(nonce, 4, 8);
                count.putLong(4, count.getLong(4) + 1);
            }
        }
    }

    @Test
    void aMessageThatWasChangedIsNotTaken() throws Exception {
        byte[] key = bytes(16);
        byte[] nonce = bytes(12);
        for (int changed : new int[] {0, 4, 50, 104, 119}) {
            byte[] message = bytes(4 + 100 + TAG_BYTES);
            AesGcm.of(true, key, nonce).orElseThrow().next(message, 0, 4, message, 4, 100);
            message[changed] ^= 4;
            AesGcm from = AesGcm.of(false, key, nonce).orElseThrow();

            assertThatThrownBy(() -> from.next(message, 0, 4, message, 4, 100)).isInstanceOf(AEADBadTagException.class);
        }
    }

    @Test
    void keysAndNoncesOfOtherLengthsAreRefused() {
        assertThatThrownBy(() -> AesGcm.of(true, new byte[24], new byte[12]))
                .isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> AesGcm.of(true, new byte[16], new byte[16]))
                .isInstanceOf(IllegalArgumentException.class);
    }

    /** If the library is missing or is another one, Java's own crypto is used and reported. */
    @Test
    void whereThereIsNoLibcryptoJavaDoesIt() throws Exception {
        assertThat(probe("libcrypto-of-nobody.so"))
                .startsWith("Java's own crypto (")
                .endsWith("false SUN ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n");
        assertThat(probe("libc.so.6"))
                .startsWith("Java's own crypto (libcrypto has no function OpenSSL_version_num)")
                .contains("false SUN ba7816bf");
        assertThat(probe("libcrypto.so.3")).startsWith("OpenSSL 3.").contains("true null ba7816bf");
    }

    /** Returns the output of another process with this library. */
    private static String probe(String library) throws Exception {
        Process process = ChildJava.of(Probe.class)
                .options("-D" + Libcrypto.PROPERTY + "=" + library)
                .process()
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
        return said;
    }

    static final class Probe {

        private Probe() {}

        static void main(String[] arguments) {
            MessageDigest digest = Sha256.fresh();
            String provider =
                    digest.getProvider() == null ? "null" : digest.getProvider().getName();
            System.out.println(Libcrypto.note());
            System.out.println(AesGcm.isThere() + " " + provider + " "
                    + HexFormat.of().formatHex(digest.digest(new byte[] {'a', 'b', 'c'})));
        }
    }

    private static byte[] byJava(byte[] key, byte[] nonce, byte[] header, byte[] text) throws Exception {
        Cipher cipher = Cipher.getInstance("AES/GCM/NoPadding");
        cipher.init(Cipher.ENCRYPT_MODE, new SecretKeySpec(key, "AES"), new GCMParameterSpec(8 * TAG_BYTES, nonce));
        cipher.updateAAD(header);
        return cipher.doFinal(text);
    }

    private byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }
}
