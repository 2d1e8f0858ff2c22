package dozo.api.http;

import dozo.export.Columns;
import dozo.export.CsvLines;
import dozo.registry.Refusal;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.OutputStreamWriter;
import java.io.Writer;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.util.MimeTypeUtils;

/**
 * The CSV of an answer, where it is wanted in place of JSON: by {@code Accept: text/csv}, or by {@code ?format=csv}, which browsers
 * can say too. It is whole, however many pages the JSON has, and downloaded line by line (ADR 0031).
 */
public final class Sheet {

    public static final String TYPE = "text/csv";

    /** The end of a file's name, and of an address that gives nothing but CSV. */
    private static final String END = ".csv";

    private static final String FORMAT = "format";
    private static final String MARK = "bom";

    /** What may be asked for, and what it means. */
    public static final Map<String, String> PARAMETERS = Map.of(
            FORMAT, "csv: the response is CSV, as with Accept: text/csv",
            MARK, "true: CSV starts with a byte order mark, which some spreadsheets need");

    private static final MediaType CSV = MediaType.parseMediaType(TYPE);
    private static final MediaType CSV_UTF8 = new MediaType(CSV, StandardCharsets.UTF_8);

    private static final char BYTE_ORDER_MARK = '\uFEFF';

    private final HttpServletRequest request;
    private final HttpServletResponse response;

    /** Tells all lines, a page after the other. */
    @FunctionalInterface
    public interface Lines<T> {
        void tell(Consumer<T> each);
    }

    /** At most so many things after one; the first ones after null. */
    @FunctionalInterface
    public interface Pages<T> {
        List<T> page(@Nullable T after, int limit);
    }

    /** Whether a handler can answer by one. */
    public static boolean isGivenBy(Method handler) {
        return List.of(handler.getParameterTypes()).contains(Sheet.class);
    }

    Sheet(HttpServletRequest request, HttpServletResponse response) {
        this.request = request;
        this.response = response;
    }

    /**
     * Whether CSV is wanted. Where JSON is as welcome, it is not.
     *
     * @throws Refusal when the format that is asked for is another one
     */
    public boolean wanted() {
        if (request.getRequestURI().endsWith(END)) {
            return true;
        }
        String format = request.getParameter(FORMAT);
        if (format != null && !format.equals("csv")) {
            throw new Refusal(FORMAT, "\"%s\": expected csv; without it the answer is JSON", format);
        }
        return format != null || welcome(CSV) > welcome(MediaType.APPLICATION_JSON);
    }

    /** Sends these lines below their headings; {@code name} without the end is what the browser calls the file. */
    public <T> void send(String name, Columns<T> columns, Lines<T> lines) {
        boolean marked = marked();
        Download.send(request, response, CSV_UTF8, name + END, out -> {
            Writer writer = new OutputStreamWriter(out, StandardCharsets.UTF_8);
            if (marked) {
                writer.write(BYTE_ORDER_MARK);
            }
            CsvLines csv = CsvLines.ofFile(writer);
            csv.line(columns.names());
            lines.tell(each -> csv.line(columns.line(each)));
            csv.flush();
            writer.flush();
        });
    }

    /** The lines of all pages; between two of them nothing of the database is held. */
    public static <T> Lines<T> paged(int limit, Pages<T> pages) {
        return each -> {
            List<T> page = pages.page(null, limit);
            page.forEach(each);
            while (page.size() == limit) {
                page = pages.page(page.getLast(), limit);
                page.forEach(each);
            }
        };
    }

    /** Some spreadsheets take a file for UTF-8 only where it begins with a mark, and other programs stumble over it. */
    private boolean marked() {
        String bom = request.getParameter(MARK);
        if (bom != null && !bom.equals("true") && !bom.equals("false")) {
            throw new Refusal(MARK, "\"%s\": expected true or false", bom);
        }
        return "true".equals(bom);
    }

    /** How welcome a type is, from 0 to 1, as the closest of those that are accepted has it. */
    private double welcome(MediaType type) {
        List<String> headers = Collections.list(request.getHeaders(HttpHeaders.ACCEPT));
        try {
            List<MediaType> accepted = MediaType.parseMediaTypes(headers);
            MimeTypeUtils.sortBySpecificity(accepted);
            return accepted.stream()
                    .filter(each -> each.includes(type))
                    .findFirst()
                    .map(MediaType::getQualityValue)
                    .orElse(accepted.isEmpty() ? 1.0 : 0.0);
        } catch (InvalidMediaTypeException e) {
            // What cannot be understood is refused where JSON is written.
            return 0;
        }
    }
}
