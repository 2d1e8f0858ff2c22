package dozo.send;

import java.util.Locale;

/** How content is sent to a site (ADR 0059). */
public enum WayIn {
    /** In an archive that a tar there unpacks. */
    ARCHIVE,

    /** By requests for each file. Also for files that existed before, and for generated ones. */
    SFTP,

    /** Not again: it is a hard link to a file that was there (ADR 0072). */
    LINK;

    /** Returns the word used in receipts. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
