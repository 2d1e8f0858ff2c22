package dozo.copy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dozo.copy.Filter.Rule;
import dozo.file.FilePath;
import dozo.file.PathPattern;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class FilterTest {

    @Test
    void theFirstRuleThatMatchesDecides() {
        Filter filter = new Filter(List.of(take("keep.tmp"), leave("*.tmp"), leave("/raw/"), take("*")), Set.of());

        assertThat(takes(filter, "a/keep.tmp", "b.tmp", "raw/x")).isEqualTo("a/keep.tmp raw/x");
        assertThat(filter.takes(FilePath.of("raw"), true)).isFalse();
        assertThat(filter.takes(FilePath.of("raw"), false)).isTrue();
        assertThat(filter.takes(FilePath.of("sub/raw"), true)).isTrue();
        assertThat(filter.takes(FilePath.ROOT, true)).isTrue();
    }

    @Test
    void aListNamesFilesAndFoldersWithAllThatIsInThem() {
        Filter filter = new Filter(List.of(leave("*.tmp")), paths("sub/folder", "sub/deep/file", "gone"));

        assertThat(takes(filter, "sub/folder/a/b", "sub/folder/c.tmp", "sub/deep/file", "sub/deep/other", "top"))
                .isEqualTo("sub/folder/a/b sub/deep/file");
        assertThat(filter.takes(FilePath.of("sub"), true)).isTrue();
        assertThat(filter.takes(FilePath.of("sub"), false)).isFalse();
        assertThat(filter.takes(FilePath.of("sub/deep"), true)).isTrue();
        assertThat(filter.takes(FilePath.of("other"), true)).isFalse();
    }

    @Test
    void whatTheListNamesAndNobodyHasFoundIsMissing() {
        Filter filter = new Filter(List.of(), paths("a", "sub/b"));

        filter.takes(FilePath.of("a"), false);

        assertThat(filter.missing()).containsExactly(FilePath.of("sub/b"));
        assertThat(new Filter(List.of(), Set.of(FilePath.ROOT)).missing()).isEmpty();
        assertThat(takes(new Filter(List.of(), Set.of(FilePath.ROOT)), "any/thing"))
                .isEqualTo("any/thing");
    }

    private static String takes(Filter filter, String... files) {
        return Stream.of(files)
                .filter(file -> filter.takes(FilePath.of(file), false))
                .collect(Collectors.joining(" "));
    }

    private static Set<FilePath> paths(String... paths) {
        return Stream.of(paths).map(FilePath::of).collect(Collectors.toSet());
    }

    private static Rule take(String pattern) {
        return new Rule(true, PathPattern.of(pattern.getBytes(UTF_8)));
    }

    private static Rule leave(String pattern) {
        return new Rule(false, PathPattern.of(pattern.getBytes(UTF_8)));
    }
}
