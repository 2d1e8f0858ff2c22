package dozo.source.tree;

import dozo.file.FilePath;
import dozo.source.tree.FolderPattern.Captured;
import org.jspecify.annotations.Nullable;

/**
 * A folder that a pattern claims.
 *
 * @param path below the root; contains no links
 * @param inode its number in its file system; can be reused after the folder is removed
 * @param bornNanos when the folder was created, in nanoseconds since 1970-01-01T00:00Z; null if the file system does
 * not record it
 */
public record FoundFolder(
        FilePath path, long inode, @Nullable Long bornNanos, FolderPattern pattern, Captured captured) {}
