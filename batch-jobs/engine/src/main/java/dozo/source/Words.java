package dozo.source;

import dozo.file.FilePath;
import dozo.source.FileList.NotUnderstood;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.function.ToLongFunction;

/** The words of a line of a file list before its path, each ended by a space. */
final class Words {

    private static final int DIGITS_MAX = 40;

    private final byte[] line;
    private int at;

    Words(byte[] line) {
        this.line = line;
    }

    /** Returns where the next word begins. */
    int at() {
        return at;
    }

    /** @param what the expected word, for the message */
    String next(String what) throws NotUnderstood {
        int end = at;
        while (end < line.length && line[end] != ' ') {
            end++;
        }
        if (end == line.length || end == at || end - at > DIGITS_MAX) {
            throw new NotUnderstood(what + " is missing");
        }
        String word = new String(line, at, end - at, StandardCharsets.ISO_8859_1);
        at = end + 1;
        return word;
    }

    void skipSpaces() {
        while (at < line.length && line[at] == ' ') {
            at++;
        }
    }

    /** Parses a number without a sign. */
    static long whole(String digits, String what, int radix) throws NotUnderstood {
        return parsed(digits, what, word -> Long.parseLong(word, radix));
    }

    /** Parses an unsigned number of 64 bits; Java shows the upper half as negative. */
    static long unsigned(String digits, String what) throws NotUnderstood {
        return parsed(digits, what, Long::parseUnsignedLong);
    }

    private static long parsed(String digits, String what, ToLongFunction<String> parser) throws NotUnderstood {
        if (!digits.isEmpty() && digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
            try {
                return parser.applyAsLong(digits);
            } catch (NumberFormatException tooLarge) {
                // The message below covers it.
            }
        }
        byte[] bytes = digits.getBytes(StandardCharsets.ISO_8859_1);
        throw new NotUnderstood("not %s: %s"
                .formatted(what, FilePath.render(Arrays.copyOf(bytes, Math.min(bytes.length, DIGITS_MAX)))));
    }
}
