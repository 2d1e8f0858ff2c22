package dozo.identity;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.file.Malformed;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.text.Normalizer;
import java.util.List;
import java.util.SortedSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WantedTest {

    @TempDir
    Path folder;

    private Wanted wanted(String... lines) throws IOException {
        return Wanted.of(Files.write(folder.resolve("names"), List.of(lines)));
    }

    @Test
    void aNameIsFoundInEveryWayInWhichItIsWritten() throws Exception {
        Wanted wanted = wanted("# participants", "", "山田太郎", "Yamada Taro", "がくた", "S-0042");
        for (String charset : new String[] {"UTF-8", "windows-31j", "EUC-JP", "ISO-2022-JP", "UTF-16LE"}) {
            assertThat(wanted.in("検査:山田太郎様".getBytes(Charset.forName(charset))))
                    .as(charset)
                    .containsExactly(3);
        }
        assertThat(found(wanted, "name=%E5%B1%B1%e7%94%b0%E5%A4%AA%e9%83%8e")).containsExactly(3);
        assertThat(found(wanted, "{\"name\": \"\\u5C71\\u7530\\u592a\\u90ce\"}"))
                .containsExactly(3);
        assertThat(found(wanted, Normalizer.normalize("xがくたx", Normalizer.Form.NFD)))
                .containsExactly(5);
        assertThat(found(wanted, "sub-YAMADA TARO_T1w, s-0042")).containsExactly(4, 6);
        assertThat(found(wanted, "q=Yamada%20Taro")).containsExactly(4);
        assertThat(found(wanted, "Yamada Tar")).isEmpty();
        assertThat(found(wanted, "")).isEmpty();
    }

    private static SortedSet<Integer> found(Wanted wanted, String text) {
        return wanted.in(text.getBytes(StandardCharsets.UTF_8));
    }

    @Test
    void aNameIsFoundWhereTwoBlocksOfAStreamMeet() throws Exception {
        Wanted wanted = wanted("YamadaTaro", "SuzukiHanako-with-a-long-name");
        for (int before = (1 << 20) - 12; before <= (1 << 20) + 1; before++) {
            byte[] text = ("x".repeat(before) + "YamadaTaro" + "y".repeat(1 << 20) + "suzukihanako-with-a-long-name")
                    .getBytes(StandardCharsets.UTF_8);
            assertThat(wanted.in(new ByteArrayInputStream(text)))
                    .as("%d", before)
                    .containsExactly(1, 2);
        }
        assertThat(wanted.in(new ByteArrayInputStream("YamadaTar".getBytes(StandardCharsets.UTF_8))))
                .isEmpty();
    }

    @Test
    void aListThatWouldFindNothingOrAnythingIsRefused() throws Exception {
        assertThatThrownBy(() -> wanted("# nobody", " "))
                .isInstanceOf(Malformed.class)
                .hasMessageContaining("there is none");
        assertThatThrownBy(() -> wanted("Yamada", "Ito"))
                .hasMessage("line 2: expected at least 4 bytes: a shorter name occurs by chance");
        Path latin = Files.write(folder.resolve("latin"), new byte[] {(byte) 0xe9, 't', 'e', '\n'});
        assertThatThrownBy(() -> Wanted.of(latin)).hasMessageContaining("expected a list in UTF-8");
    }
}
