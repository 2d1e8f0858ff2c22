package dozo.collect;

import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What an origin has, and where something is new.
 *
 * @param offers all that it tells of. NB: one that is not among them may be deleted, moved, or hidden
 * @param changed the items in which something is new since the last look
 * @param newest what the next look begins with, in the origin's own words; null: it has none, and everything counts as changed
 * @param missing what could not be asked for: as long as it is not empty, {@code changed} may lack some, and {@code newest} is the
 *     one that was given
 * @param remarks what is worth a word
 */
public record Look(
        List<Offer> offers, Set<String> changed, @Nullable String newest, List<Remark> missing, List<Remark> remarks) {}
