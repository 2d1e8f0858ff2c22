package dozo.collect;

import dozo.ledger.Worded;
import dozo.registry.SourceKind;
import java.util.Optional;

/** The kind of an origin. */
public enum OriginKind implements Worded {
    FLYWHEEL(SourceKind.FLYWHEEL),
    DICOMWEB(SourceKind.DICOM),
    XNAT(SourceKind.XNAT),
    /** Folders on the service's machine, which stay where they are. */
    TREE(SourceKind.FILESYSTEM);

    private final SourceKind source;

    OriginKind(SourceKind source) {
        this.source = source;
    }

    /** Returns the kind of its experiments' sources. */
    public SourceKind source() {
        return source;
    }

    /** Returns the kind with this name; empty if there is none. */
    public static Optional<OriginKind> of(String word) {
        return Worded.of(OriginKind.class, word);
    }
}
