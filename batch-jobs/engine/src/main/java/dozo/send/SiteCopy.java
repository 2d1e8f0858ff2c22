package dozo.send;

import dozo.file.Digest;
import dozo.file.EntryKind;
import dozo.file.FilePath;

/**
 * The stored copy of an entry.
 *
 * @param name the entry's path below the source's root
 * @param path the place of the copy, below the site's root
 * @param digest the one computed at the site at its last verification: of a file's bytes, of a link's text, of nothing
 *     for a folder
 * @param standing whether it is in the bag
 */
public record SiteCopy(
        int entryNumber,
        EntryKind kind,
        FilePath name,
        FilePath path,
        Digest digest,
        long sizeBytes,
        boolean standing) {

    /** Returns the same copy at another place. */
    SiteCopy at(FilePath place) {
        return new SiteCopy(entryNumber, kind, name, place, digest, sizeBytes, standing);
    }
}
