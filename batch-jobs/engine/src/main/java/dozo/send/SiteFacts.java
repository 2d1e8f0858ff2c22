package dozo.send;

import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.remote.Lane;
import dozo.remote.RemoteException;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFacts.Kind;
import org.jspecify.annotations.Nullable;

/**
 * The mode and time of an entry at the site. The manifest has those of the source; at the site the owner always keeps
 * access, because scrub and restore must read, and new files could not be added to a read-only folder. SFTP version 3
 * stores whole seconds in unsigned 32 bits.
 */
public record SiteFacts(int mode, long modifiedSeconds) {

    private static final int MODE = 07777;
    private static final int PERMISSIONS = 0777;
    private static final int FILE_ALWAYS = 0400;
    private static final int FOLDER_ALWAYS = 0700;
    private static final long SECONDS_MAX = 0xFFFF_FFFFL;
    private static final long NANOS = 1_000_000_000L;

    /** Returns whether a file or folder has its mode at the site. */
    public static boolean keepsMode(Entry entry) {
        return of(entry).mode == (entry.facts().mode() & MODE);
    }

    /** Returns whether a file or folder has its time at the site, in whole seconds. */
    public static boolean keepsTime(Entry entry) {
        return of(entry).modifiedSeconds == Math.floorDiv(entry.facts().modifiedNanos(), NANOS);
    }

    /** Returns the kind that an entry of this kind has at a site. */
    public static Kind kind(EntryKind kind) {
        return switch (kind) {
            case FILE -> Kind.FILE;
            case DIRECTORY -> Kind.DIRECTORY;
            case LINK -> Kind.LINK;
        };
    }

    /**
     * Returns the facts of what is at a site and to be copied from there.
     *
     * @param linkTarget the text of a link, otherwise null
     */
    public static Facts ofSource(RemoteFacts there, byte @Nullable [] linkTarget) {
        EntryKind kind = switch (there.kind()) {
            case FILE -> EntryKind.FILE;
            case DIRECTORY -> EntryKind.DIRECTORY;
            case LINK -> EntryKind.LINK;
            case OTHER -> throw new IllegalArgumentException("no entry: " + there);
        };
        return Facts.told(
                kind,
                there.sizeBytes(),
                there.modifiedSeconds() * NANOS,
                Facts.UNKNOWN_NANOS,
                there.mode(),
                1,
                0,
                linkTarget,
                null);
    }

    /** Returns whether a file at the site has these. */
    boolean areOf(RemoteFacts file) {
        return file.kind() == Kind.FILE && file.mode() == mode && file.modifiedSeconds() == modifiedSeconds;
    }

    /** Sets these on a file or folder. */
    void set(Lane lane, FilePath name) throws RemoteException, InterruptedException {
        lane.sftp().setFacts(name, mode, modifiedSeconds);
    }

    static SiteFacts of(Entry entry) {
        int always = entry.facts().kind() == EntryKind.DIRECTORY ? FOLDER_ALWAYS : FILE_ALWAYS;
        return new SiteFacts(
                always | (entry.facts().mode() & PERMISSIONS),
                Math.clamp(Math.floorDiv(entry.facts().modifiedNanos(), NANOS), 0, SECONDS_MAX));
    }
}
