package dozo.registry;

import java.io.ByteArrayInputStream;
import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of a text file with their encoding. If two encodings are possible, the encoding must be given; it is never
 * guessed.
 *
 * @param from where the text begins: after the byte order mark, if there is one
 */
@SuppressWarnings("ArrayRecordComponent") // a file's content; read once
record CsvText(byte[] bytes, int from, Charset charset) {

    private static final Charset SHIFT_JIS = Charset.forName("windows-31j");
    private static final String FIELD = "encoding";
    /** The byte order mark. */
    private static final String MARK = "\uFEFF";
    /** From this byte on, it is not ASCII. */
    private static final int HIGH = 0x80;
    /**
     * In UTF-8, from this byte on a character of three or more bytes begins, as Japanese ones do. A character of two
     * bytes, such as an accented letter, can also be half-width katakana in Shift-JIS.
     */
    private static final int LONG = 0xE0;

    /** The possible encodings of all lines together. */
    private static final class Bytes {
        private boolean allUtf8 = true;
        private boolean surelyUtf8;
        private boolean someShiftJis;

        void line(ByteBuffer line) {
            byte[] bytes = new byte[line.remaining()];
            line.get(bytes);
            if (!hasByteFrom(HIGH, bytes)) {
                return;
            }
            boolean asUtf8 = decodes(bytes, StandardCharsets.UTF_8);
            boolean asShiftJis = decodes(bytes, SHIFT_JIS);
            allUtf8 &= asUtf8;
            surelyUtf8 |= asUtf8 && (!asShiftJis || hasByteFrom(LONG, bytes));
            someShiftJis |= asShiftJis;
        }
    }

    /**
     * Returns the text in the given encoding, or in the one detected from its bytes.
     *
     * @param said its name; null: not given
     * @throws Refusal if the encoding cannot be determined
     */
    static CsvText of(byte[] bytes, @Nullable String said) {
        Optional<CsvText> marked = byMark(bytes);
        if (said == null) {
            return marked.orElseGet(() -> new CsvText(bytes, 0, told(bytes)));
        }
        Charset charset = charset(said);
        if (marked.isPresent() && !marked.get().charset.equals(charset)) {
            throw new Refusal(
                    FIELD,
                    "the encoding is declared as %s, but the file starts as %s",
                    said,
                    marked.get().encoding());
        }
        return marked.orElseGet(() -> new CsvText(bytes, 0, charset));
    }

    /** Returns the encoding's name: {@code UTF-8}, {@code UTF-16LE}, {@code windows-31j}. */
    String encoding() {
        return charset.name();
    }

    /** Returns a reader of the text; invalid bytes become U+FFFD. */
    Reader reader() {
        return new InputStreamReader(new ByteArrayInputStream(bytes, from, bytes.length - from), charset);
    }

    private static Optional<CsvText> byMark(byte[] bytes) {
        for (Charset charset : List.of(StandardCharsets.UTF_8, StandardCharsets.UTF_16LE, StandardCharsets.UTF_16BE)) {
            byte[] mark = MARK.getBytes(charset);
            if (Arrays.equals(bytes, 0, Math.min(mark.length, bytes.length), mark, 0, mark.length)) {
                if (charset.equals(StandardCharsets.UTF_16BE)) {
                    throw new Refusal(
                            FIELD, "the file is UTF-16BE; expected utf-8, shift_jis (windows-31j) or utf-16le");
                }
                return Optional.of(new CsvText(bytes, mark.length, charset));
            }
        }
        return Optional.empty();
    }

    private static Charset charset(String said) {
        return switch (said.toLowerCase(Locale.ROOT)) {
            case "utf-8", "utf8" -> StandardCharsets.UTF_8;
            case "utf-16le" -> StandardCharsets.UTF_16LE;
            case "shift_jis", "shift-jis", "sjis", "windows-31j", "cp932" -> SHIFT_JIS;
            default ->
                throw new Refusal(FIELD, "encoding \"%s\": expected utf-8, shift_jis (windows-31j) or utf-16le", said);
        };
    }

    /**
     * Detects the encoding. A line that is invalid in UTF-8 means Shift-JIS only if no other line is surely UTF-8: in a
     * mixed file, Shift-JIS would garble the UTF-8 lines, mostly without an error.
     */
    private static Charset told(byte[] bytes) {
        Bytes evidence = new Bytes();
        int start = 0;
        for (int i = 0; i <= bytes.length; i++) {
            // NB: in both encodings this byte is never part of a longer character.
            if (i == bytes.length || bytes[i] == '\n') {
                evidence.line(ByteBuffer.wrap(bytes, start, i - start));
                start = i + 1;
            }
        }
        if (evidence.surelyUtf8 || (evidence.allUtf8 && !evidence.someShiftJis)) {
            return StandardCharsets.UTF_8;
        }
        if (evidence.allUtf8) {
            throw new Refusal(
                    FIELD,
                    "the file is valid as UTF-8 and as Shift-JIS; choose the encoding: utf-8, shift_jis (windows-31j) or utf-16le");
        }
        if (evidence.someShiftJis) {
            return SHIFT_JIS;
        }
        throw new Refusal(
                FIELD, "the file is neither UTF-8 nor Shift-JIS; expected utf-8, shift_jis (windows-31j) or utf-16le");
    }

    private static boolean hasByteFrom(int least, byte[] bytes) {
        for (byte b : bytes) {
            if ((b & 0xFF) >= least) {
                return true;
            }
        }
        return false;
    }

    private static boolean decodes(byte[] bytes, Charset charset) {
        try {
            charset.newDecoder().decode(ByteBuffer.wrap(bytes));
            return true;
        } catch (CharacterCodingException notInIt) {
            return false;
        }
    }
}
