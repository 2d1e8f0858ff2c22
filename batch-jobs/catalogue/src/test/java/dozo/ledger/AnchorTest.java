package dozo.ledger;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.file.Digest;
import dozo.file.FilePath;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AnchorTest {

    private static final Anchor ANCHOR =
            new Anchor(42, Digest.OF_NOTHING, Instant.parse("2026-11-20T19:58:42.483380Z"));

    private static final String LINE =
            "42 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 2026-11-20T19:58:42.483380Z\n";

    @Test
    void itIsOneLineAndComesBackFromIt() {
        assertThat(new String(ANCHOR.line(), StandardCharsets.US_ASCII)).isEqualTo(LINE);
        assertThat(Anchor.of(ANCHOR.line())).contains(ANCHOR);
        assertThat(ANCHOR.line().length).isLessThan(Anchor.LINE_BYTES_MAX);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "\n",
                "42",
                " " + LINE,
                LINE + " ",
                LINE + LINE,
                "0" + LINE,
                "9999999999999999999 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 2026-11-20T19:58:42.483380Z\n",
                "42 E3B0C44298FC1C149AFBF4C8996FB92427AE41E4649B934CA495991B7852B855 2026-11-20T19:58:42.483380Z\n",
                "42 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855 2026-13-20T19:58:42.483380Z\n"
            })
    void anythingElseIsNone(String content) {
        assertThat(Anchor.of(content.getBytes(StandardCharsets.UTF_8))).isEmpty();
    }

    @Test
    void itsNameIsItsNumberAndSortsAsThat() {
        assertThat(Anchor.file(42)).hasToString(".dozo/ledger/000000000042");
        assertThat(Anchor.seq(Anchor.file(42))).contains(42L);
        assertThat(Anchor.seq(Anchor.file(Long.MAX_VALUE))).contains(Long.MAX_VALUE);
        assertThat(Anchor.seq(FilePath.of(".dozo/ledger/42"))).isEmpty();
        assertThat(Anchor.seq(FilePath.of(".dozo/ledger/0000000000042"))).isEmpty();
        assertThat(Anchor.seq(FilePath.of(".dozo/ledger/000000000042~2"))).isEmpty();
    }
}
