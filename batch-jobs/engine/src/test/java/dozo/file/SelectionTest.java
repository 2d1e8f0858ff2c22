package dozo.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A list of paths is what find and an editor write; a list that selects nothing is refused. */
class SelectionTest {

    @Test
    void aListHasPathsInLinesOrEndedByNuls() {
        assertThat(list("./a/b\nc/\n\n./d")).containsExactly(FilePath.of("a/b"), FilePath.of("c"), FilePath.of("d"));
        assertThat(list("./a\nb\0c\0")).containsExactly(FilePath.of("a\nb"), FilePath.of("c"));
        assertThat(Selection.list(new byte[] {'a', (byte) 0xff, 0}))
                .containsExactly(FilePath.of(new byte[] {'a', (byte) 0xff}));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "\n\n", "\0", "/etc/passwd", "../a", "a/../../b", "a//b\n"})
    void aListWithoutPathsBelowTheRootIsRefused(String list) {
        assertThatThrownBy(() -> list(list)).isInstanceOf(Malformed.class);
    }

    @Test
    void theRootIsEverything() {
        assertThat(new Selection(list(".\n"), List.of()).isAll()).isTrue();
        assertThat(new Selection(list("./\n./a"), List.of()).isAll()).isTrue();
        assertThat(Selection.ALL.isAll()).isTrue();
        assertThat(Selection.of(FilePath.of("a")).isAll()).isFalse();
    }

    @Test
    void selectionsWithDifferentMeaningsHaveDifferentBytes() {
        FilePath a = FilePath.of("a");
        PathPattern pattern = PathPattern.of(new byte[] {'a'});

        assertThat(List.of(
                        Selection.of(a).bytes(),
                        new Selection(List.of(), List.of(pattern)).bytes(),
                        new Selection(List.of(a, a), List.of()).bytes(),
                        new Selection(List.of(a), List.of(pattern)).bytes()))
                .doesNotHaveDuplicates();
    }

    @Test
    void tooManyPathsAreRefused() {
        List<FilePath> many = Collections.nCopies(Selection.PATHS_MAX + 1, FilePath.of("a"));

        assertThatThrownBy(() -> new Selection(many, List.of())).hasMessageContaining("10000 paths");
        List<FilePath> far = Collections.nCopies(300, FilePath.of("a".repeat(4_000)));
        assertThatThrownBy(() -> new Selection(far, List.of())).hasMessageContaining("bytes");
    }

    private static List<FilePath> list(String list) {
        return Selection.list(list.getBytes(StandardCharsets.UTF_8));
    }
}
