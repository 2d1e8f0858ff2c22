package dozo.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.db.Campaign;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FilePathTest {

    @ParameterizedTest
    @ValueSource(strings = {"/", "/a", "a/", "a//b", ".", "..", "a/..", "../a", "a/./b", "a\0b"})
    void refusesWhatIsNotPlainlyBelowItsRoot(String text) {
        assertThatThrownBy(() -> FilePath.of(text)).isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "...", "..a", "a/b/c", "-rf", " ", "a\nb", "%41", "~", "data/.hidden"})
    void takesWhatAFileSystemTakes(String text) {
        assertThat(FilePath.of(text).bytes()).isEqualTo(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void aNameWithASlashIsNoName() {
        assertThatThrownBy(() -> FilePath.ROOT.resolve("a/b".getBytes(StandardCharsets.UTF_8)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"", ".", "..", "../a", "a/../b", "/", "/a", "/a/../b", "\u00e8\u0084\u00b3", "../\u0083\u00ff/x"
            })
    void aTextBecomesThePathThatHasIt(String chars) {
        byte[] text = chars.getBytes(StandardCharsets.ISO_8859_1);

        assertThat(FilePath.rawText(FilePath.pathOfText(text))).isEqualTo(text);
    }

    @Test
    @Tag(Campaign.TAG)
    void anyNameComesBackFromTheFileSystemByteForByte(@TempDir Path folder) throws Exception {
        long seed = 20261120;
        Random random = new Random(seed);
        for (int i = 0; i < Campaign.times(300); i++) {
            byte[] name = new byte[1 + random.nextInt(255)];
            random.nextBytes(name);
            for (int j = 0; j < name.length; j++) {
                if (name[j] == 0 || name[j] == '/') {
                    name[j] = (byte) 0x5C;
                }
            }
            Path inner = Files.createDirectory(folder.resolve(String.valueOf(i)));
            FilePath written = FilePath.ROOT.resolve(name);
            Files.writeString(written.under(inner), "x");
            try (var children = Files.newDirectoryStream(inner)) {
                Path found = children.iterator().next();
                assertThat(FilePath.between(inner, found))
                        .as("seed %d, name %d", seed, i)
                        .isEqualTo(written);
                assertThat(FilePath.between(folder, found).parent()).isEqualTo(FilePath.of(String.valueOf(i)));
            }
        }
    }

    @Test
    void aFolderNamedInShiftJisIsARootLikeAnyOther(@TempDir Path folder) throws Exception {
        byte[] name = "脳表".getBytes(Charset.forName("windows-31j"));
        Path root = Files.createDirectory(FilePath.ROOT.resolve(name).under(folder));
        Path child = Files.createDirectory(FilePath.of("sub").under(root));

        assertThat(FilePath.between(root, child)).isEqualTo(FilePath.of("sub"));
        assertThat(FilePath.rawBytes(root)).endsWith(name);
    }

    @Test
    void parentsAndNamesComeApart() {
        FilePath path = FilePath.of("a/b/c");

        assertThat(path.parent()).isEqualTo(FilePath.of("a/b"));
        assertThat(path.name()).isEqualTo(new byte[] {'c'});
        assertThat(FilePath.of("a").parent()).isEqualTo(FilePath.ROOT);
        assertThat(path.startsWith(FilePath.of("a/b"))).isTrue();
        assertThat(FilePath.of("a/bc").startsWith(FilePath.of("a/b"))).isFalse();
        assertThat(path.startsWith(FilePath.ROOT)).isTrue();
    }

    @Test
    void noNameLiesBetweenAPathAndTheOneJustBefore() {
        for (String text : List.of("b", "a/b", "data0", "a/0", "x\u0001", "a/\u0001", "脳")) {
            FilePath path = FilePath.of(text);
            FilePath before = path.justBefore();

            assertThat(before).isLessThan(path);
            assertThat(before.parent()).as(text).isEqualTo(path.parent());
            byte[] next = before.name();
            // The greatest name that is smaller than the path's own: as long as a name can be.
            assertThat(next.length == 255 || path.name()[path.name().length - 1] == 1)
                    .as(text)
                    .isTrue();
        }
    }

    @Test
    void namesAreRenderedForPeople() {
        assertThat(FilePath.render("脳".getBytes(StandardCharsets.UTF_8))).isEqualTo("脳");
        assertThat(FilePath.render("脳画像".getBytes(Charset.forName("EUC-JP")))).isEqualTo("脳画像");
        assertThat(FilePath.render("表".getBytes(Charset.forName("windows-31j"))))
                .isEqualTo("表");
        assertThat(FilePath.render(new byte[] {'a', (byte) 0xFF, 'b'})).isEqualTo("a\\xFFb");
    }

    @Test
    void noNameDrivesATerminalOrTurnsTheTextAround() {
        assertThat(FilePath.render("\u001b[2J\n\u202e".getBytes(StandardCharsets.UTF_8)))
                .isEqualTo("\\x1B[2J\\x0A\\u202E");
    }

    @Test
    void orderIsThatOfUnsignedBytes() {
        assertThat(FilePath.of(new byte[] {(byte) 0x80})).isGreaterThan(FilePath.of("z"));
    }
}
