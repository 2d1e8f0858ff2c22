package dozo.collect;

import dozo.registry.SourceKind;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** The kind of an origin. */
public enum OriginKind {
    FLYWHEEL(SourceKind.FLYWHEEL),
    DICOMWEB(SourceKind.DICOM),
    /** Folders on the service's machine, which stay where they are. */
    TREE(SourceKind.FILESYSTEM);

    private final SourceKind source;

    OriginKind(SourceKind source) {
        this.source = source;
    }

    /** Returns its name in the database and in REST. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns the kind of its experiments' sources. */
    public SourceKind source() {
        return source;
    }

    /** Returns the kind with this name; empty if there is none. */
    public static Optional<OriginKind> of(String word) {
        return Arrays.stream(values()).filter(kind -> kind.word().equals(word)).findFirst();
    }
}
