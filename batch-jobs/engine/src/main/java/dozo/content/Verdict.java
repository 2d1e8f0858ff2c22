package dozo.content;

/**
 * What the bytes of a file say of whether it is whole.
 *
 * @param format for people, such as {@code DICOM} or {@code NIfTI-1 in gzip}; empty: not known
 * @param why what is wrong, as an English clause, such as {@code the header says 352 bytes, the file has 100}, or why
 *     nobody knows; empty if nothing is, or no format is known
 */
public record Verdict(State state, String format, String why) {

    /** Nothing is said: no known format, or one whose end nobody can know. Never means whole. */
    public static final Verdict UNKNOWN = new Verdict(State.UNKNOWN, "", "");

    /** From good to bad, except the last. */
    public enum State {
        /** All rules of its format hold. */
        WHOLE,
        /** Healthy files look like this, too: shown, but never an alarm. */
        SUSPECT,
        /** A rule of its format fails that holds in every healthy file. */
        BROKEN,
        /** Nobody knows. */
        UNKNOWN
    }
}
