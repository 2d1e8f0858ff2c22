package dozo.remote;

import dozo.remote.Tuning.Shape;
import java.time.InstantSource;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Measures the rate of a set of lanes, lets a {@link Tuning} decide how many it should have, and keeps the latest
 * decisions. Its lock is its own, and nothing waits with it.
 */
final class Tuner {

    /** The latest decisions that are kept. */
    static final int DECISIONS_MAX = 200;

    /** The number of lanes opened before the round-trip time is known. */
    private static final int LANES_FIRST = 2;

    /** In a measured second, at most this share of looks at lanes may find one without work. */
    private static final double IDLE_LOOKS_SHARE = 0.25;

    private static final long MEASURE_EVERY_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final InstantSource clock = InstantSource.system();
    private final @Nullable TuningStart start;
    private final int lanesMax;
    private final Deque<TuningDecision> decisions = new ArrayDeque<>();
    private @Nullable Tuning tuning;
    private long bytesBefore;
    private long nanosBefore;
    private int looks;
    private int idleLooks;

    /** @param start what is known about the link; null: the numbers are fixed */
    Tuner(@Nullable TuningStart start, int lanesMax) {
        this.start = start;
        this.lanesMax = lanesMax;
    }

    /** Returns how many lanes to open at once when there is none. */
    int lanesFirst() {
        return start == null ? 1 : LANES_FIRST;
    }

    synchronized List<TuningDecision> decisions() {
        return List.copyOf(decisions);
    }

    /** Chooses lanes and channels by the first lane's round trip; empty if the numbers are fixed, or chosen already. */
    synchronized Optional<Shape> firstChoice(long roundTripNanos) {
        TuningStart known = start;
        if (known == null || tuning != null) {
            return Optional.empty();
        }
        Tuning first = new Tuning(roundTripNanos, lanesMax, Runtime.getRuntime().availableProcessors(), known);
        tuning = first;
        double rate = switch (known) {
            case TuningStart.Unknown() -> 0;
            case TuningStart.Carried(double carried) -> carried;
            case TuningStart.Chosen(TuningGrid.Cell best) -> best.bytesPerSecond();
        };
        return Optional.of(note(first, first.first(), rate));
    }

    /**
     * Looks at the lanes that get work, and returns how many are wanted from now on if that changes, once a second at most.
     *
     * @param bytesMoved over all lanes so far
     * @param opening whether lanes are being opened
     * @param refused whether the site has refused further lanes several times
     */
    synchronized Optional<Shape> look(
            List<Lane> open, int lanesWanted, long bytesMoved, boolean opening, boolean refused) {
        looks += open.size();
        idleLooks += (int) open.stream()
                .filter(lane -> lane.busy() == 0 && lane.feeds() == 0)
                .count();
        long now = System.nanoTime();
        if (now - nanosBefore < MEASURE_EVERY_NANOS) {
            return Optional.empty();
        }
        double rate = (bytesMoved - bytesBefore) * 1e9 / (now - nanosBefore);
        boolean moved = bytesMoved > bytesBefore;
        boolean busy = nanosBefore != 0 && moved && idleLooks <= looks * IDLE_LOOKS_SHARE;
        if (moved && !open.isEmpty()) {
            open.getFirst().askServer();
        }
        bytesBefore = bytesMoved;
        nanosBefore = now;
        looks = 0;
        idleLooks = 0;
        Tuning deciding = tuning;
        if (deciding == null || opening || open.isEmpty()) {
            return Optional.empty();
        }
        Optional<Tuning.Step> step = Optional.empty();
        if (open.size() < lanesWanted && refused) {
            step = deciding.refused(open.size());
        } else if (busy && open.size() == lanesWanted && open.stream().noneMatch(Lane::isWidening)) {
            step = deciding.measured(
                    rate, open.stream().mapToInt(Lane::channels).sum());
        }
        return step.map(each -> note(deciding, each.reason(), each.bytesPerSecond()));
    }

    private Shape note(Tuning decided, TuningReason reason, double bytesPerSecond) {
        Shape wanted = new Shape(decided.lanes(), decided.channels());
        decisions.addLast(new TuningDecision(
                clock.instant(),
                wanted.lanes(),
                wanted.channels(),
                bytesPerSecond > 0 ? bytesPerSecond : null,
                reason));
        if (decisions.size() > DECISIONS_MAX) {
            decisions.removeFirst();
        }
        return wanted;
    }
}
