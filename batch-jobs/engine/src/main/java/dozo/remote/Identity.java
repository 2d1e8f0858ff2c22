package dozo.remote;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Base64;

/** A file with a private key. */
public final class Identity {

    /** Longer than any private key. */
    private static final int BYTES_MAX = 64 << 10;

    private static final String OPENSSH = "-----BEGIN OPENSSH PRIVATE KEY-----";

    /** The beginning of an OpenSSH key without a passphrase: the names of the format and of its cipher. */
    private static final byte[] OPENSSH_PLAIN = "openssh-key-v1\0\0\0\0\4none".getBytes(StandardCharsets.ISO_8859_1);

    private Identity() {}

    /** Returns whether the key in this file has a passphrase. Dozo cannot use such a key. */
    public static boolean isEncrypted(Path file) throws IOException {
        String text;
        try (InputStream in = Files.newInputStream(file)) {
            text = new String(in.readNBytes(BYTES_MAX), StandardCharsets.ISO_8859_1);
        }
        int start = text.indexOf(OPENSSH);
        if (start < 0) {
            return text.contains("ENCRYPTED");
        }
        int end = text.indexOf("-----END", start);
        String body = text.substring(start + OPENSSH.length(), end < 0 ? text.length() : end);
        byte[] key = Base64.getMimeDecoder().decode(body);
        return key.length > OPENSSH_PLAIN.length
                && !java.util.Arrays.equals(key, 0, OPENSSH_PLAIN.length, OPENSSH_PLAIN, 0, OPENSSH_PLAIN.length);
    }
}
