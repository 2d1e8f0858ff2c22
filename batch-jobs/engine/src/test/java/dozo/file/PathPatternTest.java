package dozo.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Patterns match bytes of paths as people know it from rsync, find and git. */
class PathPatternTest {

    @ParameterizedTest
    @CsvSource({
        "*.nii, scan.nii",
        "*.nii, anat/run/scan.nii",
        "anat, sub/anat",
        "/anat, anat",
        "anat/, x/anat",
        "anat/*.nii, anat/T1w.nii",
        "a?c, x/abc",
        "*, a/b",
        "**, a/b/c",
        "a/**, a/b/c",
        "a/**/c, a/c",
        "a/**/c, a/b/d/c",
        "**/c, c",
        "**/c, a/b/c",
        "a**c, a/b/c/c",
        "sub-[0-9][0-9]/*, sub-01/anat",
        "[!a-c]x, dx",
        "[^a]x, bx",
        "[]a]x, ]x",
        "[a-]x, -x",
        "[a\\]b]x, ]x",
        "\\*, *",
        "a*b*c*d, a/axbxbxcxd",
        "*研究*, 脳/脳研究室",
    })
    void matches(String pattern, String path) {
        assertThat(pattern(pattern).matches(FilePath.of(path))).isTrue();
    }

    @ParameterizedTest
    @CsvSource({
        "*.nii, scan.nii.gz",
        "*.nii, a.nii/json",
        "/anat, sub/anat",
        "anat/*.nii, sub/anat/T1w.nii",
        "anat/*.nii, anat/run/T1w.nii",
        "a/*, a",
        "a/**, a",
        "a?c, a/c",
        "a[/]c, a/c",
        "a[!b]c, a/c",
        "a/**/c, a/bc",
        "**/c, ac",
        "[!a-c]x, bx",
        "a, A",
        "\\*, a",
        "?, 脳",
    })
    void doesNotMatch(String pattern, String path) {
        assertThat(pattern(pattern).matches(FilePath.of(path))).isFalse();
    }

    @Test
    void bytesThatAreNoTextMatch() {
        FilePath name = FilePath.of(new byte[] {'a', (byte) 0x94, (byte) 0x5c, (byte) 0xff, '\n'});

        assertThat(pattern("a????").matches(name)).isTrue();
        assertThat(PathPattern.of(new byte[] {'*', (byte) 0xff, '?'}).matches(name))
                .isTrue();
        assertThat(PathPattern.of(new byte[] {'*', '[', (byte) 0xf0, '-', (byte) 0xff, ']', '*'})
                        .matches(name))
                .isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/", "..", "a/../b", "a//b", "./a", "a\0b", "[a", "a\\", "[z-a]", "[[:digit:]]", "[\\"})
    void whatIsNoPatternIsRefused(String pattern) {
        assertThatThrownBy(() -> pattern(pattern)).isInstanceOf(Malformed.class);
    }

    @Test
    void aPatternOfManyStarsIsMatchedFast() {
        PathPattern stars = pattern("*a".repeat(400) + "*b");
        FilePath path = FilePath.of("a".repeat(4_000));

        assertTimeoutPreemptively(
                Duration.ofMinutes(1), () -> assertThat(stars.matches(path)).isFalse());
        assertThatThrownBy(() -> pattern("a".repeat(PathPattern.BYTES_MAX + 1))).hasMessageContaining("1000 bytes");
    }

    private static PathPattern pattern(String text) {
        return PathPattern.of(text.getBytes(StandardCharsets.UTF_8));
    }
}
