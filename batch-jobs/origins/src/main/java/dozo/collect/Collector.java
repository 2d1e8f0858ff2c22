package dozo.collect;

import dozo.collect.Arrivals.Arrival;
import dozo.collect.Origins.Origin;
import dozo.collect.Origins.Terms;
import dozo.registry.Refusal;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads origins of one kind. Keeps nothing between calls but what lies in the origin's spool, and changes nothing in the database but in {@code kept}. An interrupt ends
 * a call soon; what had come by then is kept, and the next call goes on from there.
 */
public interface Collector {

    OriginKind kind();

    /**
     * Checks what is said of an origin before it is kept; asks nothing over the network.
     *
     * @throws Refusal when its address is malformed, or its secret cannot be read or is for another address
     */
    void check(Terms terms);

    /**
     * What there is, and what changed.
     *
     * @param newest what the last look gave; null: everything counts as changed
     * @throws OriginException when its items cannot be listed
     */
    Look look(Origin origin, @Nullable String newest) throws IOException, InterruptedException;

    /**
     * What the origin tells of one item, without bringing it: a delivery of nothing, in which what cannot be read is missing.
     *
     * @throws OriginException when nothing can be asked any more
     */
    Delivery describe(Origin origin, Offer offer) throws IOException, InterruptedException;

    /**
     * Brings what of one item is not here yet into {@link #tree}, and tells what is missing.
     *
     * @throws OriginException when nothing can be had from it any more
     * @throws IOException when the spool cannot be read or written
     */
    Delivery deliver(Origin origin, Offer offer) throws IOException, InterruptedException;

    /** Keeps what else is to be kept of what came of an experiment's item, in the same transaction. */
    default void kept(long runId, Arrival arrival, Delivery came) {}

    /**
     * Keeps what else is to be kept of a look, behind its arrivals and in the same transaction.
     *
     * @return what is missing by that
     */
    default List<Remark> kept(Origin origin, Look look) {
        return List.of();
    }

    /** The folder of an item's experiment, below the origin's spool, and of no other item; the same for ever where it is ours. */
    Path tree(Origin origin, String item);
}
