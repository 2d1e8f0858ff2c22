package dozo.send;

import java.util.Locale;

/** How content comes to a site (ADR 0059). */
public enum WayIn {
    /** In an archive that a tar there unpacks. */
    ARCHIVE,

    /** By requests for each file. Also what was there before, and what Dozo makes there itself. */
    SFTP;

    /** As a receipt has it. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }
}
