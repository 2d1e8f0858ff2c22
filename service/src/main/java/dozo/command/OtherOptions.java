package dozo.command;

import java.util.Map;
import java.util.Optional;

/** Options of scp and rsync that {@code dozo copy} does not have, each with what does it here. */
final class OtherOptions {

    private static final String NEVER_DELETES = "dozo copy never deletes what the source no longer has";
    private static final String AS_IT_IS = "content is sent as it is; image files are mostly compressed already";
    private static final String LOGIN = "use -i, -P, -J, -o, -F, or ~/.ssh/config";
    private static final String DIGESTS =
            "a file is never taken for equal by its time: what is there is read, and what differs is replaced";
    private static final String ALWAYS_NAMED =
            "a file gets its name only when it is verified, and its parts are found again";
    private static final String NO_OWNERS =
            "a backup by `dozo serve` keeps owners, ACLs, attributes and hard links, dozo copy does not";
    private static final String NO_BACKUP = "an earlier content is replaced; backups by `dozo serve` keep all versions";
    private static final String WHOLE = "a file that differs is always sent whole";
    private static final String LINKS = "links are copied as links; name what they lead to as a SRC of its own";
    private static final String BY_SFTP = "it is always SFTP, with the server's own program";
    private static final String BY_NAME = "leave files out by --exclude, or choose them by --files-from";

    private static final Map<String, String> INSTEAD = Map.ofEntries(
            Map.entry("-4", "give an IPv4 address instead of the host's name"),
            Map.entry("-6", "give an IPv6 address in brackets instead of the host's name"),
            Map.entry("-A", NO_OWNERS),
            Map.entry("-C", AS_IT_IS),
            Map.entry("-D", "devices and sockets are not copied"),
            Map.entry("-E", "modes are always kept"),
            Map.entry("-H", NO_OWNERS),
            Map.entry("-I", DIGESTS),
            Map.entry("-L", LINKS),
            Map.entry("-O", BY_SFTP),
            Map.entry("-R", "give a DST that ends in the folders that are wanted"),
            Map.entry("-S", BY_SFTP),
            Map.entry("-T", "names from a server never lead out of DST"),
            Map.entry("-W", WHOLE),
            Map.entry("-X", NO_OWNERS),
            Map.entry("-b", NO_BACKUP),
            Map.entry("-e", LOGIN),
            Map.entry("-f", BY_NAME),
            Map.entry("-g", NO_OWNERS),
            Map.entry("-k", LINKS),
            Map.entry("-l", "use --limit 800Mbit; links are always copied as links"),
            Map.entry("-s", BY_SFTP),
            Map.entry("-u", DIGESTS),
            Map.entry("-x", "leave other file systems out by --exclude"),
            Map.entry("-z", AS_IT_IS),
            Map.entry("--acls", NO_OWNERS),
            Map.entry("--append", ALWAYS_NAMED),
            Map.entry("--append-verify", ALWAYS_NAMED),
            Map.entry("--backup", NO_BACKUP),
            Map.entry("--compress", AS_IT_IS),
            Map.entry("--copy-links", LINKS),
            Map.entry("--del", NEVER_DELETES),
            Map.entry("--existing", BY_NAME),
            Map.entry("--filter", "use --exclude and --include"),
            Map.entry("--group", NO_OWNERS),
            Map.entry("--hard-links", NO_OWNERS),
            Map.entry("--human-readable", "sizes are always written for people; --json has exact numbers"),
            Map.entry("--ignore-existing", BY_NAME),
            Map.entry("--ignore-times", DIGESTS),
            Map.entry("--info", "use --progress or --json"),
            Map.entry("--inplace", ALWAYS_NAMED),
            Map.entry("--itemize-changes", "use --progress"),
            Map.entry("--link-dest", "backups by `dozo serve` keep all versions, and each content once"),
            Map.entry("--log-file", "use --progress, and 2> FILE"),
            Map.entry("--max-size", BY_NAME),
            Map.entry("--min-size", BY_NAME),
            Map.entry("--numeric-ids", NO_OWNERS),
            Map.entry("--one-file-system", "leave other file systems out by --exclude"),
            Map.entry("--owner", NO_OWNERS),
            Map.entry("--port", "use -P"),
            Map.entry("--relative", "give a DST that ends in the folders that are wanted"),
            Map.entry("--remove-source-files", "dozo copy never deletes a source"),
            Map.entry("--rsh", LOGIN),
            Map.entry("--rsync-path", BY_SFTP),
            Map.entry("--size-only", DIGESTS),
            Map.entry("--stats", "use --json"),
            Map.entry("--timeout", "a dead link is noticed within 30 s, and a lost connection is opened again"),
            Map.entry("--update", DIGESTS),
            Map.entry("--whole-file", WHOLE),
            Map.entry("--xattrs", NO_OWNERS));

    private OtherOptions() {}

    /** Returns what to do instead of this option; empty: neither scp nor rsync has it, or nobody needs it. */
    static Optional<String> instead(String option) {
        return Optional.ofNullable(option.startsWith("--delete") ? NEVER_DELETES : INSTEAD.get(option));
    }
}
