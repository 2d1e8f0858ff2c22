package dozo.source.tree;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dozo.file.FilePath;
import dozo.source.tree.FolderPattern.Field;
import dozo.source.tree.FolderSearch.Found;
import dozo.source.tree.FolderSearch.Reason;
import dozo.source.tree.FolderSearch.Trouble;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FolderSearchTest {

    @TempDir
    Path root;

    @Test
    void foldersAreFoundAtTheirDepthAndNothingInThemIsLookedAt() throws Exception {
        folders("P1/20261030_a/deep/er", "P1/20261031_b", "P2/20261031_c", "P2/notes");

        Found found = look("{project}/{date}_{label}");

        assertThat(paths(found)).containsExactly("P1/20261030_a", "P1/20261031_b", "P2/20261031_c");
        assertThat(found.folders().getFirst().captured().value(Field.PROJECT)).contains("P1".getBytes());
        assertThat(found.troubles())
                .extracting(Trouble::reason, trouble -> trouble.path().toString())
                .containsExactly(tuple(Reason.UNCLAIMED, "P2/notes"));
    }

    @Test
    void namesAreBytes() throws Exception {
        byte[] name = "脳計測_01".getBytes(Charset.forName("EUC-JP"));
        FilePath path = FilePath.ROOT.resolve(name);
        Files.createDirectory(path.under(root));
        folders("two\nlines", "x😀");

        assertThat(look("{label}").folders())
                .extracting(FoundFolder::path)
                .contains(path, FilePath.of("two\nlines"), FilePath.of("x😀"));
    }

    @Test
    void linksAreNeverFollowedAndSaid() throws Exception {
        folders("real/20261031_a");
        Path outside = Files.createTempDirectory(root, ".outside");
        Files.createDirectory(outside.resolve("20261031_x"));
        Files.createSymbolicLink(root.resolve("link"), outside);
        Files.createSymbolicLink(root.resolve("real/20261031_b"), root.resolve("nothing"));

        Found found = look("{project}/{date}_{label}");

        assertThat(paths(found)).containsExactly("real/20261031_a");
        assertThat(found.troubles())
                .extracting(Trouble::reason, trouble -> trouble.path().toString())
                .containsExactlyInAnyOrder(tuple(Reason.LINK, "link"), tuple(Reason.DANGLING, "real/20261031_b"));
    }

    @Test
    void aFolderThatTwoPatternsClaimIsNobodysAndBothAreNamed() throws Exception {
        folders("P1/20261031_a", "P1/20261031_b-x");

        Found found = look("{project}/{date}_{label}", "P1/{date}_{label}-x");

        assertThat(paths(found)).containsExactly("P1/20261031_a");
        assertThat(found.isUnknown(FilePath.of("P1/20261031_b-x"))).isTrue();
        assertThat(found.troubles()).singleElement().satisfies(trouble -> {
            assertThat(trouble.reason()).isEqualTo(Reason.CLAIMED_TWICE);
            assertThat(trouble.message()).contains("{project}/{date}_{label} and P1/{date}_{label}-x");
        });
    }

    @Test
    void aFolderInAnotherOnesFolderIsNobodysNorIsThatOne() throws Exception {
        folders("P1/a/b", "P1/c");

        Found found = look("{project}/{label}", "{project}/{label}/b");

        assertThat(paths(found)).containsExactly("P1/c");
        assertThat(found.troubles()).singleElement().satisfies(trouble -> {
            assertThat(trouble.reason()).isEqualTo(Reason.NESTED);
            assertThat(trouble.path()).isEqualTo(FilePath.of("P1/a/b"));
            assertThat(trouble.message()).contains("P1/a");
        });
    }

    @Test
    void aPatternThatMatchesNothingIsSaid() throws Exception {
        folders("P1/a");

        assertThat(look("{project}/{label}", "meg/{date}").troubles())
                .extracting(Trouble::reason)
                .containsExactly(Reason.NOTHING_MATCHES);
    }

    @Test
    void aRenamedFolderKeepsNumberAndBirth() throws Exception {
        folders("P1/a/x");
        FoundFolder before = look("{project}/{label}").folders().getFirst();
        Files.move(root.resolve("P1/a"), root.resolve("P1/b"));

        FoundFolder after = look("{project}/{label}").folders().getFirst();

        assertThat(after.path()).isNotEqualTo(before.path());
        assertThat(after.inode()).isEqualTo(before.inode());
        assertThat(after.bornNanos()).isEqualTo(before.bornNanos());
    }

    @Test
    void aTreeWithTooManyNamesAboveItsExperimentsIsRefused() throws Exception {
        folders("a", "b", "c");

        assertThatThrownBy(() -> FolderSearch.look(root, List.of(FolderPattern.of("{label}")), 2))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("more than 2 names");
    }

    private Found look(String... patterns) throws IOException, InterruptedException {
        return FolderSearch.look(
                root, Stream.of(patterns).map(FolderPattern::of).toList());
    }

    private static List<String> paths(Found found) {
        return found.folders().stream().map(each -> each.path().toString()).toList();
    }

    private void folders(String... paths) throws IOException {
        for (String path : paths) {
            Files.createDirectories(FilePath.of(path).under(root));
        }
    }
}
