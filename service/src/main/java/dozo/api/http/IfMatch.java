package dozo.api.http;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an editor saw before the change, as the header {@code If-Match} says: a handler that takes one makes its change by
 * {@link Editions#change}.
 *
 * @param tags ETags, any of which will do; {@code *} is whatever there is; null: no header, the change is made in any case
 */
public record IfMatch(@Nullable List<String> tags) {

    static final String ANY = "*";

    boolean isGiven() {
        return tags != null;
    }

    boolean accepts(String tag) {
        return tags == null || tags.contains(ANY) || tags.contains(tag);
    }
}
