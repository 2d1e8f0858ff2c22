package dozo.plan;

/** The kinds of transfer unit. */
public enum UnitKind {
    /** Many entries, each sent whole. */
    BUNDLE,
    /** A large file, sent as ranges over all lanes at once. */
    LARGE,
    /** Further names of files, which cost no content if the site can link files. Sent when the files are there. */
    LINKS
}
