package dozo.ui;

import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One page of a list that is cut by keys.
 *
 * @param next the key after which the next one begins; null: this is the last one
 */
record Cut<T>(List<T> items, @Nullable String next) {

    /** Gives at most so many things. */
    @FunctionalInterface
    interface Listing<T> {
        List<T> first(int limit);
    }

    /** The page of a listing, which is asked for one more than is shown: so the last page knows that it is. */
    static <T> Cut<T> of(int limit, Listing<T> listing, Function<T, String> key) {
        List<T> found = listing.first(limit + 1);
        boolean more = found.size() > limit;
        List<T> items = more ? found.subList(0, limit) : found;
        return new Cut<>(items, more ? key.apply(items.getLast()) : null);
    }
}
