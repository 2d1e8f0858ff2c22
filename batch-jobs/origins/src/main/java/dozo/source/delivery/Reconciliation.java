package dozo.source.delivery;

import java.util.List;

/**
 * What an origin lists of an item, and how much of it is in the item's tree.
 *
 * @param item its id; nothing about a patient
 * @param label shown to people
 * @param filesTold how many files the origin lists
 * @param filesDelivered how many of them are in the tree as listed now
 * @param bytesTold sum of the listed sizes; files without one are not counted
 * @param bytesFetched downloaded this time
 * @param missing undelivered items, each with its reason
 * @param remarks delivered items that need a remark
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

    /** Returns the reconciliation of an item that cannot be read. */
    public static Reconciliation unread(String item, String label, List<Item> missing) {
        return new Reconciliation(item, label, 0, 0, 0, 0, missing, List.of());
    }

    /** Returns whether everything that the origin lists is here. */
    public boolean isComplete() {
        return missing.isEmpty();
    }
}
