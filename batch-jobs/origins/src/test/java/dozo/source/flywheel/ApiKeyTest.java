package dozo.source.flywheel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A key is read from a file or the environment, sent only over TLS, and never shown. */
class ApiKeyTest {

    private static final String SECRET = "abcDEF0123456789";

    @TempDir
    Path folder;

    @Test
    void namesTheHostThatItIsFor() throws IOException {
        Path file = Files.writeString(folder.resolve("key"), "flywheel.example.org:" + SECRET + "\n");

        assertThat(ApiKey.inFile(file).base()).hasToString("https://flywheel.example.org:443/api");
        assertThat(ApiKey.inEnvironment(Map.of("KEY", "example.org:8443:" + SECRET), "KEY")
                        .base())
                .hasToString("https://example.org:8443/api");
    }

    @Test
    void goesUnderTheWordOfItsKind() {
        assertThat(ApiKey.of("h:" + SECRET).authorization()).isEqualTo("scitran-user " + SECRET);
        assertThat(ApiKey.of("h:" + "k".repeat(57)).authorization()).isEqualTo("Bearer " + "k".repeat(57));
    }

    @Test
    void travelsWithoutTlsOnLoopbackAlone() {
        assertThat(ApiKey.of("localhost:8080:__force_insecure:" + SECRET).base())
                .hasToString("http://localhost:8080/api");
        assertThatThrownBy(() -> ApiKey.of("flywheel.example.org:80:__force_insecure:" + SECRET))
                .hasMessageContaining("without TLS");
    }

    @Test
    void servesAnAddressOfPlainHttpOnLoopbackAlone() {
        ApiKey key = ApiKey.of("localhost:8080:" + SECRET);

        assertThat(key.overPlainHttp(URI.create("http://localhost:8080")).orElseThrow())
                .satisfies(plain -> assertThat(plain.base()).hasToString("http://localhost:8080/api"))
                .satisfies(plain -> assertThat(plain.authorization()).endsWith(SECRET));
        assertThat(key.overPlainHttp(URI.create("http://localhost:8081"))).isEmpty();
        assertThat(key.overPlainHttp(URI.create("http://127.0.0.1:8080"))).isEmpty();
        assertThat(key.overPlainHttp(URI.create("https://localhost:8080"))).isEmpty();
        assertThat(ApiKey.of("example.org:80:" + SECRET).overPlainHttp(URI.create("http://example.org:80")))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                SECRET,
                "h:",
                ":" + SECRET,
                "h:x:" + SECRET,
                "h:70000:" + SECRET,
                "h:1:2:" + SECRET,
                "h@evil:" + SECRET,
                "h/evil:" + SECRET,
                "h:short",
                "h:with space" + SECRET,
                "h:line\nend" + SECRET
            })
    void isRefusedWhereItIsNone(String text) {
        assertThatThrownBy(() -> ApiKey.of(text))
                .isInstanceOf(IllegalArgumentException.class)
                .message()
                .doesNotContain(SECRET);
    }

    @Test
    void isNeverShown() throws IOException {
        assertThat(ApiKey.of("h:" + SECRET)).asString().doesNotContain(SECRET).contains("https://h:443/api");
        Path file = Files.writeString(folder.resolve("long"), "h:" + SECRET + " ".repeat(5_000));
        assertThatThrownBy(() -> ApiKey.inFile(file)).message().doesNotContain(SECRET);
        assertThatThrownBy(() -> ApiKey.inEnvironment(Map.of("OTHER", SECRET), "KEY"))
                .hasMessage("environment variable KEY is not set");
    }
}
