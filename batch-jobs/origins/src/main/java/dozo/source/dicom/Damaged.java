package dozo.source.dicom;

/**
 * A file that begins as DICOM but cannot be read further.
 *
 * @param offset of the unreadable bytes from the file's start; in a deflated data set, from the start of the inflated
 * bytes
 * @param before the header as read up to there, possibly empty
 */
public record Damaged(Damage damage, long offset, Header before) implements Parsed {

    /** The kind of damage. */
    public enum Damage {
        /** The file ends inside an element, or an element claims more than the rest of the file. */
        CUT_OFF,
        /** The bytes are not an element, or the element is not allowed there. */
        NO_ELEMENT,
        /** A value that Dozo wants is longer than {@link HeaderReader#VALUE_BYTES_MAX}. */
        TOO_LONG,
        /** Sequences are nested deeper than {@link HeaderReader#DEPTH_MAX}. */
        TOO_DEEP,
        /** More elements than {@link HeaderReader#ELEMENTS_MAX}, or more inflated than {@link HeaderReader#INFLATED_BYTES_MAX}. */
        TOO_MUCH,
        /** The deflated data cannot be inflated. */
        NOT_DEFLATED
    }
}
