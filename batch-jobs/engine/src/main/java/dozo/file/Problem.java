package dozo.file;

/** Why something could not be protected: the reason of a finding. */
public enum Problem {
    /** The source folder is not there, or is no folder; or the list that says what it holds is not there, or is no file. */
    SOURCE_MISSING,
    /** The source folder holds nothing: more likely a file system that is not mounted than an experiment. */
    SOURCE_EMPTY,
    /** Too much of the experiment vanished or changed at once; nothing of it is done until an operator releases it. */
    FROZEN,
    /** A file or folder the service may not or cannot read. */
    UNREADABLE,
    /** A file that was there when the manifest was sealed and is not any more. */
    VANISHED,
    /** A file that is not, or not any more while it was read, what the manifest says. */
    CHANGED,
    /** A socket, device or fifo, or what an unfinished copy left: nothing that can be copied. */
    SPECIAL,
    /** A folder that is one of those it lies in, by a mount: below it everything would come again without end. */
    CYCLE,
    /** A line of a file list that cannot be understood: nobody knows what it names. */
    UNPARSED,
    /** A file list that is older than it may be: what came to the source since is in nobody's list. */
    LIST_OLD,
    /** A line of a file list that names something outside the source. */
    OUTSIDE,
    /** The site's copy has another digest than the source. */
    MISMATCHED,
    /** A stored copy is not there any more. */
    MISSING,
    /** A stored copy is not as it was proven: other bytes, cut off, something else under its name. */
    DAMAGED,
    /** Something lies in a bag that nobody put there through us. It is left alone. */
    UNEXPECTED,
    /** A tag file of a bag is not as we wrote it, or is not there. */
    TAGS_ALTERED,
    /** A copy was to be repaired, and the source does not have the bytes that were proven, although nothing says it changed. */
    SOURCE_DIFFERS,
    /** The site gave no digest: nothing is known about the copy. */
    UNPROVEN,
    /** The site refused this one name. */
    SITE_REFUSED,
    /** This machine refused this one name: something else has it, or it may not be written. Only where it is the destination. */
    DESTINATION_REFUSED,
    /** The site as a whole cannot be used: unreachable, wrong host key, refused login, full, read-only. */
    SITE_UNUSABLE,
    /** The site can no more what it could before: backups go on, by other means. */
    SITE_CHANGED,
    /** The run could not go on for a reason of our own: the database was lost, or a defect. */
    RUN_FAILED,
    /** What has receipts does not add up to the sealed manifest. */
    UNSETTLED,
    /** An origin tells of it, and it is not in its spool: the message says why. */
    NOT_DELIVERED,
    /** An origin told of two things as if they were one: two patients in a study, one UID with two contents. All are kept. */
    CONFLICTING,
    /** An origin as a whole cannot be used, or no longer: down, its key refused, its spool full. */
    ORIGIN_UNUSABLE,
    /** The time for collecting was over before all of an origin was tried; the next night goes on. */
    ORIGIN_LATE,
    /** An origin's spool will be full within days: more room is needed, as nothing in it is ever removed. */
    SPOOL_SHORT,
    /** The ledger's last row could not be written to the site: what is cut off the end of the ledger would not be seen there. */
    UNANCHORED
}
