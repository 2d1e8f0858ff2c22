package dozo.export;

import de.siegmar.fastcsv.writer.CsvWriter;
import de.siegmar.fastcsv.writer.LineDelimiter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.util.Arrays;
import java.util.Base64;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Lines of CSV (RFC 4180), written as they come. A text that a spreadsheet would run has an apostrophe before it; numbers, times
 * and all other cells are as they are, and one that is not there is empty.
 */
public final class CsvLines {

    /** What a spreadsheet's formula can begin with; with a tab or line break before it, too, and as wide characters. */
    private static final String FORMULA = "=+-@\t\r\n＝＋－＠";

    private final CsvWriter csv;

    private CsvLines(Writer out, LineDelimiter end) {
        this.csv = CsvWriter.builder().lineDelimiter(end).build(out);
    }

    /** Lines for files: each ends with CR and LF, as the RFC wants. */
    public static CsvLines ofFile(Writer out) {
        return new CsvLines(out, LineDelimiter.CRLF);
    }

    /** Lines for a terminal and the programs behind it: each ends with LF. */
    public static CsvLines ofTerminal(Writer out) {
        return new CsvLines(out, LineDelimiter.LF);
    }

    /**
     * Writes a line.
     *
     * @param cells bytes are written in base64, the items of a list with spaces between them
     * @throws UncheckedIOException what the writer throws
     */
    public void line(List<? extends @Nullable Object> cells) {
        csv.writeRecord(cells.stream().map(CsvLines::text).toArray(String[]::new));
    }

    /** As {@link #line(List)}. */
    public void line(@Nullable Object... cells) {
        line(Arrays.asList(cells));
    }

    /** Hands on what is written so far. */
    public void flush() throws IOException {
        csv.flush();
    }

    private static String text(@Nullable Object cell) {
        return switch (cell) {
            case null -> "";
            case String said -> harmless(said);
            case List<?> items -> harmless(items.stream().map(String::valueOf).collect(Collectors.joining(" ")));
            case byte[] bytes -> harmless(Base64.getEncoder().encodeToString(bytes));
            default -> cell.toString();
        };
    }

    /** A dash alone is no formula. */
    private static String harmless(String said) {
        boolean formula = !said.isEmpty() && FORMULA.indexOf(said.charAt(0)) >= 0 && !said.equals("-");
        return formula ? "'" + said : said;
    }
}
