package dozo.registry;

import java.util.HexFormat;
import java.util.UUID;
import java.util.regex.Pattern;

/** Checks the opaque names of projects, experiments and sites; they become folder names at a site. */
public final class Code {

    private static final Pattern FORM = Pattern.compile("[A-Za-z0-9][A-Za-z0-9_-]{0,63}");
    /** The maximum length of a title in characters. */
    public static final int TITLE_LENGTH_MAX = 200;

    /** The characters with the property Bidi_Control of Unicode. */
    private static final String DIRECTIONS = "\u061C\u200E\u200F\u202A\u202B\u202C\u202D\u202E\u2066\u2067\u2068\u2069";

    private Code() {}

    /**
     * Returns the code if it is valid.
     *
     * @throws Refusal if it is not
     */
    public static String checked(String field, String code) {
        if (!isCode(code)) {
            throw new Refusal(
                    field,
                    "\"%s\": expected a code of 1 to 64 letters A-Z a-z, digits, - and _, starting with a letter or digit",
                    code);
        }
        return code;
    }

    /** Returns whether this has the form of a code. */
    public static boolean isCode(String text) {
        return FORM.matcher(text).matches();
    }

    /** Returns a new code that says nothing. */
    static String opaque() {
        return "x-" + UUID.randomUUID();
    }

    /** Escapes everything but visible ASCII, and the escape itself, as {@code %XX}: any name survives any editor. */
    public static String escaped(byte[] bytes) {
        StringBuilder text = new StringBuilder(bytes.length);
        for (byte b : bytes) {
            if (b > ' ' && b < 0x7f && b != '%') {
                text.append((char) b);
            } else {
                text.append('%').append(HexFormat.of().withUpperCase().toHexDigits(b));
            }
        }
        return text.toString();
    }

    static String checkedTitle(String title) {
        if (title.length() > TITLE_LENGTH_MAX) {
            throw new Refusal("title", "expected a title of at most %d characters", TITLE_LENGTH_MAX);
        }
        if (!isText(title)) {
            throw new Refusal("title", "expected a title of one line, without control characters");
        }
        return title;
    }

    /**
     * Returns whether this is a line of text: without line breaks, other control characters or unpaired surrogates.
     * Controls of the direction of text are control characters, too: with them a text looks like another one.
     */
    public static boolean isText(String text) {
        return text.codePoints()
                .noneMatch(c -> DIRECTIONS.indexOf(c) >= 0
                        || switch (Character.getType(c)) {
                            case Character.CONTROL,
                                    Character.SURROGATE,
                                    Character.LINE_SEPARATOR,
                                    Character.PARAGRAPH_SEPARATOR -> true;
                            default -> false;
                        });
    }
}
