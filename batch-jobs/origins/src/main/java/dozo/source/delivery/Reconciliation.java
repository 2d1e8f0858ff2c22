package dozo.source.delivery;

import java.util.List;

/**
 * What an origin lists of an item, and what of it is in the item's tree.
 *
 * @param item its id; nothing of a patient
 * @param label as it is shown to people
 * @param filesTold files that the origin lists
 * @param filesDelivered those of them that are in the tree as they are listed now
 * @param bytesTold of the files whose sizes are listed
 * @param bytesFetched what came this time
 * @param missing what is not delivered, each with its reason
 * @param remarks what is delivered and needs a remark
 */
public record Reconciliation(
        String item,
        String label,
        int filesTold,
        int filesDelivered,
        long bytesTold,
        long bytesFetched,
        List<Item> missing,
        List<Item> remarks) {

    public Reconciliation {
        missing = List.copyOf(missing);
        remarks = List.copyOf(remarks);
        if (missing.isEmpty() && filesDelivered != filesTold) {
            throw new IllegalArgumentException(
                    "%d of %d files are delivered, and none is missing".formatted(filesDelivered, filesTold));
        }
    }

    /** Of an item that cannot be read. */
    public static Reconciliation unread(String item, String label, List<Item> missing) {
        return new Reconciliation(item, label, 0, 0, 0, 0, missing, List.of());
    }

    /** Whether all that the origin lists is here. */
    public boolean isComplete() {
        return missing.isEmpty();
    }
}
