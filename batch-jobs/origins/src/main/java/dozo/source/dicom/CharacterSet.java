package dozo.source.dicom;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.Charset;
import java.nio.charset.CodingErrorAction;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The character set that a file declares for its texts (0008,0005). Text in another set is detected where possible and
 * shown as a guess. For example, Shift-JIS declared as Latin-1 contains control characters that Latin-1 text does not;
 * EUC-JP declared as Latin-1 contains none and is taken for Latin-1.
 */
final class CharacterSet {

    private static final Pattern REGISTERED = Pattern.compile("ISO(?:[ _-]2022)?[ _-]IR[ _-]([0-9]{1,3})");
    private static final byte ESC = 0x1B;

    private final List<String> terms;
    /** A character set without code elements, such as UTF-8. */
    private final @Nullable Charset whole;

    private final Set<CodeElement> declared = EnumSet.of(CodeElement.ASCII);
    private CodeElement lower = CodeElement.ASCII;
    private @Nullable CodeElement upper;

    private CharacterSet(List<String> terms) {
        this.terms = terms;
        whole = terms.stream().flatMap(term -> whole(term).stream()).findFirst().orElse(null);
        for (int i = 0; i < terms.size(); i++) {
            int registration = registration(terms.get(i));
            Stream.of(CodeElement.values())
                    .filter(element -> element.registration() == registration)
                    .forEach(declared::add);
            if (i == 0) {
                start(registration);
            }
        }
    }

    /** Returns the character set of these terms; unknown terms are ignored. */
    static CharacterSet of(List<String> terms) {
        return new CharacterSet(terms);
    }

    /** Returns the terms as the file has them. */
    List<String> terms() {
        return terms;
    }

    /** Decodes a value's texts. Never fails: text that is not valid in this set is guessed. */
    Value value(byte[] bytes) {
        boolean asciiIsRoman =
                lower == CodeElement.ROMAN && new String(bytes, StandardCharsets.ISO_8859_1).indexOf('~') >= 0;
        if (Plain.isPlain(bytes) && !asciiIsRoman) {
            return new Value(bytes, Plain.split(bytes), true);
        }
        try {
            return whole == null
                    ? new Walk(bytes).value()
                    : new Value(bytes, split(decoded(whole, bytes, 0, bytes.length)), true);
        } catch (CharacterCodingException notOfThisSet) {
            return Plain.guessed(bytes);
        }
    }

    /** Sets the code elements that a value starts with and returns to after control characters. */
    private void start(int registration) {
        for (CodeElement element : CodeElement.values()) {
            if (element.registration() == registration && element.isUpper()) {
                upper = element;
            }
        }
        if (registration == CodeElement.ROMAN.registration()) {
            lower = CodeElement.ROMAN;
        }
    }

    private static Optional<Charset> whole(String term) {
        return switch (term) {
            case "GB18030" -> Optional.of(Charset.forName("GB18030"));
            case "GBK" -> Optional.of(Charset.forName("GBK"));
            default -> registration(term) == 192 ? Optional.of(StandardCharsets.UTF_8) : Optional.empty();
        };
    }

    /** NB: variants such as "ISO-IR 100" occur. */
    private static int registration(String term) {
        Matcher registered = REGISTERED.matcher(term);
        return registered.matches() ? Integer.parseInt(registered.group(1)) : 0;
    }

    private static List<String> split(String text) {
        return Stream.of(text.split("\\\\", -1)).map(Plain::visible).toList();
    }

    private static String decoded(Charset charset, byte[] bytes, int from, int to) throws CharacterCodingException {
        CharBuffer decoded = charset.newDecoder()
                .onMalformedInput(CodingErrorAction.REPORT)
                .onUnmappableCharacter(CodingErrorAction.REPORT)
                .decode(ByteBuffer.wrap(bytes, from, to - from));
        return decoded.toString();
    }

    /** Decodes a value's bytes, from escape sequence to escape sequence. */
    private final class Walk {

        private final byte[] bytes;
        private final List<String> texts = new ArrayList<>();
        private final StringBuilder text = new StringBuilder();
        private CodeElement below = lower;
        private @Nullable CodeElement above = upper;
        private boolean asDeclared = true;
        private int at;

        Walk(byte[] bytes) {
            this.bytes = bytes;
        }

        Value value() throws CharacterCodingException {
            while (at < bytes.length) {
                byte b = bytes[at];
                if (b == ESC) {
                    change();
                } else if (b == '\\' && below.bytesPerCharacter() == 1) {
                    endText();
                } else if (b >= 0 && (b <= ' ' || b == 0x7F)) {
                    // A space is the same in every set. Padding amid two-byte characters is handled here too.
                    text.append((char) b);
                    at++;
                    if (b != ' ') {
                        startAgain();
                    }
                } else {
                    run(b < 0);
                }
            }
            texts.add(Plain.visible(text.toString()));
            return new Value(bytes, List.copyOf(texts), asDeclared);
        }

        private void endText() {
            texts.add(Plain.visible(text.toString()));
            text.setLength(0);
            at++;
            startAgain();
        }

        /**
         * Returns to the initial code elements. If there is none for the upper half, Korean and Chinese stay in use:
         * not all writers repeat their escape sequence after each value.
         */
        private void startAgain() {
            below = lower;
            above = upper == null ? above : upper;
        }

        private void change() throws CharacterCodingException {
            Optional<CodeElement> next = CodeElement.at(bytes, at + 1);
            if (next.isEmpty()) {
                throw new CharacterCodingException();
            }
            if (next.get().isUpper()) {
                above = next.get();
            } else {
                below = next.get();
            }
            asDeclared &= declared.contains(next.get());
            at += 1 + next.get().escape().length();
        }

        /** Decodes the next bytes that belong to one code element. */
        private void run(boolean upperHalf) throws CharacterCodingException {
            CodeElement element = upperHalf ? above : below;
            if (element == null) {
                throw new CharacterCodingException();
            }
            int step = element.bytesPerCharacter();
            int end = at;
            while (end < bytes.length && goesOn(end, upperHalf, step)) {
                end = Math.min(bytes.length, end + step);
            }
            String run = decoded(element.charset(), bytes, at, end);
            // In Latin and similar sets these are control characters, which nobody types.
            if (upperHalf && run.chars().anyMatch(c -> c >= 0x80 && c < 0xA0)) {
                throw new CharacterCodingException();
            }
            // The JDK decodes this set as ASCII with katakana.
            text.append(element == CodeElement.ROMAN ? run.replace('~', '\u203E') : run);
            at = end;
        }

        private boolean goesOn(int next, boolean upperHalf, int step) {
            byte b = bytes[next];
            if (upperHalf) {
                return b < 0;
            }
            return b > ' ' && b != 0x7F && (b != '\\' || step == 2);
        }
    }
}
