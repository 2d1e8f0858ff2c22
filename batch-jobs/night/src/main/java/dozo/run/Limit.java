package dozo.run;

import dozo.send.Load;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToIntFunction;

/**
 * The bottleneck of a run: the stage that holds most of its units, and while units are sent, the stage that holds most
 * of their files. A queue forms before the slowest stage, so only a faster stage there speeds up the run.
 */
public enum Limit {
    /** Opening and reading files of the source. */
    SOURCE,
    /** The way to the site: the link, or the rate at which the site accepts data. */
    SITE,
    /** The limit of the site's timetable. */
    TIMETABLE,
    /** Others use the source or the site, and the run steps back for them. */
    YIELDING,
    /** Computing digests, while other processors are idle: those of one file are computed one after the other. */
    DIGESTING,
    /** All processors of this machine are busy, with whatever work. */
    PROCESSORS,
    /** Computing digests at the site. */
    PROVING,
    /** Renaming at the site, and writing to its disks. */
    NAMING,
    /** Recording in the catalogue. */
    RECORDING;

    /** At this load, more work has to wait for a processor. */
    private static final double BUSY = 0.9;

    /**
     * An observation at one moment.
     *
     * @param processors load of this machine's processors, from 0 to 1; below 0: unknown
     */
    public record Glance(Load load, double processors) {}

    /**
     * Returns the bottleneck of a run.
     *
     * @param glances observations spread over the period in question
     * @return empty if no units were under way
     */
    public static Optional<Limit> of(Collection<Glance> glances) {
        List<Load> looks = glances.stream().map(Glance::load).toList();
        double processors = glances.stream()
                .mapToDouble(Glance::processors)
                .filter(busy -> busy >= 0)
                .average()
                .orElse(-1);
        int sending = sum(looks, Load::sending);
        Map<Limit, Integer> units = Map.of(
                SITE, sending,
                PROVING, sum(looks, Load::proving),
                NAMING, sum(looks, Load::naming),
                RECORDING, sum(looks, Load::recording));
        return most(units).map(most -> {
            Limit held = most == SITE ? ofSending(looks) : most;
            // What waits for a limit would not be sooner with more processors.
            return processors >= BUSY && held != TIMETABLE && held != YIELDING ? PROCESSORS : held;
        });
    }

    private static Limit ofSending(Collection<Load> looks) {
        int reading = sum(looks, Load::reading);
        int digesting = sum(looks, Load::digesting);
        int limited = sum(looks, Load::limited);
        int yielding = sum(looks, Load::yielding);
        int waiting = sum(looks, Load::files) - reading - digesting - limited - yielding;
        return most(Map.of(
                        SOURCE, reading, DIGESTING, digesting, TIMETABLE, limited, YIELDING, yielding, SITE, waiting))
                .orElse(SITE);
    }

    private static Optional<Limit> most(Map<Limit, Integer> crowds) {
        return crowds.entrySet().stream()
                .filter(crowd -> crowd.getValue() > 0)
                .max(Map.Entry.<Limit, Integer>comparingByValue()
                        .thenComparing(Map.Entry::getKey, Comparator.reverseOrder()))
                .map(Map.Entry::getKey);
    }

    private static int sum(Collection<Load> looks, ToIntFunction<Load> of) {
        return looks.stream().mapToInt(of).sum();
    }
}
