package dozo.source.dicom;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.db.Campaign;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Text is decoded as its file declares, or shown as a guess; it is never a failure. */
class CharacterSetTest {

    private static final char ESC = 0x1B;

    private static CharacterSet set(String declared) {
        return CharacterSet.of(Plain.split(declared.getBytes(StandardCharsets.US_ASCII)));
    }

    private static Value value(String declared, String latin1) {
        return set(declared).value(latin1.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** The names in the standard's own examples. {@code ~} stands for ESC. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "ISO_IR 127|\u00e2\u00c8\u00c7\u00e6\u00ea^\u00e4\u00e6\u00d2\u00c7\u00d1|قباني^لنزار",
                "ISO_IR 100|Buc^J\u00e9r\u00f4me|Buc^Jérôme",
                "ISO_IR 126|\u00c4\u00e9\u00ef\u00ed\u00f5\u00f3\u00e9\u00ef\u00f2|Διονυσιος",
                "ISO_IR 138|\u00f9\u00f8\u00e5\u00ef^\u00e3\u00e1\u00e5\u00f8\u00e4|שרון^דבורה",
                "ISO_IR 144|\u00bb\u00ee\u00dace\u00dc\u00d1yp\u00d3|Люкceмбypг",
                "GB18030|Wang^XiaoDong=\u00cd\u00f5^\u00d0\u00a1\u00b6\u00ab=|Wang^XiaoDong=王^小东=",
                "ISO_IR 192|Wang=\u00e7\u008e\u008b|Wang=王",
                "\\ISO 2022 IR 149|Hong^Gildong=~$)C\u00fb\u00f3^~$)C\u00d1\u00ce\u00d4\u00d7=~$)C\u00c8\u00ab^~$)C\u00b1\u00e6\u00b5\u00bf|Hong^Gildong=洪^吉洞=홍^길동",
                "\\ISO 2022 IR 58|Zhang=~$)A\u00d5\u00c5^~$)A\u00d0\u00a1\u00b6\u00ab|Zhang=张^小东",
                "\\ISO 2022 IR 87|Yamada^Tarou=~$B;3ED~(B^~$BB@O:~(B=~$B$d$^$@~(B^~$B$?$m$&~(B|Yamada^Tarou=山田^太郎=やまだ^たろう",
                "ISO 2022 IR 13\\ISO 2022 IR 87|\u00d4\u00cf\u00c0\u00de^\u00c0\u00db\u00b3=~$B;3ED~(J^~$BB@O:~(J|ﾔﾏﾀﾞ^ﾀﾛｳ=山田^太郎",
                "\\ISO 2022 IR 87\\ISO 2022 IR 159|~$(D4y~(B ~$B;3~(B|獪 山",
                "ISO_IR 13|\u00bb\u00c4\u00b3|ｻﾄｳ",
            })
    void everySetIsRead(String declared, String written, String meant) {
        Value value = value(declared, written.replace('~', ESC));
        assertThat(value.asDeclared()).isTrue();
        if (!declared.contains("159")) {
            assertThat(value.texts()).containsExactly(meant);
        }
        assertThat(String.join("", value.texts())).doesNotContain("\uFFFD");
    }

    @Test
    void theSupplementOfKanjiIsRead() {
        byte[] pair = "鷗".getBytes(Charset.forName("EUC-JP"));
        assertThat(pair).hasSize(3);
        String written = ESC + "$(D" + (char) (pair[1] & 0x7F) + (char) (pair[2] & 0x7F) + ESC + "(B";
        Value value = value("\\ISO 2022 IR 87\\ISO 2022 IR 159", "x" + written + "x");
        assertThat(value.texts()).containsExactly("x鷗x");
        assertThat(value.asDeclared()).isTrue();
        assertThat(value("\\ISO 2022 IR 87", "x" + written + "x").asDeclared()).isFalse();
    }

    @Test
    void halfACharacterIsNoSeparator() {
        // The second byte of 表 is a backslash in Shift-JIS, that of ＋ in JIS X 0208.
        assertThat(value("\\ISO 2022 IR 87", ESC + "$B!\\!\\" + ESC + "(B\\b").texts())
                .containsExactly("＋＋", "b");
        assertThat(set("GB18030")
                        .value("a\\誠".getBytes(Charset.forName("GB18030")))
                        .texts())
                .containsExactly("a", "誠");
        byte[] shiftJis = "視覚表示".getBytes(Charset.forName("windows-31j"));
        assertThat(set("ISO_IR 100").value(shiftJis).texts()).containsExactly("視覚表示");
    }

    @Test
    void theOverlineAndTheYenAreJapanese() {
        assertThat(value("ISO_IR 13", "a~b\\c").texts()).containsExactly("a\u203Eb", "c");
        assertThat(value("ISO_IR 100", "a~b\\c").texts()).containsExactly("a~b", "c");
    }

    @ParameterizedTest
    @CsvSource({
        "'', EUC-JP",
        "'', windows-31j",
        "'', UTF-8",
        "ISO_IR 6, windows-31j",
        "ISO_IR 100, windows-31j",
        "ISO_IR 192, windows-31j",
        "ISO_IR 192, EUC-JP",
        "ISO_IR 999, UTF-8",
        "\\ISO 2022 IR 87, windows-31j"
    })
    void whatIsNotAsDeclaredIsSaidAndShown(String declared, String charset) {
        String meant = "頭部MRI　機能撮像（視覚刺激）";
        Value value = set(declared).value(meant.getBytes(Charset.forName(charset)));
        assertThat(value.asDeclared()).isFalse();
        assertThat(value.texts()).containsExactly(meant);
    }

    @Test
    void escapesWithoutADeclarationAreFollowed() {
        Value value = value("", ESC + "$B;3ED" + ESC + "(B");
        assertThat(value.texts()).containsExactly("山田");
        assertThat(value.asDeclared()).isFalse();
    }

    @Test
    void brokenEscapesAreShownWithoutFailing() {
        for (String broken : List.of("$B;3E", "$Bあ", "$Q", "$", "", "$B\u00ff\u00ff")) {
            Value value = value("\\ISO 2022 IR 87", "x" + ESC + broken);
            assertThat(value.asDeclared()).isFalse();
            assertThat(value.texts()).hasSize(1);
            assertThat(value.texts().getFirst()).startsWith("x").doesNotContain("" + ESC);
        }
    }

    @Test
    void paddingIsNoText() {
        assertThat(value("", "  a b  \0").texts()).containsExactly("a b");
        assertThat(value("ISO_IR 192", "").texts()).isEmpty();
        assertThat(value("ISO_IR 100", "\u00e9 \\ \u00e8 ").texts()).containsExactly("é", "è");
    }

    @Test
    @Tag(Campaign.TAG)
    void noBytesMakeItFail() {
        Random dice = new Random(8);
        List<String> sets = List.of(
                "",
                "ISO_IR 13",
                "ISO_IR 192",
                "GB18030",
                "GBK",
                "\\ISO 2022 IR 87\\ISO 2022 IR 159",
                "\\ISO 2022 IR 149",
                "ISO 2022 IR 13\\ISO 2022 IR 87",
                "ISO_IR 166",
                "ISO_IR 203");
        for (int i = 0; i < Campaign.times(20_000); i++) {
            byte[] noise = new byte[dice.nextInt(40)];
            dice.nextBytes(noise);
            if (noise.length > 6) {
                byte[] escape = (ESC + List.of("$B", "(J", "$(D", "$)C", "-A").get(dice.nextInt(5)))
                        .getBytes(StandardCharsets.US_ASCII);
                System.arraycopy(escape, 0, noise, 1, escape.length);
            }
            Value value = set(sets.get(i % sets.size())).value(noise);
            assertThat(Arrays.equals(value.bytes(), noise)).isTrue();
            assertThat(value.texts().stream().flatMapToInt(String::codePoints).noneMatch(Character::isISOControl))
                    .isTrue();
        }
    }
}
