package dozo.remote;

/**
 * Room left in a site's file system.
 *
 * @param totalBytes its size
 * @param freeBytes free for us, not counting what is kept back for root
 * @param freeInodes files that can still be made; {@link Long#MAX_VALUE} where the file system has no such limit
 * @param readOnly whether it is mounted read-only
 */
public record Space(long totalBytes, long freeBytes, long freeInodes, boolean readOnly) {

    /** Less than one write: what is left when a file system has just turned a write away. */
    private static final long FULL_BELOW_BYTES = 256 * 1024;

    /** Whether a write can be expected to fail. */
    public boolean full() {
        return freeBytes < FULL_BELOW_BYTES || freeInodes == 0;
    }
}
