package dozo.registry;

import java.util.Locale;

/** What a source is. */
public enum SourceKind {
    FILESYSTEM,
    DICOM,
    FLYWHEEL;

    /** Its word in the database and in REST. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    static SourceKind of(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }
}
