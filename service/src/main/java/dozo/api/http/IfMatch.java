package dozo.api.http;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state that an editor saw before a change, from the header {@code If-Match}. A handler with such a parameter makes
 * its change by {@link Editions#change}.
 *
 * @param tags ETags, any of which may match; {@code *} matches any existing resource; null: no header, and the change
 *     is unconditional
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
