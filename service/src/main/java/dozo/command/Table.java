package dozo.command;

import dozo.export.CsvLines;
import dozo.file.Size;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Aligned columns for people, or CSV (RFC 4180) with exact numbers for programs. Columns of numbers are aligned to the
 * right.
 */
final class Table {

    private final List<String> headings;
    private final List<Boolean> numbers;
    private final List<List<Object>> rows = new ArrayList<>();
    private int sumAt = Integer.MAX_VALUE;

    /** A number of bytes, printed for people with a unit. */
    record Bytes(long bytes) {}

    /** A duration, printed for people with units; null if there is none. */
    record Minutes(@Nullable Long minutes) {}

    /** A word that says how something stands. */
    record State(String word, Colour colour) {

        /** Returns the state of an experiment, perhaps with {@code frozen}; empty: it is unknown. */
        static State of(String word) {
            if (word.equals(dozo.registry.ExperimentSearch.State.VERIFIED.word())) {
                return new State(word, Colour.GOOD);
            }
            boolean bad = word.endsWith(dozo.registry.ExperimentSearch.State.FROZEN.word())
                    || (!word.isEmpty()
                            && dozo.registry.ExperimentSearch.State.of(word).atRisk());
            return new State(word, bad ? Colour.BAD : Colour.WAITING);
        }

        @Override
        public String toString() {
            return word;
        }
    }

    /**
     * Creates a table. A heading that begins with {@code >} marks a column of numbers, one with {@code ~} a column of
     * states.
     */
    Table(String... headings) {
        this.headings = Arrays.stream(headings)
                .map(heading -> heading.replaceFirst("^[>~]", ""))
                .toList();
        this.numbers =
                Arrays.stream(headings).map(heading -> heading.startsWith(">")).toList();
    }

    /** Returns a table of items, with columns as {@code HEADING=PHRASE} ({@link Phrase}). */
    static Table of(List<JsonNode> items, String... columns) {
        return new Table(Arrays.stream(columns)
                        .map(each -> each.split("=", 2)[0])
                        .toArray(String[]::new))
                .rows(items, columns);
    }

    /** Adds a row for each item. */
    Table rows(List<JsonNode> items, String... columns) {
        items.forEach(item -> row(Arrays.stream(columns)
                .map(each -> each.split("=", 2))
                .map(each -> cell(each[0], new Phrase(each[1]).of(item).orElse("-")))
                .toArray()));
        return this;
    }

    private static Object cell(String heading, String text) {
        return heading.startsWith("~") ? State.of(text) : text;
    }

    Table row(Object... cells) {
        rows.add(List.of(cells));
        return this;
    }

    /** Marks all further rows as sums of the rows before. They are printed below a line, and not in the CSV. */
    Table sum() {
        sumAt = rows.size();
        return this;
    }

    void print(PrintWriter out) {
        List<List<String>> all = new ArrayList<>();
        all.add(headings);
        rows.forEach(row -> all.add(row.stream().map(Table::text).toList()));
        int[] widths = new int[headings.size()];
        for (List<String> row : all) {
            for (int i = 0; i < widths.length; i++) {
                widths[i] = Math.max(widths[i], width(row.get(i)));
            }
        }
        for (int i = 0; i < all.size(); i++) {
            if (i - 1 == sumAt) {
                out.println("-".repeat(Arrays.stream(widths).sum() + 2 * (widths.length - 1)));
            }
            out.println(line(all.get(i), i == 0 ? headings : rows.get(i - 1), widths));
        }
        out.flush();
    }

    void csv(PrintWriter out) {
        CsvLines csv = CsvLines.ofTerminal(out);
        csv.line(headings.stream()
                .map(heading -> heading.toLowerCase(java.util.Locale.ROOT).replace(' ', '_'))
                .toList());
        for (List<Object> row : rows.subList(0, Math.min(sumAt, rows.size()))) {
            csv.line(row.stream().map(Table::exact).toArray());
        }
        try {
            csv.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String text(Object cell) {
        return switch (cell) {
            case Bytes(long bytes) -> Size.text(bytes);
            case Minutes(Long minutes) -> duration(minutes);
            case Long number -> "%,d".formatted(number);
            case Instant time -> Times.text(time);
            default -> Connection.visible(cell.toString());
        };
    }

    private static @Nullable Object exact(Object cell) {
        return switch (cell) {
            case Bytes(long bytes) -> bytes;
            case Minutes(Long minutes) -> minutes;
            case State(String word, Colour _) -> word;
            case String text -> Terminal.takesOutput() ? Connection.visible(text) : text;
            default -> cell;
        };
    }

    /** Formats a duration, rounded down: {@code 3:05 h}, {@code 2 d 03 h}. */
    private static String duration(@Nullable Long minutes) {
        if (minutes == null) {
            return "-";
        }
        long hours = minutes / 60;
        return hours < 48
                ? "%d:%02d h".formatted(hours, minutes % 60)
                : "%d d %02d h".formatted(hours / 24, hours % 24);
    }

    private String line(List<String> row, List<?> cells, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            String space = " ".repeat(widths[i] - width(row.get(i)));
            String text = cells.get(i) instanceof State(String word, Colour colour) ? colour.of(word) : row.get(i);
            line.append(numbers.get(i) ? space + text : text + space).append("  ");
        }
        return line.toString().stripTrailing();
    }

    /** Returns the width in terminal cells: Japanese characters take two. */
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
