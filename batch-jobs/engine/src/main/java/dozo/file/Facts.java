package dozo.file;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a file system says of one file, folder or link without opening it.
 *
 * @param sizeBytes a file's length; 0 for folders and links
 * @param modifiedNanos nanoseconds since 1970-01-01T00:00Z, negative before; before 1677 and after 2262 the first or last that
 *     there is
 * @param changedNanos inode change time in the same unit; {@link #UNKNOWN_NANOS} where nobody looked, as in a manifest
 * @param mode the nine permission bits and setuid, setgid, sticky (octal 7777)
 * @param hardLink the inode number where the file has other names, else null
 * @param linkTarget a link's text as bytes, else null
 */
@SuppressWarnings("ArrayRecordComponent") // equals and hashCode below look at the content
public record Facts(
        EntryKind kind,
        long sizeBytes,
        long modifiedNanos,
        long changedNanos,
        int mode,
        @Nullable Long hardLink,
        byte @Nullable [] linkTarget) {

    /** No time: of what was not looked at. */
    public static final long UNKNOWN_NANOS = Long.MIN_VALUE;

    /**
     * What a file system tells of a thing, without what says nothing: the size of what is no file, the number of one that has no
     * other name.
     */
    public static Facts told(
            EntryKind kind,
            long sizeBytes,
            long modifiedNanos,
            long changedNanos,
            int mode,
            long names,
            long inode,
            byte @Nullable [] linkTarget) {
        boolean isFile = kind == EntryKind.FILE;
        return new Facts(
                kind,
                isFile ? sizeBytes : 0,
                modifiedNanos,
                changedNanos,
                mode,
                isFile && names > 1 ? inode : null,
                linkTarget);
    }

    public Facts {
        if (sizeBytes < 0 || (kind != EntryKind.FILE && sizeBytes != 0)) {
            throw new IllegalArgumentException("a size of " + sizeBytes + " for a " + kind);
        }
        if ((kind == EntryKind.LINK) != (linkTarget != null)) {
            throw new IllegalArgumentException("a link has a target, and nothing else has");
        }
    }

    /** Whether a file with these facts has, as far as can be told without reading it, the content of one with those. */
    public boolean sameContentAs(Facts other) {
        return kind == other.kind
                && sizeBytes == other.sizeBytes
                && modifiedNanos == other.modifiedNanos
                && Arrays.equals(linkTarget, other.linkTarget);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof Facts facts
                && sameContentAs(facts)
                && changedNanos == facts.changedNanos
                && mode == facts.mode
                && Objects.equals(hardLink, facts.hardLink);
    }

    @Override
    public int hashCode() {
        return Objects.hash(kind, sizeBytes, modifiedNanos, changedNanos, mode, hardLink, Arrays.hashCode(linkTarget));
    }
}
