package dozo.ui;

import jakarta.servlet.RequestDispatcher;
import jakarta.servlet.http.HttpServletRequest;
import java.util.Objects;
import org.springframework.web.util.UriComponentsBuilder;

/**
 * The page that is looked at, for links to itself.
 *
 * @param query as it was asked, encoded; empty: nothing
 */
public record Here(String path, String query) {

    static Here of(HttpServletRequest request) {
        // A page of an error is about another address.
        Object failed = request.getAttribute(RequestDispatcher.ERROR_REQUEST_URI);
        String path = failed instanceof String asked ? asked : request.getRequestURI();
        // NB: a path that begins with two slashes would be another host's.
        return new Here(path.replaceFirst("^/+", "/"), Objects.requireNonNullElse(request.getQueryString(), ""));
    }

    public String address() {
        return without();
    }

    /** The same page with another value of one parameter. */
    public String with(String name, String value) {
        return builder().replaceQueryParam(name, value).build().toUriString();
    }

    public String without(String... names) {
        UriComponentsBuilder builder = builder();
        for (String name : names) {
            builder.replaceQueryParam(name);
        }
        return builder.build().toUriString();
    }

    private UriComponentsBuilder builder() {
        return UriComponentsBuilder.fromPath(path).query(query);
    }
}
