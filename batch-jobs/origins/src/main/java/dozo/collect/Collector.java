package dozo.collect;

import dozo.collect.Arrivals.Arrival;
import dozo.collect.Origins.Origin;
import dozo.registry.Refusal;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Recheck;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Reads origins of one kind. Between calls it keeps only the files in the origin's spool; it changes the database only
 * in {@code kept}. An interrupt ends a call soon; files that have arrived by then are kept, and the next call continues
 * from there.
 */
public interface Collector {

    OriginKind kind();

    /**
     * Checks an origin's terms before they are stored, without using the network.
     *
     * @throws Refusal if the address is malformed, or the secret cannot be read or is for another address
     */
    void check(Terms terms);

    /**
     * Lists the origin's items and finds those that changed.
     *
     * @param newest the value from the last look; null if everything counts as changed
     * @throws DeliveryException if its items cannot be listed, because its server does not answer as expected
     * @throws OriginException if its items cannot be listed for another reason
     */
    Look look(Origin origin, @Nullable String newest) throws IOException, InterruptedException;

    /**
     * Describes an item without downloading it. The result is a delivery without files; what cannot be read counts as
     * missing.
     *
     * @throws DeliveryException or {@link OriginException} if the origin no longer answers at all
     */
    Delivery describe(Origin origin, Offer offer) throws IOException, InterruptedException;

    /**
     * Downloads what is not yet in {@link #tree} of an item, and reports what is missing.
     *
     * @throws DeliveryException or {@link OriginException} if the origin no longer delivers anything
     * @throws IOException if the spool cannot be read or written
     */
    Delivery deliver(Origin origin, Offer offer) throws IOException, InterruptedException;

    /**
     * Checks delivered files of an item again in the origin. Nothing is written. The files of a tree are sources, which home scrubs read.
     *
     * @param theirs the id of the origin's own project that contains it, as it was offered
     * @throws DeliveryException or {@link OriginException} if the item cannot be listed, or the origin no longer answers
     */
    default Recheck.Result check(Origin origin, String item, @Nullable String theirs, Recheck.Asked asked)
            throws IOException, InterruptedException {
        throw new IllegalStateException("a tree delivers nothing");
    }

    /** Stores further results of a delivery for an experiment, in the same transaction. */
    default void kept(long runId, Arrival arrival, Delivery came) {}

    /**
     * Stores further results of a look, after its arrivals and in the same transaction.
     *
     * @return what is missing because of them
     */
    default List<Remark> kept(Origin origin, Look look) {
        return List.of();
    }

    /**
     * Returns the folder of an item's experiment, below the origin's spool. No other item has it, and it never changes
     * if it is in a spool of ours.
     */
    Path tree(Origin origin, String item);
}
