package dozo.source.dicom;

import dozo.file.FilePath;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

/** Values that are ASCII in every character set, and functions for texts of all sets. */
final class Plain {

    private Plain() {}

    static Value value(byte[] bytes) {
        return isPlain(bytes) ? new Value(bytes, split(bytes), true) : guessed(bytes);
    }

    /** Returns whether the bytes are printable ASCII, possibly padded with NULs. */
    static boolean isPlain(byte[] bytes) {
        for (int i = withoutPadding(bytes) - 1; i >= 0; i--) {
            if (bytes[i] < ' ' || bytes[i] == 0x7F) {
                return false;
            }
        }
        return true;
    }

    static List<String> split(byte[] bytes) {
        String text = new String(bytes, 0, withoutPadding(bytes), StandardCharsets.US_ASCII);
        return text.isEmpty()
                ? List.of()
                : Stream.of(text.split("\\\\", -1)).map(Plain::stripped).toList();
    }

    /**
     * Returns a readable form of bytes that are not valid text. The value is not split, because a backslash may be half
     * a character.
     */
    static Value guessed(byte[] bytes) {
        String text = stripped(FilePath.render(Arrays.copyOf(bytes, withoutPadding(bytes))));
        return new Value(bytes, List.of(text), false);
    }

    /**
     * Returns the text without padding and with control characters made visible, so that a header cannot control a
     * terminal.
     */
    static String visible(String text) {
        String stripped = stripped(text);
        boolean harmless = stripped.codePoints()
                .allMatch(c -> !Character.isISOControl(c)
                        && Character.getType(c) != Character.FORMAT
                        && Character.getType(c) != Character.LINE_SEPARATOR
                        && Character.getType(c) != Character.PARAGRAPH_SEPARATOR);
        return harmless ? stripped : FilePath.render(stripped.getBytes(StandardCharsets.UTF_8));
    }

    /** Removes surrounding spaces, which have no meaning. NB: the wide Japanese space is not padding. */
    static String stripped(String text) {
        int start = 0;
        int end = text.length();
        while (end > 0 && (text.charAt(end - 1) == ' ' || text.charAt(end - 1) == 0)) {
            end--;
        }
        while (start < end && text.charAt(start) == ' ') {
            start++;
        }
        return text.substring(start, end);
    }

    private static int withoutPadding(byte[] bytes) {
        int end = bytes.length;
        while (end > 0 && (bytes[end - 1] == 0 || bytes[end - 1] == ' ')) {
            end--;
        }
        return end;
    }
}
