package dozo.api.http;

import dozo.export.Columns;
import dozo.export.CsvLines;
import dozo.registry.Refusal;
import dozo.web.Download;
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
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.http.HttpHeaders;
import org.springframework.http.InvalidMediaTypeException;
import org.springframework.http.MediaType;
import org.springframework.util.MimeTypeUtils;

/**
 * A response in CSV instead of JSON, requested by {@code Accept: text/csv} or by {@code ?format=csv}, which browsers
 * can send too. It contains all pages of the JSON, and is sent line by line (ADR 0031).
 */
public final class Sheet {

    public static final String TYPE = "text/csv";

    /** The number of items that are read at once. */
    public static final int PAGE = 5_000;

    /** The end of a file name, and of addresses that return only CSV. */
    private static final String END = ".csv";

    private static final String FORMAT = "format";
    private static final String MARK = "bom";

    /** The parameters and their meanings. */
    public static final Map<String, String> PARAMETERS = Map.of(
            FORMAT, "csv: the response is CSV, as with Accept: text/csv",
            MARK, "true: CSV starts with a byte order mark, which some spreadsheets need");

    private static final MediaType CSV = MediaType.parseMediaType(TYPE);
    private static final MediaType CSV_UTF8 = new MediaType(CSV, StandardCharsets.UTF_8);

    private static final char BYTE_ORDER_MARK = '\uFEFF';

    private final HttpServletRequest request;
    private final HttpServletResponse response;

    /** Passes all lines to a consumer, page by page. */
    @FunctionalInterface
    public interface Lines<T> {
        void tell(Consumer<T> each);
    }

    /** Returns at most {@code limit} items that come after a key. */
    @FunctionalInterface
    public interface Pages<T, K extends @Nullable Object> {
        List<T> page(K after, int limit);
    }

    /** Returns the charset that the content type of a received file names; null: none. */
    public static @Nullable String charset(String contentType) {
        String named = MimeTypeUtils.parseMimeType(contentType).getParameter("charset");
        return named == null ? null : named.replace("\"", "");
    }

    /** Returns whether a handler can send a sheet. */
    public static boolean isGivenBy(Method handler) {
        return List.of(handler.getParameterTypes()).contains(Sheet.class);
    }

    Sheet(HttpServletRequest request, HttpServletResponse response) {
        this.request = request;
        this.response = response;
    }

    /**
     * Returns whether the client wants CSV. JSON wins if both are equally acceptable.
     *
     * @throws Refusal if another format is requested
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

    /** Sends headings and lines. {@code name} is the file's name without its extension. */
    public <T> void send(String name, Columns<T> columns, Lines<T> lines) {
        boolean marked = marked();
        new Download(CSV_UTF8, name + END).send(request, response, out -> {
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

    /** Returns the response in JSON; or, if the client wants CSV, sends that as {@link #send} and returns null. */
    public <T, R> @Nullable R or(Supplier<R> json, String name, Columns<T> columns, Lines<T> lines) {
        if (wanted()) {
            send(name, columns, lines);
            return null;
        }
        return json.get();
    }

    /** Returns a page of a list; or, if the client wants CSV, sends this page and all later ones and returns null. */
    public <T, K> @Nullable Page<T> page(
            String name, Columns<T> columns, K after, int limit, Pages<T, K> pages, Function<T, K> key) {
        return or(
                () -> Page.of(limit, most -> pages.page(after, most), key),
                name,
                columns,
                paged(PAGE, after, pages, key));
    }

    /** Returns the lines of all pages after a key. Holds no database connection between two pages. */
    public static <T, K extends @Nullable Object> Lines<T> paged(
            int limit, K after, Pages<T, K> pages, Function<T, K> key) {
        return each -> {
            List<T> page = pages.page(after, limit);
            page.forEach(each);
            while (page.size() == limit) {
                page = pages.page(key.apply(page.getLast()), limit);
                page.forEach(each);
            }
        };
    }

    /**
     * Returns whether the file begins with a byte order mark. Some spreadsheets recognize UTF-8 only with it, and other
     * programs fail on it.
     */
    private boolean marked() {
        String bom = request.getParameter(MARK);
        if (bom != null && !bom.equals("true") && !bom.equals("false")) {
            throw new Refusal(MARK, "\"%s\": expected true or false", bom);
        }
        return "true".equals(bom);
    }

    /** Returns the quality of a type, from 0 to 1, by the most specific media range that includes it. */
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
            // Where JSON is written, an invalid header is refused.
            return 0;
        }
    }
}
