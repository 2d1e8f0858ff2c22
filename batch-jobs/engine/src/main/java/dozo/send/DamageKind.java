package dozo.send;

/** How a copy differs from its verified state. */
public enum DamageKind {
    /** Its name does not exist. */
    MISSING,
    /** It is shorter. */
    TRUNCATED,
    /** It has other bytes. */
    ALTERED,
    /** Something else has its name, such as a folder or link instead of a file. */
    REPLACED,
    /** It is a link with another target. */
    RELINKED
}
