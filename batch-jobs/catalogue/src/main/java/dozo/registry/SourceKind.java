package dozo.registry;

import java.util.Locale;

/** The kind of a source. */
public enum SourceKind {
    FILESYSTEM,
    DICOM,
    FLYWHEEL,
    /** Unknown since the catalogue was rebuilt from a site: the experiment is to be registered again. */
    NONE;

    /** Returns its word in the database and in REST. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    static SourceKind of(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }
}
