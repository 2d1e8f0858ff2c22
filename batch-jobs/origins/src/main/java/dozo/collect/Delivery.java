package dozo.collect;

import java.util.List;

/**
 * What came of one item.
 *
 * @param offer what the origin tells of it now
 * @param filesTold those that it names
 * @param filesHere those of them that lie in the item's tree as they are told now
 * @param bytesFetched what came this time
 * @param arriving whether by the origin's own evidence there is more to come: then nothing is wrong, and it is not complete
 * @param missing what was told of and is not here, each with its reason
 * @param remarks what is worth a word
 */
public record Delivery(
        Offer offer,
        long filesTold,
        long filesHere,
        long bytesFetched,
        boolean arriving,
        List<Remark> missing,
        List<Remark> remarks) {

    /** Whether all that the origin tells of, and will, is here. */
    boolean isComplete() {
        return missing.isEmpty() && !arriving;
    }
}
