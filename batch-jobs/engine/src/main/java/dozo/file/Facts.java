package dozo.file;

import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a file system reports about a file, folder or link without opening it.
 *
 * @param sizeBytes a file's length; 0 for folders and links
 * @param modifiedNanos nanoseconds since 1970-01-01T00:00Z, negative before; times before 1677 and after 2262 become
 *     the first or last possible one
 * @param changedNanos inode change time in the same unit; {@link #UNKNOWN_NANOS} if unknown, as in a manifest
 * @param mode the nine permission bits and setuid, setgid, sticky (octal 7777)
 * @param hardLink the inode number if the file has other names, otherwise null
 * @param linkTarget a link's text as bytes, otherwise null
 * @param owner null if unknown
 * @param attributes those that are recorded; a walk does not read them
 */
@SuppressWarnings("ArrayRecordComponent") // equals and hashCode below compare the content
public record Facts(
        EntryKind kind,
        long sizeBytes,
        long modifiedNanos,
        long changedNanos,
        int mode,
        @Nullable Long hardLink,
        byte @Nullable [] linkTarget,
        @Nullable Owner owner,
        Attributes attributes) {

    /** The change time if it is unknown. */
    public static final long UNKNOWN_NANOS = Long.MIN_VALUE;

    /**
     * Returns facts from raw {@code stat} values, with meaningless fields cleared: the size of anything but a file, and
     * the inode number of a file without other names.
     */
    public static Facts told(
            EntryKind kind,
            long sizeBytes,
            long modifiedNanos,
            long changedNanos,
            int mode,
            long names,
            long inode,
            byte @Nullable [] linkTarget,
            @Nullable Owner owner) {
        boolean isFile = kind == EntryKind.FILE;
        return new Facts(
                kind,
                isFile ? sizeBytes : 0,
                modifiedNanos,
                changedNanos,
                mode,
                isFile && names > 1 ? inode : null,
                linkTarget,
                owner,
                Attributes.NONE);
    }

    /** Creates facts of an entry with an unknown owner and without attributes. */
    public Facts(
            EntryKind kind,
            long sizeBytes,
            long modifiedNanos,
            long changedNanos,
            int mode,
            @Nullable Long hardLink,
            byte @Nullable [] linkTarget) {
        this(kind, sizeBytes, modifiedNanos, changedNanos, mode, hardLink, linkTarget, null, Attributes.NONE);
    }

    /** Returns the same facts with this owner and these attributes. */
    public Facts with(@Nullable Owner newOwner, Attributes newAttributes) {
        return new Facts(
                kind, sizeBytes, modifiedNanos, changedNanos, mode, hardLink, linkTarget, newOwner, newAttributes);
    }

    public Facts {
        if (sizeBytes < 0 || (kind != EntryKind.FILE && sizeBytes != 0)) {
            throw new IllegalArgumentException("invalid size " + sizeBytes + " for " + kind);
        }
        if ((kind == EntryKind.LINK) != (linkTarget != null)) {
            throw new IllegalArgumentException("expected a target for a link, and none for anything else");
        }
    }

    /** Returns whether two files with these facts have the same content, as far as can be seen without reading them. */
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
                && Objects.equals(hardLink, facts.hardLink)
                && Objects.equals(owner, facts.owner)
                && attributes.equals(facts.attributes);
    }

    @Override
    public int hashCode() {
        return Objects.hash(
                kind,
                sizeBytes,
                modifiedNanos,
                changedNanos,
                mode,
                hardLink,
                Arrays.hashCode(linkTarget),
                owner,
                attributes);
    }
}
