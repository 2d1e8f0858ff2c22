package dozo.source.dicomweb;

import dozo.file.Digest;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/** UIDs as they may be shown and become names: digits and dots stand as they are, anything else may be a name that somebody typed. */
public final class Uid {

    private static final Pattern PLAIN = Pattern.compile("[0-9]+(\\.[0-9]+)*");
    private static final int LENGTH_MAX = 64;
    private static final int CODE_LENGTH = 32;

    private Uid() {}

    /** Whether nothing but a UID is in it. NB: a part that begins with 0 breaks the standard's rules and no path. */
    public static boolean isPlain(String text) {
        return text.length() <= LENGTH_MAX && PLAIN.matcher(text).matches();
    }

    /** The UID, or a code that stands for what is none. */
    public static String shown(String text) {
        return isPlain(text) ? text : "x" + code(text);
    }

    /** 128 bits of its SHA-256 in hexadecimal digits. */
    static String code(String text) {
        return Digest.ofContent(text.getBytes(StandardCharsets.UTF_8))
                .toString()
                .substring(0, CODE_LENGTH);
    }
}
