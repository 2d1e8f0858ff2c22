package dozo.source.delivery;

/** Why a file that an origin lists is missing here, or why it needs a remark. */
public enum Trouble {
    /** The server rejects the key; nothing can be read. */
    KEY_REFUSED,
    /** The server rejects our credentials: Flywheel for this request, Orthanc for all requests. */
    REFUSED,
    /** The key's user has no permission to read it. */
    DENIED,
    /** The server listed it but does not have it. */
    GONE,
    /** The server rejects the request as invalid. */
    REJECTED,
    /** The server reports too many requests. */
    BUSY,
    /** An error of the server, or of a proxy before it. */
    SERVER_FAULT,
    /** No connection. */
    UNREACHABLE,
    /** The connection ended before the answer was complete. */
    DROPPED,
    /** The answer did not begin in time, or stalled. */
    STALLED,
    /** The file is shorter than listed. */
    TRUNCATED,
    /** The file does not have the listed size. */
    SIZE_DIFFERS,
    /** The bytes do not have the listed hash. */
    HASH_DIFFERS,
    /** The bytes do not have the MD5 that the server stores. */
    BYTES_DIFFER,
    /** The file's header names another instance, or none. */
    OTHER_INSTANCE,
    /** The answer redirects to an address that is not allowed. */
    REDIRECTED,
    /** The answer cannot be parsed. */
    UNPARSED,
    /** The answer is longer than its limit. */
    TOO_LARGE,
    /** The spool cannot be read or written; nothing can be delivered. */
    SPOOL,
    /** The server's two counts differ. */
    COUNT_DIFFERS,
    /** Delivered without a hash to compare its bytes with. */
    NO_HASH,
    /** A sibling has the same name. */
    DUPLICATE,
    /** The study did not become stable in time. What is there is delivered. */
    NEVER_STABLE,
    /** The study has instances of two patients; all are kept. */
    TWO_PATIENTS,
    /** Two instances with one UID have different pixels; both are kept. */
    OTHER_PIXELS,
    /** Two instances with one UID have the same pixels and different headers; both are kept. */
    OTHER_HEADER,
    /** The UID breaks the standard's rules; it is not used in a path. */
    ILLEGAL_UID,
    /** The session is in XNAT's prearchive, not in its archive. */
    PREARCHIVED,
    /** Delivered before, and no longer listed. The local file is kept. */
    NOT_TOLD,
    /** The list of changes has restarted since the last look; all studies were looked at. */
    CHANGES_RESTARTED;

    /** Returns whether the same request may succeed a little later. */
    boolean mayPass() {
        return switch (this) {
            case BUSY, SERVER_FAULT, UNREACHABLE, DROPPED, STALLED, UNPARSED, TRUNCATED -> true;
            default -> false;
        };
    }

    /** Returns whether a server may give this answer because of one file that it is sent. */
    public boolean mayConcernOne() {
        return this == STALLED || this == DROPPED || this == SERVER_FAULT;
    }

    /** Returns whether other requests may fail for the same reason. */
    boolean mayBeOfAll() {
        return mayPass() && this != TRUNCATED;
    }

    /** Returns whether a file arrived with content that differs from the list. */
    boolean isOtherContent() {
        return this == SIZE_DIFFERS || this == HASH_DIFFERS || this == BYTES_DIFFER;
    }
}
