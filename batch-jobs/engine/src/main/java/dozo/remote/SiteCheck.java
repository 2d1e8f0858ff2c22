package dozo.remote;

import dozo.file.FilePath;
import dozo.remote.RemoteException.Reason;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.FutureTask;
import java.util.regex.Pattern;

/**
 * The result of a site check. Only what was tried counts: files of known content are written below {@code
 * .dozo/incoming} and removed again. What could not be tried counts as unavailable.
 *
 * @param server the server's version string
 * @param keyExchange the key exchange that both sides agreed to, such as {@code mlkem768x25519-sha256}
 * @param rootThere whether the root is a folder
 * @param writable whether files can be written below it
 * @param renameKeeps whether a rename keeps a file that already has the name; if not, nothing may be sent there
 * @param namesAreBytes whether names in no particular encoding come back byte for byte
 * @param foldsNames whether the site takes names that differ only in case or normal form for one; true if it was not tried
 * @param extensions the extensions that the site offers
 * @param digest the fastest digest method among those with right digests
 * @param digestBytesPerSecond its rate for 16 MiB in the site's memory, for read-back 512 KiB; 0 if not measured
 * @param syncsAtOnce whether {@link SiteSync} works there
 * @param unpacksTar whether a tar there unpacks archives correctly, so that files can be sent as archives
 * @param linksFiles whether files there can have hard links, so that a file with many names is stored once; false if it
 *     was not tried
 * @param cache how to drop files from the site's memory; empty if nothing works, or it was not tried
 * @param space room left, if the site reports it
 * @param clockAhead how far the site's clock is ahead of ours, to about two seconds; empty if not tried
 * @param keyPowers what somebody who has the key could do to stored files, as far as tried
 * @param findings problems that a person should know, a sentence each
 */
public record SiteCheck(
        String server,
        String keyExchange,
        boolean rootThere,
        boolean writable,
        boolean renameKeeps,
        boolean namesAreBytes,
        boolean foldsNames,
        Set<String> extensions,
        RemoteDigest digest,
        double digestBytesPerSecond,
        boolean syncsAtOnce,
        boolean unpacksTar,
        boolean linksFiles,
        Optional<SiteCache> cache,
        Optional<Space> space,
        Optional<Duration> clockAhead,
        KeyPowers keyPowers,
        List<String> findings) {

    /** The beginnings of key exchanges that a quantum computer cannot break, as far as known. */
    private static final List<String> QUANTUM_SAFE = List.of("mlkem", "sntrup");

    /** How deep such folders are: the archive that a site check tries has a folder. */
    private static final int SCRATCH_LEVELS = 3;

    private static final Pattern SCRATCH = Pattern.compile("[a-z]+-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    /**
     * Checks the site of this lane: a few dozen requests and about 1 MiB. If the site protects stored files, the small
     * file {@code .dozo/probe} remains there.
     */
    public static SiteCheck of(Lane lane) throws RemoteException, InterruptedException {
        return of(lane, Look.WHOLE, new Early());
    }

    /**
     * Checks a site for a copy: the same without what only a backup needs. Tests are done in this folder, which is
     * created if needed.
     *
     * @param early completed as soon as these results are known, before all others
     */
    public static SiteCheck in(Lane lane, FilePath folder, Early early) throws RemoteException, InterruptedException {
        return of(lane, new Look(folder, InstantSource.system(), false, Patience.USUAL), early);
    }

    /** Results that a copy needs early: the first three before its first file is at the site, the digest once it is. */
    public record Early(
            CompletableFuture<Boolean> foldsNames,
            CompletableFuture<Boolean> syncsAtOnce,
            CompletableFuture<Boolean> unpacksTar,
            CompletableFuture<RemoteDigest> digest) {

        public Early() {
            this(
                    new CompletableFuture<>(),
                    new CompletableFuture<>(),
                    new CompletableFuture<>(),
                    new CompletableFuture<>());
        }

        /** Reports to waiting threads that the check has failed. */
        public void fail(Throwable e) {
            foldsNames.completeExceptionally(e);
            syncsAtOnce.completeExceptionally(e);
            unpacksTar.completeExceptionally(e);
            digest.completeExceptionally(e);
        }
    }

    /**
     * How to check a site.
     *
     * @param folder where tests are done
     * @param clock compared with the site's clock
     * @param whole whether to find out what only a backup needs: the fastest digest method and its rate, whether files
     *     can be dropped from the site's memory, the site's clock, and what its key could do to stored files
     * @param patience a command that has not ended by then counts as not working
     */
    record Look(FilePath folder, InstantSource clock, boolean whole, Patience patience) {

        static final Look WHOLE = new Look(FilePath.of(".dozo/incoming"), InstantSource.system(), true, Patience.USUAL);
    }

    static SiteCheck of(Lane lane, Look look, Early early) throws RemoteException, InterruptedException {
        FutureTask<Boolean> sync = new FutureTask<>(() -> {
            boolean offered = SiteSync.offeredBy(lane);
            early.syncsAtOnce.complete(offered);
            return offered;
        });
        Thread.ofVirtual().name("try sync at " + lane.site().host()).start(sync);
        Sftp sftp = lane.sftp();
        List<String> findings = Collections.synchronizedList(new ArrayList<>());
        // The root may be a link to a folder, unlike anything below it.
        boolean rootThere = sftp.isReadableFolder(FilePath.ROOT);
        SiteProbe probe = new SiteProbe(lane, look, findings, early);
        if (rootThere) {
            probe.run();
        } else {
            findings.add(
                    "the root " + lane.site().root() + " is not a readable folder; create it, owned by the login user");
        }
        Optional<Space> space = rootThere ? sftp.space() : Optional.empty();
        space.filter(Space::full).ifPresent(full -> findings.add("the file system is full; free some space there"));
        if (probe.writable) {
            early.digest.complete(probe.digest);
        }
        boolean syncsAtOnce = RemoteException.join(sync);
        lane.muteShell()
                .ifPresent(
                        what -> findings.add(what + "; no commands are used there, and files are read back instead"));
        return new SiteCheck(
                lane.serverVersion(),
                lane.keyExchange(),
                rootThere,
                probe.writable,
                probe.renameKeeps,
                probe.namesAreBytes,
                probe.foldsNames,
                sftp.extensions(),
                probe.digest,
                probe.digestBytesPerSecond,
                syncsAtOnce,
                probe.unpacksTar,
                probe.linksFiles,
                probe.cache,
                space,
                probe.clockAhead,
                probe.keyPowers,
                List.copyOf(findings));
    }

    /**
     * Returns whether what was sent stays secret if it is recorded now, and a quantum computer exists one day.
     *
     * @see <a href="https://www.openssh.org/pq.html">OpenSSH: Post-Quantum Cryptography</a>
     */
    public boolean safeAgainstLaterDecryption() {
        return QUANTUM_SAFE.stream().anyMatch(keyExchange::startsWith);
    }

    /** Returns a new name for a temporary folder. A lost lane leaves the folder behind. */
    public static FilePath scratchName(String kind) {
        return FilePath.of(kind + UUID.randomUUID());
    }

    /** Returns whether this is the name of such a folder. */
    public static boolean isScratch(FilePath folder) {
        return SCRATCH.matcher(FilePath.render(folder.name())).matches();
    }

    /** Removes such a folder and its content, if it exists. Throws REFUSED if it contains folders of folders. */
    public static void removeScratch(Lane lane, FilePath folder) throws RemoteException, InterruptedException {
        removeScratch(lane, folder, SCRATCH_LEVELS);
    }

    private static void removeScratch(Lane lane, FilePath folder, int levels)
            throws RemoteException, InterruptedException {
        try {
            lane.sftp().rmdir(folder);
            return;
        } catch (RemoteException e) {
            if (e.reason() == Reason.NO_SUCH_FILE) {
                return;
            }
            if (e.reason() != Reason.REFUSED && e.reason() != Reason.EXISTS) {
                throw e;
            }
        }
        List<FilePath> folders = new ArrayList<>();
        List<FilePath> files = new ArrayList<>();
        try {
            lane.sftp()
                    .listToKeep(
                            folder,
                            (path, facts) -> (facts.kind() == RemoteFacts.Kind.DIRECTORY ? folders : files).add(path));
        } catch (RemoteException e) {
            // Some servers refuse to remove a missing folder without giving that reason.
            if (e.reason() == Reason.NO_SUCH_FILE) {
                return;
            }
            throw e;
        }
        if (levels == 1 && !folders.isEmpty()) {
            throw new RemoteException(
                    Reason.REFUSED, "cannot remove %s: Dozo did not create the folders in it".formatted(folder));
        }
        for (FilePath below : folders) {
            removeScratch(lane, below, levels - 1);
        }
        for (FilePath file : files) {
            lane.sftp().remove(file);
        }
        lane.sftp().rmdir(folder);
    }

    /** Returns whether the site has everything that a backup requires. */
    public boolean usable() {
        return rootThere && writable && renameKeeps;
    }
}
