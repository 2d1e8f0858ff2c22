package dozo.source.dicomweb;

import dozo.file.Digest;
import dozo.file.FilePath;

/** Paths in a study's tree, made of the UIDs if they are valid, else of codes for them. */
final class SpoolName {

    private static final int DIGEST_LENGTH = 16;

    private SpoolName() {}

    static FilePath of(Instance instance) {
        return FilePath.of("%s/%s.dcm".formatted(Uid.shown(instance.seriesUid()), Uid.shown(instance.sopUid())));
    }

    /** Returns the path of an instance whose UID already belongs to other content. */
    static FilePath twin(Instance instance, Digest content) {
        return FilePath.of("%s/%s~%s.dcm"
                .formatted(
                        Uid.shown(instance.seriesUid()),
                        Uid.shown(instance.sopUid()),
                        content.toString().substring(0, DIGEST_LENGTH)));
    }
}
