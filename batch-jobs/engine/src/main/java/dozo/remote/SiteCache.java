package dozo.remote;

import dozo.file.FilePath;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;

/**
 * Drops files from the memory of the site's system, so that the disk answers the next read.
 *
 * <p>The result is checked: {@code fincore} counts the remaining pages. This covers only the page cache of the system
 * that runs there: the caches of a disk, a controller or a hypervisor cannot be inspected. It is not offered if the
 * root is on a file system that keeps content elsewhere (a network's, ZFS, one in memory).
 *
 * @param tool its name: {@code "perl"}, {@code "python3"}, {@code "dd"}
 * @param script drops the files that are its arguments
 */
public record SiteCache(String tool, String script, Patience patience) {

    /** File systems that keep content only in the system's page cache, by their names in {@code stat}. */
    private static final List<String> FILE_SYSTEMS =
            List.of("ext2/ext3", "xfs", "btrfs", "f2fs", "jfs", "bcachefs", "overlayfs");

    /**
     * POSIX_FADV_DONTNEED by its system call number, since perl has no name for it; O_NONBLOCK in case it is no longer
     * a regular file.
     */
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

    /** Starts a process for each file. */
    private static final String DD = """
            for f; do dd if="$f" iflag=nocache count=0 status=none; done
            """;

    /** Tools that may be installed, fastest first; measured in ADR 0027. */
    static final List<SiteCache> CANDIDATES = List.of(
            new SiteCache("perl", PERL, Patience.USUAL),
            new SiteCache("python3", PYTHON, Patience.USUAL),
            new SiteCache("dd", DD, Patience.USUAL));

    /** Prints a line for each file with its pages in memory, and for each command line the number of its files. */
    private static final String PAGES = """
            fincore --noheadings --raw --bytes --output PAGES "$@"
            echo "of $#"
            """;

    /** More than a line with a number takes, and its share of the lines for command lines. */
    private static final int LINE_BYTES = 48;

    /** Returns the same with this patience for commands. */
    public SiteCache with(Patience other) {
        return new SiteCache(tool, script, other);
    }

    /**
     * Drops these files from the site's memory, thousands by one command. Content that is not on the disk yet cannot be
     * dropped; if there is any, the site first syncs its file system.
     *
     * @return whether none of them was in memory afterwards; false if one could not be inspected. Names that are not
     *     regular files (any more) are skipped, but false if there is no regular file at all
     * @param bytes their total size, which may have to be written first
     * @throws RemoteException if the lane is lost, or STUCK
     */
    public boolean drop(Lane lane, List<FilePath> files, long bytes) throws RemoteException, InterruptedException {
        if (files.isEmpty()) {
            return true;
        }
        return isNone(run(lane, "", script + PAGES, files, bytes))
                || isNone(run(lane, "sync -f . && ", script + PAGES, files, bytes));
    }

    /** Returns the first tool that works on this file, which was read or written a moment ago; empty if none does. */
    static Optional<SiteCache> workingOn(Lane lane, FilePath file, Patience patience)
            throws RemoteException, InterruptedException {
        if (!keepsInPageCache(lane, patience)) {
            return Optional.empty();
        }
        for (SiteCache candidate : CANDIDATES) {
            // NB: a file that was not in memory before proves nothing: fincore may not see where its content is kept.
            SiteCache patient = candidate.with(patience);
            if (isSome(patient.run(lane, "", PAGES, List.of(file), 0)) && patient.drop(lane, List.of(file), 0)) {
                return Optional.of(patient);
            }
        }
        return Optional.empty();
    }

    private static boolean keepsInPageCache(Lane lane, Patience patience) throws RemoteException, InterruptedException {
        try {
            CommandResult result = AtRoot.run(lane, "stat -f -c %T .", new byte[0], 0, patience.of(0, 0));
            return FILE_SYSTEMS.contains(result.output().strip());
        } catch (RemoteException e) {
            if (e.reason() == RemoteException.Reason.UNSUPPORTED) {
                return false;
            }
            throw e;
        }
    }

    /** Runs a script with the regular files among these as its arguments, as often as needed for all of them. */
    private List<String> run(Lane lane, String before, String body, List<FilePath> files, long bytes)
            throws RemoteException, InterruptedException {
        ByteArrayOutputStream input = new ByteArrayOutputStream();
        byte[] text = body.getBytes(StandardCharsets.US_ASCII);
        input.writeBytes((text.length + "\n").getBytes(StandardCharsets.US_ASCII));
        input.writeBytes(text);
        input.writeBytes(AtRoot.names(files));
        String command = "IFS= read -r n && body=$(head -c \"$n\") && " + before + AtRoot.FILES_ONLY
                + " | xargs -0 sh -c \"$body\" sh";
        return AtRoot.run(
                        lane, command, input.toByteArray(), files.size() * LINE_BYTES, patience.of(files.size(), bytes))
                .output()
                .lines()
                .toList();
    }

    /** Returns whether every file was inspected and none has a page in memory. */
    private static boolean isNone(List<String> lines) {
        return lookedAt(lines) > 0 && lines.stream().allMatch(line -> line.equals("0") || line.startsWith("of "));
    }

    /** Returns whether every file was inspected and each has a page in memory. */
    private static boolean isSome(List<String> lines) {
        return lookedAt(lines) > 0 && lines.stream().noneMatch("0"::equals);
    }

    /** Returns how many files were inspected; 0 if one could not be. */
    private static int lookedAt(List<String> lines) {
        long pages = lines.stream().filter(line -> line.matches("[0-9]{1,18}")).count();
        long asked = lines.stream()
                .filter(line -> line.matches("of [0-9]{1,9}"))
                .mapToLong(line -> Long.parseLong(line.substring("of ".length())))
                .sum();
        return pages == asked ? (int) pages : 0;
    }
}
