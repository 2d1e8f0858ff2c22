package dozo.send;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.file.Digest;
import dozo.file.Malformed;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The forms of names in a bag's tag files. In the tables, N is a newline, R a carriage return and B a backslash. */
class NameFormTest {

    private static final String DIGEST = "e3b0c442";
    private static final int LENGTH = 5;

    @ParameterizedTest
    @CsvSource({
        "plain, plain",
        "aBb, aBb",
        "Bnb, Bnb",
        "50%, 50%",
        "50%.txt, 50%.txt",
        "%E8%84%83, %E8%84%83",
        "aNb, a%0Ab",
        "aRNb, a%0D%0Ab",
        "%0A, %250A",
        "%0a, %250a",
        "%0D%0d, %250D%250d",
        "%25, %2525",
        "%250A, %25250A",
        "%%25, %%2525",
        "%N, %%0A",
        "%0, %0",
        "%2, %2",
        "%0N, %0%0A",
    })
    void aBagEncodesLineEndsAndWhatWouldBeReadAsAnEncoding(String name, String written) throws IOException {
        assertThat(line(NameForm.BAG, name)).isEqualTo(DIGEST + "  " + bytes(written) + "\n");
    }

    @ParameterizedTest
    @CsvSource({"plain, '', plain", "aNb, B, aBnb", "aRb, B, aBrb", "aBb, B, aBBb", "%0A, '', %0A", "aBnNb, B, aBBnBnb"
    })
    void sha256sumEscapesLineEndsAndBackslashes(String name, String start, String written) throws IOException {
        assertThat(line(NameForm.SHA256SUM, name)).isEqualTo(bytes(start) + DIGEST + "  " + bytes(written) + "\n");
    }

    @ParameterizedTest
    @CsvSource({
        "plain, false",
        "aBb, false",
        "50%, false",
        "aNb, true",
        "aR, true",
        "%0a, true",
        "%25, true",
        "%, false"
    })
    void theFormsDifferWhereSha256sumWouldMisreadTheBags(String name, boolean differ) {
        assertThat(NameForm.differ(raw(name))).isEqualTo(differ);
    }

    @Test
    void noTwoNamesHaveTheSameLine() throws IOException {
        char[] letters = {'%', '0', '2', '5', 'A', 'a', 'd', '\n', '\r', '\\', 'n'};
        int names = (int) Math.pow(letters.length, LENGTH);
        for (NameForm form : NameForm.values()) {
            Set<String> lines = new HashSet<>();
            for (int i = 0; i < names; i++) {
                StringBuilder name = new StringBuilder();
                for (int rest = i, n = 0; n < LENGTH; rest /= letters.length, n++) {
                    name.append(letters[rest % letters.length]);
                }
                assertThat(lines.add(line(form, name.toString())))
                        .as(() -> form + " of " + name)
                        .isTrue();
            }
        }
    }

    @Test
    void aLineIsReadAsItWasWritten() throws IOException {
        Digest digest = Digest.ofContent(new byte[] {1});
        byte[] letters = {'%', '0', '2', '5', 'A', 'a', 'D', 'd', '\n', '\r', '\\', 'n', 'r', ' ', '*', '/', -1, -61};
        Random random = new Random(7);
        for (NameForm form : NameForm.values()) {
            for (int i = 0; i < 50_000; i++) {
                byte[] name = new byte[1 + random.nextInt(12)];
                for (int n = 0; n < name.length; n++) {
                    name[n] = letters[random.nextInt(letters.length)];
                }
                ByteArrayOutputStream out = new ByteArrayOutputStream();
                form.writeLine(out, digest.toString(), name);
                NameForm.Line line = form.readLine(Arrays.copyOf(out.toByteArray(), out.size() - 1));
                assertThat(line.name()).isEqualTo(name);
                assertThat(line.digest()).isEqualTo(digest);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "e3b0c442  name", "B", "BB"})
    void whatIsNoLineIsRefused(String text) {
        for (NameForm form : NameForm.values()) {
            assertThatThrownBy(() -> form.readLine(raw(text))).isInstanceOf(Malformed.class);
            assertThatThrownBy(() -> form.readLine(raw("x".repeat(64) + "  name")))
                    .isInstanceOf(Malformed.class);
        }
        String digest = Digest.OF_NOTHING.toString();
        assertThatThrownBy(() -> NameForm.SHA256SUM.readLine(raw("B" + digest + "  aBx")))
                .isInstanceOf(Malformed.class);
        assertThatThrownBy(() -> NameForm.SHA256SUM.readLine(raw("B" + digest + "  aB")))
                .isInstanceOf(Malformed.class);
    }

    private static String line(NameForm form, String name) throws IOException {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        form.writeLine(out, DIGEST, raw(name));
        return out.toString(StandardCharsets.ISO_8859_1);
    }

    private static byte[] raw(String name) {
        return bytes(name).getBytes(StandardCharsets.ISO_8859_1);
    }

    private static String bytes(String shown) {
        return shown.replace('N', '\n').replace('R', '\r').replace('B', '\\');
    }
}
