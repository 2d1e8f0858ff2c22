package dozo.ui;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One page of a list that is divided by keys.
 *
 * @param next the key after which the next page begins; null on the last page
 */
record Cut<T>(List<T> items, @Nullable String next) {

    /** Lists at most {@code limit} items. */
    @FunctionalInterface
    interface Listing<T> {
        List<T> first(int limit);
    }

    /** Returns a page of a listing. Requests one item more than it shows, to find out whether there is a next page. */
    static <T> Cut<T> of(int limit, Listing<T> listing, Function<T, String> key) {
        List<T> found = listing.first(limit + 1);
        boolean more = found.size() > limit;
        List<T> items = more ? found.subList(0, limit) : found;
        return new Cut<>(items, more ? key.apply(items.getLast()) : null);
    }
}
