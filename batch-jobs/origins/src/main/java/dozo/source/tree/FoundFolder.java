package dozo.source.tree;

import dozo.file.FilePath;
import dozo.source.tree.FolderPattern.Captured;
import org.jspecify.annotations.Nullable;

/**
 * A folder that a pattern claims.
 *
 * @param path below the root; no link is on the way
 * @param inode its number in its file system; another folder may have it when this one is gone
 * @param bornNanos when the folder was made, in nanoseconds since 1970-01-01T00:00Z; null: the file system does not tell
 */
public record FoundFolder(
        FilePath path, long inode, @Nullable Long bornNanos, FolderPattern pattern, Captured captured) {}
