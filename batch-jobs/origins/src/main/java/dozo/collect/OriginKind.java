package dozo.collect;

import dozo.registry.SourceKind;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** What an origin is. */
public enum OriginKind {
    FLYWHEEL(SourceKind.FLYWHEEL),
    DICOMWEB(SourceKind.DICOM),
    /** Folders of the service's machine, which stay where they are. */
    TREE(SourceKind.FILESYSTEM);

    private final SourceKind source;

    OriginKind(SourceKind source) {
        this.source = source;
    }

    /** Its word in the database and in REST. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The kind of its experiments' sources. */
    public SourceKind source() {
        return source;
    }

    /** Empty: there is no such word. */
    public static Optional<OriginKind> of(String word) {
        return Arrays.stream(values()).filter(kind -> kind.word().equals(word)).findFirst();
    }
}
