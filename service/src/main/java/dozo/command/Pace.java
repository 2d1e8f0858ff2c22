package dozo.command;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.TimeUnit;

/** Calculates rates over the last seconds. Not thread-safe. */
public final class Pace {

    /** The period over which rates are averaged. */
    private static final long WINDOW_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Deque<Sample> samples = new ArrayDeque<>();

    private record Sample(long nanos, long bytes, long entries) {}

    /** What is done in a second. */
    public record Rate(long bytes, long entries) {

        /** Returns how long these bytes take at this rate, as the end of a line; empty if that is not known. */
        String left(long bytesLeft) {
            if (bytes <= 0) {
                return "";
            }
            long seconds = bytesLeft / bytes;
            return "  %d:%02d:%02d left".formatted(seconds / 3600, seconds / 60 % 60, seconds % 60);
        }
    }

    /** Adds what was done up to a moment, and returns the rate. Counts that begin anew begin a new period. */
    public Rate add(long nanos, long bytes, long entries) {
        if (!samples.isEmpty() && (samples.getLast().bytes > bytes || samples.getLast().entries > entries)) {
            samples.clear();
        }
        samples.addLast(new Sample(nanos, bytes, entries));
        while (samples.size() > 2 && nanos - samples.getFirst().nanos > WINDOW_NANOS) {
            samples.removeFirst();
        }
        Sample first = samples.getFirst();
        double seconds = Math.max((nanos - first.nanos) / 1e9, 0.001);
        return new Rate((long) ((bytes - first.bytes) / seconds), (long) ((entries - first.entries) / seconds));
    }
}
