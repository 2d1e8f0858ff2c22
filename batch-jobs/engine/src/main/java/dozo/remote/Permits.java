package dozo.remote;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.Function;

/** Permits for what is open at a site at once: files, and archives, no more than help its lanes. */
final class Permits {

    /** Files open at once on a channel. This keeps enough requests in flight to hide a long round trip. */
    private static final int FILES_EACH = 64;

    /** Archives at once on a lane with several channels. */
    private static final int ARCHIVES_EACH = 3;

    private final Lanes lanes;
    private final Semaphore files = new Semaphore(0, true);
    private final Semaphore archives = new Semaphore(0, true);

    // Guarded by this.
    private int filesAllowed;
    private int archivesAllowed;

    Permits(Lanes lanes) {
        this.lanes = lanes;
    }

    /** Begins an archive on the lane with the fewest, as {@link Lanes#tar} promises. */
    <T> Optional<T> archive(Function<Lane, T> on) throws RemoteException, InterruptedException {
        Lane next = lanes.next();
        List<Lane> all = lanes.all();
        if (!TarFeed.pays(next) && all.stream().noneMatch(TarFeed::pays)) {
            return Optional.empty();
        }
        // A shell that has never answered would cost each archive a time-out.
        if (all.stream().anyMatch(lane -> lane.muteShell().isPresent())) {
            return Optional.empty();
        }
        if (lanes.wanted().channels() == 1) {
            archives.acquire();
        } else if (!archives.tryAcquire()) {
            return Optional.empty();
        }
        try {
            return Optional.of(on.apply(lanes.all().stream()
                    .filter(Lane::isOpen)
                    .min(Comparator.comparingInt(Lane::feeds).thenComparingInt(Lane::busy))
                    .orElse(next)));
        } catch (RuntimeException e) {
            archives.release();
            throw e;
        }
    }

    Semaphore files() {
        return files;
    }

    /** Follows the lanes. Their lock may be held. */
    synchronized void allowFor(int lanesOpen, int channelsOpen) {
        int allowed = channelsOpen * FILES_EACH;
        if (allowed > filesAllowed) {
            files.release(allowed - filesAllowed);
            filesAllowed = allowed;
        }
        // NB: not fewer than wanted: lanes that were lost are replaced only if somebody has a permit.
        int tooMany = filesAllowed - Math.max(allowed, lanes.wanted().all() * FILES_EACH);
        int less = Math.min(tooMany, files.availablePermits());
        if (less > 0 && files.tryAcquire(less)) {
            filesAllowed -= less;
        }
        int archivesNow = lanesOpen * archivesEach();
        if (archivesNow > archivesAllowed) {
            archives.release(archivesNow - archivesAllowed);
            archivesAllowed = archivesNow;
        }
    }

    /** Lets the next archive begin, unless there are too many for the lanes. */
    synchronized void archiveEnded() {
        if (archivesAllowed > lanes.wanted().lanes() * archivesEach()) {
            archivesAllowed--;
        } else {
            archives.release();
        }
    }

    private int archivesEach() {
        return Math.min(lanes.wanted().channels(), ARCHIVES_EACH);
    }
}
