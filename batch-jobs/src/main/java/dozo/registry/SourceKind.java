package dozo.registry;

/** What a source is. */
public enum SourceKind {
    FILESYSTEM,
    DICOM,
    FLYWHEEL;

    /** Its word in the database and in REST. */
    public String word() {
        return name().toLowerCase(java.util.Locale.ROOT);
    }

    static SourceKind of(String word) {
        return valueOf(word.toUpperCase(java.util.Locale.ROOT));
    }
}
