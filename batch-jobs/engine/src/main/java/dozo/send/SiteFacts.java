package dozo.send;

import dozo.file.Entry;
import dozo.file.EntryKind;

/**
 * The mode and time an entry gets at the site. What the source said is in the manifest; at the site the owner always keeps
 * access, because scrub and restore have to read, and a read-only folder could not take tomorrow's files. SFTP version 3
 * keeps whole seconds, unsigned 32 bits.
 */
record SiteFacts(int mode, long modifiedSeconds) {

    private static final int PERMISSIONS = 0777;
    private static final int FILE_ALWAYS = 0400;
    private static final int FOLDER_ALWAYS = 0700;
    private static final long SECONDS_MAX = 0xFFFF_FFFFL;
    private static final long NANOS = 1_000_000_000L;

    static SiteFacts of(Entry entry) {
        int always = entry.facts().kind() == EntryKind.DIRECTORY ? FOLDER_ALWAYS : FILE_ALWAYS;
        return new SiteFacts(
                always | (entry.facts().mode() & PERMISSIONS),
                Math.clamp(Math.floorDiv(entry.facts().modifiedNanos(), NANOS), 0, SECONDS_MAX));
    }
}
