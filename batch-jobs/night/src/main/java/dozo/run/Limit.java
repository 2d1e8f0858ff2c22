package dozo.run;

import dozo.remote.LinkLoad;
import dozo.send.Load;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.ToDoubleFunction;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The bottleneck of a run: the stage that holds most of its units, and while units are sent, the stage that holds most
 * of their files. A queue forms before the slowest stage, so only a faster stage there speeds up the run (ADR 0082).
 */
public enum Limit {
    /** Looking for what is new: nothing can be sent before it is found. */
    LOOKING,
    /** Opening and reading files of the source. */
    SOURCE,
    /** The limit of the site's timetable. */
    TIMETABLE,
    /** Others use the source or the site, and the run steps back for them. */
    YIELDING,
    /** Computing digests, while other processors are idle: those of one file are computed one after the other. */
    DIGESTING,
    /** This process keeps the processors busy that it can have, with whatever work. */
    PROCESSORS,
    /** The connections take no more: the link is full, or the site's SSH server does not read faster. */
    LINK,
    /** Answers take little longer than the round trip: more windows or requests would carry more. */
    ROUND_TRIPS,
    /** Answers take much longer than the round trip, while the link has room: the site writes slowly. */
    WRITING,
    /** Computing digests at the site. */
    PROVING,
    /** Renaming at the site, and syncing its disks. */
    NAMING,
    /** Recording in the catalogue. */
    RECORDING,
    /** Bags get their lists and tag files, after everything was sent. */
    SETTLING;

    /** At this load, more work has to wait for a processor. */
    private static final double BUSY = 0.9;

    /** If the connections take data for at least this share of the time, they hold it up. */
    private static final double FULL = 0.5;

    /** If the windows could carry less than this share more, they hold the data up. */
    private static final double WINDOWS_USED = 0.5;

    /** An answer that takes less than this many round trips was hardly held up at the site. */
    private static final double ROUND_TRIPS_MAX = 3;

    /** If the SSH server's own answers take this share of the time of SFTP's, the data waits before it gets there. */
    private static final double QUEUED = 0.5;

    /** What a stage that is twice as fast needs of its time. */
    private static final double HALF = 0.5;

    /**
     * An observation at one moment.
     *
     * @param nanos when, in {@link System#nanoTime} terms
     * @param processors how busy this process keeps those processors that it can have, from 0 to 1; below 0: unknown
     * @param idle what the run waits for if no units are under way; null: for nothing of its own
     */
    public record Glance(
            long nanos,
            Load load,
            double processors,
            @Nullable Limit idle) {}

    /**
     * A bottleneck, and what would come of a faster one.
     *
     * @param needed the share of the time that would still be needed if it was twice as fast: ½, or more if another
     * stage is busy for more than half of the time
     */
    public record Found(Limit limit, double needed) {}

    /**
     * Returns the bottleneck of a run.
     *
     * @param glances observations spread over the period in question, the oldest first
     * @return empty if nothing was under way
     */
    public static Optional<Found> of(List<Glance> glances) {
        List<Glance> working =
                glances.stream().filter(glance -> glance.load.isWork()).toList();
        boolean works = 2 * working.size() > glances.size();
        double processors = glances.stream()
                .mapToDouble(Glance::processors)
                .filter(busy -> busy >= 0)
                .average()
                .orElse(0);
        return (works ? Optional.of(held(working)) : mostOfIdle(glances)).map(held -> {
            // What waits for a limit would not be sooner with more processors.
            if (processors >= BUSY && held != TIMETABLE && held != YIELDING) {
                return new Found(PROCESSORS, HALF);
            }
            double busiest = busy(working, processors).entrySet().stream()
                    .filter(each -> each.getKey() != held)
                    .mapToDouble(Map.Entry::getValue)
                    .max()
                    .orElse(0);
            return new Found(held, Math.clamp(busiest, HALF, 1));
        });
    }

    private static Optional<Limit> mostOfIdle(List<Glance> glances) {
        Map<Limit, Integer> waits = new EnumMap<>(Limit.class);
        glances.stream().map(Glance::idle).filter(Objects::nonNull).forEach(idle -> waits.merge(idle, 1, Integer::sum));
        return most(waits);
    }

    private static Limit held(List<Glance> glances) {
        Map<Limit, Integer> units = Map.of(
                SOURCE, sum(glances, Load::sending),
                PROVING, sum(glances, Load::proving),
                NAMING, sum(glances, Load::naming),
                RECORDING, sum(glances, Load::recording));
        Limit most = most(units).orElseThrow();
        return most == SOURCE ? ofSending(glances) : most;
    }

    private static Limit ofSending(List<Glance> glances) {
        int reading = sum(glances, Load::reading);
        int digesting = sum(glances, Load::digesting);
        int limited = sum(glances, Load::limited);
        int yielding = sum(glances, Load::yielding);
        int waiting = sum(glances, Load::files) - reading - digesting - limited - yielding;
        Limit most = most(Map.of(
                        SOURCE, reading, DIGESTING, digesting, TIMETABLE, limited, YIELDING, yielding, LINK, waiting))
                .orElse(LINK);
        return most == LINK ? ofSite(glances) : most;
    }

    private static Limit ofSite(List<Glance> glances) {
        LinkLoad first = glances.getFirst().load.link();
        LinkLoad last = glances.getLast().load.link();
        double seconds = (glances.getLast().nanos - glances.getFirst().nanos) / 1e9;
        if (full(glances) >= FULL || last.lanes() == 0 || seconds <= 0) {
            return LINK;
        }
        double roundTrip = last.roundTripNanos() / 1e9;
        double bytes = (last.bytes() - first.bytes()) / seconds;
        double answers = (last.answers() - first.answers()) / seconds;
        // Little's law: how many there are is how many a second, times how long each takes.
        double unanswered = mean(glances, each -> each.load.link().unanswered());
        boolean soon = answers > 0 && unanswered <= answers * ROUND_TRIPS_MAX * roundTrip;
        boolean windows = bytes * roundTrip >= WINDOWS_USED * last.windowBytes();
        if (soon || windows) {
            return ROUND_TRIPS;
        }
        // The SSH server itself answers as late as SFTP does: the data waits on its way, not at the site.
        double server = mean(glances, each -> each.load.link().serverNanos()) / 1e9;
        boolean queued = answers > 0 ? server * answers >= QUEUED * unanswered : server > ROUND_TRIPS_MAX * roundTrip;
        return queued ? LINK : WRITING;
    }

    /** Returns for what share of the time the connections take data. */
    private static double full(List<Glance> glances) {
        return mean(glances, each -> each.load.link().writing())
                / Math.max(1, mean(glances, each -> each.load.link().lanes()));
    }

    /**
     * Returns for what share of the time the stages are busy. With a mean of q in a stage, that is q/(1+q), as in a
     * queue with one server (M/M/1). Naming is left out: one sync of the site serves all units that wait for it.
     */
    private static Map<Limit, Double> busy(List<Glance> glances, double processors) {
        return Map.of(
                PROCESSORS, processors,
                LINK, full(glances),
                SOURCE, queued(mean(glances, each -> each.load.reading())),
                PROVING, queued(mean(glances, each -> each.load.proving())),
                RECORDING, queued(mean(glances, each -> each.load.recording())));
    }

    private static double queued(double mean) {
        return mean / (1 + mean);
    }

    private static Optional<Limit> most(Map<Limit, Integer> crowds) {
        return crowds.entrySet().stream()
                .filter(crowd -> crowd.getValue() > 0)
                .max(Map.Entry.<Limit, Integer>comparingByValue()
                        .thenComparing(Map.Entry::getKey, Comparator.reverseOrder()))
                .map(Map.Entry::getKey);
    }

    private static int sum(List<Glance> glances, ToIntFunction<Load> of) {
        return glances.stream().mapToInt(glance -> of.applyAsInt(glance.load)).sum();
    }

    private static double mean(List<Glance> glances, ToDoubleFunction<Glance> of) {
        return glances.stream().mapToDouble(of).average().orElse(0);
    }
}
