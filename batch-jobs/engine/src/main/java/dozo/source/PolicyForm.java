package dozo.source;

import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.source.FileList.Line;
import dozo.source.FileList.ListForm;
import dozo.source.FileList.NotUnderstood;
import java.nio.charset.StandardCharsets;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The output of a LIST rule of IBM Storage Scale: {@code inode generation snapshot SHOW -- path}, with {@code ESCAPE
 * '%/'} and, as its SHOW, mode, links, size, and the times of modification and change in UTC.
 *
 * <p>NB: written from the documentation; not tested with a real Storage Scale.
 */
final class PolicyForm implements ListForm {

    private static final byte[] BEFORE_PATH = " -- ".getBytes(StandardCharsets.US_ASCII);
    private static final Pattern SPACES = Pattern.compile(" +");
    private static final int SHOWN_WORDS = 7;
    private static final int MODE_LETTERS = 10;
    private static final String UNRESERVED = "-_.~/";

    @Override
    public byte lineEnd() {
        return '\n';
    }

    /** The policy engine writes none. */
    @Override
    public boolean hasEndMark() {
        return false;
    }

    @Override
    public boolean isEndMark(byte[] line) {
        return false;
    }

    @Override
    public Line parse(byte[] line) throws NotUnderstood {
        Words words = new Words(line);
        long inode = Words.unsigned(words.next("an inode number"), "an inode number");
        words.skipSpaces();
        Words.unsigned(words.next("a generation"), "a generation");
        words.skipSpaces();
        Words.unsigned(words.next("a snapshot"), "a snapshot");
        // The space before an empty SHOW is also the space before the two dashes.
        int start = words.at() - 1;
        int end = beforePath(line, start);
        byte[] path = unescaped(line, end + BEFORE_PATH.length, line.length, true);
        if (path.length == 0 || path[0] != '/') {
            throw new NotUnderstood("the path does not begin with a slash");
        }
        byte[] shown = unescaped(line, start, end, false);
        return line(path, inode, SPACES.split(new String(shown, StandardCharsets.ISO_8859_1).strip()));
    }

    private static Line line(byte[] path, long inode, String[] shown) throws NotUnderstood {
        if (shown.length != SHOWN_WORDS) {
            throw new NotUnderstood("wrong SHOW fields; expected mode, links, size and two times");
        }
        EntryKind kind = kind(shown[0]);
        int mode = mode(shown[0]);
        long links = Words.whole(shown[1], "a number of links", 10);
        long sizeBytes = Words.whole(shown[2], "a size", 10);
        long modified = nanos(shown[3], shown[4]);
        long changed = nanos(shown[5], shown[6]);
        if (kind == null || kind == EntryKind.LINK) {
            return new Line(path, kind, null);
        }
        return new Line(path, kind, Facts.told(kind, sizeBytes, modified, changed, mode, links, inode, null, null));
    }

    /** Returns null for special files. */
    private static @Nullable EntryKind kind(String mode) throws NotUnderstood {
        return switch (mode.charAt(0)) {
            case '-' -> EntryKind.FILE;
            case 'd' -> EntryKind.DIRECTORY;
            case 'l' -> EntryKind.LINK;
            case 'b', 'c', 'p', 's' -> null;
            default -> throw new NotUnderstood("invalid mode: " + mode + "; expected the form of ls");
        };
    }

    /** Returns the twelve bits of {@code -rwsr-xr-t}. */
    private static int mode(String text) throws NotUnderstood {
        if (text.length() != MODE_LETTERS) {
            throw new NotUnderstood("invalid mode: " + text + "; expected the form of ls");
        }
        int mode = 0;
        for (int i = 1; i < MODE_LETTERS; i++) {
            int permission = 1 << (MODE_LETTERS - 1 - i);
            int special = 1 << (11 - (i - 1) / 3);
            char plain = "rwx".charAt((i - 1) % 3);
            char both = i == 9 ? 't' : 's';
            char letter = text.charAt(i);
            if (letter == plain) {
                mode |= permission;
            } else if (plain == 'x' && letter == both) {
                mode |= permission | special;
            } else if (plain == 'x' && letter == Character.toUpperCase(both)) {
                mode |= special;
            } else if (letter != '-') {
                throw new NotUnderstood("invalid mode: " + text + "; expected the form of ls");
            }
        }
        return mode;
    }

    private static long nanos(String date, String time) throws NotUnderstood {
        try {
            Instant instant = LocalDateTime.parse(date + "T" + time).toInstant(ZoneOffset.UTC);
            return Times.nanos(instant.getEpochSecond(), instant.getNano());
        } catch (DateTimeException e) {
            throw new NotUnderstood("invalid time: " + date + " " + time);
        }
    }

    private static int beforePath(byte[] line, int start) throws NotUnderstood {
        for (int at = start; at + BEFORE_PATH.length <= line.length; at++) {
            if (Arrays.equals(line, at, at + BEFORE_PATH.length, BEFORE_PATH, 0, BEFORE_PATH.length)) {
                return at;
            }
        }
        throw new NotUnderstood("-- before the path is missing");
    }

    /** @param strict whether to refuse characters that the rule's ESCAPE always escapes */
    private static byte[] unescaped(byte[] line, int start, int end, boolean strict) throws NotUnderstood {
        byte[] plain = new byte[end - start];
        int length = 0;
        for (int at = start; at < end; at++) {
            byte b = line[at];
            if (b == '%') {
                b = escaped(line, at, end);
                at += 2;
            } else if (strict && !isUnreserved(b)) {
                throw new NotUnderstood("the path is not escaped; the rule must contain ESCAPE '%/'");
            }
            plain[length++] = b;
        }
        return Arrays.copyOf(plain, length);
    }

    private static byte escaped(byte[] line, int at, int end) throws NotUnderstood {
        int high = at + 2 < end ? Character.digit(line[at + 1], 16) : -1;
        int low = at + 2 < end ? Character.digit(line[at + 2], 16) : -1;
        if (high < 0 || low < 0) {
            throw new NotUnderstood("a % without two hexadecimal digits");
        }
        return (byte) (high << 4 | low);
    }

    private static boolean isUnreserved(byte b) {
        return (b >= 'a' && b <= 'z')
                || (b >= 'A' && b <= 'Z')
                || (b >= '0' && b <= '9')
                || (b > 0 && UNRESERVED.indexOf(b) >= 0);
    }
}
