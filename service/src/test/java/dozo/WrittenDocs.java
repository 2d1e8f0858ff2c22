package dozo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The part of a reference page that the program writes, between two comments. */
public final class WrittenDocs {

    private static final String BEGIN = "<!-- made by the program, see CONTRIBUTING.md -->\n";
    private static final String END = "<!-- end of what the program makes -->\n";

    private WrittenDocs() {}

    /**
     * Fails unless the page has exactly this text between the comments. With {@code -Dwrite.docs=true}, writes it
     * there.
     */
    public static void check(String page, String made) throws IOException {
        Path file = Path.of("..", "docs", "reference", page);
        String text = Files.readString(file);
        String right =
                text.substring(0, text.indexOf(BEGIN) + BEGIN.length()) + made + text.substring(text.indexOf(END));
        if (Boolean.getBoolean("write.docs")) {
            Files.writeString(file, right);
        }
        assertThat(Files.readString(file))
                .as("run this test with -Dwrite.docs=true")
                .isEqualTo(right);
    }
}
