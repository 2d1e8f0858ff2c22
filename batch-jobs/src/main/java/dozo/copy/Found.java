package dozo.copy;

import dozo.file.FilePath;
import dozo.remote.RemoteFacts;

/**
 * A file, folder or link found at the site.
 *
 * @param path below the source it was found in
 * @param remote below the site's root
 * @param local below the destination's top
 */
record Found(FilePath path, FilePath remote, FilePath local, RemoteFacts facts) {

    /** The bytes there are to copy; a folder and a link have none. */
    long contentBytes() {
        return facts.kind() == RemoteFacts.Kind.FILE ? facts.sizeBytes() : 0;
    }

    Found now(RemoteFacts changed) {
        return new Found(path, remote, local, changed);
    }

    /** Whether it is, as far as can be told without reading it, what these facts are of. */
    boolean isStill(RemoteFacts now) {
        return facts.kind() == now.kind()
                && facts.sizeBytes() == now.sizeBytes()
                && facts.modifiedSeconds() == now.modifiedSeconds();
    }
}
