package dozo.registry;

import dozo.ledger.Worded;
import java.util.Locale;

/** The kind of a source. */
public enum SourceKind implements Worded {
    FILESYSTEM,
    DICOM,
    FLYWHEEL,
    XNAT,
    /** Unknown since the catalogue was rebuilt from a site: the experiment is to be registered again. */
    NONE;

    static SourceKind of(String word) {
        return valueOf(word.toUpperCase(Locale.ROOT));
    }
}
