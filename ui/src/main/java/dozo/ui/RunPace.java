package dozo.ui;

import dozo.ui.RunSample.Lane;
import dozo.ui.RunSample.Rate;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Calculates the rates of a run and its lanes from samples of the last seconds, one a second. Not thread-safe. */
final class RunPace {

    /** Number of intervals between samples that a rate covers. */
    static final int SAMPLES = 10;

    private final Deque<Counted> counted = new ArrayDeque<>();

    /** What had been moved at a moment, in total and by lane. */
    private record Counted(long nanos, long bytes, long entries, Map<Integer, Long> lanes) {

        double secondsUntil(Counted later) {
            return (later.nanos - nanos) / 1e9;
        }
    }

    /** Adds a sample. NB: a new engine counts from 0 again. */
    void count(long nanos, long bytes, RunSample sample) {
        if (!counted.isEmpty() && counted.getLast().bytes > bytes) {
            counted.clear();
        }
        Map<Integer, Long> lanes = sample.lanes() == null
                ? Map.of()
                : sample.lanes().stream().collect(Collectors.toMap(Lane::number, Lane::bytes));
        counted.addLast(new Counted(nanos, bytes, sample.entriesDone(), lanes));
        if (counted.size() > SAMPLES + 1) {
            counted.removeFirst();
        }
    }

    /** Returns the rate; null until there are two samples. */
    @Nullable
    Rate rate() {
        Counted first = counted.getFirst();
        Counted last = counted.getLast();
        double seconds = first.secondsUntil(last);
        return seconds <= 0
                ? null
                : new Rate((last.bytes - first.bytes) / seconds, Math.max(0, last.entries - first.entries) / seconds);
    }

    /** Returns the sample's lanes with their rates, as far as these are known. */
    @Nullable
    List<Lane> lanes(RunSample sample) {
        return sample.lanes() == null
                ? null
                : sample.lanes().stream()
                        .map(lane -> new Lane(lane.number(), lane.bytes(), rate(lane)))
                        .toList();
    }

    /** Returns the rate since the lane was first seen. */
    private @Nullable Double rate(Lane lane) {
        return counted.stream()
                .filter(each -> each.lanes.containsKey(lane.number()))
                .findFirst()
                .filter(first -> first.secondsUntil(counted.getLast()) > 0)
                .map(first -> Math.max(0, lane.bytes() - first.lanes.getOrDefault(lane.number(), 0L))
                        / first.secondsUntil(counted.getLast()))
                .orElse(null);
    }
}
