package dozo.remote;

import dozo.crypto.AesGcm;
import java.util.Arrays;
import org.apache.sshd.common.NamedFactory;
import org.apache.sshd.common.cipher.BaseGCMCipher;
import org.apache.sshd.common.cipher.BuiltinCiphers;
import org.apache.sshd.common.cipher.Cipher;
import org.jspecify.annotations.Nullable;

/** The SSH cipher aes128-gcm or aes256-gcm by libcrypto. */
final class NativeAesGcm extends BaseGCMCipher {

    private final BuiltinCiphers like;
    private @Nullable AesGcm gcm;
    private byte[] header = new byte[0];
    private int headerFrom;
    private int headerLength;

    private NativeAesGcm(BuiltinCiphers like) {
        super(
                like.getIVSize(),
                like.getAuthenticationTagSize(),
                like.getKdfSize(),
                like.getAlgorithm(),
                like.getKeySize(),
                like.getTransformation(),
                like.getCipherBlockSize());
        this.like = like;
    }

    /** Returns libcrypto's cipher if it is available, otherwise Java's. */
    static NamedFactory<Cipher> orJava(BuiltinCiphers cipher) {
        return AesGcm.isThere() ? new Factory(cipher) : cipher;
    }

    private record Factory(BuiltinCiphers like) implements NamedFactory<Cipher> {

        @Override
        public String getName() {
            return like.getName();
        }

        @Override
        public Cipher create() {
            return new NativeAesGcm(like);
        }
    }

    @Override
    public void init(Mode mode, byte[] key, byte[] iv) {
        gcm = AesGcm.of(
                        mode == Mode.Encrypt,
                        Arrays.copyOf(key, like.getKdfSize()),
                        Arrays.copyOf(iv, like.getIVSize()))
                .orElseThrow();
    }

    @Override
    public void updateAAD(byte[] data, int offset, int length) {
        header = data;
        headerFrom = offset;
        headerLength = length;
    }

    @Override
    public void update(byte[] input, int inputOffset, int inputLen) throws Exception {
        if (gcm == null) {
            throw new IllegalStateException("the cipher has no key yet");
        }
        gcm.next(header, headerFrom, headerLength, input, inputOffset, inputLen);
        headerLength = 0;
    }
}
