package dozo.source.flywheel;

/** Why something that Flywheel tells of is not here, or is not as it tells. */
public enum Trouble {
    /** The key is not accepted any more; nothing can be read. */
    KEY_REFUSED(false),
    /** Not without a key, for this one thing, although the key is good. */
    REFUSED(false),
    /** The key's user may not read it. */
    DENIED(false),
    /** It was told of and is not there, or its bytes are not. */
    GONE(false),
    /** Flywheel says that something is wrong with what was asked. */
    REJECTED(false),
    /** Too many requests, it says. */
    BUSY(true),
    /** A fault of the server, or of a proxy before it. */
    SERVER_FAULT(true),
    /** No connection came about. */
    UNREACHABLE(true),
    /** The connection ended before the answer did. */
    DROPPED(true),
    /** The answer did not come in time, or stopped coming. */
    STALLED(true),
    /** The bytes ended before the size that was told. */
    TRUNCATED(true),
    /** There are more bytes than the size that was told. */
    SIZE_DIFFERS(false),
    /** The bytes have another hash than the one that was told. */
    HASH_DIFFERS(false),
    /** An answer sends us to where we do not go. */
    REDIRECTED(false),
    /** An answer that cannot be understood. */
    UNPARSED(true),
    /** An answer that is longer than we take. */
    TOO_LARGE(false),
    /** Our own folder could not be written. */
    SPOOL(false),
    /** Delivered, but nothing was told to compare the bytes with. */
    NO_HASH(false),
    /** Its name is also that of another one beside it. */
    DUPLICATE(false),
    /** Was delivered once, and is not told of any more: deleted, moved, or no longer to be seen. What is here stays. */
    NOT_TOLD(false);

    private final boolean mayPass;

    Trouble(boolean mayPass) {
        this.mayPass = mayPass;
    }

    /** Whether nothing else can be had either. */
    boolean endsAll() {
        return this == KEY_REFUSED;
    }

    /** Whether other things may well fail for the same reason. */
    boolean mayBeOfAll() {
        return switch (this) {
            case BUSY, SERVER_FAULT, UNREACHABLE, DROPPED, STALLED, UNPARSED, SPOOL -> true;
            default -> false;
        };
    }

    /** Whether the same request may succeed a little later. */
    boolean mayPass() {
        return mayPass;
    }
}
