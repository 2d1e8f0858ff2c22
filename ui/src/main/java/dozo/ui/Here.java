package dozo.ui;

import dozo.web.Prefix;
import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.web.util.UriComponentsBuilder;
import org.springframework.web.util.UriUtils;

/**
 * The current page, for links to itself.
 *
 * @param prefix before the paths of links: that of a proxy; empty: none
 * @param path without the prefix
 * @param query the query as requested, encoded; empty if there is none
 */
public record Here(String prefix, String path, String query) {

    static Here of(HttpServletRequest request) {
        // An error page is about the address that failed.
        Object failed = request.getAttribute(RequestDispatcher.ERROR_REQUEST_URI);
        String path = failed instanceof String asked ? asked : request.getRequestURI();
        // NB: a path with two slashes at the beginning would lead to another host.
        return new Here(
                Prefix.of(request),
                path.replaceFirst("^/+", "/"),
                Objects.requireNonNullElse(request.getQueryString(), ""));
    }

    /** Returns the same for the service itself, which knows no prefix. */
    Here inside() {
        return new Here("", path, query);
    }

    public String address() {
        return without();
    }

    /** Returns the address of this page with another value of one parameter, and without some others. */
    public String with(String name, String value, String... without) {
        return builder(without).replaceQueryParam(name, value).build().toUriString();
    }

    /** Returns whether the address has a parameter with a value. */
    public boolean has(String name) {
        String value = builder().build().getQueryParams().getFirst(name);
        return value != null && !value.isEmpty();
    }

    public String without(String... names) {
        return builder(names).build().toUriString();
    }

    /** Returns what a list is searched by: the query without empty parameters, and without the place in the list. */
    public String search() {
        return builder("after", "before").build().getQueryParams().entrySet().stream()
                .flatMap(each -> each.getValue().stream()
                        .filter(value -> value != null && !value.isEmpty())
                        .map(value -> each.getKey() + "=" + value))
                .collect(Collectors.joining("&"));
    }

    /**
     * Returns the address of another page.
     *
     * @param parameters names and values, in turn; one with a null or empty value is left out
     */
    public String to(String page, @Nullable String... parameters) {
        UriComponentsBuilder builder = UriComponentsBuilder.fromPath(prefix + page);
        for (int i = 0; i < parameters.length; i += 2) {
            String value = parameters[i + 1];
            if (value != null && !value.isEmpty()) {
                builder.queryParam(String.valueOf(parameters[i]), UriUtils.encode(value, StandardCharsets.UTF_8));
            }
        }
        return builder.build().toUriString();
    }

    private UriComponentsBuilder builder(String... without) {
        UriComponentsBuilder builder =
                UriComponentsBuilder.fromPath(prefix + path).query(query);
        for (String name : without) {
            builder.replaceQueryParam(name);
        }
        return builder;
    }
}
