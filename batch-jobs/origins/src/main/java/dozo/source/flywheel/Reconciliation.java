package dozo.source.flywheel;

import java.util.List;

/**
 * What Flywheel says a session has, and what of it lies in the session's tree.
 *
 * @param session its id
 * @param label as it is shown to people
 * @param filesTold those that Flywheel names; what is in a container that cannot be read is not among them
 * @param filesDelivered those of them that lie in the tree as they are told now
 * @param bytesTold of the files that are named, as far as their sizes are
 * @param bytesFetched what came this time
 * @param missing what is not delivered, each with its reason
 * @param remarks what is delivered, or was, and is worth a word
 */
public record Reconciliation(
        String session,
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
            throw new IllegalArgumentException("%d files of %d are delivered, and nothing is said to be missing"
                    .formatted(filesDelivered, filesTold));
        }
    }

    /** Whether all that Flywheel tells of is here. */
    public boolean isComplete() {
        return missing.isEmpty();
    }
}
