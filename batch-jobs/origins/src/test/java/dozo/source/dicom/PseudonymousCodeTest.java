package dozo.source.dicom;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A patient's ID always gives the same code, and the ID cannot be read from the code. */
class PseudonymousCodeTest {

    private final PseudonymousCode codes =
            new PseudonymousCode("a key of more than twenty-four bytes".getBytes(US_ASCII));

    @Test
    void theSameIdGivesTheSameCodeAndNothingOfItIsInIt() {
        String code = codes.of("S0123").orElseThrow();

        assertThat(code).matches(PseudonymousCode.FORM).doesNotContain("0123");
        assertThat(codes.of("S0123")).contains(code);
        assertThat(codes.of("S0124")).isPresent().isNotEqualTo(codes.of("S0123"));
        assertThat(codes.of("s0123")).isNotEqualTo(codes.of("S0123"));
    }

    @Test
    void itIsTheStandardsDigestSoThatItCanBeMadeElsewhere() {
        // printf %s S0123 | openssl dgst -sha256 -hmac 'a key of more than twenty-four bytes': the first 20 digits, to
        // base 32.
        assertThat(codes.of("S0123")).contains("SS4MUA3LEC3JL9L8K");
    }

    @Test
    void spaceAroundAndFullWidthCharactersAreTheSameId() {
        assertThat(codes.of("  S0123 ")).isEqualTo(codes.of("S0123"));
        assertThat(codes.of("Ｓ０１２３")).isEqualTo(codes.of("S0123"));
    }

    @Test
    void anotherKeyGivesAnotherCode() {
        PseudonymousCode others = new PseudonymousCode("another key of more than twenty-four".getBytes(US_ASCII));

        assertThat(others.of("S0123")).isPresent().isNotEqualTo(codes.of("S0123"));
    }

    @ParameterizedTest
    @NullSource
    @ValueSource(strings = {"", "   ", "***", "^^", "　"})
    void whatIsNobodysIdHasNoCode(String id) {
        assertThat(codes.of(id)).isEmpty();
    }

    @Test
    void aShortKeyIsRefused() {
        assertThatThrownBy(() -> new PseudonymousCode(new byte[23])).isInstanceOf(IllegalArgumentException.class);
    }
}
