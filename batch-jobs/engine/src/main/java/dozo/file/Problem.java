package dozo.file;

/** Why something could not be protected: the reason of a finding. The gravest first; lists for people use this order. */
public enum Problem {
    /** A stored copy does not exist any more. */
    MISSING,
    /** A stored copy differs from its verified state: other bytes, truncated, something else under its name. */
    DAMAGED,
    /** The site does not have all bytes of a copy, as two random challenges have shown, whatever digest it reports. */
    NOT_HELD,
    /**
     * A copy is to be repaired, but the source does not have the verified bytes, although nothing shows that it has
     * changed. Or the source is the copy at another site, and that is damaged.
     */
    SOURCE_DIFFERS,
    /**
     * A source file's bytes are not those that were sent, although its size and time have not changed; the home scrub found it. Copies
     * are not concerned.
     */
    ROTTEN_AT_HOME,
    /**
     * An origin lists a file as when it was delivered, and has other bytes for it, or the bytes that were sent are others. Copies are
     * not concerned.
     */
    ORIGIN_DIFFERS,
    /** The digests of the site's copy and the source differ. */
    MISMATCHED,
    /** A tag file of a bag, or one that was replaced, differs from what Dozo wrote, or does not exist. */
    TAGS_ALTERED,
    /** Too much of the experiment vanished or changed at once; it is not processed until an operator releases it. */
    FROZEN,
    /** A file's own content is not whole, by the rules of its format. It is stored as it is. */
    BROKEN,
    /** The source folder does not exist, or is not a folder; or its file list does not exist, or is not a file. */
    SOURCE_MISSING,
    /** The source folder is empty: more likely an unmounted file system than an experiment. */
    SOURCE_EMPTY,
    /** The site's host key differs from the pinned one: it may be another host. */
    SITE_KEY_CHANGED,
    /** The site has no room left: no blocks or no inodes. */
    SITE_FULL,
    /** The site did not answer, or the connection to it was lost again and again. */
    SITE_UNREACHABLE,
    /** The site as a whole cannot be used for another reason: refused login, read-only, no SFTP. */
    SITE_UNUSABLE,
    /** The run could not continue for an internal reason: the database was lost, or a defect. */
    RUN_FAILED,
    /** The site has manifests that the catalogue does not have: an older database was put back. */
    SITE_AHEAD,
    /**
     * The ledger's last row could not be written to the site, or an earlier anchor there is damaged or missing: rows cut off the end of
     * the ledger would not be noticed there.
     */
    UNANCHORED,
    /**
     * A record of the catalogue could not be written to the site, or is damaged or missing there: without this machine, a part of the
     * catalogue would be lost.
     */
    UNRECORDED,
    /** An erasure could not begin, or something of it could not be removed at the site. */
    UNERASED,
    /** A file or folder that the service cannot or may not read. */
    UNREADABLE,
    /** A file that existed when the manifest was sealed and does not any more. */
    VANISHED,
    /** A file that differs from the manifest, or changed while it was read. */
    CHANGED,
    /** The site refused this one name. */
    SITE_REFUSED,
    /**
     * This machine refused this one name: something else has it, or it may not be written. Only if this machine is the
     * destination.
     */
    DESTINATION_REFUSED,
    /** A path or pattern that was selected for a restore, and that nothing in the manifest matches. */
    NO_MATCH,
    /**
     * Facts that could not be set on what was restored: hard links, owners, ACLs, attributes, special bits, times. The
     * message has the number.
     */
    NOT_SET,
    /** A restore into an archive did not send a file, because of what it is, or the archive did not accept it. */
    NOT_SENT,
    /** An archive has other bytes under the UID or name of a restored file, or other values that describe it. */
    ARCHIVE_DIFFERS,
    /** A line of a file list that cannot be parsed: nobody knows what it names. */
    UNPARSED,
    /** A line of a file list that names something outside the source. */
    OUTSIDE,
    /** A file list that is older than allowed: it does not contain what was added to the source since. */
    LIST_OLD,
    /** A socket, device or fifo, or what an unfinished copy left: it cannot be copied. */
    SPECIAL,
    /** A folder that is one of its own parents, by a mount: its content would repeat without end. */
    CYCLE,
    /** The site gave no digest: nothing is known about the copy. */
    UNPROVEN,
    /** The entries with receipts do not match the sealed manifest. */
    UNSETTLED,
    /** An origin as a whole cannot be used, or no longer: down, its key refused, its spool full. */
    ORIGIN_UNUSABLE,
    /** An origin's spool will be full within days: it needs more room, because nothing in it is ever removed. */
    SPOOL_SHORT,
    /** An origin lists it, and it is not in its spool: the message gives the reason. */
    NOT_DELIVERED,
    /** An origin reported two things as one: two patients in a study, one UID with two contents. All are kept. */
    CONFLICTING,
    /** The time ended before everything of an origin was tried, or checked again as promised; the next night continues. */
    ORIGIN_LATE,
    /** Something in a bag that Dozo did not put there. It is left alone. */
    UNEXPECTED,
    /**
     * Something at a site that a rebuilt catalogue does not contain: earlier versions, an incomplete bag, a foreign folder.
     */
    NOT_REBUILT,
    /** The site lost a capability: backups continue by other means. */
    SITE_CHANGED
}
