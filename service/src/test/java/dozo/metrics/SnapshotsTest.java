package dozo.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

/** Values are taken seldom, shown to everybody, and absent rather than wrong. */
class SnapshotsTest {

    private static final Duration NEVER = Duration.ofDays(1);

    private final AtomicLong nanos = new AtomicLong(1_000);
    private final AtomicInteger count = new AtomicInteger();
    private final Deque<Runnable> waiting = new ArrayDeque<>();

    @Test
    void manyReadersWithinFifteenSecondsGetOneSnapshot() {
        Snapshots snapshots = at(Duration.ZERO);

        for (int i = 0; i < 20; i++) {
            assertThat(value(snapshots.collect())).isEqualTo(1);
        }
        pass(Snapshots.AGE_MIN);
        assertThat(value(snapshots.collect())).isEqualTo(1);
        pass(Duration.ofNanos(1));
        assertThat(value(snapshots.collect())).isEqualTo(2);
    }

    @Test
    void whatTakesLongIsTakenLessOften() {
        Snapshots snapshots = at(Duration.ofSeconds(1));

        assertThat(value(snapshots.collect())).isEqualTo(1);
        pass(Duration.ofSeconds(98));
        assertThat(value(snapshots.collect())).isEqualTo(1);
        pass(Duration.ofSeconds(2));
        assertThat(value(snapshots.collect())).isEqualTo(2);
    }

    @Test
    void aFailureLeavesNothingToShowUntilTheNextOne() {
        Snapshots snapshots = new Snapshots(
                () -> {
                    if (count.incrementAndGet() == 2) {
                        throw new IllegalStateException("the second");
                    }
                    return List.of(new Sample(Metric.WORKERS, count.get()));
                },
                Runnable::run,
                nanos::get,
                NEVER);

        assertThat(value(snapshots.collect())).isEqualTo(1);
        pass(Snapshots.AGE_MIN.plusNanos(1));
        assertThat(snapshots.collect().size()).isZero();
        pass(Snapshots.AGE_MIN.plusNanos(1));
        assertThat(value(snapshots.collect())).isEqualTo(3);
    }

    @Test
    void nobodyWaitsForeverOrGetsAnOlderOneMeanwhile() {
        Snapshots snapshots = new Snapshots(
                () -> List.of(new Sample(Metric.WORKERS, count.incrementAndGet())),
                waiting::add,
                nanos::get,
                Duration.ofMillis(1));

        assertThat(snapshots.collect().size()).isZero();
        pass(NEVER);
        assertThat(snapshots.collect().size()).as("it is not begun twice").isZero();
        assertThat(waiting).hasSize(1);
        waiting.remove().run();
        assertThat(value(snapshots.collect())).isEqualTo(1);
    }

    private Snapshots at(Duration cost) {
        return new Snapshots(
                () -> {
                    pass(cost);
                    return List.of(new Sample(Metric.WORKERS, count.incrementAndGet()));
                },
                Runnable::run,
                nanos::get,
                NEVER);
    }

    private void pass(Duration time) {
        nanos.addAndGet(time.toNanos());
    }

    private static double value(MetricSnapshots shown) {
        return ((io.prometheus.metrics.model.snapshots.GaugeSnapshot) shown.get(0))
                .getDataPoints()
                .getFirst()
                .getValue();
    }
}
