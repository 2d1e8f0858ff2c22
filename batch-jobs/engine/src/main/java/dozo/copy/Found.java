package dozo.copy;

import dozo.file.FilePath;
import dozo.remote.RemoteFacts;
import java.util.concurrent.TimeUnit;

/**
 * A file, folder or link of the site, and what it becomes here.
 *
 * @param path below the source it was found in
 * @param remote below the site's root
 * @param local below the destination's top
 * @param modifiedNanos the time it gets here, in nanoseconds since 1970
 */
record Found(FilePath path, FilePath remote, FilePath local, RemoteFacts facts, long modifiedNanos) {

    /** With the time that the site tells, in whole seconds. */
    Found(FilePath path, FilePath remote, FilePath local, RemoteFacts facts) {
        this(path, remote, local, facts, TimeUnit.SECONDS.toNanos(facts.modifiedSeconds()));
    }

    /** The bytes there are to copy; a folder and a link have none. */
    long contentBytes() {
        return facts.kind() == RemoteFacts.Kind.FILE ? facts.sizeBytes() : 0;
    }

    Found now(RemoteFacts changed) {
        return new Found(path, remote, local, changed);
    }

    /** The same at another place of the site. */
    Found at(FilePath place) {
        return new Found(path, place, local, facts, modifiedNanos);
    }

    /** Whether it is, as far as can be told without reading it, what these facts are of. */
    boolean isStill(RemoteFacts now) {
        return facts.kind() == now.kind()
                && facts.sizeBytes() == now.sizeBytes()
                && facts.modifiedSeconds() == now.modifiedSeconds();
    }
}
