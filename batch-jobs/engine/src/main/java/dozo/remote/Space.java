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

    /** Reads the answer to {@code statvfs@openssh.com}. */
    static Space in(Reply reply) throws RemoteException {
        reply.expect(Packet.EXTENDED_REPLY);
        reply.uint64();
        long unitBytes = reply.uint64();
        long totalUnits = reply.uint64();
        reply.uint64();
        long freeUnits = reply.uint64();
        long inodes = reply.uint64();
        reply.uint64();
        long freeInodes = reply.uint64();
        reply.uint64();
        boolean readOnly = (reply.uint64() & 1) != 0;
        return new Space(
                bytes(totalUnits, unitBytes),
                bytes(freeUnits, unitBytes),
                inodes == 0 ? Long.MAX_VALUE : freeInodes,
                readOnly);
    }

    private static long bytes(long units, long unitBytes) {
        long high = Math.multiplyHigh(units, unitBytes);
        long product = units * unitBytes;
        return high != 0 || product < 0 ? Long.MAX_VALUE : product;
    }

    /** Returns whether a write is expected to fail. */
    public boolean full() {
        return freeBytes < FULL_BELOW_BYTES || freeInodes == 0;
    }
}
