package dozo.source.dicom;

/**
 * The file begins as DICOM and goes on as something else.
 *
 * @param offset bytes from the file's start to what cannot be read; of a deflated data set, bytes of what was inflated
 * @param before what stood before it, perhaps nothing
 */
public record Damaged(Damage damage, long offset, Header before) implements Parsed {

    /** In which way. */
    public enum Damage {
        /** The file ends inside an element, or an element claims more than the rest of the file. */
        CUT_OFF,
        /** What stands there is no element, or none that may be there. */
        NO_ELEMENT,
        /** A value that Dozo wants is longer than {@link HeaderReader#VALUE_BYTES_MAX}. */
        TOO_LONG,
        /** Sequences lie in each other deeper than {@link HeaderReader#DEPTH_MAX}. */
        TOO_DEEP,
        /** More elements than {@link HeaderReader#ELEMENTS_MAX}, or more inflated than {@link HeaderReader#INFLATED_BYTES_MAX}. */
        TOO_MUCH,
        /** What should be deflated is not, or not rightly. */
        NOT_DEFLATED
    }
}
