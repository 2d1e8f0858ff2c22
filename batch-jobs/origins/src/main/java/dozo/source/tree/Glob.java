package dozo.source.tree;

import dozo.file.FilePath;
import dozo.file.Malformed;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A pattern for paths below an experiment's folder: {@code *} matches any number of bytes in a name, {@code ?} matches
 * one byte, and a whole step {@code **} matches any number of folders. Matching takes time in proportion to the path's
 * length.
 */
record Glob(String text) {

    private static final int LENGTH_MAX = 200;

    Glob {
        boolean plain = !text.isEmpty()
                && text.length() <= LENGTH_MAX
                && List.of(text.split("/", -1)).stream()
                        .noneMatch(step -> step.isEmpty() || step.equals(".") || step.equals(".."))
                && text.indexOf('\0') < 0
                && text.indexOf("**") == text.lastIndexOf("**")
                && (!text.contains("**") || text.startsWith("**/"));
        if (!plain) {
            throw new Malformed(
                    "\"%s\": expected a path below the experiment's folder, with * and ?, and **/ only at the start",
                    text);
        }
    }

    boolean matches(FilePath path) {
        List<byte[]> names = steps(path.bytes());
        List<byte[]> wanted = steps(text.getBytes(StandardCharsets.UTF_8));
        boolean anywhere = text.startsWith("**/");
        if (anywhere) {
            wanted = wanted.subList(1, wanted.size());
        }
        int skipped = names.size() - wanted.size();
        if (anywhere ? skipped < 0 : skipped != 0) {
            return false;
        }
        for (int i = 0; i < wanted.size(); i++) {
            if (!matches(names.get(skipped + i), wanted.get(i))) {
                return false;
            }
        }
        return true;
    }

    private static List<byte[]> steps(byte[] path) {
        List<byte[]> steps = new ArrayList<>();
        int start = 0;
        for (int i = 0; i <= path.length; i++) {
            if (i == path.length || path[i] == '/') {
                steps.add(Arrays.copyOfRange(path, start, i));
                start = i + 1;
            }
        }
        return steps;
    }

    /** Backtracks only to the last star, which is enough: an earlier one could not match more. */
    private static boolean matches(byte[] name, byte[] wanted) {
        int at = 0;
        int in = 0;
        int star = -1;
        int starAt = 0;
        while (at < name.length) {
            if (in < wanted.length && wanted[in] == '*') {
                star = in++;
                starAt = at;
            } else if (in < wanted.length && (wanted[in] == '?' || wanted[in] == name[at])) {
                in++;
                at++;
            } else if (star >= 0) {
                in = star + 1;
                at = ++starAt;
            } else {
                return false;
            }
        }
        while (in < wanted.length && wanted[in] == '*') {
            in++;
        }
        return in == wanted.length;
    }

    @Override
    public String toString() {
        return text;
    }
}
