package dozo.remote;

/**
 * What a site reports about a file, folder or link without following it.
 *
 * @param sizeBytes as the site counts; meaningful for files
 * @param mode the nine permission bits and setuid, setgid, sticky (octal 7777)
 * @param modifiedSeconds seconds since 1970-01-01T00:00Z
 * @param uid the owner's number, -1 if the site does not report it
 * @param gid the group's number, -1 if the site does not report it
 */
public record RemoteFacts(Kind kind, long sizeBytes, int mode, long modifiedSeconds, long uid, long gid) {

    public enum Kind {
        FILE,
        DIRECTORY,
        LINK,
        /** A socket, device or fifo, or of a kind that the site does not report. */
        OTHER
    }

    private static final int TYPE_BITS = 0170000;

    static RemoteFacts of(long sizeBytes, long rawMode, long modifiedSeconds, long uid, long gid) {
        Kind kind = switch ((int) rawMode & TYPE_BITS) {
            case 0100000 -> Kind.FILE;
            case 0040000 -> Kind.DIRECTORY;
            case 0120000 -> Kind.LINK;
            default -> Kind.OTHER;
        };
        return new RemoteFacts(kind, sizeBytes, (int) rawMode & 07777, modifiedSeconds, uid, gid);
    }
}
