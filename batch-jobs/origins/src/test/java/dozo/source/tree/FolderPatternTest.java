package dozo.source.tree;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.source.tree.FolderPattern.Captured;
import dozo.source.tree.FolderPattern.Field;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class FolderPatternTest {

    @Test
    void aNameSaysDayAndLabel() {
        Captured said = match("{date:yyyyMMdd}_{label}", "20261031_visual-1").orElseThrow();

        assertThat(said.day()).isEqualTo(LocalDate.of(2026, 10, 31));
        assertThat(said.value(Field.LABEL)).contains("visual-1".getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void aCaptureTakesBytesOfAnyEncoding() {
        byte[] name = "MEG_脳計測データ_01".getBytes(Charset.forName("windows-31j"));

        Captured said = FolderPattern.of("MEG_{label}_{session}")
                .match(0, name, Captured.NOTHING)
                .orElseThrow();

        assertThat(said.value(Field.LABEL)).contains("脳計測データ".getBytes(Charset.forName("windows-31j")));
        assertThat(said.value(Field.SESSION)).contains("01".getBytes(StandardCharsets.US_ASCII));
    }

    @ParameterizedTest
    @CsvSource({
        "{date}, 20260229, false",
        "{date}, 20240229, true",
        "{date:yyMMdd}, 261031, true",
        "{date:yyyy-MM-dd}, 2026-10-31, true",
        "{date:yyyy-MM-dd}, 20261031, false",
        "{date}_{label}, 20261031_, false",
        "{date}*, 20261031, true",
        "sub-{subject}, sub-01, true",
        "sub-{subject}, xsub-01, false",
        "{label}_meg, a_meg_meg, true",
        "{label}_{session}_meg, a_b_c_meg, true",
        "{label}_{session}, a_, false",
        "*, .snapshot, false",
        "{label}, .git, false",
        ".raw-{label}, .raw-1, true",
        "a*c*, abdcd, true",
    })
    void matches(String pattern, String name, boolean matches) {
        assertThat(match(pattern, name).isPresent()).isEqualTo(matches);
    }

    @Test
    void aCaptureEndsAtTheFirstPlaceWhereTheTextBehindItStands() {
        Captured said = match("{label}_{session}_meg", "a_b_c_meg").orElseThrow();

        assertThat(said.value(Field.LABEL)).contains(bytes("a"));
        assertThat(said.value(Field.SESSION)).contains(bytes("b_c"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "/a",
                "a/",
                "a//b",
                "../{label}",
                "./a",
                "{label",
                "label}",
                "{}",
                "{name}",
                "{label}{session}",
                "*{label}",
                "{label}{date}",
                "{date:dd.MM.yyyy}",
                "{label:x}",
                "{label}/{label}",
                "a/b/c/d/e/f/g/h/i/j/k",
                "a\0b"
            })
    void isRefused(String text) {
        assertThatThrownBy(() -> FolderPattern.of(text)).isInstanceOf(IllegalArgumentException.class);
    }

    private static Optional<Captured> match(String pattern, String name) {
        return FolderPattern.of(pattern).match(0, bytes(name), Captured.NOTHING);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
