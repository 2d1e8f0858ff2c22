package dozo.content;

import org.jspecify.annotations.Nullable;

/**
 * What a DICOM file is and where it belongs, by its own header (PS3.3 C.7.3.1, C.7.6.1, C.12.1).
 *
 * @param sopClassUid (0008,0016); empty: not said
 * @param sopInstanceUid (0008,0018); empty: not said
 * @param seriesUid (0020,000E); empty: not said
 * @param seriesNumber (0020,0011); null: not said
 * @param description (0008,103E), for people; may be empty
 * @param number (0020,0013), from 0; null: not said
 */
public record Instance(
        String sopClassUid,
        String sopInstanceUid,
        String seriesUid,
        @Nullable Integer seriesNumber,
        String description,
        @Nullable Integer number)
        implements Relation {

    /** Returns whether it has a number in a series. */
    public boolean isNumbered() {
        return !seriesUid.isEmpty() && number != null;
    }

    /** Returns whether its object is known. */
    public boolean isIdentified() {
        return !sopClassUid.isEmpty() && !sopInstanceUid.isEmpty();
    }
}
