package dozo.remote;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.remote.SiteCheck.Look;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.IntStream;

/**
 * Finds out which digest methods are right at a site, and which of these is the fastest.
 *
 * @param findings receives what a person should know
 * @param known the digests of the test files; concurrent, empty at first
 */
record DigestProbe(
        Lane lane, Sftp sftp, Look look, ProbeFolder folder, List<String> findings, Map<FilePath, Digest> known) {

    /** The size of the test file that is later overwritten with other content of the same length. */
    private static final int REWRITTEN_BYTES = 65_537;

    private static final int LARGEST_BYTES = 1 << 19;
    private static final int[] SIZES_BYTES = {0, 1, REWRITTEN_BYTES, LARGEST_BYTES};

    private static final int MODE = 0600;

    /** The modification time of test files, before and after a change of content. */
    private static final long MODIFIED_SECONDS = 1_000_000_000;

    /** How often the largest file is digested in one command to measure the rate. */
    private static final int TIMED_REPEATS = 32;

    /**
     * What was chosen.
     *
     * @param bytesPerSecond 0 if it was not measured
     */
    record Choice(RemoteDigest digest, double bytesPerSecond) {}

    /** Returns the writing of the test files, which must be over before the choice. */
    List<Fanout.Try> writes() {
        return IntStream.of(SIZES_BYTES)
                .<Fanout.Try>mapToObj(size -> () -> {
                    FilePath path = folder.file("of " + size);
                    try (RemoteFile file = sftp.create(path)) {
                        fill(file, path, size);
                    }
                })
                .toList();
    }

    private FilePath pathOf(int size) {
        return folder.path().resolve("of " + size);
    }

    private void fill(RemoteFile file, FilePath path, int size) throws RemoteException, InterruptedException {
        byte[] content = ProbeFolder.noise(size);
        file.write(0, content, 0, size);
        file.finish(MODE, MODIFIED_SECONDS, true);
        known.put(path, Digest.ofContent(content));
    }

    /** Returns the fastest of the right methods; for a copy the first one. */
    Choice choice() throws RemoteException, InterruptedException {
        List<RemoteDigest> right = right(
                look.whole()
                        ? List.of(ExecDigest.OPENSSL, ExecDigest.COREUTILS, new CheckFileDigest())
                        : List.of(ExecDigest.OPENSSL));
        if (right.isEmpty() && !look.whole()) {
            right = right(List.of(ExecDigest.COREUTILS, new CheckFileDigest()));
        }
        if (right.isEmpty()) {
            right = right(List.of(ExecDigest.PERL));
        }
        RemoteDigest best = right.isEmpty() ? RemoteDigest.readBack() : right.getFirst();
        if (!look.whole()) {
            // Others may be faster, but finding that out takes longer than many a copy.
            return new Choice(best, 0);
        }
        // Measured after the tests, because the first command has to start a shell and to read programs from the disk.
        double highest = 0;
        for (RemoteDigest way : right) {
            double rate = bytesPerSecond(way, TIMED_REPEATS);
            if (rate > highest) {
                best = way;
                highest = rate;
            }
        }
        if (highest > 0) {
            return new Choice(best, highest);
        }
        return new Choice(RemoteDigest.readBack(), bytesPerSecond(RemoteDigest.readBack(), 1));
    }

    /**
     * Returns those methods whose digests are right, also for a file that was changed without a change of size or time.
     */
    private List<RemoteDigest> right(List<RemoteDigest> ways) throws RemoteException, InterruptedException {
        List<RemoteDigest> right = passing(ways);
        if (!right.isEmpty()) {
            FilePath path = pathOf(REWRITTEN_BYTES);
            try (RemoteFile file = sftp.open(path)) {
                fill(file, path, REWRITTEN_BYTES);
            }
        }
        return passing(right);
    }

    private List<RemoteDigest> passing(List<RemoteDigest> ways) throws RemoteException, InterruptedException {
        List<RemoteDigest> right = new ArrayList<>();
        for (RemoteDigest way : ways) {
            if (isRight(way)) {
                right.add(way);
            }
        }
        return right;
    }

    /** Returns whether the method is right for every size and leaves out a missing file. */
    private boolean isRight(RemoteDigest way) throws RemoteException, InterruptedException {
        List<FilePath> asked = new ArrayList<>(known.keySet());
        asked.add(folder.path().resolve("not there"));
        Optional<Map<FilePath, Digest>> answer = answer(way, asked);
        if (answer.isPresent() && !answer.get().isEmpty() && !answer.get().equals(known)) {
            findings.add("digests by " + way.method() + " at the site are wrong or incomplete, and are not used");
        }
        return answer.isPresent() && answer.get().equals(known);
    }

    /**
     * Returns the digests of these files; empty if the method does not work. A command that does not end in time or
     * prints too much is a finding, too.
     */
    private Optional<Map<FilePath, Digest>> answer(RemoteDigest way, List<FilePath> files)
            throws RemoteException, InterruptedException {
        try {
            return Optional.of(way.with(look.patience()).digests(lane, files, 0));
        } catch (RemoteException e) {
            // NB: after a command that does not end, or prints too much, the lane is still usable.
            if (e.isNoAnswer() && !(lane.isOpen() && way instanceof ExecDigest)) {
                throw e;
            }
            if (e.isNoAnswer()) {
                findings.add("digests by %s at the site are not used: %s".formatted(way.method(), e.getMessage()));
            }
            return Optional.empty();
        }
    }

    /**
     * Returns the rate in bytes per second for the largest file, digested {@code times} times, without the round trip
     * and the start of the command; 0 if the method fails.
     */
    private double bytesPerSecond(RemoteDigest way, int times) throws RemoteException, InterruptedException {
        long startNanos = nanos(way, List.of(pathOf(1))).orElse(0);
        OptionalLong all = nanos(way, Collections.nCopies(times, pathOf(LARGEST_BYTES)));
        // The start may have taken longer the first time.
        return all.isPresent()
                ? 1e9 * LARGEST_BYTES * times / Math.max(all.getAsLong() - startNanos, all.getAsLong() / 4 + 1)
                : 0;
    }

    /** Returns how long the digest of one file, which may be listed several times, takes; empty if it fails. */
    private OptionalLong nanos(RemoteDigest way, List<FilePath> file) throws RemoteException, InterruptedException {
        long before = System.nanoTime();
        Optional<Map<FilePath, Digest>> answer = answer(way, file);
        long nanos = System.nanoTime() - before;
        return answer.isPresent() && answer.get().size() == 1 ? OptionalLong.of(nanos) : OptionalLong.empty();
    }
}
