package dozo.copy;

import dozo.file.Attributes;
import dozo.file.FilePath;
import dozo.file.Owner;
import dozo.remote.RemoteFacts;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A file, folder or link of the site, and its place here.
 *
 * @param path below the source it was found in
 * @param remote below the site's root
 * @param local below the destination's top
 * @param modifiedNanos the time to set here, in nanoseconds since 1970
 * @param mode the mode to set here
 * @param owner the owner to set here, if owners are set; null: unknown
 * @param attributes the ACLs and extended attributes to set here
 */
record Found(
        FilePath path,
        FilePath remote,
        FilePath local,
        RemoteFacts facts,
        long modifiedNanos,
        int mode,
        @Nullable Owner owner,
        Attributes attributes) {

    /** The bits that come from a site; setuid, setgid and sticky never do. */
    private static final int PERMISSIONS = 0777;

    /** Creates an item with the site's time, in whole seconds, and its mode. */
    Found(FilePath path, FilePath remote, FilePath local, RemoteFacts facts) {
        this(
                path,
                remote,
                local,
                facts,
                TimeUnit.SECONDS.toNanos(facts.modifiedSeconds()),
                facts.mode() & PERMISSIONS,
                null,
                Attributes.NONE);
    }

    /** Returns the bytes of content to copy; 0 for folders and links. */
    long contentBytes() {
        return facts.kind() == RemoteFacts.Kind.FILE ? facts.sizeBytes() : 0;
    }

    Found now(RemoteFacts changed) {
        return new Found(path, remote, local, changed);
    }

    /** Returns the same item with another size. */
    Found withSize(long bytes) {
        RemoteFacts read =
                new RemoteFacts(facts.kind(), bytes, facts.mode(), facts.modifiedSeconds(), facts.uid(), facts.gid());
        return new Found(path, remote, local, read, modifiedNanos, mode, owner, attributes);
    }

    /** Returns the same item at another place of the site. */
    Found at(FilePath place) {
        return new Found(path, place, local, facts, modifiedNanos, mode, owner, attributes);
    }

    /** Returns the same item with another mode. */
    Found with(int newMode) {
        return new Found(path, remote, local, facts, modifiedNanos, newMode, owner, attributes);
    }

    /** Returns whether these facts are still the same, as far as can be seen without reading the content. */
    boolean isStill(RemoteFacts now) {
        return facts.kind() == now.kind()
                && facts.sizeBytes() == now.sizeBytes()
                && facts.modifiedSeconds() == now.modifiedSeconds();
    }
}
