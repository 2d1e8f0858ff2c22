package dozo.ui;

import dozo.send.Load;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.ToIntFunction;

/**
 * What a run waits for most: where its units are most of the time, and while they are sent, where their files are. A queue forms
 * before what is slowest, so that is where making something faster helps.
 */
enum Limit {
    /** Opening and reading files of the source. */
    SOURCE,
    /** The way to the site: the link, or how fast the site takes what comes. */
    SITE,
    /** Digesting what is read, where other processors have nothing to do: those of one file are computed one after the other. */
    DIGESTING,
    /** All processors of this machine are busy, whoever with. */
    PROCESSORS,
    /** The digests that the site computes. */
    PROVING,
    /** Giving names at the site, and bringing to its disks. */
    NAMING,
    /** Recording in the catalogue. */
    RECORDING;

    /** From here on, more work has to wait for a processor. */
    private static final double BUSY = 0.9;

    /**
     * What is seen in a moment.
     *
     * @param processors how busy this machine's processors are, from 0 to 1; below 0: not known
     */
    record Glance(Load load, double processors) {}

    /**
     * What limited a run.
     *
     * @param glances spread over the time that is asked about
     * @return empty when nothing was on its way
     */
    static Optional<Limit> of(Collection<Glance> glances) {
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
            if (processors >= BUSY) {
                return PROCESSORS;
            }
            return most == SITE ? ofSending(looks) : most;
        });
    }

    private static Limit ofSending(Collection<Load> looks) {
        int reading = sum(looks, Load::reading);
        int digesting = sum(looks, Load::digesting);
        int waiting = sum(looks, Load::files) - reading - digesting;
        return most(Map.of(SOURCE, reading, DIGESTING, digesting, SITE, waiting))
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
