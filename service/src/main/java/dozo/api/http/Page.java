package dozo.api.http;

import dozo.registry.Refusal;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One page of a list.
 *
 * @param next the {@code after} of the next page; omitted on the last page
 */
public record Page<T>(List<T> items, @Nullable String next) {

    /** The default limit. */
    public static final String LIMIT = "100";

    public static final int LIMIT_MAX = 500;

    /** Lists at most {@code limit} items. */
    public interface Listing<T> {
        List<T> first(int limit);
    }

    /** Returns a page of a listing. Requests one item more than it shows, to find out whether there is a next page. */
    public static <T> Page<T> of(int limit, Listing<T> listing, Function<T, ? extends Object> key) {
        List<T> found = listing.first(checked(limit) + 1);
        List<T> items = found.size() > limit ? found.subList(0, limit) : found;
        return new Page<>(
                items, found.size() > limit ? key.apply(items.getLast()).toString() : null);
    }

    /** Returns the limit if it is valid. */
    public static int checked(int limit) {
        if (limit < 1 || limit > LIMIT_MAX) {
            throw new Refusal("limit", "%d: expected 1 to %d", limit, LIMIT_MAX);
        }
        return limit;
    }

    public <R> Page<R> map(Function<T, R> view) {
        return new Page<>(items.stream().map(view).toList(), next);
    }
}
