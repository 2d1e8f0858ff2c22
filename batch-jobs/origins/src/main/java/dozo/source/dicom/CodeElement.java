package dozo.source.dicom;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;

/** A set of characters that text can switch to with an escape sequence of ISO 2022. */
enum CodeElement {
    ASCII(6, "(B", "US-ASCII", 1),
    ROMAN(13, "(J", "JIS_X0201", 1),
    KATAKANA(13, ")I", "JIS_X0201", 1),
    KANJI(87, "$B", "x-JIS0208", 2),
    KANJI_OF_1978(87, "$@", "x-JIS0208", 2),
    KANJI_SUPPLEMENT(159, "$(D", "JIS_X0212-1990", 2),
    KOREAN(149, "$)C", "EUC-KR", 2),
    CHINESE(58, "$)A", "GB2312", 2),
    LATIN_1(100, "-A", "ISO-8859-1", 1),
    LATIN_2(101, "-B", "ISO-8859-2", 1),
    LATIN_3(109, "-C", "ISO-8859-3", 1),
    LATIN_4(110, "-D", "ISO-8859-4", 1),
    GREEK(126, "-F", "ISO-8859-7", 1),
    ARABIC(127, "-G", "ISO-8859-6", 1),
    HEBREW(138, "-H", "ISO-8859-8", 1),
    CYRILLIC(144, "-L", "ISO-8859-5", 1),
    LATIN_5(148, "-M", "ISO-8859-9", 1),
    LATIN_9(203, "-b", "ISO-8859-15", 1),
    THAI(166, "-T", "TIS-620", 1);

    private static final int ESCAPE_BYTES_MAX = 3;

    private final int registration;
    private final String escape;
    private final Charset charset;
    private final int bytesPerCharacter;

    CodeElement(int registration, String escape, String charset, int bytesPerCharacter) {
        this.registration = registration;
        this.escape = escape;
        this.charset = Charset.forName(charset);
        this.bytesPerCharacter = bytesPerCharacter;
    }

    /** Returns the number in {@code ISO_IR 100} and {@code ISO 2022 IR 100}. */
    int registration() {
        return registration;
    }

    /** Returns the bytes after ESC. */
    String escape() {
        return escape;
    }

    Charset charset() {
        return charset;
    }

    int bytesPerCharacter() {
        return bytesPerCharacter;
    }

    /** Returns whether it applies to bytes from 0x80 on, not to those below. */
    boolean isUpper() {
        return escape.charAt(0) == ')' || escape.charAt(0) == '-' || escape.startsWith("$)");
    }

    /** Returns the element whose escape sequence is at this place, after ESC. */
    static Optional<CodeElement> at(byte[] bytes, int from) {
        int length = Math.min(bytes.length - from, ESCAPE_BYTES_MAX);
        String rest = new String(bytes, from, length, StandardCharsets.US_ASCII);
        return Arrays.stream(values())
                .filter(element -> rest.startsWith(element.escape))
                .findFirst();
    }
}
