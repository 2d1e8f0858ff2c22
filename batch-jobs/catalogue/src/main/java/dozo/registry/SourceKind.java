package dozo.registry;

import java.util.Locale;

/** The kind of a source. */
public enum SourceKind {
    FILESYSTEM,
    DICOM,
    FLYWHEEL;

    /** Returns its word in the database and in REST. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    static SourceKind of(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }
}
