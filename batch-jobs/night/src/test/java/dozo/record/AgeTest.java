package dozo.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.exceptionfactory.jagged.x25519.X25519KeyPairGenerator;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Records are files in the age format, as other programs write and read it. */
class AgeTest {

    private static final String IDENTITY = "AGE-SECRET-KEY-1T472F0L8XVPLLSMFZ756C7HZ85FPJ7GZSXPV5W4YKJLY5SM6UH2Q9AKGPQ";
    private static final String RECIPIENT = "age1pexzu9f8lk6lh88y4dezl9846wc27j9uzdfd5v7s3qe2jxdkscuqwudqa6";

    /** Written by the program rage. */
    private static final String OF_RAGE =
            "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSB1MG1iU3hnd0NFWjFUZUVvWi8xdGdHSEFLSWp2ZjBuSHpQVXBWVUpMUzJnClhrNXBZbmpKbHdhUEoyZmUrdDRPcXUvVGNh"
                    + "UElxVjhZM1M0TXRyYmpmVXcKLT4gQDY3U2hgLWdyZWFzZSBlezE8dz4gQEg+Pi1kIC46fihmMnYgdlteZ3xeRgpXc3lJVEppZ3YwMWdUL2dNYU1MNjZXYzIrbEpqYVlZTmhQR1VZ"
                    + "UWhSajJPamxEMDhZejJUTUNuMC8vVEhraDB2Ck1kM3kvUk5SMHg5N0VjWXRuc2hUTW8rNERJTUVCN3hKZWJQTmxtWkZTSTcxdTU2bndDbHF4cnpNCi0tLSBrd2E1eEFVVUMxMjF6VGUz"
                    + "ZmlnMmwyRWlGU3dxRUhwNHk1cVJwcjZLb0UwCk8ZB1p/dKoSc+LQA9cTEHcdhFeqSbTkegUBgKtzIOaQzKMz0CWT2rZCV3Mvwmvhk0kmlVS31vOoou9iOnrIn+4=";

    @Test
    void readsWhatAnotherProgramWrote() throws Exception {
        assertThat(new String(decrypted(Base64.getDecoder().decode(OF_RAGE), IDENTITY), StandardCharsets.UTF_8))
                .isEqualTo("脳 from another implementation\n");
    }

    @Test
    void readsWhatItWroteWhateverItsLength() throws Exception {
        for (int length : new int[] {0, 1, (64 << 10) - 1, 64 << 10, (64 << 10) + 1, 300_000}) {
            byte[] content = new byte[length];
            Arrays.fill(content, (byte) 7);

            assertThat(decrypted(encrypted(content), IDENTITY))
                    .as("%d bytes", length)
                    .isEqualTo(content);
        }
    }

    @Test
    void whatWasChangedOrCutOrIsForAnotherKeyIsNotRead() throws Exception {
        byte[] whole = encrypted(new byte[200_000]);
        byte[] changed = whole.clone();
        changed[150_000] ^= 1;

        assertThatThrownBy(() -> decrypted(changed, IDENTITY)).isInstanceOf(IOException.class);
        assertThatThrownBy(() -> decrypted(Arrays.copyOf(whole, whole.length - 1), IDENTITY))
                .isInstanceOf(IOException.class);
        String other =
                new X25519KeyPairGenerator().generateKeyPair().getPrivate().toString();
        assertThatThrownBy(() -> decrypted(whole, other)).isInstanceOf(GeneralSecurityException.class);
    }

    private static byte[] encrypted(byte[] content) throws IOException {
        ByteArrayOutputStream file = new ByteArrayOutputStream();
        try (OutputStream out = Age.encrypting(file, List.of(RECIPIENT))) {
            out.write(content);
        }
        return file.toByteArray();
    }

    private static byte[] decrypted(byte[] file, String identity) throws IOException, GeneralSecurityException {
        return Age.decrypting(new ByteArrayInputStream(file), List.of(identity)).readAllBytes();
    }
}
