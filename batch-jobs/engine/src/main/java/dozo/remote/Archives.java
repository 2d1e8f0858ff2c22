package dozo.remote;

import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.function.Function;

/** The archives under way at a site: no more at once than help its lanes. */
final class Archives {

    /** Archives at once on a lane with several channels. */
    private static final int EACH_FAR = 3;

    private final Lanes lanes;
    private final Semaphore permits = new Semaphore(0, true);

    /** Guarded by this. */
    private int allowed;

    Archives(Lanes lanes) {
        this.lanes = lanes;
    }

    /** Begins an archive on the lane with the fewest, as {@link Lanes#tar} promises. */
    <T> Optional<T> begin(Function<Lane, T> on) throws RemoteException, InterruptedException {
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
            permits.acquire();
        } else if (!permits.tryAcquire()) {
            return Optional.empty();
        }
        try {
            return Optional.of(on.apply(lanes.all().stream()
                    .filter(Lane::isOpen)
                    .min(Comparator.comparingInt(Lane::feeds).thenComparingInt(Lane::busy))
                    .orElse(next)));
        } catch (RuntimeException e) {
            permits.release();
            throw e;
        }
    }

    /** Allows more if more lanes are open. */
    synchronized void allowFor(int lanesOpen) {
        int now = lanesOpen * each();
        if (now > allowed) {
            permits.release(now - allowed);
            allowed = now;
        }
    }

    /** Lets the next archive begin, unless there are too many for the lanes. */
    synchronized void ended() {
        if (allowed > lanes.wanted().lanes() * each()) {
            allowed--;
        } else {
            permits.release();
        }
    }

    private int each() {
        return Math.min(lanes.wanted().channels(), EACH_FAR);
    }
}
