package dozo.registry;

import static java.util.Objects.requireNonNull;

import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.CsvRecord;
import de.siegmar.fastcsv.reader.CsvRecordHandler;
import de.siegmar.fastcsv.reader.FieldMismatchStrategy;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A CSV file with a heading, as spreadsheets write it: in UTF-8 or Shift-JIS, with commas, semicolons or tabs.
 *
 * @param lines the result for each row that is not empty
 */
public record CsvFile<L>(String encoding, char separator, List<L> lines) {

    /** The maximum size of a file. */
    public static final int BYTES_MAX = 32 * 1024 * 1024;

    /** The maximum number of rows that are not empty. */
    public static final int LINES_MAX = 100_000;

    private static final int COLUMNS_MAX = 100;
    private static final int CELL_LENGTH_MAX = 16_384;
    private static final int ROW_LENGTH_MAX = 65_536;

    /** The first is used if the heading has none of them. */
    private static final List<Character> SEPARATORS = List.of(',', ';', '\t');

    private static final char NO_CHARACTER = '\uFFFD';
    private static final String NAMES = "columns";
    private static final Pattern LINE_BREAK = Pattern.compile("\\R");
    private static final Pattern LINE = Pattern.compile("line (\\d+)");

    /** A column and the names that its heading may have. */
    public interface Column {

        /** The name of the enum's constant. */
        String name();

        /** Returns the field's name as in REST. */
        default String field() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** Returns its other names. */
        List<String> others();

        /** Returns whether a file must have it. */
        boolean required();

        /** Returns whether a line break in a cell counts as a space; all other columns refuse it. */
        default boolean ofLines() {
            return false;
        }

        /** Returns whether its content is ignored; a file may have several such columns. */
        default boolean passedOver() {
            return false;
        }
    }

    /**
     * A row.
     *
     * @param line where it begins; the first line of the file is 1
     * @param cells those that are not empty
     * @param refusal why it cannot be parsed; null: it can
     */
    public record Row<C extends Column>(
            int line, Map<C, String> cells, @Nullable Refusal refusal) {

        /** Returns a cell without surrounding space; null if it is empty. */
        public @Nullable String stripped(C column) {
            String cell = cells.get(column);
            return cell == null ? null : cell.strip();
        }
    }

    /** The columns in their order; empty: one without a heading. */
    private record Heading<C>(List<Optional<C>> columns, char separator) {}

    /**
     * Reads a file.
     *
     * @param encoding its name; null: detected from the bytes
     * @param columns all that it may have
     * @param judge turns a row into its result
     * @throws Refusal if the file is too large, its encoding is ambiguous, its heading is invalid, or it has too many
     * rows
     */
    public static <C extends Column, L> CsvFile<L> read(
            InputStream csv, @Nullable String encoding, List<C> columns, Function<Row<C>, L> judge) throws IOException {
        byte[] bytes = csv.readNBytes(BYTES_MAX + 1);
        if (bytes.length > BYTES_MAX) {
            throw new Refusal("file", "the file has more than %,d bytes: split it", BYTES_MAX);
        }
        CsvText text = CsvText.of(bytes, encoding);
        Heading<C> heading = heading(text, columns);
        List<L> lines = new ArrayList<>();
        try (CsvReader<CsvRecord> reader = reader(text, heading.separator)) {
            var records = reader.iterator();
            records.next();
            while (true) {
                CsvRecord record;
                try {
                    if (!records.hasNext()) {
                        break;
                    }
                    record = records.next();
                } catch (CsvParseException broken) {
                    lines.add(judge.apply(broken(broken)));
                    break;
                }
                if (record.getFields().stream().allMatch(String::isBlank)) {
                    continue;
                }
                if (lines.size() == LINES_MAX) {
                    throw new Refusal("file", "the file has more than %,d lines: split it", LINES_MAX);
                }
                // NB: each row is judged at once, so that no cells are kept: those of a hundred thousand lines would
                // fill the heap.
                lines.add(judge.apply(row(heading, record, text.encoding())));
            }
        }
        return new CsvFile<>(text.encoding(), heading.separator, lines);
    }

    private static <C extends Column> Row<C> row(Heading<C> heading, CsvRecord record, String encoding) {
        int line = Math.toIntExact(record.getStartingLineNumber());
        Map<C, String> cells = new HashMap<>();
        Refusal refusal = null;
        for (int i = 0; i < record.getFieldCount(); i++) {
            String cell = record.getField(i);
            Optional<C> column = i < heading.columns.size() ? heading.columns.get(i) : Optional.empty();
            if (cell.isBlank() || (column.isPresent() && column.get().passedOver())) {
                continue;
            }
            if (column.isEmpty()) {
                refusal = new Refusal(NAMES, "cell %d is beyond the last column: is a quote missing?", i + 1);
                continue;
            }
            String text = column.get().ofLines() ? LINE_BREAK.matcher(cell).replaceAll(" ") : cell;
            refusal = refusal == null ? refusal(column.get(), text, encoding) : refusal;
            cells.put(column.get(), text);
        }
        return new Row<>(line, cells, refusal);
    }

    private static @Nullable Refusal refusal(Column column, String cell, String encoding) {
        if (cell.indexOf(NO_CHARACTER) >= 0) {
            return new Refusal(column.field(), "it contains bytes that are not valid %s", encoding);
        }
        return Code.isText(cell) ? null : new Refusal(column.field(), "it contains control characters or line breaks");
    }

    /** Returns the row for a parse error. Nothing after it is read, because it may be misinterpreted. */
    private static <C extends Column> Row<C> broken(CsvParseException broken) {
        String reason = String.valueOf(broken.getMessage());
        Matcher line = LINE.matcher(reason);
        return new Row<>(
                line.find() ? Integer.parseInt(line.group(1)) : 0,
                Map.of(),
                new Refusal(
                        "file",
                        "a quotation mark is missing or unexpected: %s. The lines from here on were not read",
                        reason));
    }

    /** Returns the heading, split by the separator that yields the most known names. */
    private static <C extends Column> Heading<C> heading(CsvText text, List<C> columns) {
        Heading<C> best = null;
        List<String> names = List.of();
        long known = -1;
        for (char separator : SEPARATORS) {
            List<String> split = names(text, separator);
            List<Optional<C>> found =
                    split.stream().map(name -> column(columns, name)).toList();
            long understood = found.stream().filter(Optional::isPresent).count();
            if (understood > known) {
                known = understood;
                names = split;
                best = new Heading<>(found, separator);
            }
        }
        check(columns, names);
        return requireNonNull(best);
    }

    /** Returns the column with this heading, ignoring case and surrounding space. */
    private static <C extends Column> Optional<C> column(List<C> columns, String heading) {
        String name = heading.strip().toLowerCase(Locale.ROOT);
        return columns.stream()
                .filter(column -> column.field().toLowerCase(Locale.ROOT).equals(name)
                        || column.others().contains(name))
                .findFirst();
    }

    /** Lists all valid names, for people. */
    private static String accepted(List<? extends Column> columns) {
        return columns.stream()
                .filter(column -> !column.passedOver())
                .map(column -> column.field() + " (" + String.join(", ", column.others()) + ")")
                .collect(Collectors.joining(", "));
    }

    private static List<String> names(CsvText text, char separator) {
        try (CsvReader<CsvRecord> reader = reader(text, separator)) {
            return reader.stream().findFirst().map(CsvRecord::getFields).orElse(List.of());
        } catch (CsvParseException | UncheckedIOException broken) {
            return List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static <C extends Column> void check(List<C> columns, List<String> names) {
        List<C> seen = new ArrayList<>();
        for (String name : names) {
            Optional<C> column = column(columns, name);
            if (column.isEmpty() && !name.isBlank()) {
                throw new Refusal(
                        NAMES, "unknown column \"%s\": expected %s", shortened(name.strip()), accepted(columns));
            }
            if (column.isPresent()
                    && seen.contains(column.get())
                    && !column.get().passedOver()) {
                throw new Refusal(NAMES, "two columns for %s", column.get().field());
            }
            column.ifPresent(seen::add);
        }
        for (C required : columns) {
            if (required.required() && !seen.contains(required)) {
                throw new Refusal(
                        NAMES, "the header line has no column %s: expected %s", required.field(), accepted(columns));
            }
        }
    }

    private static String shortened(String name) {
        return name.length() <= 80 ? name : name.substring(0, 80) + "…";
    }

    private static CsvReader<CsvRecord> reader(CsvText text, char separator) {
        return CsvReader.builder()
                .fieldSeparator(separator)
                .skipEmptyLines(true)
                .extraFieldStrategy(FieldMismatchStrategy.IGNORE)
                .missingFieldStrategy(FieldMismatchStrategy.IGNORE)
                .allowUnclosedQuote(false)
                .build(
                        CsvRecordHandler.builder()
                                .maxFields(COLUMNS_MAX)
                                .maxFieldSize(CELL_LENGTH_MAX)
                                .maxRecordSize(ROW_LENGTH_MAX)
                                .build(),
                        text.reader());
    }
}
