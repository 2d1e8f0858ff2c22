package dozo.command;

import dozo.plan.CostFit;
import dozo.plan.CostModel;
import dozo.plan.Measurement;
import dozo.plan.NightForecast.Range;
import dozo.plan.Speed;
import dozo.plan.Work;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * How long a copy will take, as far as earlier copies say.
 *
 * @param copies how many there were
 * @param seconds of the whole command; the range contains the time with a probability of 80 %
 */
record CopyForecast(int copies, Range<Double> seconds) {

    /** How long a command takes beside sending: its start, the login, and the site's last sync. */
    private static final double START_SECONDS = 1;

    /** With all lanes of a copy, as if they were one. Only its proportion matters: measured over loopback with two processors. */
    private static final CostModel BEGIN = new CostModel(500e6, 1 / 5_000.0);

    /**
     * Returns a forecast; empty if there were no copies.
     *
     * @param earlier the oldest first, each with the time of the whole command
     * @param limit in bytes a second; 0: none
     */
    static Optional<CopyForecast> of(List<Measurement> earlier, Work work, long limit) {
        if (earlier.isEmpty()) {
            return Optional.empty();
        }
        List<Measurement> sending = earlier.stream().map(CopyForecast::sending).toList();
        List<Double> factors = new ArrayList<>();
        for (int i = 1; i < sending.size(); i++) {
            factors.add(sending.get(i).factor(CostFit.of(BEGIN, sending.subList(0, i))));
        }
        CostModel cost = CostFit.of(BEGIN, sending);
        Range<Double> range = Speed.of(cost, 1, factors)
                .deviating(unlike(cost, sending, work))
                .range(work);
        double least = limit > 0 ? (double) work.bytes() / limit : 0;
        return Optional.of(new CopyForecast(
                earlier.size(),
                new Range<>(
                        START_SECONDS + Math.max(least, range.low()),
                        START_SECONDS + Math.max(least, range.middle()),
                        START_SECONDS + Math.max(least, range.high()))));
    }

    private static Measurement sending(Measurement whole) {
        double seconds = Math.max(whole.seconds() - START_SECONDS, whole.seconds() / 2);
        return new Measurement(whole.work(), whole.lanes(), seconds);
    }

    /**
     * Returns how unlike a work is to the one most like it: 0 to 1. Copies of large files do not show how long small files
     * take.
     */
    private static double unlike(CostModel cost, List<Measurement> measurements, Work work) {
        double share = shareOfEntries(cost, work);
        return measurements.stream()
                .mapToDouble(each -> Math.abs(shareOfEntries(cost, each.work()) - share))
                .min()
                .orElse(0);
    }

    private static double shareOfEntries(CostModel cost, Work work) {
        double seconds = cost.seconds(work);
        return seconds == 0 ? 0 : cost.seconds(0, work.entries()) / seconds;
    }
}
