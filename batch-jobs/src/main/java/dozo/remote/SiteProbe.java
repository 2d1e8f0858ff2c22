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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/** Tries out, in a folder of its own that it removes again, what a site can do. */
final class SiteProbe {

    /** What the name of the folder begins with. */
    static final String FOLDER = "probe-";

    private static final int[] SIZES_BYTES = {0, 1, 65_537, 1 << 20};

    /** The largest is digested so often in one go to see how fast that is. */
    private static final int TIMED_REPEATS = 16;

    /** Of the file that is to be dropped from the site's memory. */
    private static final int CACHED_BYTES = 1 << 17;

    private static final Duration CLOCK_OFF_MAX = Duration.ofSeconds(60);

    /** No text in UTF-8, Shift-JIS or EUC-JP. */
    private static final byte[] ODD_NAME = {'o', 'd', 'd', ' ', (byte) 0xFF, (byte) 0x80, '\n'};

    private final Lane lane;
    private final Sftp sftp;
    private final InstantSource clock;
    private final boolean tryCache;
    private final List<String> findings;
    private final FilePath folder;
    private final List<FilePath> made = new CopyOnWriteArrayList<>();

    private boolean writable;
    private boolean renameKeeps;
    private boolean namesAreBytes;
    private RemoteDigest digest = RemoteDigest.readBack();
    private Optional<SiteCache> cache = Optional.empty();
    private Optional<Duration> clockAhead = Optional.empty();

    SiteProbe(Lane lane, FilePath below, InstantSource clock, boolean tryCache, List<String> findings) {
        this.lane = lane;
        this.folder = below.resolve(FOLDER + UUID.randomUUID());
        this.sftp = lane.sftp();
        this.clock = clock;
        this.tryCache = tryCache;
        this.findings = findings;
    }

    /** Over a long way each answer takes its time, so whatever does not wait for another thing is tried at once. */
    void run() throws RemoteException, InterruptedException {
        try {
            sftp.mkdirs(folder);
            Map<FilePath, Digest> known = new ConcurrentHashMap<>();
            List<Try> writes = new ArrayList<>();
            for (int size : SIZES_BYTES) {
                byte[] content = new byte[size];
                new Random(size).nextBytes(content);
                writes.add(() -> known.put(write(nameOf(size), content), Digest.ofContent(content)));
            }
            together(writes);
            writable = true;
            together(List.of(
                    () -> digest = fastestRight(known),
                    this::tryClock,
                    this::tryRename,
                    this::tryNames,
                    this::tryCache));
        } catch (RemoteException e) {
            if (endsTheLook(e)) {
                throw e;
            }
            findings.add((writable ? "not all could be tried: " : "we cannot write there: ") + e.getMessage());
        } finally {
            sweep();
        }
    }

    private interface Try {
        void run() throws RemoteException, InterruptedException;
    }

    /** Does all of it at the same time; the first failure, if any, when all is over. */
    private static void together(List<Try> tries) throws RemoteException, InterruptedException {
        List<Future<?>> running = new ArrayList<>();
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            for (Try each : tries) {
                running.add(threads.submit(() -> {
                    each.run();
                    return null;
                }));
            }
        }
        for (Future<?> over : running) {
            RemoteException.join(over);
        }
        if (Thread.interrupted()) {
            throw new InterruptedException("stopped while looking at a site");
        }
    }

    private FilePath nameOf(int size) {
        return folder.resolve(("of " + size).getBytes(StandardCharsets.US_ASCII));
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

    RemoteDigest digest() {
        return digest;
    }

    Optional<SiteCache> cache() {
        return cache;
    }

    Optional<Duration> clockAhead() {
        return clockAhead;
    }

    private FilePath write(byte[] name, byte[] content) throws RemoteException, InterruptedException {
        return write(folder.resolve(name), content);
    }

    private FilePath write(FilePath path, byte[] content) throws RemoteException, InterruptedException {
        try (RemoteFile file = sftp.create(path)) {
            made.add(path);
            file.write(0, content, 0, content.length);
            file.finish(true);
        }
        return path;
    }

    private RemoteDigest fastestRight(Map<FilePath, Digest> known) throws RemoteException, InterruptedException {
        List<RemoteDigest> right = new ArrayList<>();
        for (RemoteDigest way : List.of(ExecDigest.OPENSSL, ExecDigest.COREUTILS, new CheckFileDigest())) {
            if (isRight(way, known)) {
                right.add(way);
            }
        }
        if (right.isEmpty()) {
            return isRight(ExecDigest.PERL, known) ? ExecDigest.PERL : RemoteDigest.readBack();
        }
        // Only now, as the first time has to start a shell and to read programs from the disk.
        RemoteDigest best = right.getFirst();
        long bestNanos = right.size() == 1 ? 0 : nanos(best);
        for (RemoteDigest way : right.subList(1, right.size())) {
            long nanos = nanos(way);
            if (nanos < bestNanos) {
                best = way;
                bestNanos = nanos;
            }
        }
        return best;
    }

    /** Whether it is right for every size, and silent about what is not there. */
    private boolean isRight(RemoteDigest way, Map<FilePath, Digest> known)
            throws RemoteException, InterruptedException {
        List<FilePath> asked = new ArrayList<>(known.keySet());
        asked.add(folder.resolve("not there"));
        try {
            Map<FilePath, Digest> answer = way.digests(lane, asked);
            if (!answer.equals(known) && !answer.isEmpty()) {
                findings.add("digests by " + way.method() + " are wrong or incomplete there, and are not used");
            }
            return answer.equals(known);
        } catch (RemoteException e) {
            if (endsTheLook(e)) {
                throw e;
            }
            return false;
        }
    }

    /** How long it takes for the largest file, many times. */
    private long nanos(RemoteDigest way) throws RemoteException, InterruptedException {
        FilePath largest = nameOf(SIZES_BYTES[SIZES_BYTES.length - 1]);
        long before = System.nanoTime();
        var _ = way.digests(lane, Collections.nCopies(TIMED_REPEATS, largest));
        return System.nanoTime() - before;
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

    /** With a file of its own, that nobody else reads meanwhile. */
    private void tryCache() throws RemoteException, InterruptedException {
        if (!tryCache) {
            return;
        }
        FilePath file = write(new byte[] {'m'}, new byte[CACHED_BYTES]);
        try {
            cache = SiteCache.workingOn(lane, file);
        } catch (RemoteException e) {
            if (endsTheLook(e)) {
                throw e;
            }
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
            List<Try> removals = new ArrayList<>();
            made.forEach(path -> removals.add(() -> remove(path)));
            together(removals);
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
