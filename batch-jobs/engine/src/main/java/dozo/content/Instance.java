package dozo.content;

import org.jspecify.annotations.Nullable;

/**
 * Where a DICOM file belongs, by its own header (PS3.3 C.7.3.1, C.7.6.1).
 *
 * @param seriesUid (0020,000E), not empty
 * @param seriesNumber (0020,0011); null: not said
 * @param description (0008,103E), for people; may be empty
 * @param number (0020,0013), from 0
 */
public record Instance(String seriesUid, @Nullable Integer seriesNumber, String description, int number)
        implements Relation {}
