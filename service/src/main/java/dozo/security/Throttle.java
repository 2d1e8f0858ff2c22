package dozo.security;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.SequencedMap;
import org.jspecify.annotations.Nullable;

/**
 * Counts failed logins, and delays further attempts. The wait grows with each failure, up to a minute: for a name from
 * an address, and for an address. A name may fail at most 100 times an hour, from all addresses together. A user who
 * has logged in from an address before waits there only for failures with this name from this address: an attacker who
 * guesses cannot lock out the owner of a name.
 *
 * <p>Memory is bounded: of each kind, the 10,000 latest are kept, in this process. Callers give the time.
 */
final class Throttle {

    static final int PAIR_FAILURES_FREE = 5;
    static final int ADDRESS_FAILURES_FREE = 30;
    static final int NAME_FAILURES_HOUR = 100;
    static final Duration WAIT_MAX = Duration.ofMinutes(1);

    private static final int KEPT_MAX = 10_000;
    private static final Duration FORGOTTEN_AFTER = Duration.ofMinutes(15);
    private static final Duration HOUR = Duration.ofHours(1);

    private final SequencedMap<Pair, Failures> pairs = latest(KEPT_MAX);
    private final SequencedMap<String, Failures> addresses = latest(KEPT_MAX);
    private final SequencedMap<String, Failures> names = latest(KEPT_MAX);
    private final SequencedMap<Pair, Instant> known = latest(KEPT_MAX);

    private record Pair(String name, String address) {}

    /** The number of failures, and the times of the first and the last one. */
    private record Failures(int count, Instant first, Instant last) {

        static Failures oneMore(@Nullable Failures before, Instant now, Instant forgotten) {
            return before == null || forgotten.isBefore(now)
                    ? new Failures(1, now, now)
                    : new Failures(before.count + 1, before.first, now);
        }
    }

    /** Returns how long this name must wait at this address; zero if it need not wait. */
    synchronized Duration wait(String name, String address, Instant now) {
        Pair pair = new Pair(name, address);
        Duration own = growing(pairs.get(pair), PAIR_FAILURES_FREE, now);
        if (known.get(pair) != null) {
            return own;
        }
        return longest(own, longest(growing(addresses.get(address), ADDRESS_FAILURES_FREE, now), hourly(name, now)));
    }

    synchronized void failed(String name, String address, Instant now) {
        count(pairs, new Pair(name, address), now);
        count(addresses, address, now);
        Failures before = names.get(name);
        names.put(name, Failures.oneMore(before, now, before == null ? now : before.first.plus(HOUR)));
    }

    synchronized void succeeded(String name, String address, Instant now) {
        Pair pair = new Pair(name, address);
        pairs.remove(pair);
        known.put(pair, now);
    }

    synchronized int size() {
        return pairs.size() + addresses.size() + names.size() + known.size();
    }

    private static <K> void count(Map<K, Failures> counts, K key, Instant now) {
        Failures before = counts.get(key);
        counts.put(key, Failures.oneMore(before, now, before == null ? now : before.last.plus(FORGOTTEN_AFTER)));
    }

    private static Duration growing(@Nullable Failures failures, int free, Instant now) {
        if (failures == null || failures.count < free) {
            return Duration.ZERO;
        }
        int doublings = Math.min(failures.count - free, 10);
        Duration pause = Duration.ofSeconds(1L << doublings);
        return until(failures.last.plus(pause.compareTo(WAIT_MAX) < 0 ? pause : WAIT_MAX), now);
    }

    private Duration hourly(String name, Instant now) {
        Failures failures = names.get(name);
        return failures == null || failures.count < NAME_FAILURES_HOUR
                ? Duration.ZERO
                : until(failures.first.plus(HOUR), now);
    }

    private static Duration until(Instant end, Instant now) {
        return end.isAfter(now) ? Duration.between(now, end) : Duration.ZERO;
    }

    private static Duration longest(Duration one, Duration other) {
        return one.compareTo(other) > 0 ? one : other;
    }

    /** Returns a map of at most {@code most} entries that keeps those used last. */
    static <K, V> SequencedMap<K, V> latest(int most) {
        return new LinkedHashMap<>(16, 0.75f, true) {
            private static final long serialVersionUID = 1L;

            @Override
            protected boolean removeEldestEntry(Map.Entry<K, V> eldest) {
                return size() > most;
            }
        };
    }
}
