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
 * What one look at a site found. Nothing is believed that was not tried: files of known content are written below
 * {@code .dozo/incoming}, and removed again. What could not be tried counts as not there.
 *
 * @param server what the server calls itself
 * @param rootThere whether the root is a folder
 * @param writable whether we can write below it
 * @param renameKeeps whether a rename leaves alone what has the name already; without it nothing may be sent there
 * @param namesAreBytes whether names in no particular encoding come back byte for byte
 * @param extensions what the server says it offers
 * @param digest the fastest way to have digests computed among those that gave the right ones
 * @param digestBytesPerSecond how fast that went for 16 MiB in the site's memory, for read-back 1 MiB; 0 if it was not measured
 * @param syncsAtOnce whether {@link SiteSync} works there
 * @param unpacksTar whether a tar there unpacks what it is fed as it is meant, so that files can be sent as archives
 * @param cache what has the site's memory forget files; empty if nothing does, or it was not tried
 * @param space room left, if the site tells
 * @param clockAhead how far the site's clock is ahead of ours, to about two seconds; empty if it was not tried
 * @param findings what a person should know, a sentence each; empty if all is well
 */
public record SiteCheck(
        String server,
        boolean rootThere,
        boolean writable,
        boolean renameKeeps,
        boolean namesAreBytes,
        Set<String> extensions,
        RemoteDigest digest,
        double digestBytesPerSecond,
        boolean syncsAtOnce,
        boolean unpacksTar,
        Optional<SiteCache> cache,
        Optional<Space> space,
        Optional<Duration> clockAhead,
        List<String> findings) {

    private static final Pattern SCRATCH = Pattern.compile("[a-z]+-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}");

    /** Looks at the site of this lane: a few dozen requests and about 1 MiB. */
    public static SiteCheck of(Lane lane) throws RemoteException, InterruptedException {
        return of(lane, Look.WHOLE, new Early());
    }

    /**
     * The same for a copy, without what only a backup wants to know, trying things out in this folder, which is made if need be.
     *
     * @param early is completed as soon as that is known, which is before all the rest is
     */
    public static SiteCheck in(Lane lane, FilePath folder, Early early) throws RemoteException, InterruptedException {
        return of(lane, new Look(folder, InstantSource.system(), false, Patience.USUAL), early);
    }

    /** What a copy waits for: the first two before its first file is at the site, the digest when it is. */
    public record Early(
            CompletableFuture<Boolean> syncsAtOnce,
            CompletableFuture<Boolean> unpacksTar,
            CompletableFuture<RemoteDigest> digest) {

        public Early() {
            this(new CompletableFuture<>(), new CompletableFuture<>(), new CompletableFuture<>());
        }

        /** Tells whoever waits that the look has failed. */
        public void fail(Exception e) {
            syncsAtOnce.completeExceptionally(e);
            unpacksTar.completeExceptionally(e);
            digest.completeExceptionally(e);
        }
    }

    /**
     * How to look.
     *
     * @param folder in which things are tried out
     * @param clock that the site's is compared with
     * @param whole whether to look also for what only a backup wants to know: which way to digests is fastest, and how fast, whether
     *     files can be dropped from the site's memory, and what time it is there
     * @param patience a command that has not ended by then is one that does not work
     */
    record Look(FilePath folder, InstantSource clock, boolean whole, Patience patience) {

        static final Look WHOLE = new Look(FilePath.of(".dozo/incoming"), InstantSource.system(), true, Patience.USUAL);
    }

    static SiteCheck of(Lane lane, Look look, Early early) throws RemoteException, InterruptedException {
        FutureTask<Boolean> sync = new FutureTask<>(() -> SiteSync.offeredBy(lane)) {
            @Override
            protected void set(Boolean offered) {
                super.set(offered);
                early.syncsAtOnce.complete(offered);
            }
        };
        Thread.ofVirtual().name("try sync at " + lane.site().host()).start(sync);
        Sftp sftp = lane.sftp();
        List<String> findings = Collections.synchronizedList(new ArrayList<>());
        // The root, unlike anything below it, may be a link to a folder.
        boolean rootThere = sftp.isReadableFolder(FilePath.ROOT);
        SiteProbe probe = new SiteProbe(lane, look, findings, early);
        if (rootThere) {
            probe.run();
        } else {
            findings.add("the root " + lane.site().root() + " is not a folder we can read: make it, owned by our user");
        }
        Optional<Space> space = rootThere ? sftp.space() : Optional.empty();
        space.filter(Space::full).ifPresent(full -> findings.add("the file system is full: make room there"));
        if (probe.writable()) {
            early.digest.complete(probe.digest());
        }
        return new SiteCheck(
                lane.serverVersion(),
                rootThere,
                probe.writable(),
                probe.renameKeeps(),
                probe.namesAreBytes(),
                sftp.extensions(),
                probe.digest(),
                probe.digestBytesPerSecond(),
                RemoteException.join(sync),
                probe.unpacksTar(),
                probe.cache(),
                space,
                probe.clockAhead(),
                List.copyOf(findings));
    }

    /** A new name for a folder of ours that is removed again in a moment: a lost lane leaves it behind. */
    public static FilePath scratchName(String kind) {
        return FilePath.of(kind + UUID.randomUUID());
    }

    /** Whether this is such a folder. */
    public static boolean isScratch(FilePath folder) {
        return SCRATCH.matcher(FilePath.render(folder.name())).matches();
    }

    /** Removes such a folder and all in it, if it is there. */
    public static void removeScratch(Lane lane, FilePath folder) throws RemoteException, InterruptedException {
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
                    .list(
                            folder,
                            (path, facts) -> (facts.kind() == RemoteFacts.Kind.DIRECTORY ? folders : files).add(path));
        } catch (RemoteException e) {
            // Some servers refuse to remove what is not there, and do not say why.
            if (e.reason() == Reason.NO_SUCH_FILE) {
                return;
            }
            throw e;
        }
        for (FilePath below : folders) {
            removeScratch(lane, below);
        }
        for (FilePath file : files) {
            lane.sftp().remove(file);
        }
        lane.sftp().rmdir(folder);
    }

    /** Whether all is there that a backup cannot do without. */
    public boolean usable() {
        return rootThere && writable && renameKeeps;
    }
}
