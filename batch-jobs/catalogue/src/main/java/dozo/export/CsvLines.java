package dozo.export;

import de.siegmar.fastcsv.reader.CsvParseException;
import de.siegmar.fastcsv.reader.CsvReader;
import de.siegmar.fastcsv.reader.FieldMismatchStrategy;
import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Writes and reads lines of CSV (RFC 4180). A text that a spreadsheet would execute gets an apostrophe in front. Numbers, times
 * and all other cells are unchanged, and a missing one is empty.
 */
public final class CsvLines {

    /**
     * The characters that can start a spreadsheet formula, also after a tab or line break, and as full-width
     * characters.
     */
    private static final String FORMULA = "=+-@\t\r\n＝＋－＠";

    private final CsvWriter csv;

    private CsvLines(Writer out, LineDelimiter end) {
        this.csv = CsvWriter.builder().lineDelimiter(end).build(out);
    }

    /** Returns a writer for files: each line ends with CR and LF, as the RFC requires. */
    public static CsvLines ofFile(Writer out) {
        return new CsvLines(out, LineDelimiter.CRLF);
    }

    /** Returns a writer for a terminal and pipes: each line ends with LF. */
    public static CsvLines ofTerminal(Writer out) {
        return new CsvLines(out, LineDelimiter.LF);
    }

    /**
     * Writes a line.
     *
     * @param cells bytes are written in base64, the items of a list with spaces between them
     * @throws UncheckedIOException if the writer fails
     */
    public void line(List<? extends @Nullable Object> cells) {
        csv.writeRecord(cells.stream().map(CsvLines::text).toArray(String[]::new));
    }

    /** As {@link #line(List)}. */
    public void line(@Nullable Object... cells) {
        line(Arrays.asList(cells));
    }

    /**
     * Passes on the lines of CSV with commas, one at a time.
     *
     * @return false: it ends in a quote, or has an endless field; the lines before were passed on
     * @throws UncheckedIOException if the reader fails
     */
    public static boolean read(Reader in, Consumer<List<String>> each) {
        try {
            CsvReader.builder()
                    .extraFieldStrategy(FieldMismatchStrategy.IGNORE)
                    .missingFieldStrategy(FieldMismatchStrategy.IGNORE)
                    .allowUnclosedQuote(false)
                    .ofCsvRecord(in)
                    .forEach(line -> each.accept(line.getFields()));
            return true;
        } catch (CsvParseException broken) {
            return false;
        }
    }

    /** Passes on what is written so far. */
    public void flush() throws IOException {
        csv.flush();
    }

    private static String text(@Nullable Object cell) {
        return switch (cell) {
            case null -> "";
            case String said -> harmless(said);
            case List<?> items -> harmless(items.stream().map(CsvLines::plain).collect(Collectors.joining(" ")));
            case byte[] bytes -> harmless(plain(bytes));
            default -> cell.toString();
        };
    }

    private static String plain(@Nullable Object item) {
        return item instanceof byte[] bytes ? Base64.getEncoder().encodeToString(bytes) : String.valueOf(item);
    }

    /** Escapes formulas. A dash alone is not a formula. */
    private static String harmless(String said) {
        boolean formula = !said.isEmpty() && FORMULA.indexOf(said.charAt(0)) >= 0 && !said.equals("-");
        return formula ? "'" + said : said;
    }
}
