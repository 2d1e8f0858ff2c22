package dozo.remote;

import dozo.file.FilePath;
import dozo.remote.RemoteException.Reason;
import dozo.remote.SiteCheck.Look;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Pattern;

/** Tests what a site can do, in a temporary folder of its own. */
final class SiteProbe {

    private static final int LINKED_MODE = 0640;
    private static final long LINKED_MODIFIED_SECONDS = 1_000_000_000;

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

    private final Lane lane;
    private final Sftp sftp;
    private final Look look;
    private final List<String> findings;
    private final SiteCheck.Early early;
    private final ProbeFolder folder;

    // What was found so far, for the check.
    boolean writable;
    boolean renameKeeps;
    boolean namesAreBytes;
    boolean foldsNames = true;
    boolean unpacksTar;
    boolean linksFiles;
    RemoteDigest digest = RemoteDigest.readBack();
    double digestBytesPerSecond;
    Optional<SiteCache> cache = Optional.empty();
    Optional<Duration> clockAhead = Optional.empty();
    KeyPowers keyPowers = KeyPowers.UNKNOWN;

    SiteProbe(Lane lane, Look look, List<String> findings, SiteCheck.Early early) {
        this.lane = lane;
        this.early = early;
        this.look = look;
        this.sftp = lane.sftp();
        this.folder = ProbeFolder.in(look.folder(), lane, sftp);
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
            sftp.mkdirs(folder.path());
            DigestProbe digests = new DigestProbe(lane, sftp, look, folder, findings, new ConcurrentHashMap<>());
            List<Fanout.Try> writes = new ArrayList<>(List.of(this::tryFolding));
            writes.addAll(digests.writes());
            Fanout.all(writes);
            writable = true;
            List<Fanout.Try> tries =
                    new ArrayList<>(List.of(() -> tryDigests(digests), this::tryRename, this::tryNames, this::tryTar));
            if (look.whole()) {
                tries.addAll(List.of(this::tryClock, this::tryCache, this::tryKey, this::tryHardLinks));
            }
            Fanout.all(tries);
        } catch (RemoteException e) {
            e.throwIfNoAnswer();
            findings.add(
                    (writable ? "not everything could be tested: " : "cannot write below the root: ") + e.getMessage());
        } finally {
            early.foldsNames().complete(foldsNames);
            early.unpacksTar().complete(unpacksTar);
            sweep();
        }
    }

    private void tryDigests(DigestProbe digests) throws RemoteException, InterruptedException {
        DigestProbe.Choice choice = digests.choice();
        digest = choice.digest();
        digestBytesPerSecond = choice.bytesPerSecond();
        if (!look.whole()) {
            early.digest().complete(digest);
        }
    }

    private void tryClock() throws RemoteException, InterruptedException {
        FilePath fresh = folder.write(new byte[] {'c'}, new byte[1]);
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
            FilePath file = folder.write(new byte[] {'m', (byte) ('0' + i)}, new byte[CACHED_BYTES]);
            try {
                cache = SiteCache.workingOn(lane, file, look.patience());
            } catch (RemoteException e) {
                if (e.isNoAnswer() && !lane.isOpen()) {
                    throw e;
                }
                return;
            }
        }
    }

    private void tryKey() throws RemoteException, InterruptedException {
        FilePath first = folder.write(new byte[] {'k'}, KeyProbe.content());
        FilePath second = folder.write(new byte[] {'l'}, KeyProbe.content());
        keyPowers = new KeyProbe(lane).run(first, second);
    }

    private void tryRename() throws RemoteException, InterruptedException {
        FilePath from = folder.write(new byte[] {'f'}, new byte[] {1});
        FilePath to = folder.write(new byte[] {'t'}, new byte[] {2, 2});
        try {
            sftp.rename(from, to);
        } catch (RemoteException e) {
            e.throwIfNoAnswer();
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
        FilePath file = folder.write(new byte[] {'h'}, new byte[] {1, 2, 3});
        FilePath name = folder.file("i");
        FilePath other = folder.write(new byte[] {'j'}, new byte[] {4});
        try {
            sftp.hardLink(file, name);
            sftp.setFacts(file, LINKED_MODE, LINKED_MODIFIED_SECONDS);
            boolean same = sftp.lstat(name)
                    .filter(there -> there.sizeBytes() == 3
                            && there.mode() == LINKED_MODE
                            && there.modifiedSeconds() == LINKED_MODIFIED_SECONDS)
                    .isPresent();
            linksFiles = same && isRefused(() -> sftp.hardLink(file, other));
        } catch (RemoteException e) {
            e.throwIfNoAnswer();
        }
    }

    private static boolean isRefused(Fanout.Try request) throws RemoteException, InterruptedException {
        try {
            request.run();
            return false;
        } catch (RemoteException e) {
            return e.reason() == Reason.EXISTS;
        }
    }

    private void tryNames() throws RemoteException, InterruptedException {
        try {
            FilePath odd = folder.write(ODD_NAME, new byte[0]);
            List<FilePath> seen = new ArrayList<>();
            sftp.listToKeep(folder.path(), (path, facts) -> seen.add(path));
            namesAreBytes = seen.contains(odd);
        } catch (RemoteException e) {
            e.throwIfNoAnswer();
        }
        if (!namesAreBytes) {
            findings.add("the site does not keep every name byte for byte");
        }
    }

    /** Tests whether different names are one there. If it refuses these names, nothing is known. */
    private void tryFolding() throws RemoteException, InterruptedException {
        try {
            boolean cases = isOne("Case", "case", "upper and lower case");
            boolean forms = isOne("\u00e9", "e\u0301", "Unicode normal forms (NFC, NFD)");
            foldsNames = cases || forms;
        } catch (RemoteException e) {
            e.throwIfNoAnswer();
        }
        early.foldsNames().complete(foldsNames);
    }

    private boolean isOne(String name, String other, String difference) throws RemoteException, InterruptedException {
        sftp.mkdir(folder.folder(name), 0700);
        boolean one = sftp.lstat(folder.path().resolve(other)).isPresent();
        if (one) {
            findings.add("the site does not distinguish %s: of names that differ only in that, it can store one"
                    .formatted(difference));
        }
        return one;
    }

    private void tryTar() throws RemoteException, InterruptedException {
        try {
            if (look.whole() || TarFeed.pays(lane)) {
                unpacksTar = new TarProbe(lane, sftp, folder, look.patience()).works();
            }
        } finally {
            early.unpacksTar().complete(unpacksTar);
        }
    }

    private void sweep() throws RemoteException, InterruptedException {
        try {
            folder.sweep();
        } catch (RemoteException e) {
            e.throwIfNoAnswer();
            if (writable) {
                findings.add("test files could not be removed: " + e.getMessage());
            }
        }
    }
}
