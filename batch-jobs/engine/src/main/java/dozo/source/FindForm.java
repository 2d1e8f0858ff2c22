package dozo.source;

import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.source.FileList.Line;
import dozo.source.FileList.ListForm;
import dozo.source.FileList.NotUnderstood;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The output of {@code find -printf '%y %s %T@ %C@ %m %n %i %P//%l\0'}, and {@code end} as the last record. No path
 * contains two slashes in a row, so the first two end it, and the link's text follows.
 */
final class FindForm implements ListForm {

    private static final byte[] END_MARK = "end".getBytes(StandardCharsets.US_ASCII);
    private static final int MODE_MAX = 07777;

    @Override
    public byte lineEnd() {
        return 0;
    }

    @Override
    public boolean hasEndMark() {
        return true;
    }

    @Override
    public boolean isEndMark(byte[] line) {
        return Arrays.equals(line, END_MARK);
    }

    @Override
    public Line parse(byte[] line) throws NotUnderstood {
        Words words = new Words(line);
        String type = words.next("a type");
        long sizeBytes = Words.whole(words.next("a size"), "a size", 10);
        long modified = nanos(words.next("a time of modification"));
        long changed = nanos(words.next("a time of change"));
        long mode = Words.whole(words.next("a mode"), "a mode", 8);
        long links = Words.whole(words.next("a number of links"), "a number of links", 10);
        long inode = Words.unsigned(words.next("an inode number"), "an inode number");
        int start = words.at();
        int end = slashes(line, start);
        byte[] path = Arrays.copyOfRange(line, start, end);
        byte[] text = Arrays.copyOfRange(line, end + 2, line.length);
        EntryKind kind = kind(type);
        if ((kind == EntryKind.LINK) != (text.length > 0)) {
            throw new NotUnderstood("expected a text after // for a link, and none for anything else");
        }
        if (mode > MODE_MAX) {
            throw new NotUnderstood("invalid mode: " + Long.toOctalString(mode));
        }
        if (kind == null) {
            return new Line(path, null, null);
        }
        byte[] target = kind == EntryKind.LINK ? text : null;
        return new Line(
                path, kind, Facts.told(kind, sizeBytes, modified, changed, (int) mode, links, inode, target, null));
    }

    /** Returns null for special files. */
    private static @Nullable EntryKind kind(String type) throws NotUnderstood {
        return switch (type) {
            case "f" -> EntryKind.FILE;
            case "d" -> EntryKind.DIRECTORY;
            case "l" -> EntryKind.LINK;
            case "b", "c", "p", "s", "D" -> null;
            default -> throw new NotUnderstood("invalid type: " + type + "; expected one of find's");
        };
    }

    /** NB: find writes -1.5 s as -2.5: like the kernel, it takes the second before and counts the fraction forward. */
    private static long nanos(String time) throws NotUnderstood {
        int point = time.indexOf('.');
        if (point < 0 || point == time.length() - 1) {
            throw new NotUnderstood("invalid time: " + time + "; expected a fraction");
        }
        boolean negative = time.startsWith("-");
        long seconds = Words.whole(time.substring(negative ? 1 : 0, point), "a time", 10);
        String fraction = time.substring(point + 1);
        Words.whole(fraction.length() > 18 ? "x" : fraction, "a time's fraction", 10);
        long nanos = Long.parseLong((fraction + "000000000").substring(0, 9));
        return Times.nanos(negative ? -seconds : seconds, nanos);
    }

    private static int slashes(byte[] line, int start) throws NotUnderstood {
        for (int at = start; at + 1 < line.length; at++) {
            if (line[at] == '/' && line[at + 1] == '/') {
                return at;
            }
        }
        throw new NotUnderstood("// after the path is missing");
    }
}
