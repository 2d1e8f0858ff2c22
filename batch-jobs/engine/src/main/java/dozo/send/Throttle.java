package dozo.send;

import io.github.bucket4j.Bandwidth;
import io.github.bucket4j.Bucket;
import io.github.bucket4j.ConsumptionProbe;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Limits content to a rate that may change at any time: a token bucket for all who share it. Nobody waits long at once, so
 * a change takes effect within {@link #WAIT_MAX_NANOS}.
 */
public final class Throttle {

    /** Tokens are 16 bytes each: the library adds at most one every nanosecond. */
    private static final int TOKEN_BYTES = 16;

    /** A higher limit, above 128 Gbit/s, is none: no site is reached so fast. */
    private static final long LIMIT_MAX = TOKEN_BYTES * TimeUnit.SECONDS.toNanos(1);

    /** The bucket holds this part of a second: what was not used makes up for late wake-ups, and for nothing longer. */
    private static final int BURSTS_PER_SECOND = 20;

    /** Content passes in parts of the bucket, so that it fills while somebody waits. */
    private static final int PARTS = 4;

    private static final long WAIT_MAX_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    /** The shortest wait: anything shorter costs more than it brings. */
    private static final long WAIT_MIN_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final Consumer<String> changes;
    private final SourceYielding sources;
    private final LongAdder waiting = new LongAdder();
    private volatile @Nullable Limit limit;

    /** Null while it does not yield. */
    private volatile @Nullable SiteYielding site;

    /** By the engine that was opened last: only one run is active at a time. */
    private volatile SiteYielding.Ping ping = () -> false;

    private record Limit(long bytesPerSecond, Bucket bucket, long partTokens) {

        static Limit of(long bytesPerSecond) {
            long perSecond = Math.max(1, bytesPerSecond / TOKEN_BYTES);
            long capacity = Math.max(PARTS, perSecond / BURSTS_PER_SECOND);
            Bucket bucket = Bucket.builder()
                    .addLimit(Bandwidth.builder()
                            .capacity(capacity)
                            .refillGreedy(perSecond, Duration.ofSeconds(1))
                            .initialTokens(0)
                            .build())
                    .withNanosecondPrecision()
                    .build();
            return new Limit(bytesPerSecond, bucket, capacity / PARTS);
        }
    }

    /** Creates a limit in bytes per second; 0: no limit. */
    public Throttle(long bytesPerSecond) {
        this(bytesPerSecond, _ -> {});
    }

    /**
     * Creates a limit in bytes per second; 0: no limit.
     *
     * @param changes receives a sentence when others get clearly more or less room while it yields to them
     */
    public Throttle(long bytesPerSecond, Consumer<String> changes) {
        this.changes = changes;
        this.sources = new SourceYielding(changes);
        limit(bytesPerSecond);
    }

    /**
     * Begins or ends to yield: then requests to sources and content to the site become fewer when answers take longer than
     * without load, so that others who use them are not slowed.
     */
    public synchronized void yielding(boolean now) {
        sources.inForce(now);
        SiteYielding before = site;
        if (now && before == null) {
            SiteYielding begun = new SiteYielding(changes, () -> ping.ask());
            begun.observe();
            site = begun;
        } else if (!now && before != null) {
            site = null;
            before.end();
        }
    }

    /** Returns the limit of requests to sources. */
    SourceYielding sources() {
        return sources;
    }

    /** Sets how the site is asked for a small answer while it yields to others there. */
    void askBy(SiteYielding.Ping way) {
        ping = way;
    }

    /** Changes the limit; 0: no limit. */
    public void limit(long bytesPerSecond) {
        if (bytesPerSecond < 0) {
            throw new IllegalArgumentException("a rate of " + bytesPerSecond);
        }
        Limit now = limit;
        if (bytesPerSecond == 0 || bytesPerSecond > LIMIT_MAX) {
            limit = null;
        } else if (now == null || now.bytesPerSecond != bytesPerSecond) {
            limit = Limit.of(bytesPerSecond);
        }
    }

    /** Waits until this many bytes may be sent. */
    public void pass(int bytes) throws InterruptedException {
        long tokens = Math.ceilDiv(bytes, TOKEN_BYTES);
        while (tokens > 0) {
            Limit now = limit;
            if (now == null) {
                break;
            }
            long part = Math.min(tokens, now.partTokens);
            ConsumptionProbe probe = now.bucket.tryConsumeAndReturnRemaining(part);
            if (probe.isConsumed()) {
                tokens -= part;
            } else {
                await(probe.getNanosToWaitForRefill());
            }
        }
        SiteYielding yielding = site;
        if (yielding != null) {
            yielding.pass(bytes);
        }
    }

    private void await(long nanos) throws InterruptedException {
        waiting.increment();
        try {
            TimeUnit.NANOSECONDS.sleep(Math.clamp(nanos, WAIT_MIN_NANOS, WAIT_MAX_NANOS));
        } finally {
            waiting.decrement();
        }
    }

    /** Returns how many wait for the limit at the moment. */
    int waiting() {
        return waiting.intValue();
    }

    /** Returns how many wait because it yields to others. */
    int yieldingNow() {
        SiteYielding now = site;
        return sources.waiting() + (now == null ? 0 : now.waiting());
    }
}
