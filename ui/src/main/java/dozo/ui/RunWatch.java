package dozo.ui;

import dozo.ledger.Sight;
import dozo.run.Limits;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Scrubs;
import dozo.transfer.TransferUnits.PartitionProgress;
import dozo.ui.RunSample.Lane;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.context.SmartLifecycle;
import org.springframework.stereotype.Component;

/**
 * Samples runs once a second while there are viewers, once for all viewers with the same sight: a hundred of them cost
 * the run no more than one. Each viewer has a short queue. A viewer that does not read its queue is dropped, so that no
 * viewer delays another.
 */
@Component
class RunWatch implements SmartLifecycle {

    static final int VIEWERS_MAX = 500;

    /** Maximum number of samples that wait for a viewer; a full queue means that the viewer does not read. */
    private static final int QUEUE_LENGTH = 10;

    private static final long SAMPLE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final Logger LOG = LoggerFactory.getLogger(RunWatch.class);

    private final Runs runs;
    private final Scrubs scrubs;
    private final Limits limits;
    private final StreamSettings settings;
    private final Set<Viewing> viewings = ConcurrentHashMap.newKeySet();

    /** By what is watched. Only the sampling thread uses it. */
    private final Map<Seen, RunPace> paces = new HashMap<>();

    private @Nullable Thread looking;
    private volatile boolean open;

    /** What is watched: a run, as far as these projects show it; null: everything. */
    private record Seen(long run, @Nullable List<String> projects) {

        static Seen of(long run, Sight sight) {
            return new Seen(run, sight.projects());
        }
    }

    /** The response to a request to watch. */
    sealed interface Seat permits Viewing, NoPlace {}

    /** Why no place is free: the limit of the service, of the user or of the address is reached. */
    enum NoPlace implements Seat {
        SERVICE,
        USER,
        ADDRESS
    }

    /** A viewer of a run. It keeps its place until it leaves, even when it gets no more samples. */
    static final class Viewing implements Seat {

        private final String user;
        private final String address;
        private final Seen seen;
        private final Sight sight;
        private final BlockingQueue<RunSample> samples = new ArrayBlockingQueue<>(QUEUE_LENGTH);
        private volatile boolean dropped;

        private Viewing(String user, String address, long run, Sight sight) {
            this.user = user;
            this.address = address;
            this.seen = Seen.of(run, sight);
            this.sight = sight;
        }

        /** Returns whether a user with this sight would see the same. */
        boolean sees(Sight other) {
            return seen.equals(Seen.of(seen.run, other));
        }

        /** Returns the next sample; null if none comes within this time. */
        @Nullable
        RunSample next(long seconds) throws InterruptedException {
            return samples.poll(seconds, TimeUnit.SECONDS);
        }

        /** Returns whether no more samples come. */
        boolean isDropped() {
            return dropped;
        }
    }

    RunWatch(Runs runs, Scrubs scrubs, Limits limits, StreamSettings settings) {
        this.runs = runs;
        this.scrubs = scrubs;
        this.limits = limits;
        this.settings = settings;
    }

    /** Adds a viewer, unless there are too many or the service is stopping. */
    synchronized Seat watch(String user, String address, long run, Sight sight) {
        if (!open || viewings.size() >= VIEWERS_MAX) {
            return NoPlace.SERVICE;
        }
        if (count(viewing -> viewing.user.equals(user)) >= settings.perUser()) {
            return NoPlace.USER;
        }
        if (count(viewing -> viewing.address.equals(address)) >= settings.perAddress()) {
            return NoPlace.ADDRESS;
        }
        Viewing viewing = new Viewing(user, address, run, sight);
        viewings.add(viewing);
        if (looking == null) {
            looking = Thread.ofVirtual().name("run-watch").start(this::look);
        }
        return viewing;
    }

    private long count(Predicate<Viewing> which) {
        return viewings.stream().filter(which).count();
    }

    void leave(Viewing viewing) {
        viewing.dropped = true;
        viewings.remove(viewing);
    }

    int viewers() {
        return viewings.size();
    }

    private void look() {
        long next = System.nanoTime();
        try {
            while (isWatched()) {
                lookOnce();
                next = Math.max(next + SAMPLE_NANOS, System.nanoTime());
                TimeUnit.NANOSECONDS.sleep(next - System.nanoTime());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            paces.clear();
        }
    }

    /** Returns whether there are viewers. If false, this thread ends, and the next viewer starts another. */
    private synchronized boolean isWatched() {
        if (open && !viewings.isEmpty()) {
            return true;
        }
        looking = null;
        return false;
    }

    private void lookOnce() {
        Map<Seen, Optional<RunSample>> found = new HashMap<>();
        for (Viewing viewing : viewings) {
            if (viewing.dropped) {
                continue;
            }
            try {
                found.computeIfAbsent(viewing.seen, seen -> sample(seen, viewing.sight))
                        .ifPresent(sample -> give(viewing, sample));
            } catch (RuntimeException e) {
                // The database may be away for a while: a later sample may succeed.
                LOG.debug("run {} could not be looked at", viewing.seen.run, e);
            }
        }
        paces.keySet().retainAll(found.keySet());
    }

    private void give(Viewing viewing, RunSample sample) {
        // NB: a viewer that does not read keeps its place until the thread that writes to it returns.
        if (!viewing.samples.offer(sample)) {
            viewing.dropped = true;
        }
    }

    private Optional<RunSample> sample(Seen seen, Sight sight) {
        return runs.find(sight, seen.run).map(run -> {
            RunSample sample = of(sight, run);
            RunPace pace = paces.computeIfAbsent(seen, each -> new RunPace());
            pace.count(System.nanoTime(), moved(sample, sight), sample);
            return sample.with(
                    pace.lanes(sample), pace.rate(), limits.now(run.id()).orElse(null));
        });
    }

    /**
     * Returns the bytes moved. What the engine has moved changes all the time; what is recorded changes only when units
     * end.
     */
    private long moved(RunSample sample, Sight sight) {
        Run run = sample.run();
        return run.kind().isScrub() || !sight.ofEverything() ? sample.bytesDone() : runs.bytesMoved(run.id());
    }

    /** Returns the progress of a run now, without values that need several observations. */
    RunSample of(Sight sight, Run run) {
        if (run.kind().isScrub()) {
            // The amount that a scrub has read is not known by project.
            var scrub = sight.ofEverything() ? scrubs.find(run.id()) : Optional.<Scrubs.Scrub>empty();
            return new RunSample(
                    run,
                    0,
                    0,
                    0,
                    scrub.map(Scrubs.Scrub::copiesRead).orElse(0L),
                    0,
                    scrub.map(Scrubs.Scrub::bytesRead).orElse(0L),
                    0,
                    List.of(),
                    null,
                    null,
                    null);
        }
        List<PartitionProgress> partitions = runs.partitions(sight, run.id());
        long bytes = sum(partitions, PartitionProgress::bytes);
        long bytesDone = sum(partitions, PartitionProgress::bytesDone);
        long moved = sight.ofEverything() ? runs.bytesMoved(run.id()) : 0;
        return new RunSample(
                run,
                sum(partitions, PartitionProgress::units),
                sum(partitions, PartitionProgress::unitsDone),
                sum(partitions, PartitionProgress::unitsFailed),
                sum(partitions, PartitionProgress::entriesDone),
                bytes,
                bytesDone,
                Math.max(bytesDone, Math.min(bytes, moved)),
                partitions,
                sight.ofEverything() && run.goesOn() ? lanes(run) : null,
                null,
                null);
    }

    private List<Lane> lanes(Run run) {
        return runs.laneTraffic(run.id()).stream()
                .map(lane -> new Lane(lane.lane(), lane.bytes(), null))
                .toList();
    }

    private static long sum(List<PartitionProgress> partitions, ToLongFunction<PartitionProgress> of) {
        return partitions.stream().mapToLong(of).sum();
    }

    @Override
    public synchronized void start() {
        open = true;
    }

    /** Ends all views. Runs before the web server stops, which waits for open responses. */
    @Override
    public synchronized void stop() {
        open = false;
        viewings.forEach(viewing -> viewing.dropped = true);
        viewings.clear();
    }

    @Override
    public boolean isRunning() {
        return open;
    }

    @Override
    public int getPhase() {
        return Integer.MAX_VALUE;
    }
}
