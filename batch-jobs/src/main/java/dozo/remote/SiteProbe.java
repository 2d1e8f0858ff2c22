package dozo.remote;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.remote.RemoteException.Reason;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;

/** Tries out, in a folder of its own that it removes again, what a site can do. */
final class SiteProbe {

    private static final int[] SIZES_BYTES = {0, 1, 65_537, 1 << 20};

    /** The largest is digested so often in one go to see how fast that is. */
    private static final int TIMED_REPEATS = 16;

    private static final Duration CLOCK_OFF_MAX = Duration.ofSeconds(60);

    /** No text in UTF-8, Shift-JIS or EUC-JP. */
    private static final byte[] ODD_NAME = {'o', 'd', 'd', ' ', (byte) 0xFF, (byte) 0x80, '\n'};

    private final Lane lane;
    private final Sftp sftp;
    private final InstantSource clock;
    private final List<String> findings;
    private final FilePath folder;
    private final List<FilePath> made = new ArrayList<>();

    private boolean writable;
    private boolean renameKeeps;
    private boolean namesAreBytes;
    private boolean syncsAtOnce;
    private RemoteDigest digest = RemoteDigest.readBack();
    private Optional<Duration> clockAhead = Optional.empty();

    SiteProbe(Lane lane, FilePath below, InstantSource clock, List<String> findings) {
        this.lane = lane;
        this.folder = below.resolve("probe-" + UUID.randomUUID());
        this.sftp = lane.sftp();
        this.clock = clock;
        this.findings = findings;
    }

    void run() throws RemoteException, InterruptedException {
        try {
            sftp.mkdirs(folder);
            Map<FilePath, Digest> known = new LinkedHashMap<>();
            for (int size : SIZES_BYTES) {
                byte[] content = new byte[size];
                new Random(size).nextBytes(content);
                known.put(
                        write(("of " + size).getBytes(StandardCharsets.US_ASCII), content), Digest.ofContent(content));
            }
            writable = true;
            digest = fastestRight(known);
            syncsAtOnce = SiteSync.offeredBy(lane);
            tryClock();
            tryRename();
            tryNames();
        } catch (RemoteException e) {
            if (endsTheLook(e)) {
                throw e;
            }
            findings.add((writable ? "not all could be tried: " : "we cannot write there: ") + e.getMessage());
        } finally {
            sweep();
        }
    }

    boolean writable() {
        return writable;
    }

    boolean renameKeeps() {
        return renameKeeps;
    }

    boolean namesAreBytes() {
        return namesAreBytes;
    }

    boolean syncsAtOnce() {
        return syncsAtOnce;
    }

    RemoteDigest digest() {
        return digest;
    }

    Optional<Duration> clockAhead() {
        return clockAhead;
    }

    private FilePath write(byte[] name, byte[] content) throws RemoteException, InterruptedException {
        FilePath path = folder.resolve(name);
        try (RemoteFile file = sftp.create(path)) {
            made.add(path);
            file.write(0, content, 0, content.length);
            file.finish(true);
        }
        return path;
    }

    private RemoteDigest fastestRight(Map<FilePath, Digest> known) throws RemoteException, InterruptedException {
        RemoteDigest best = RemoteDigest.readBack();
        long bestNanos = Long.MAX_VALUE;
        for (RemoteDigest way : List.of(ExecDigest.OPENSSL, ExecDigest.COREUTILS, new CheckFileDigest())) {
            long nanos = nanosIfRight(way, known);
            if (nanos < bestNanos) {
                best = way;
                bestNanos = nanos;
            }
        }
        // Starting Perl takes longer than the others need for all of it, so it is only asked where there is no other.
        boolean none = bestNanos == Long.MAX_VALUE;
        return none && nanosIfRight(ExecDigest.PERL, known) < Long.MAX_VALUE ? ExecDigest.PERL : best;
    }

    /** How long it took to be right for every size, and silent about what is not there; the longest time if it was not. */
    private long nanosIfRight(RemoteDigest way, Map<FilePath, Digest> known)
            throws RemoteException, InterruptedException {
        List<FilePath> asked = new ArrayList<>(known.keySet());
        asked.add(folder.resolve("not there"));
        asked.addAll(
                Collections.nCopies(TIMED_REPEATS, List.copyOf(known.keySet()).getLast()));
        long before = System.nanoTime();
        try {
            Map<FilePath, Digest> answer = way.digests(lane, asked);
            long nanos = System.nanoTime() - before;
            if (answer.equals(known)) {
                return nanos;
            }
            if (!answer.isEmpty()) {
                findings.add("digests by " + way.method() + " are wrong or incomplete there, and are not used");
            }
        } catch (RemoteException e) {
            if (endsTheLook(e)) {
                throw e;
            }
        }
        return Long.MAX_VALUE;
    }

    private void tryClock() throws RemoteException, InterruptedException {
        FilePath fresh = write(new byte[] {'c'}, new byte[1]);
        long here = clock.instant().getEpochSecond();
        long there = sftp.lstat(fresh).map(RemoteFacts::modifiedSeconds).orElse(here);
        Duration ahead = Duration.ofSeconds(there - here);
        clockAhead = Optional.of(ahead);
        if (ahead.abs().compareTo(CLOCK_OFF_MAX) > 0) {
            findings.add("the site's clock is off by " + ahead.abs().toSeconds() + " s");
        }
    }

    private void tryRename() throws RemoteException, InterruptedException {
        FilePath from = write(new byte[] {'f'}, new byte[] {1});
        FilePath to = write(new byte[] {'t'}, new byte[] {2, 2});
        try {
            sftp.rename(from, to);
        } catch (RemoteException e) {
            if (endsTheLook(e)) {
                throw e;
            }
            renameKeeps = sftp.lstat(to).map(RemoteFacts::sizeBytes).orElse(0L) == 2;
        }
        if (!renameKeeps) {
            findings.add("a rename there replaces files: the site cannot be written to safely");
        }
    }

    private void tryNames() throws RemoteException, InterruptedException {
        try {
            FilePath odd = write(ODD_NAME, new byte[0]);
            List<FilePath> seen = new ArrayList<>();
            sftp.list(folder, (path, facts) -> seen.add(path));
            namesAreBytes = seen.contains(odd);
        } catch (RemoteException e) {
            if (endsTheLook(e)) {
                throw e;
            }
        } catch (IOException e) {
            throw new IllegalStateException("nothing else throws here", e);
        }
        if (!namesAreBytes) {
            findings.add("the site does not keep every name byte for byte");
        }
    }

    private void remove(FilePath path) throws RemoteException, InterruptedException {
        try {
            sftp.remove(path);
        } catch (RemoteException e) {
            if (e.reason() != Reason.NO_SUCH_FILE) {
                throw e;
            }
        }
    }

    private void sweep() throws RemoteException, InterruptedException {
        try {
            for (FilePath path : made) {
                remove(path);
            }
            sftp.rmdir(folder);
        } catch (RemoteException e) {
            if (endsTheLook(e)) {
                throw e;
            }
            if (writable) {
                findings.add("our probe could not be removed: " + e.getMessage());
            }
        }
    }

    private static boolean endsTheLook(RemoteException e) {
        return e.retryable() || e.reason() == Reason.PROTOCOL;
    }
}
