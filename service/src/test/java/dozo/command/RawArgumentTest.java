package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** A name that is not valid text in the terminal's charset reaches the service as typed. */
class RawArgumentTest {

    private static final byte[] TYPED = "/data/脳機能".getBytes(Charset.forName("windows-31j"));
    private static final String SEEN = new String(TYPED, StandardCharsets.UTF_8);

    @Test
    void theTypedBytesAreFound() {
        assertThat(RawArgument.find(SEEN, commandLine("java", "register", TYPED)))
                .contains(TYPED);
    }

    @Test
    void whatCouldBeTwoThingsIsNeither() {
        assertThat(RawArgument.find("/a\uFFFD", commandLine("/a\uFFFD", "/a\uFFFD")))
                .isEmpty();
        assertThat(RawArgument.find(SEEN, commandLine("java", "register"))).isEmpty();
    }

    @Test
    void plainNamesAreMadeAbsolute() {
        assertThat(new String(RawArgument.path("a/../b"), StandardCharsets.UTF_8))
                .isEqualTo(Path.of("b").toAbsolutePath().toString());
    }

    private static byte[] commandLine(Object... arguments) {
        java.io.ByteArrayOutputStream line = new java.io.ByteArrayOutputStream();
        for (Object argument : arguments) {
            line.writeBytes(
                    argument instanceof byte[] raw ? raw : argument.toString().getBytes(StandardCharsets.UTF_8));
            line.write(0);
        }
        return line.toByteArray();
    }
}
