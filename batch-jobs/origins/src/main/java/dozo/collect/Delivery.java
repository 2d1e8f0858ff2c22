package dozo.collect;

import java.util.List;

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

    /** Returns whether everything is here that the origin lists or will list. */
    boolean isComplete() {
        return missing.isEmpty() && !arriving;
    }
}
