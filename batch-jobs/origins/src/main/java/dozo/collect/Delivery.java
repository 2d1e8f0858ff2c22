package dozo.collect;

import dozo.source.delivery.Reconciliation;
import java.util.List;
import java.util.stream.Stream;

/**
 * The result for one item.
 *
 * @param offer what the origin lists of it now
 * @param filesTold how many files the origin lists
 * @param filesHere how many of them are in the item's tree as listed now
 * @param bytesFetched downloaded this time
 * @param arriving whether the origin's own evidence says that more will come: the item is then incomplete, but nothing
 * is wrong
 * @param missing what is listed and not here, each with its reason
 * @param remarks what is worth noting
 */
public record Delivery(
        Offer offer,
        long filesTold,
        long filesHere,
        long bytesFetched,
        boolean arriving,
        List<Remark> missing,
        List<Remark> remarks) {

    /**
     * Returns the result of a delivery into a spool.
     *
     * @param missing what is missing besides the files that did not arrive
     */
    static Delivery of(Offer offer, List<Remark> missing, Reconciliation came) {
        return new Delivery(
                offer,
                came.filesTold(),
                came.filesDelivered(),
                came.bytesFetched(),
                false,
                Stream.concat(missing.stream(), Remark.of(came.missing()).stream())
                        .toList(),
                Remark.of(came.remarks()));
    }

    /** Returns the result for an item of which nothing is delivered now. */
    static Delivery none(Offer offer, long filesHere, Remark why) {
        long told = offer.files() == null ? 0 : offer.files();
        return new Delivery(offer, told, filesHere, 0, false, List.of(why), List.of());
    }

    /** Returns whether everything is here that the origin lists or will list. */
    boolean isComplete() {
        return missing.isEmpty() && !arriving;
    }
}
