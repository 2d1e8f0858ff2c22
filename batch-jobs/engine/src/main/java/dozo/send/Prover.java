package dozo.send;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.remote.Lanes;
import dozo.remote.RemoteDigest;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.SiteSync;
import java.security.SecureRandom;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** Has the site say what it holds, and bring it to its disk. */
final class Prover {

    private static final SecureRandom LOT = new SecureRandom();

    private final Lanes lanes;
    private final Workers workers;
    private final KnownSite site;
    private final Gauges gauges;
    private final int readBackOneIn;
    private final SiteSync sync = new SiteSync();

    /**
     * @param readBackOneIn which of so many digests computed at the site compares one, drawn by lot, with the bytes read back: a
     *     command there that lies now and then is caught some day (ADR 0027); 0: none
     */
    Prover(Lanes lanes, Workers workers, KnownSite site, Gauges gauges, int readBackOneIn) {
        this.lanes = lanes;
        this.workers = workers;
        this.site = site;
        this.gauges = gauges;
        this.readBackOneIn = readBackOneIn;
    }

    /**
     * The site's digests of these files, which are then also on its disk: it does the one while it does the other. If the command
     * gets stuck on two lanes, there are none.
     *
     * @param bytes what they hold together
     */
    Map<FilePath, Digest> digests(List<FilePath> files, long bytes) throws RemoteException, InterruptedException {
        if (files.isEmpty()) {
            return Map.of();
        }
        Future<@Nullable Void> synced = workers.begin(() -> {
            syncAll();
            return null;
        });
        try {
            Map<FilePath, Digest> digests = computed(files, bytes);
            try (Stay _ = gauges.naming.enter()) {
                Workers.join(synced);
            }
            return digests;
        } catch (RemoteException e) {
            if (e.reason() != Reason.STUCK) {
                throw e;
            }
            return Map.of();
        } finally {
            synced.cancel(true);
        }
    }

    /** Returns when all that is acknowledged is on the site's disk; where that is done file by file, it is so already. */
    void syncAll() throws RemoteException, InterruptedException {
        if (site.syncsAtOnce()) {
            lanes.doOver(sync::sync);
        }
    }

    private Map<FilePath, Digest> computed(List<FilePath> files, long bytes)
            throws RemoteException, InterruptedException {
        try (Stay _ = gauges.proving.enter()) {
            Map<FilePath, Digest> said = new HashMap<>(lanes.over(lane -> site.digests(lane, files, bytes)));
            checkByReadingBack(said);
            return said;
        }
    }

    /**
     * Reads some files back, drawn by lot so that nobody at the site knows which, and compares them with what was said of them.
     * One that cannot be read back has no digest.
     *
     * @throws RemoteException PROTOCOL if one has another digest: then nothing that was said there is worth anything
     */
    private void checkByReadingBack(Map<FilePath, Digest> said) throws RemoteException, InterruptedException {
        if (readBackOneIn == 0) {
            return;
        }
        List<FilePath> drawn = said.keySet().stream()
                .filter(file -> LOT.nextInt(readBackOneIn) == 0)
                .toList();
        if (drawn.isEmpty() || site.digest().equals(RemoteDigest.readBack())) {
            return;
        }
        Map<FilePath, Digest> read = lanes.over(lane -> RemoteDigest.readBack().digests(lane, drawn, 0));
        for (FilePath file : drawn) {
            Digest there = said.remove(file);
            Digest back = read.get(file);
            if (there != null && back != null) {
                if (!back.equals(there)) {
                    throw new RemoteException(
                            Reason.PROTOCOL,
                            "the site says by %s that %s has the digest %s, but what is read back has %s: do not believe it"
                                    .formatted(site.digest().method(), file, there, back));
                }
                said.put(file, there);
            }
        }
    }
}
