package dozo.source.dicomweb;

/** Why something of a study is not here, or what about it needs a word. */
public enum Trouble {
    /** The server does not let us in: nothing is known of any study. */
    REFUSED(false),
    /** No connection came about, after all tries: nothing is known of any study. */
    UNREACHABLE(true),
    /** It was told of and is not there. */
    GONE(false),
    /** The server says that something is wrong with what was asked. */
    REJECTED(false),
    /** Too many requests, it says. */
    BUSY(true),
    /** A fault of the server, or of a proxy before it. */
    SERVER_FAULT(true),
    /** The connection ended before the answer did. */
    DROPPED(true),
    /** The answer did not come in time, or stopped coming. */
    STALLED(true),
    /** Fewer bytes, or more, than the size that was told. */
    SIZE_DIFFERS(true),
    /** Other bytes than those whose MD5 the server keeps. */
    BYTES_DIFFER(true),
    /** The bytes say that they are another instance than the one asked for, or none. */
    OTHER_INSTANCE(false),
    /** An answer sends us elsewhere; we do not go. */
    REDIRECTED(false),
    /** An answer that cannot be understood. */
    UNPARSED(true),
    /** More than we take. */
    TOO_LARGE(false),
    /** Our own folder could not be written. */
    SPOOL(false),
    /** The server's two ways of counting a study's instances do not agree. */
    COUNT_DIFFERS(false),
    /** Instances come and come, or Orthanc does not say that they do not any more. What is there is brought. */
    NEVER_STABLE(false),
    /** Instances of one study are of two patients; all are kept. */
    TWO_PATIENTS(false),
    /** An instance with the UID of another and other pixels; both are kept. */
    OTHER_PIXELS(false),
    /** An instance with the UID of another and the same pixels under another header; both are kept. */
    OTHER_HEADER(false),
    /** A UID that breaks the standard's rules; it is part of no path. */
    ILLEGAL_UID(false),
    /** Was brought once, and is not told of any more. What is here stays. */
    NOT_TOLD(false),
    /** The list of changes is not the one of the last look: all studies were looked at. */
    CHANGES_RESTARTED(false);

    private final boolean mayPass;

    Trouble(boolean mayPass) {
        this.mayPass = mayPass;
    }

    /** Whether nothing else can be had either. */
    public boolean endsAll() {
        return this == REFUSED || this == UNREACHABLE || this == SPOOL;
    }

    /** Whether other things may well fail for the same reason. */
    boolean mayBeOfAll() {
        return switch (this) {
            case BUSY, SERVER_FAULT, DROPPED, STALLED, UNPARSED -> true;
            default -> endsAll();
        };
    }

    /** Whether the same request may succeed a little later. */
    boolean mayPass() {
        return mayPass;
    }
}
