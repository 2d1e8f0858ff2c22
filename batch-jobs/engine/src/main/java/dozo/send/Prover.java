package dozo.send;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Lanes;
import dozo.remote.RemoteDigest;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.SiteSync;
import dozo.send.Arrival.Arrived;
import dozo.send.Outcome.Failed;
import java.security.SecureRandom;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** Lets the site compute digests, and sync files to its disk. */
final class Prover {

    private static final SecureRandom LOT = new SecureRandom();

    private static final int FEW_FILES = 250;
    private static final long FEW_BYTES = 4 << 20;

    /** Commands for few files that run at once, and the most questions of one. */
    private static final int FEW_AT_ONCE = 2;

    private static final int FEW_TOGETHER = 64;

    private final Lanes lanes;
    private final Workers workers;
    private final KnownSite site;
    private final Gauges gauges;
    private final int readBackOneIn;
    private final SiteSync sync = new SiteSync();
    private final Together<Asked, Map<FilePath, Digest>> few;

    /** Files to digest, with their total size. */
    private record Asked(List<FilePath> files, long bytes) {

        /** Returns whether a command for these alone takes mostly as long as its start. */
        boolean areFew() {
            return files.size() <= FEW_FILES && bytes <= FEW_BYTES;
        }
    }

    /**
     * What a site said of files.
     *
     * @param why why there are no digests, as the end of a sentence; empty if the command ended
     */
    record Said(Map<FilePath, Digest> digests, String why) {

        @Nullable
        Digest of(FilePath file) {
            return digests.get(file);
        }
    }

    /**
     * @param readBackOneIn compares one in this many digests computed at the site, chosen at random, with the bytes
     *     read back: a command there that is sometimes wrong is detected some day (ADR 0027); 0: none
     */
    Prover(Lanes lanes, Workers workers, KnownSite site, Gauges gauges, int readBackOneIn) {
        this.lanes = lanes;
        this.workers = workers;
        this.site = site;
        this.gauges = gauges;
        this.readBackOneIn = readBackOneIn;
        this.few = new Together<>(workers, FEW_AT_ONCE, FEW_TOGETHER, this::digestsOfAll);
    }

    /**
     * Returns the site's digests of these files, which are on its disk by then: the site syncs while it computes. If
     * the command gets stuck on two lanes, there are none.
     *
     * @param bytes the total size of the files
     */
    Said digests(List<FilePath> files, long bytes) throws RemoteException, InterruptedException {
        if (files.isEmpty()) {
            return new Said(Map.of(), "");
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
            return new Said(digests, "");
        } catch (RemoteException e) {
            if (e.reason() != Reason.STUCK) {
                throw e;
            }
            return new Said(Map.of(), ": " + e.getMessage());
        } finally {
            synced.cancel(true);
        }
    }

    /**
     * Compares the digests of files that have arrived with those computed at the site. Returns an outcome for each
     * arrival: verified if they are equal.
     */
    Map<Entry, Outcome> prove(Collection<Arrival> arrivals) throws RemoteException, InterruptedException {
        List<Arrived> there = arrivals.stream()
                .filter(Arrived.class::isInstance)
                .map(Arrived.class::cast)
                .toList();
        Said found = digests(
                there.stream().map(Arrived::lies).toList(),
                there.stream()
                        .mapToLong(each -> each.file().facts().sizeBytes())
                        .sum());
        Map<Entry, Outcome> outcomes = new HashMap<>();
        for (Arrival arrival : arrivals) {
            switch (arrival) {
                case Arrived arrived -> outcomes.put(arrived.file(), compare(arrived, found));
                case Failed failed -> outcomes.put(failed.entry(), failed);
            }
        }
        return outcomes;
    }

    private static Outcome compare(Arrived arrived, Said said) {
        Entry file = arrived.file();
        Digest found = said.of(arrived.lies());
        if (found == null && said.why().isEmpty() && arrived.inArchive()) {
            return new Failed(file, Problem.MISMATCHED, file.path() + ": tar at the site did not unpack it");
        }
        if (found == null) {
            return new Failed(file, Problem.UNPROVEN, file.path() + ": the site returned no digest" + said.why());
        }
        return found.equals(arrived.digest())
                ? arrived.verified()
                : new Failed(
                        file,
                        Problem.MISMATCHED,
                        "%s: checksum mismatch: digest %s at the site, %s at the source; check the site's disks"
                                .formatted(file.path(), found, arrived.digest()));
    }

    /**
     * Returns when everything acknowledged is on the site's disk; if each file is synced separately, this is already
     * the case.
     */
    void syncAll() throws RemoteException, InterruptedException {
        if (site.syncsAtOnce()) {
            lanes.doOver(sync::sync);
        }
    }

    private Map<FilePath, Digest> computed(List<FilePath> files, long bytes)
            throws RemoteException, InterruptedException {
        try (Stay _ = gauges.proving.enter()) {
            Asked asked = new Asked(files, bytes);
            Map<FilePath, Digest> said = new HashMap<>(
                    asked.areFew() ? few.ask(asked) : lanes.over(lane -> site.digests(lane, files, bytes)));
            checkByReadingBack(said);
            return said;
        }
    }

    private List<Map<FilePath, Digest>> digestsOfAll(List<Asked> asked) throws RemoteException, InterruptedException {
        List<FilePath> files =
                asked.stream().flatMap(each -> each.files.stream()).toList();
        long bytes = asked.stream().mapToLong(Asked::bytes).sum();
        Map<FilePath, Digest> said = lanes.over(lane -> site.digests(lane, files, bytes));
        return asked.stream().map(each -> of(each.files, said)).toList();
    }

    private static Map<FilePath, Digest> of(List<FilePath> files, Map<FilePath, Digest> said) {
        Map<FilePath, Digest> some = new HashMap<>();
        for (FilePath file : files) {
            Digest digest = said.get(file);
            if (digest != null) {
                some.put(file, digest);
            }
        }
        return some;
    }

    /**
     * Reads some files back, chosen at random so that nobody at the site can predict which, and compares their digests.
     * A file that cannot be read back loses its digest.
     *
     * @throws RemoteException PROTOCOL if a digest differs: then no digest of the site can be trusted
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
                            "%s: %s at the site reports digest %s, but the bytes read back have %s; do not trust digests of this site"
                                    .formatted(file, site.digest().method(), there, back));
                }
                said.put(file, there);
            }
        }
    }
}
