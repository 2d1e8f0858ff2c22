package dozo.remote;

/**
 * The room left in a site's file system.
 *
 * @param totalBytes its size
 * @param freeBytes available to the login user, without what is reserved for root
 * @param freeInodes files that can still be created; {@link Long#MAX_VALUE} if the file system has no such limit
 * @param readOnly whether it is mounted read-only
 */
public record Space(long totalBytes, long freeBytes, long freeInodes, boolean readOnly) {

    /** Less than one write: a file system that has just refused a write may have this much left. */
    private static final long FULL_BELOW_BYTES = 256 * 1024;

    /** Returns whether a write is expected to fail. */
    public boolean full() {
        return freeBytes < FULL_BELOW_BYTES || freeInodes == 0;
    }
}
