package dozo.collect;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What an origin lists, and where something changed.
 *
 * @param offers everything that it lists. NB: an item that is not among them may be deleted, moved, or hidden
 * @param changed the items that changed since the last look
 * @param newest where the next look starts, in the origin's own terms; null if it has no such mark, and everything
 * counts as changed
 * @param missing failed requests: if there are any, {@code changed} may be incomplete, and {@code newest} is the value
 * that was given
 * @param remarks what is worth noting
 */
public record Look(
        List<Offer> offers, Set<String> changed, @Nullable String newest, List<Remark> missing, List<Remark> remarks) {}
