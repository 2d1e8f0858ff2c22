package dozo.send;

import dozo.file.Digest;
import dozo.file.EntryKind;
import dozo.file.FilePath;

/**
 * The copy of an entry.
 *
 * @param name the entry's path below the source's root
 * @param path where the copy lies, below the site's root
 * @param digest what was computed at the site, the last time it was proven: of a file's bytes, of a link's text, of nothing
 *     for a folder
 * @param standing whether it lies in the bag
 */
public record SiteCopy(
        int entryNumber,
        EntryKind kind,
        FilePath name,
        FilePath path,
        Digest digest,
        long sizeBytes,
        boolean standing) {}
