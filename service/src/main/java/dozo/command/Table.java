package dozo.command;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/** Lines with aligned columns. Columns of numbers are aligned to the right. */
final class Table {

    private final List<String> headings;
    private final List<Boolean> numbers;
    private final List<List<String>> rows = new ArrayList<>();

    /** A heading that begins with {@code >} is that of a column of numbers. */
    Table(String... headings) {
        this.headings = java.util.Arrays.stream(headings)
                .map(heading -> heading.startsWith(">") ? heading.substring(1) : heading)
                .toList();
        this.numbers = java.util.Arrays.stream(headings)
                .map(heading -> heading.startsWith(">"))
                .toList();
    }

    Table row(Object... cells) {
        rows.add(java.util.Arrays.stream(cells).map(String::valueOf).toList());
        return this;
    }

    void print(PrintWriter out) {
        List<List<String>> all = new ArrayList<>();
        all.add(headings);
        all.addAll(rows);
        int[] widths = new int[headings.size()];
        for (List<String> row : all) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], width(row.get(i)));
            }
        }
        for (List<String> row : all) {
            out.println(line(row, widths));
        }
        out.flush();
    }

    private String line(List<String> row, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            String space = " ".repeat(widths[i] - width(row.get(i)));
            line.append(numbers.get(i) ? space + row.get(i) : row.get(i) + space)
                    .append("  ");
        }
        return line.toString().stripTrailing();
    }

    /** In terminal cells: Japanese characters take two. */
    private static int width(String text) {
        return text.codePoints().map(c -> isWide(c) ? 2 : 1).sum();
    }

    private static boolean isWide(int c) {
        return (c >= 0x1100 && c <= 0x115F)
                || (c >= 0x2E80 && c <= 0xA4CF)
                || (c >= 0xAC00 && c <= 0xD7A3)
                || (c >= 0xF900 && c <= 0xFAFF)
                || (c >= 0xFE30 && c <= 0xFE6F)
                || (c >= 0xFF00 && c <= 0xFF60)
                || (c >= 0xFFE0 && c <= 0xFFE6)
                || (c >= 0x20000 && c <= 0x3FFFD);
    }
}
