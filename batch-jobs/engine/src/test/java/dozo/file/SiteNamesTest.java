package dozo.file;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.Charset;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class SiteNamesTest {

    private static final byte[] KEY = filled(7);

    private final SiteNames names = SiteNames.of(KEY);

    private static byte[] filled(int with) {
        byte[] key = new byte[SiteNames.KEY_BYTES];
        Arrays.fill(key, (byte) with);
        return key;
    }

    @Test
    void eachNameOfAPathBecomesItsCode() {
        FilePath yamada = FilePath.of("sub-YamadaTaro/anat/sub-YamadaTaro");

        String[] codes = names.of(yamada).toString().split("/", -1);

        // printf 'sub-YamadaTaro' | openssl dgst -sha256 -mac HMAC -macopt hexkey:0707…07
        assertThat(codes).hasSize(3);
        assertThat(codes[0]).isEqualTo("2cf08b6528cd2c2052006ff5787a0619");
        assertThat(codes[0]).isEqualTo(codes[2]).isNotEqualTo(codes[1]);
        assertThat(names.of(FilePath.of("sub-YamadaTaro"))).hasToString(codes[0]);
        assertThat(SiteNames.of(filled(8)).of(yamada)).isNotEqualTo(names.of(yamada));
        assertThat(names.of(FilePath.ROOT)).isEqualTo(FilePath.ROOT);
        assertThat(SiteNames.KEPT.of(yamada)).isEqualTo(yamada);
        assertThat(SiteNames.LOST.of(yamada)).isEqualTo(yamada);
    }

    @Test
    void namesAreBytesInNoParticularEncoding() {
        FilePath japanese = FilePath.ROOT.resolve("山田太郎".getBytes(Charset.forName("windows-31j")));

        assertThat(names.of(japanese).isUtf8()).isTrue();
        assertThat(names.of(japanese)).isNotEqualTo(names.of(FilePath.of("山田太郎")));
    }

    @Test
    void aLinkLeadsToTheCodesOfItsTarget() {
        String a = names.of(FilePath.of("a")).toString();
        String b = names.of(FilePath.of("b")).toString();

        assertThat(link("a")).isEqualTo(a);
        assertThat(link("../a/./b")).isEqualTo("../" + a + "/./" + b);
        assertThat(link("/a//b/")).isEqualTo("/" + a + "//" + b + "/");
        assertThat(link("...")).hasSize(32);
        assertThat(SiteNames.KEPT.ofLink("/a//b/".getBytes(UTF_8))).asString().isEqualTo("/a//b/");
    }

    private String link(String text) {
        return new String(names.ofLink(text.getBytes(UTF_8)), UTF_8);
    }

    @Test
    void aKeyIsNeverShown() {
        assertThat(names).hasToString("codes").isEqualTo(SiteNames.of(KEY)).isNotEqualTo(SiteNames.KEPT);
        assertThat(SiteNames.KEPT).hasToString("kept").isNotEqualTo(SiteNames.LOST);
        assertThat(SiteNames.LOST).hasToString("lost").isNotEqualTo(SiteNames.KEPT);
        assertThat(SiteNames.LOST.areCodes()).isTrue();
        assertThatThrownBy(() -> SiteNames.of(new byte[3])).hasMessageContaining("32 bytes, not 3");
    }
}
