package dozo.remote;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.remote.RemoteException.Reason;
import dozo.remote.SiteCheck.Look;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;

/** Tests what a site can do, in a temporary folder of its own. */
final class SiteProbe {

    private static final SecureRandom RANDOM = new SecureRandom();

    /** The size of the test file that is later overwritten with other content of the same length. */
    private static final int REWRITTEN_BYTES = 65_537;

    private static final int[] SIZES_BYTES = {0, 1, REWRITTEN_BYTES, 1 << 19};

    private static final int MODE = 0600;
    private static final int LINKED_MODE = 0640;

    /** The modification time of test files, before and after a change of content. */
    private static final long MODIFIED_SECONDS = 1_000_000_000;

    /** How often the largest file is digested in one command to measure the rate. */
    private static final int TIMED_REPEATS = 32;

    /** The size of the file that is to be dropped from the site's memory. */
    private static final int CACHED_BYTES = 1 << 17;

    /** A busy system may drop the file before the count, or keep it just then, so one try shows little. */
    private static final int CACHE_TRIES = 3;

    private static final Duration CLOCK_OFF_MAX = Duration.ofSeconds(60);

    /** The version of the guard of a hardened site that this program knows (docs/site/dozo-guard.py). */
    private static final String GUARD = "guard-1@dozo";

    private static final Pattern GUARDS = Pattern.compile("guard-[0-9]+@dozo");

    /** Not valid in UTF-8, Shift-JIS or EUC-JP. */
    private static final byte[] ODD_NAME = {'o', 'd', 'd', ' ', (byte) 0xFF, (byte) 0x80, '\n'};

    private static final String UPPER_CASE = "Case";
    private static final String COMPOSED = "\u00e9";
    private static final String UNPACKED = "tar";
    private static final String UNPACKED_NEW = UNPACKED + "/new";

    private final Lane lane;
    private final Sftp sftp;
    private final Look look;
    private final List<String> findings;
    private final SiteCheck.Early early;
    private final FilePath folder;
    private final List<FilePath> made = new CopyOnWriteArrayList<>();

    /** The folders created, children before parents. */
    private final List<FilePath> folders;

    private boolean writable;
    private boolean renameKeeps;
    private boolean namesAreBytes;
    private boolean foldsNames = true;
    private boolean unpacksTar;
    private boolean linksFiles;
    private RemoteDigest digest = RemoteDigest.readBack();
    private double digestBytesPerSecond;
    private Optional<SiteCache> cache = Optional.empty();
    private Optional<Duration> clockAhead = Optional.empty();
    private KeyPowers keyPowers = KeyPowers.UNKNOWN;

    SiteProbe(Lane lane, Look look, List<String> findings, SiteCheck.Early early) {
        this.lane = lane;
        this.early = early;
        this.look = look;
        this.folder = look.folder().resolve(SiteCheck.scratchName("probe-"));
        this.folders = List.of(
                folder.resolve(UNPACKED_NEW),
                folder.resolve(UNPACKED),
                folder.resolve(UPPER_CASE),
                folder.resolve(COMPOSED),
                folder);
        this.sftp = lane.sftp();
        this.findings = findings;
    }

    /** Runs all tests. Over a long distance each answer takes a while, so independent tests run at the same time. */
    void run() throws RemoteException, InterruptedException {
        sftp.extensions().stream()
                .filter(GUARDS.asMatchPredicate())
                .filter(guard -> !guard.equals(GUARD))
                .forEach(guard -> findings.add(
                        "the site's guard has version %s, expected %s; install the dozo-guard.py of this Dozo there"
                                .formatted(guard, GUARD)));
        try {
            sftp.mkdirs(folder);
            Map<FilePath, Digest> known = new ConcurrentHashMap<>();
            List<Try> writes = new ArrayList<>(List.of(this::tryFolding));
            for (int size : SIZES_BYTES) {
                byte[] content = noise(size);
                writes.add(() -> {
                    try (RemoteFile file = create(nameOf(size))) {
                        file.write(0, content, 0, size);
                        file.finish(MODE, MODIFIED_SECONDS, true);
                    }
                    known.put(nameOf(size), Digest.ofContent(content));
                });
            }
            together(writes);
            writable = true;
            List<Try> tries =
                    new ArrayList<>(List.of(() -> tryDigests(known), this::tryRename, this::tryNames, this::tryTar));
            if (look.whole()) {
                tries.addAll(List.of(this::tryClock, this::tryCache, this::tryKey, this::tryHardLinks));
            }
            together(tries);
        } catch (RemoteException e) {
            if (endsTheLook(e)) {
                throw e;
            }
            findings.add(
                    (writable ? "not everything could be tested: " : "cannot write below the root: ") + e.getMessage());
        } finally {
            early.foldsNames().complete(foldsNames);
            early.unpacksTar().complete(unpacksTar);
            sweep();
        }
    }

    private interface Try {
        void run() throws RemoteException, InterruptedException;
    }

    /** Runs all of them at the same time. Throws the first failure, if any, after all have ended. */
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
            throw new InterruptedException("interrupted during a site check");
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

    boolean foldsNames() {
        return foldsNames;
    }

    boolean unpacksTar() {
        return unpacksTar;
    }

    boolean linksFiles() {
        return linksFiles;
    }

    RemoteDigest digest() {
        return digest;
    }

    double digestBytesPerSecond() {
        return digestBytesPerSecond;
    }

    Optional<SiteCache> cache() {
        return cache;
    }

    Optional<Duration> clockAhead() {
        return clockAhead;
    }

    KeyPowers keyPowers() {
        return keyPowers;
    }

    private FilePath write(byte[] name, byte[] content) throws RemoteException, InterruptedException {
        return write(folder.resolve(name), content);
    }

    private FilePath write(FilePath path, byte[] content) throws RemoteException, InterruptedException {
        try (RemoteFile file = create(path)) {
            file.write(0, content, 0, content.length);
            file.finish(true);
        }
        return path;
    }

    private RemoteFile create(FilePath path) throws RemoteException, InterruptedException {
        made.add(path);
        return sftp.create(path);
    }

    private void tryDigests(Map<FilePath, Digest> known) throws RemoteException, InterruptedException {
        List<RemoteDigest> right = look.whole()
                ? right(List.of(ExecDigest.OPENSSL, ExecDigest.COREUTILS, new CheckFileDigest()), known)
                : firstRight(known);
        if (right.isEmpty()) {
            right = right(List.of(ExecDigest.PERL), known);
        }
        if (!look.whole()) {
            // Others may be faster, but finding that out takes longer than many a copy.
            digest = right.isEmpty() ? digest : right.getFirst();
            early.digest().complete(digest);
            return;
        }
        // Measured after the tests, because the first command has to start a shell and to read programs from the disk.
        double best = 0;
        for (RemoteDigest way : right) {
            double rate = bytesPerSecond(way, TIMED_REPEATS);
            if (rate > best) {
                digest = way;
                best = rate;
            }
        }
        digestBytesPerSecond = best > 0 ? best : bytesPerSecond(digest, 1);
    }

    private List<RemoteDigest> firstRight(Map<FilePath, Digest> known) throws RemoteException, InterruptedException {
        List<RemoteDigest> commands = right(List.of(ExecDigest.OPENSSL), known);
        return commands.isEmpty() ? right(List.of(ExecDigest.COREUTILS, new CheckFileDigest()), known) : commands;
    }

    /**
     * Returns those methods whose digests are right, also for a file that was changed without a change of size or time.
     */
    private List<RemoteDigest> right(List<RemoteDigest> ways, Map<FilePath, Digest> known)
            throws RemoteException, InterruptedException {
        List<RemoteDigest> right = new ArrayList<>();
        for (RemoteDigest way : ways) {
            if (isRight(way, known)) {
                right.add(way);
            }
        }
        if (!right.isEmpty()) {
            FilePath file = nameOf(REWRITTEN_BYTES);
            known.put(file, Digest.ofContent(rewrite(file)));
        }
        List<RemoteDigest> still = new ArrayList<>();
        for (RemoteDigest way : right) {
            if (isRight(way, known)) {
                still.add(way);
            }
        }
        return still;
    }

    private byte[] rewrite(FilePath path) throws RemoteException, InterruptedException {
        byte[] content = noise(REWRITTEN_BYTES);
        try (RemoteFile file = sftp.open(path)) {
            file.write(0, content, 0, content.length);
            file.finish(MODE, MODIFIED_SECONDS, true);
        }
        return content;
    }

    /** Returns unpredictable content, so that an earlier answer cannot be right again. */
    private static byte[] noise(int bytes) {
        byte[] noise = new byte[bytes];
        new SplittableRandom(RANDOM.nextLong()).nextBytes(noise);
        return noise;
    }

    /** Returns whether the method is right for every size and leaves out a missing file. */
    private boolean isRight(RemoteDigest way, Map<FilePath, Digest> known)
            throws RemoteException, InterruptedException {
        List<FilePath> asked = new ArrayList<>(known.keySet());
        asked.add(folder.resolve("not there"));
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
            if (endsTheLook(e) && !(lane.isOpen() && way instanceof ExecDigest)) {
                throw e;
            }
            if (endsTheLook(e)) {
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
        int bytes = SIZES_BYTES[SIZES_BYTES.length - 1];
        long startNanos = nanos(way, List.of(nameOf(SIZES_BYTES[1]))).orElse(0);
        OptionalLong all = nanos(way, Collections.nCopies(times, nameOf(bytes)));
        // The start may have taken longer the first time.
        return all.isPresent()
                ? 1e9 * bytes * times / Math.max(all.getAsLong() - startNanos, all.getAsLong() / 4 + 1)
                : 0;
    }

    /** Returns how long the digest of one file, which may be listed several times, takes; empty if it fails. */
    private OptionalLong nanos(RemoteDigest way, List<FilePath> file) throws RemoteException, InterruptedException {
        long before = System.nanoTime();
        Optional<Map<FilePath, Digest>> answer = answer(way, file);
        long nanos = System.nanoTime() - before;
        return answer.isPresent() && answer.get().size() == 1 ? OptionalLong.of(nanos) : OptionalLong.empty();
    }

    private void tryClock() throws RemoteException, InterruptedException {
        FilePath fresh = write(new byte[] {'c'}, new byte[1]);
        long here = look.clock().instant().getEpochSecond();
        long there = sftp.lstat(fresh).map(RemoteFacts::modifiedSeconds).orElse(here);
        Duration ahead = Duration.ofSeconds(there - here);
        clockAhead = Optional.of(ahead);
        if (ahead.abs().compareTo(CLOCK_OFF_MAX) > 0) {
            findings.add("the site's clock is off by " + ahead.abs().toSeconds() + " s");
        }
    }

    /** Uses files of its own, which nobody else reads meanwhile. */
    private void tryCache() throws RemoteException, InterruptedException {
        for (int i = 0; cache.isEmpty() && i < CACHE_TRIES; i++) {
            FilePath file = write(new byte[] {'m', (byte) ('0' + i)}, new byte[CACHED_BYTES]);
            try {
                cache = SiteCache.workingOn(lane, file, look.patience());
            } catch (RemoteException e) {
                if (endsTheLook(e) && !lane.isOpen()) {
                    throw e;
                }
                return;
            }
        }
    }

    private void tryKey() throws RemoteException, InterruptedException {
        FilePath first = write(new byte[] {'k'}, KeyProbe.content());
        FilePath second = write(new byte[] {'l'}, KeyProbe.content());
        keyPowers = new KeyProbe(lane).run(first, second);
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
            findings.add("a rename at the site replaces existing files; nothing can be stored there safely");
        }
    }

    /**
     * Tests whether a file can get another name, also shows there what is changed under the first, and whether that name
     * is refused if it is in use. A failure is not a finding: each name's content is sent then.
     */
    private void tryHardLinks() throws RemoteException, InterruptedException {
        if (!sftp.linksFiles()) {
            return;
        }
        if (sftp.extensions().stream().anyMatch(GUARDS.asMatchPredicate())) {
            // It links no temporary files, and its renames work by links: without them, nothing could be stored.
            linksFiles = true;
            return;
        }
        FilePath file = write(new byte[] {'h'}, new byte[] {1, 2, 3});
        FilePath name = folder.resolve(new byte[] {'i'});
        FilePath other = write(new byte[] {'j'}, new byte[] {4});
        made.add(name);
        try {
            sftp.hardLink(file, name);
            sftp.setFacts(file, LINKED_MODE, MODIFIED_SECONDS);
            boolean same = sftp.lstat(name)
                    .filter(there -> there.sizeBytes() == 3
                            && there.mode() == LINKED_MODE
                            && there.modifiedSeconds() == MODIFIED_SECONDS)
                    .isPresent();
            linksFiles = same && isRefused(() -> sftp.hardLink(file, other));
        } catch (RemoteException e) {
            if (endsTheLook(e)) {
                throw e;
            }
        }
    }

    private static boolean isRefused(Try request) throws RemoteException, InterruptedException {
        try {
            request.run();
            return false;
        } catch (RemoteException e) {
            return e.reason() == Reason.EXISTS;
        }
    }

    private void tryNames() throws RemoteException, InterruptedException {
        try {
            FilePath odd = write(ODD_NAME, new byte[0]);
            List<FilePath> seen = new ArrayList<>();
            sftp.listToKeep(folder, (path, facts) -> seen.add(path));
            namesAreBytes = seen.contains(odd);
        } catch (RemoteException e) {
            if (endsTheLook(e)) {
                throw e;
            }
        }
        if (!namesAreBytes) {
            findings.add("the site does not keep every name byte for byte");
        }
    }

    /** Tests whether different names are one there. If it refuses these names, nothing is known. */
    private void tryFolding() throws RemoteException, InterruptedException {
        try {
            boolean cases = isOne(UPPER_CASE, "case", "upper and lower case");
            boolean forms = isOne(COMPOSED, "e\u0301", "Unicode normal forms (NFC, NFD)");
            foldsNames = cases || forms;
        } catch (RemoteException e) {
            if (endsTheLook(e)) {
                throw e;
            }
        }
        early.foldsNames().complete(foldsNames);
    }

    private boolean isOne(String name, String other, String difference) throws RemoteException, InterruptedException {
        sftp.mkdir(folder.resolve(name), 0700);
        boolean one = sftp.lstat(folder.resolve(other)).isPresent();
        if (one) {
            findings.add("the site does not distinguish %s: of names that differ only in that, it can store one"
                    .formatted(difference));
        }
        return one;
    }

    /**
     * Tests whether a tar there creates files correctly, with their modes and times, and replaces a link of the same
     * name instead of following it. A failure is not a finding: files are then sent by SFTP.
     */
    private void tryTar() throws RemoteException, InterruptedException {
        if (!look.whole() && !TarFeed.pays(lane)) {
            early.unpacksTar().complete(false);
            return;
        }
        FilePath below = folder.resolve(UNPACKED);
        FilePath victim = write(new byte[] {'v'}, new byte[] {1, 2, 3});
        sftp.mkdir(below, 0700);
        sftp.symlink("../v".getBytes(StandardCharsets.US_ASCII), below.resolve("link"));
        List<Unpacked> files = List.of(
                new Unpacked(UNPACKED + "/empty", new byte[0], 0400, 4_000_000_000L),
                new Unpacked(UNPACKED_NEW + "/odd", noise(REWRITTEN_BYTES), 0754, 1_000_000_001L),
                new Unpacked(UNPACKED + "/link", noise(1), 0666, 0));
        files.forEach(file -> made.add(folder.resolve(file.name)));
        try (TarFeed tar = TarFeed.into(lane, folder, look.patience(), () -> {})) {
            for (Unpacked file : files) {
                tar.put(file.name.getBytes(StandardCharsets.US_ASCII), file.content, file.mode, file.modifiedSeconds);
            }
            tar.end();
            AtomicInteger right = new AtomicInteger();
            List<Try> looks = new ArrayList<>();
            files.forEach(file -> looks.add(() -> right.addAndGet(file.isThere() ? 1 : 0)));
            looks.add(() -> right.addAndGet(
                    sftp.lstat(victim).map(RemoteFacts::sizeBytes).orElse(0L) == 3 ? 1 : 0));
            together(looks);
            unpacksTar = right.get() == looks.size();
        } catch (RemoteException e) {
            if (endsTheLook(e) && !lane.isOpen()) {
                throw e;
            }
        } finally {
            early.unpacksTar().complete(unpacksTar);
        }
    }

    private void sweep() throws RemoteException, InterruptedException {
        try {
            if (!sftp.removeAll(made, folders)) {
                SiteCheck.removeScratch(lane, folder);
            }
        } catch (RemoteException e) {
            if (endsTheLook(e)) {
                throw e;
            }
            if (writable) {
                findings.add("test files could not be removed: " + e.getMessage());
            }
        }
    }

    private static boolean endsTheLook(RemoteException e) {
        return e.retryable() || e.reason() == Reason.PROTOCOL;
    }

    /** A file that tar is to create. */
    private final class Unpacked {

        private final String name;
        private final byte[] content;
        private final int mode;
        private final long modifiedSeconds;

        Unpacked(String name, byte[] content, int mode, long modifiedSeconds) {
            this.name = name;
            this.content = content;
            this.mode = mode;
            this.modifiedSeconds = modifiedSeconds;
        }

        boolean isThere() throws RemoteException, InterruptedException {
            FilePath path = folder.resolve(name);
            boolean meant = sftp.lstat(path)
                    .filter(there -> there.kind() == RemoteFacts.Kind.FILE
                            && there.mode() == mode
                            && there.modifiedSeconds() == modifiedSeconds)
                    .isPresent();
            return meant
                    && RemoteDigest.readBack()
                            .digests(lane, List.of(path), content.length)
                            .equals(Map.of(path, Digest.ofContent(content)));
        }
    }
}
