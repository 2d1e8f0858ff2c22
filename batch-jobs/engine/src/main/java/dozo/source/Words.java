package dozo.source;

import dozo.file.FilePath;
import dozo.source.FileList.NotUnderstood;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The words of a line of a file list, up to where its path begins: each is ended by a space. */
final class Words {

    private static final int DIGITS_MAX = 40;

    private final byte[] line;
    private int at;

    Words(byte[] line) {
        this.line = line;
    }

    /** Where the next word begins. */
    int at() {
        return at;
    }

    /** @param what is to come, for the message */
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

    /** A number without a sign. */
    static long whole(String digits, String what, int radix) throws NotUnderstood {
        if (!digits.isEmpty() && digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
            try {
                return Long.parseLong(digits, radix);
            } catch (NumberFormatException tooLarge) {
                // The message below says it.
            }
        }
        throw notThat(digits, what);
    }

    /** A number of 64 bits, of which Java takes half for negative. */
    static long unsigned(String digits, String what) throws NotUnderstood {
        if (!digits.isEmpty() && digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
            try {
                return Long.parseUnsignedLong(digits);
            } catch (NumberFormatException tooLarge) {
                // The message below says it.
            }
        }
        throw notThat(digits, what);
    }

    private static NotUnderstood notThat(String word, String what) {
        byte[] bytes = word.getBytes(StandardCharsets.ISO_8859_1);
        return new NotUnderstood("not %s: %s"
                .formatted(what, FilePath.render(Arrays.copyOf(bytes, Math.min(bytes.length, DIGITS_MAX)))));
    }
}
