package dozo.send;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.file.SiteNames;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.Optional;

/**
 * Where entries come from and where they go; the paths at the site are below its root (design, section 6).
 *
 * @param source the folder they are read from
 * @param top the folder at the site that is filled; nothing outside it is moved aside
 * @param content the folder at the site that the source's root becomes: the top or below it
 * @param incoming the folder for temporary names
 * @param versions where replaced files are kept; empty: they are overwritten
 * @param names how names below the content are written at the site
 */
public record Route(
        SourceFolder source,
        FilePath top,
        FilePath content,
        FilePath incoming,
        Optional<FilePath> versions,
        SiteNames names) {

    private static final int TEMPORARY_NAME_BYTES = 16;

    /** Creates a route that keeps all names. */
    public Route(SourceFolder source, FilePath top, FilePath content, FilePath incoming, Optional<FilePath> versions) {
        this(source, top, content, incoming, versions, SiteNames.KEPT);
    }

    /** Returns the route of one manifest of the experiment {@code project/experiment} into its bag. */
    public static Route backup(SourceFolder source, String experiment, int manifest, SiteNames names) {
        SiteFolders folders = SiteFolders.of(experiment);
        return new Route(
                source,
                folders.bag(),
                folders.data(),
                folders.incoming(),
                Optional.of(folders.versions(manifest)),
                names);
    }

    /**
     * Returns the route of one generated file with this name at the site. It never moves or replaces an existing file.
     */
    public static Route alone(FilePath name) {
        return alone(name, ".alone");
    }

    /** Returns the route of a record of the catalogue with this name at the site; like {@link #alone}. */
    public static Route record(FilePath name) {
        return alone(name, ".catalogue");
    }

    /** @param temporary no project can have this folder: codes do not begin with a dot */
    private static Route alone(FilePath name, String temporary) {
        FilePath incoming = FilePath.of(".dozo/incoming").resolve(temporary);
        return new Route(
                SourceFolder.of(Path.of("")), name, name, incoming, Optional.of(FilePath.of(".dozo/versions")));
    }

    /**
     * Returns the route of a restore into the root of a server: what has a name there keeps it, because nothing outside
     * the folder of temporary names may be moved.
     */
    public static Route restore(SourceFolder source, FilePath incoming) {
        return new Route(source, incoming, FilePath.ROOT, incoming, Optional.of(incoming));
    }

    /**
     * Returns whether files may have their final names that no receipt knows of. In a backup, what has such a name is
     * moved aside.
     */
    boolean mayStand() {
        return versions.isEmpty() || top.equals(incoming);
    }

    /** Returns the same route from another source. */
    public Route from(SourceFolder other) {
        return new Route(other, top, content, incoming, versions, names);
    }

    /** Returns the name of a verified entry. */
    public FilePath finalName(Entry entry) {
        return content.resolve(names.of(entry.path()));
    }

    /**
     * Returns the temporary name of a file: the same after a restart, and plain ASCII. In a backup it is the entry's
     * number, which no other entry ever has. A copy has no lasting numbers, so the name is derived from path, size and
     * time: what an earlier run left of the file is found again, and what it left of a file that has changed since is
     * not.
     */
    public FilePath temporaryName(Entry entry) {
        if (versions.isPresent()) {
            return incoming.resolve(String.valueOf(entry.number()));
        }
        MessageDigest digest = Digest.algorithm();
        digest.update(content.bytes());
        digest.update((byte) 0);
        digest.update(entry.path().bytes());
        digest.update(ByteBuffer.allocate(2 * Long.BYTES)
                .putLong(entry.facts().sizeBytes())
                .putLong(entry.facts().modifiedNanos())
                .flip());
        return incoming.resolve(HexFormat.of().formatHex(digest.digest(), 0, TEMPORARY_NAME_BYTES));
    }
}
