package dozo.plan;

/** The kinds of transfer unit. */
public enum UnitKind {
    /** Many entries, each sent whole. */
    BUNDLE,
    /** A byte interval of a large file. */
    RANGE,
    /** The proof and the final name of a large file whose ranges are all at the site. */
    WHOLE
}
