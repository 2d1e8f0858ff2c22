package dozo.plan;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.DoubleFunction;
import org.apache.commons.statistics.distribution.TDistribution;
import org.jspecify.annotations.Nullable;

/**
 * What a night will have verified by a moment, if it sends experiments in this order, one after the other.
 *
 * @param begin when it was made
 * @param until the moment
 * @param experiments in the order of sending
 * @param bytes to send
 * @param bytesUntil verified by the moment
 * @param experimentsUntil safe by the moment
 * @param safeAt when everything is safe
 */
public record NightForecast(
        Instant begin,
        Instant until,
        List<Expected> experiments,
        long bytes,
        Range<Long> bytesUntil,
        Range<Integer> experimentsUntil,
        Range<@Nullable Instant> safeAt) {

    /** The probability that a range contains what will be. */
    public static final double RANGE = 0.8;

    /** With a lower probability of being safe before its source deletes it, an experiment is at risk. */
    public static final double SURE = 0.9;

    /**
     * A range of what may be.
     *
     * @param low with {@code high} it contains what will be with a probability of {@value NightForecast#RANGE}
     * @param middle as probably exceeded as not
     */
    public record Range<T extends @Nullable Object>(T low, T middle, T high) {}

    /**
     * What is expected of one experiment.
     *
     * @param safeAt when it is safe, as probably earlier as later; null: not in the time that was looked at
     * @param untilProbability that it is safe by the moment
     * @param deadlineProbability that it is safe before its source deletes it; 1 if it does not
     */
    public record Expected(
            Pending pending, @Nullable Instant safeAt, double untilProbability, double deadlineProbability) {

        /** Returns whether it may well be deleted before it is safe. */
        public boolean atRisk() {
            return deadlineProbability < SURE;
        }
    }

    /**
     * Makes a forecast.
     *
     * @param ordered all experiments that are not safe
     */
    public static NightForecast of(List<Pending> ordered, Speed speed, Hours hours, Instant until) {
        Line line = new Line(ordered, speed, hours);
        List<Expected> expected = new ArrayList<>(ordered.size());
        for (int i = 0; i < ordered.size(); i++) {
            Instant deadline = ordered.get(i).deadline();
            expected.add(new Expected(
                    ordered.get(i),
                    hours.after(line.seconds[i]).orElse(null),
                    line.probability(i, until),
                    deadline == null ? 1 : line.probability(i, deadline)));
        }
        return new NightForecast(
                hours.begin(),
                until,
                expected,
                line.bytes(),
                line.range(1, late -> line.bytesUntil(until, late)),
                line.range(1, late -> line.experimentsUntil(until, late)),
                line.range(-1, line::end));
    }

    /** Experiments one after the other. */
    private static final class Line {

        private final List<Pending> ordered;
        private final Hours hours;
        private final TDistribution errors;

        /** For each experiment, the seconds at the full rate until it is safe. */
        private final double[] seconds;

        /** The scale of the logarithm of those. */
        private final double[] deviations;

        /** The part of that which comes from sizes that are estimates, for all together. */
        private double unknown;

        Line(List<Pending> ordered, Speed speed, Hours hours) {
            this.ordered = ordered;
            this.hours = hours;
            this.errors = TDistribution.of(speed.freedom());
            this.seconds = new double[ordered.size()];
            this.deviations = new double[ordered.size()];
            double sum = 0;
            double variance = 0;
            for (int i = 0; i < seconds.length; i++) {
                double own = speed.seconds(ordered.get(i).work());
                sum += own;
                variance += Math.pow(own * ordered.get(i).uncertainty(), 2);
                seconds[i] = sum;
                // With the relative variance v, the logarithm has the variance ln(1 + v), if that is normally
                // distributed.
                unknown = Math.sqrt(Math.log1p(sum == 0 ? 0 : variance / (sum * sum)));
                deviations[i] = Math.hypot(speed.deviation(), unknown);
            }
        }

        double probability(int i, Instant moment) {
            double usable = hours.usableUntil(moment);
            if (usable <= 0) {
                return 0;
            }
            return seconds[i] == 0 ? 1 : errors.cumulativeProbability(Math.log(usable / seconds[i]) / deviations[i]);
        }

        long bytes() {
            return ordered.stream().mapToLong(each -> each.work().bytes()).sum();
        }

        /** Returns the bytes verified by a moment, if everything takes longer by so many deviations. */
        long bytesUntil(Instant moment, double late) {
            double[] ends = ends(late);
            double usable = hours.usableUntil(moment);
            double bytes = 0;
            double begin = 0;
            for (int i = 0; i < ends.length && begin <= usable; i++) {
                double part = ends[i] <= usable ? 1 : (usable - begin) / (ends[i] - begin);
                bytes += part * ordered.get(i).work().bytes();
                begin = ends[i];
            }
            // If there is time for everything, only the sizes are uncertain.
            return Math.round(begin <= usable ? bytes * Math.exp(-late * unknown) : bytes);
        }

        int experimentsUntil(Instant moment, double late) {
            double usable = hours.usableUntil(moment);
            return (int) Arrays.stream(ends(late)).filter(end -> end <= usable).count();
        }

        @Nullable
        Instant end(double late) {
            double[] ends = ends(late);
            return hours.after(ends.length == 0 ? 0 : ends[ends.length - 1]).orElse(null);
        }

        /** Returns when each is safe, if everything takes longer by so many deviations; none before the one before it. */
        private double[] ends(double late) {
            double[] ends = new double[seconds.length];
            for (int i = 0; i < ends.length; i++) {
                double before = i == 0 ? 0 : ends[i - 1];
                ends[i] = Math.max(before, seconds[i] * Math.exp(late * deviations[i]));
            }
            return ends;
        }

        /**
         * Returns the range of a value that depends on how late everything is.
         *
         * @param lowest 1: it is lowest if everything is late; -1: highest
         */
        <T extends @Nullable Object> Range<T> range(int lowest, DoubleFunction<T> value) {
            double most = lowest * errors.inverseCumulativeProbability((1 + RANGE) / 2);
            return new Range<>(value.apply(most), value.apply(0), value.apply(-most));
        }
    }
}
