package dozo.source.dicomweb;

import dozo.file.Digest;
import dozo.file.FilePath;

/** Paths in a study's tree: the UIDs where they are UIDs, and codes of them where they are anything else. */
final class SpoolName {

    private static final int DIGEST_LENGTH = 16;

    private SpoolName() {}

    static FilePath of(Instance instance) {
        return FilePath.of("%s/%s.dcm".formatted(Uid.shown(instance.seriesUid()), Uid.shown(instance.sopUid())));
    }

    /** Of one whose UID is already that of another content. */
    static FilePath twin(Instance instance, Digest content) {
        return FilePath.of("%s/%s~%s.dcm"
                .formatted(
                        Uid.shown(instance.seriesUid()),
                        Uid.shown(instance.sopUid()),
                        content.toString().substring(0, DIGEST_LENGTH)));
    }
}
