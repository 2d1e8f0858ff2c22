package dozo.metrics;

import dozo.db.LostDatabase;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.CounterSnapshot.CounterDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricMetadata;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The last snapshot of all values, for everybody who reads it. A reader who finds it too old has a new one taken, and waits
 * for it for a while. What cannot be taken, or not in time, is absent: nobody gets an older snapshot or zeros instead.
 */
final class Snapshots implements MultiCollector {

    /** No snapshot is taken more often. */
    static final Duration AGE_MIN = Duration.ofSeconds(15);

    /** A snapshot stands for at least so many times as long as it took: taking them costs 1 % of the time at most. */
    private static final int REST_FACTOR = 100;

    /** However long it took, an older snapshot is not shown. */
    static final Duration AGE_MAX = Duration.ofMinutes(5);

    /** Prometheus itself waits for 10 s. */
    static final Duration WAIT = Duration.ofSeconds(5);

    private static final Logger LOG = LoggerFactory.getLogger(Snapshots.class);

    private final Supplier<List<Sample>> measure;
    private final Executor threads;
    private final LongSupplier nanos;
    private final Duration wait;
    private @Nullable Taken last;

    /** A snapshot that is being taken, or was. */
    private static final class Taken {

        private final long begun;
        private final CompletableFuture<MetricSnapshots> result = new CompletableFuture<>();
        private volatile long ends = Long.MAX_VALUE;

        Taken(long begun) {
            this.begun = begun;
        }
    }

    /**
     * Takes snapshots.
     *
     * @param threads where they are taken
     * @param nanos a clock that is never set
     */
    Snapshots(Supplier<List<Sample>> measure, Executor threads, LongSupplier nanos, Duration wait) {
        this.measure = measure;
        this.threads = threads;
        this.nanos = nanos;
        this.wait = wait;
    }

    @Override
    public MetricSnapshots collect() {
        return present()
                .result
                .copy()
                .completeOnTimeout(MetricSnapshots.of(), wait.toNanos(), TimeUnit.NANOSECONDS)
                .join();
    }

    private synchronized Taken present() {
        Taken present = last;
        if (present == null || present.ends < nanos.getAsLong() - present.begun) {
            Taken next = new Taken(nanos.getAsLong());
            last = next;
            threads.execute(() -> take(next));
            return next;
        }
        return present;
    }

    private void take(Taken taken) {
        MetricSnapshots result = MetricSnapshots.of();
        try {
            result = shown(measure.get());
        } catch (RuntimeException failure) {
            if (LostDatabase.isBehind(failure)) {
                LOG.debug("the metrics lost the database", failure);
            } else {
                LOG.warn("the metrics cannot be taken: {}", failure.toString());
            }
        } finally {
            long cost = nanos.getAsLong() - taken.begun;
            taken.ends = Math.clamp(cost * REST_FACTOR, AGE_MIN.toNanos(), AGE_MAX.toNanos() + cost);
            taken.result.complete(result);
        }
    }

    private static MetricSnapshots shown(List<Sample> samples) {
        Map<Metric, List<Sample>> byMetric =
                samples.stream().collect(Collectors.groupingBy(Sample::metric, TreeMap::new, Collectors.toList()));
        MetricSnapshots.Builder all = MetricSnapshots.builder();
        byMetric.forEach((metric, values) -> all.metricSnapshot(shown(metric, values)));
        return all.build();
    }

    private static MetricSnapshot shown(Metric metric, List<Sample> values) {
        return switch (metric.type()) {
            case GAUGE ->
                new GaugeSnapshot(
                        new MetricMetadata(metric.title(), metric.help()),
                        values.stream()
                                .map(each -> new GaugeDataPointSnapshot(each.value(), labels(each), null))
                                .toList());
            case COUNTER ->
                new CounterSnapshot(
                        new MetricMetadata(metric.title().replaceFirst("_total$", ""), metric.help()),
                        values.stream()
                                .map(each -> new CounterDataPointSnapshot(each.value(), labels(each), null, 0))
                                .toList());
        };
    }

    private static Labels labels(Sample sample) {
        return Labels.of(sample.metric().labels(), sample.labels());
    }
}
