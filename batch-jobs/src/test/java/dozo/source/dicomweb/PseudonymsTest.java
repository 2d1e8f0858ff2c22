package dozo.source.dicomweb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A patient has one code, which nobody can make without the secret. */
class PseudonymsTest {

    @TempDir
    Path folder;

    @Test
    void aCodeIsThatOfTheDocumentation() throws Exception {
        // printf %s S0123 | openssl dgst -sha256 -hmac 0123456789abcdef0123456789abcdef -binary | base32 | cut -c 1-12
        // | tr A-Z a-z
        assertThat(with("0123456789abcdef0123456789abcdef").code("S0123")).contains("sdn6jtlwprfkb");
    }

    @Test
    void onePatientHasOneCodeHoweverItIsPadded() throws Exception {
        Pseudonyms pseudonyms = with("x".repeat(32));

        assertThat(pseudonyms.code(" S0123 ")).isEqualTo(pseudonyms.code("S0123"));
        assertThat(pseudonyms.code("S0124")).isNotEqualTo(pseudonyms.code("S0123"));
        assertThat(with("y".repeat(32)).code("S0123")).isNotEqualTo(pseudonyms.code("S0123"));
        assertThat(pseudonyms.code("  ")).isEmpty();
    }

    @Test
    void manyPatientsHaveManyCodes() throws Exception {
        Pseudonyms pseudonyms = with("x".repeat(32));
        Set<String> codes = new HashSet<>();

        for (int i = 0; i < 20_000; i++) {
            codes.add(pseudonyms.code("S" + i).orElseThrow());
        }

        assertThat(codes).hasSize(20_000).allMatch(code -> code.matches("s[a-z2-7]{12}"));
    }

    @Test
    void aSecretThatCanBeGuessedIsNoSecret() {
        assertThatIllegalArgumentException().isThrownBy(() -> with("x".repeat(31)));
        assertThatIllegalArgumentException().isThrownBy(() -> with("x".repeat(4_097)));
    }

    private Pseudonyms with(String secret) throws Exception {
        return Pseudonyms.withSecretIn(Files.writeString(folder.resolve("secret"), secret));
    }
}
