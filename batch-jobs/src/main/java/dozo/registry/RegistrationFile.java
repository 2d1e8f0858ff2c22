package dozo.registry;

import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.CsvRecord;
import de.siegmar.fastcsv.reader.CsvRecordHandler;
import de.siegmar.fastcsv.reader.FieldMismatchStrategy;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A CSV file of experiments to register, as spreadsheets write it.
 *
 * @param lines what the rows ask for, each by itself, without those that have nothing in any cell
 */
record RegistrationFile(String encoding, char separator, List<JudgedLine> lines) {

    /** Rows with something in them. */
    static final int LINES_MAX = 100_000;

    private static final int COLUMNS_MAX = 100;
    private static final int CELL_LENGTH_MAX = 16_384;
    private static final int ROW_LENGTH_MAX = 65_536;

    /** The first is the one that is taken where the heading has none of them. */
    private static final List<Character> SEPARATORS = List.of(',', ';', '\t');

    private static final char NO_CHARACTER = '\uFFFD';
    private static final String NAMES = "columns";
    private static final Pattern LINE_BREAK = Pattern.compile("\\R");
    private static final Pattern LINE = Pattern.compile("line (\\d+)");

    /**
     * A row.
     *
     * @param line where it begins, the first line of the file being 1
     * @param cells those with something in them
     * @param refusal why it cannot be understood; null: it can
     */
    record Row(
            int line,
            Map<RegistrationColumn, String> cells,
            @Nullable Refusal refusal) {}

    /** The columns in their order; empty: one without a heading. */
    private record Heading(List<Optional<RegistrationColumn>> columns, char separator) {}

    /**
     * Reads the file.
     *
     * @throws Refusal when the encoding cannot be told, the heading is not understood, or there are too many rows
     */
    static RegistrationFile read(CsvText text, InstantSource clock) {
        Heading heading = heading(text);
        List<JudgedLine> lines = new ArrayList<>();
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
                    lines.add(Wish.of(broken(broken), clock));
                    break;
                }
                if (record.getFields().stream().allMatch(String::isBlank)) {
                    continue;
                }
                if (lines.size() == LINES_MAX) {
                    throw new Refusal("file", "there are more than %,d lines: divide it".formatted(LINES_MAX));
                }
                // NB: at once, so that no cells are kept: of a hundred thousand lines they would fill the heap.
                lines.add(Wish.of(row(heading, record, text.encoding()), clock));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new RegistrationFile(text.encoding(), heading.separator, lines);
    }

    private static Row row(Heading heading, CsvRecord record, String encoding) {
        int line = Math.toIntExact(record.getStartingLineNumber());
        Map<RegistrationColumn, String> cells = new EnumMap<>(RegistrationColumn.class);
        Refusal refusal = null;
        for (int i = 0; i < record.getFieldCount(); i++) {
            String cell = record.getField(i);
            Optional<RegistrationColumn> column =
                    i < heading.columns.size() ? heading.columns.get(i) : Optional.empty();
            if (cell.isBlank()) {
                continue;
            }
            if (column.isEmpty()) {
                refusal = new Refusal(NAMES, "cell %d has no heading: is a quote missing?".formatted(i + 1));
                continue;
            }
            String text = column.get() == RegistrationColumn.TITLE
                    ? LINE_BREAK.matcher(cell).replaceAll(" ")
                    : cell;
            refusal = refusal == null ? refusal(column.get(), text, encoding) : refusal;
            cells.put(column.get(), text);
        }
        return new Row(line, cells, refusal);
    }

    private static @Nullable Refusal refusal(RegistrationColumn column, String cell, String encoding) {
        if (cell.indexOf(NO_CHARACTER) >= 0) {
            return new Refusal(column.field(), "there are bytes in it that are no %s".formatted(encoding));
        }
        return Code.isText(cell)
                ? null
                : new Refusal(column.field(), "there are control characters or line breaks in it");
    }

    /** What comes behind such a place may be anything, so nothing of it is read. */
    private static Row broken(CsvParseException broken) {
        String reason = String.valueOf(broken.getMessage());
        Matcher line = LINE.matcher(reason);
        return new Row(
                line.find() ? Integer.parseInt(line.group(1)) : 0,
                Map.of(),
                new Refusal(
                        "file",
                        "is a quote missing or one too many? %s. The lines from here on were not read"
                                .formatted(reason)));
    }

    /** The heading under the separator by which most of its names are known. */
    private static Heading heading(CsvText text) {
        Heading best = null;
        List<String> names = List.of();
        long known = -1;
        for (char separator : SEPARATORS) {
            List<String> split = names(text, separator);
            long understood = split.stream()
                    .filter(name -> RegistrationColumn.of(name).isPresent())
                    .count();
            if (understood > known) {
                known = understood;
                names = split;
                best = new Heading(split.stream().map(RegistrationColumn::of).toList(), separator);
            }
        }
        check(names);
        return java.util.Objects.requireNonNull(best);
    }

    private static List<String> names(CsvText text, char separator) {
        try (CsvReader<CsvRecord> reader = reader(text, separator)) {
            return reader.stream().findFirst().map(CsvRecord::getFields).orElse(List.of());
        } catch (CsvParseException | java.io.UncheckedIOException broken) {
            return List.of();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void check(List<String> names) {
        List<RegistrationColumn> seen = new ArrayList<>();
        for (String name : names) {
            Optional<RegistrationColumn> column = RegistrationColumn.of(name);
            if (column.isEmpty() && !name.isBlank()) {
                throw new Refusal(
                        NAMES,
                        "there is no column \"%s\": %s are accepted"
                                .formatted(shortened(name.strip()), RegistrationColumn.accepted()));
            }
            if (column.isPresent() && seen.contains(column.get())) {
                throw new Refusal(
                        NAMES,
                        "there are two columns for %s".formatted(column.get().field()));
            }
            column.ifPresent(seen::add);
        }
        for (RegistrationColumn required : RegistrationColumn.REQUIRED) {
            if (!seen.contains(required)) {
                throw new Refusal(
                        NAMES,
                        "the first line has to name the columns, and a column %s is missing: %s are accepted"
                                .formatted(required.field(), RegistrationColumn.accepted()));
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
