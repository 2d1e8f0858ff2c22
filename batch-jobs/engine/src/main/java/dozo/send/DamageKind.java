package dozo.send;

/** How a copy is not as it was proven. */
public enum DamageKind {
    /** Nothing has its name. */
    MISSING,
    /** It is shorter. */
    TRUNCATED,
    /** It has other bytes. */
    ALTERED,
    /** Something else has its name: a folder or link for a file, and the like. */
    REPLACED,
    /** It is a link to something else. */
    RELINKED
}
