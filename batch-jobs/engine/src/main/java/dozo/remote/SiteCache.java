package dozo.remote;

import dozo.file.FilePath;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * Has the site's system forget what it keeps of files in memory, so that whoever reads them next is answered by the disk.
 *
 * <p>Nothing is believed: {@code fincore} counts the pages that are left. This is about the memory of the system that runs there
 * and no other: a disk's, a controller's or a hypervisor's own memory cannot be asked. Where the root lies on a
 * file system that keeps content elsewhere (a network's, ZFS, one in memory), it is not offered.
 */
public final class SiteCache {

    /** File systems that keep content in the system's page cache and nowhere else, as {@code stat} calls them. */
    private static final List<String> FILE_SYSTEMS =
            List.of("ext2/ext3", "xfs", "btrfs", "f2fs", "jfs", "bcachefs", "overlayfs");

    /** POSIX_FADV_DONTNEED by the system call's number, since perl has no name for it; O_NONBLOCK, for what is no file any more. */
    private static final String PERL = """
            case $(uname -m) in x86_64) n=221;; aarch64) n=223;; *) n=;; esac
            [ -n "$n" ] && perl -e '
                $n = 0 + shift;
                for (@ARGV) { sysopen(F, $_, 2048) and syscall($n, fileno(F), 0, 0, 4) }' $n "$@"
            """;

    private static final String PYTHON = """
            python3 -c '
            import os, sys
            for name in sys.argv[1:]:
                file = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
                os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
                os.close(file)' "$@"
            """;

    /** A process for each file. */
    private static final String DD = """
            for f; do dd if="$f" iflag=nocache count=0 status=none; done
            """;

    /** What may be installed, fastest first; measured in ADR 0027. */
    private static final List<SiteCache> CANDIDATES = List.of(
            new SiteCache("perl", PERL, Patience.USUAL),
            new SiteCache("python3", PYTHON, Patience.USUAL),
            new SiteCache("dd", DD, Patience.USUAL));

    /** A line for each file with its pages in memory; behind those of each command line how many files there were. */
    private static final String PAGES = """
            fincore --noheadings --raw --bytes --output PAGES "$@"
            echo "of $#"
            """;

    private final String tool;
    private final String drop;
    private final Patience patience;

    private SiteCache(String tool, String drop, Patience patience) {
        this.tool = tool;
        this.drop = drop;
        this.patience = patience;
    }

    /** The same, with commands waited for like this. */
    public SiteCache with(Patience other) {
        return new SiteCache(tool, drop, other);
    }

    /** What does it, in words: {@code "perl"}, {@code "python3"}, {@code "dd"}. */
    public String tool() {
        return tool;
    }

    /**
     * Drops these files from the site's memory, thousands by one command. What has not been written to the disk yet cannot be
     * dropped; then all is brought there first.
     *
     * @return whether none of them was in memory afterwards. Not if one could not be looked at; what is no regular file (any more)
     *     is passed over, but if none is, nothing was dropped
     * @param bytes what they hold together, which may have to be written first
     * @throws RemoteException if the lane is lost, or STUCK
     */
    public boolean drop(Lane lane, List<FilePath> files, long bytes) throws RemoteException, InterruptedException {
        if (files.isEmpty()) {
            return true;
        }
        return isNone(run(lane, "", drop + PAGES, files, bytes))
                || isNone(run(lane, "sync -f . && ", drop + PAGES, files, bytes));
    }

    /** That of this name, untried. */
    static SiteCache with(String tool) {
        return CANDIDATES.stream()
                .filter(candidate -> candidate.tool.equals(tool))
                .findFirst()
                .orElseThrow();
    }

    /** The first tool that works on this file, which was read or written a moment ago. Empty: none does. */
    static Optional<SiteCache> workingOn(Lane lane, FilePath file, Patience patience)
            throws RemoteException, InterruptedException {
        if (!keepsInPageCache(lane, patience)) {
            return Optional.empty();
        }
        for (SiteCache candidate : CANDIDATES) {
            // NB: what was not in memory before shows nothing: its content may be kept where fincore does not see it.
            SiteCache patient = candidate.with(patience);
            if (isSome(patient.run(lane, "", PAGES, List.of(file), 0)) && patient.drop(lane, List.of(file), 0)) {
                return Optional.of(patient);
            }
        }
        return Optional.empty();
    }

    private static boolean keepsInPageCache(Lane lane, Patience patience) throws RemoteException, InterruptedException {
        try {
            CommandResult result = AtRoot.run(lane, "stat -f -c %T .", new byte[0], patience.of(0, 0));
            return FILE_SYSTEMS.contains(result.output().strip());
        } catch (RemoteException e) {
            if (e.reason() == RemoteException.Reason.UNSUPPORTED) {
                return false;
            }
            throw e;
        }
    }

    /** Runs a body that has the regular ones of these files as its arguments, as often as it takes for all of them. */
    private List<String> run(Lane lane, String before, String body, List<FilePath> files, long bytes)
            throws RemoteException, InterruptedException {
        ByteArrayOutputStream input = new ByteArrayOutputStream();
        byte[] text = body.getBytes(StandardCharsets.US_ASCII);
        input.writeBytes((text.length + "\n").getBytes(StandardCharsets.US_ASCII));
        input.writeBytes(text);
        input.writeBytes(AtRoot.names(files));
        String command = "IFS= read -r n && body=$(head -c \"$n\") && " + before + AtRoot.FILES_ONLY
                + " | xargs -0 sh -c \"$body\" sh";
        return AtRoot.run(lane, command, input.toByteArray(), patience.of(files.size(), bytes))
                .output()
                .lines()
                .toList();
    }

    /** Whether each file was looked at and none has a page in memory. */
    private static boolean isNone(List<String> lines) {
        return lookedAt(lines) > 0 && lines.stream().allMatch(line -> line.equals("0") || line.startsWith("of "));
    }

    /** Whether each file was looked at and each has a page in memory. */
    private static boolean isSome(List<String> lines) {
        return lookedAt(lines) > 0 && lines.stream().noneMatch("0"::equals);
    }

    /** How many files were looked at; 0 if one could not be. */
    private static int lookedAt(List<String> lines) {
        long pages = lines.stream().filter(line -> line.matches("[0-9]{1,18}")).count();
        long asked = lines.stream()
                .filter(line -> line.matches("of [0-9]{1,9}"))
                .mapToLong(line -> Long.parseLong(line.substring("of ".length())))
                .sum();
        return pages == asked ? (int) pages : 0;
    }
}
