package dozo.source.delivery;

import dozo.file.FilePath;
import java.nio.charset.StandardCharsets;
import java.util.HexFormat;

/**
 * Names of files and folders in the spool, made from names and labels that may be any text. Characters that a file
 * system or a reader of lists may not handle are written as {@code ~} and two hexadecimal digits for each byte of their
 * UTF-8. Shortened names end in {@code ~~} and the id. All other characters stay as they are.
 */
public final class SpoolName {

    /** A file system's usual limit is 255. */
    private static final int BYTES_MAX = 240;

    private static final int LABEL_BYTES_MAX = 120;
    private static final HexFormat HEX = HexFormat.of().withUpperCase();

    private SpoolName() {}

    /** Returns a container's folder name. It always contains the id, because labels are not unique. */
    public static String folder(String label, String id) {
        return cut(escaped(label), LABEL_BYTES_MAX) + "~~" + id;
    }

    /** Returns the id in a container's folder name, or the whole name if there is none. */
    public static String idOf(FilePath folder) {
        String name = new String(folder.name(), StandardCharsets.UTF_8);
        return name.substring(name.lastIndexOf("~~") + 2);
    }

    /** Returns a file's own name, shortened if it is too long. */
    public static String file(String name, String id) {
        String escaped = escaped(name);
        return bytes(escaped) <= BYTES_MAX ? escaped : twin(name, id);
    }

    /** Returns the name of a file whose own name is already taken by a sibling. */
    public static String twin(String name, String id) {
        return cut(escaped(name), BYTES_MAX - bytes(id) - 2) + "~~" + id;
    }

    private static String escaped(String text) {
        if (text.equals(".") || text.equals("..")) {
            return text.replace(".", "~2E");
        }
        int[] points = text.codePoints().toArray();
        StringBuilder escaped = new StringBuilder(text.length());
        for (int i = 0; i < points.length; i++) {
            boolean atAnEnd = i == 0 || i == points.length - 1;
            if (stands(points[i]) && !(atAnEnd && Character.isWhitespace(points[i]))) {
                escaped.appendCodePoint(points[i]);
            } else {
                escape(points[i], escaped);
            }
        }
        return escaped.toString();
    }

    private static boolean stands(int point) {
        return point != '/'
                && point != '~'
                && switch (Character.getType(point)) {
                    case Character.CONTROL,
                            Character.FORMAT,
                            Character.SURROGATE,
                            Character.LINE_SEPARATOR,
                            Character.PARAGRAPH_SEPARATOR,
                            Character.UNASSIGNED,
                            Character.PRIVATE_USE -> false;
                    default -> true;
                };
    }

    private static void escape(int point, StringBuilder escaped) {
        if (Character.getType(point) == Character.SURROGATE) {
            // An unpaired surrogate has no UTF-8.
            escaped.append("~u").append(HEX.toHexDigits((char) point));
            return;
        }
        for (byte b : Character.toString(point).getBytes(StandardCharsets.UTF_8)) {
            escaped.append('~').append(HEX.toHexDigits(b));
        }
    }

    private static String cut(String text, int bytesMax) {
        int end = 0;
        int length = 0;
        while (end < text.length()) {
            int point = text.codePointAt(end);
            length += bytes(Character.toString(point));
            if (length > bytesMax) {
                return text.substring(0, end);
            }
            end += Character.charCount(point);
        }
        return text;
    }

    private static int bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8).length;
    }
}
