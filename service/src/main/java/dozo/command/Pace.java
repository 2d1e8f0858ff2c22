package dozo.command;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

/** Calculates rates over the last seconds. Not thread-safe. */
public final class Pace {

    /** The periods over which rates are averaged, the shortest first. */
    private static final List<Long> WINDOWS_NANOS =
            LongStream.of(5, 20, 60).map(TimeUnit.SECONDS::toNanos).boxed().toList();

    private final Deque<Sample> samples = new ArrayDeque<>();

    private record Sample(long nanos, long bytes, long entries) {}

    /** What is done in a second. */
    public record Rate(long bytes, long entries) {}

    /** Adds what was done up to a moment, and returns the rates over the periods, that of the shortest first. */
    public List<Rate> add(long nanos, long bytes, long entries) {
        // Counts that begin anew begin a new period.
        if (!samples.isEmpty() && (samples.getLast().bytes > bytes || samples.getLast().entries > entries)) {
            samples.clear();
        }
        Sample last = new Sample(nanos, bytes, entries);
        samples.addLast(last);
        while (samples.size() > 2 && nanos - samples.getFirst().nanos > WINDOWS_NANOS.getLast()) {
            samples.removeFirst();
        }
        return WINDOWS_NANOS.stream().map(window -> over(window, last)).toList();
    }

    private Rate over(long window, Sample last) {
        // At least one sample before the last, however old, as the period's begin.
        Sample first = samples.getFirst();
        for (Sample each : samples) {
            if (last.nanos - each.nanos >= window) {
                first = each;
            }
        }
        double seconds = Math.max((last.nanos - first.nanos) / 1e9, 0.001);
        return new Rate(
                (long) ((last.bytes - first.bytes) / seconds), (long) ((last.entries - first.entries) / seconds));
    }
}
