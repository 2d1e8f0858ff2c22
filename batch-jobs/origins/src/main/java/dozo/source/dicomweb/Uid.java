package dozo.source.dicomweb;

import dozo.file.Digest;
import java.util.regex.Pattern;

/**
 * UIDs in a form that may be shown and used in names: digits and dots stay as they are; other text might be a name that
 * somebody typed.
 */
public final class Uid {

    private static final Pattern PLAIN = Pattern.compile("[0-9]+(\\.[0-9]+)*");
    private static final int LENGTH_MAX = 64;
    private static final int CODE_LENGTH = 32;

    private Uid() {}

    /**
     * Returns whether the text is only a UID. NB: a component with a leading 0 breaks the standard's rules, but is
     * harmless in a path.
     */
    public static boolean isPlain(String text) {
        return text.length() <= LENGTH_MAX && PLAIN.matcher(text).matches();
    }

    /** Returns the UID, or a code for text that is not one. */
    public static String shown(String text) {
        return isPlain(text) ? text : "x" + code(text);
    }

    /** Returns 128 bits of the text's SHA-256 in hexadecimal digits. */
    static String code(String text) {
        return Digest.ofText(text).toString().substring(0, CODE_LENGTH);
    }
}
