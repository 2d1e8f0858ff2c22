package dozo.plan;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Stream;
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
     * A night to come, of several.
     *
     * @param untilAt the end of its window
     * @param verified the bytes by then, of all nights
     * @param safe the experiments by then, of all nights
     */
    public record Night(Instant untilAt, Range<Long> verified, Range<Integer> safe) {}

    /**
     * Returns the nights until everything is safe, and is so with a probability of 90 %: all that are given if it takes longer.
     *
     * @param ends the ends of their windows, in order
     */
    public static List<Night> nights(List<Pending> ordered, Speed speed, Hours hours, Stream<Instant> ends) {
        Line line = new Line(ordered, speed, hours);
        List<Night> nights = new ArrayList<>();
        for (Iterator<Instant> each = ends.iterator(); each.hasNext(); ) {
            Night night = line.night(each.next());
            nights.add(night);
            if (night.safe.low == ordered.size()) {
                break;
            }
        }
        return nights;
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
                    hours.after(line.seconds[i], 1).orElse(null),
                    line.probability(i, until),
                    deadline == null ? 1 : line.probability(i, deadline)));
        }
        Night night = line.night(until);
        return new NightForecast(
                hours.begin(), until, expected, line.bytes(), night.verified, night.safe, line.safeAt());
    }

    /** Experiments one after the other. */
    private static final class Line {

        /** So many steps find a probability to within 0.001. */
        private static final int HALVINGS = 24;

        private static final double DEVIATIONS_MAX = 50;

        private final List<Pending> ordered;
        private final Hours hours;
        private final TDistribution errors;
        private final double speedDeviation;

        /** For each experiment, the seconds at the full rate until it is safe. */
        private final double[] seconds;

        /** What the scale of the logarithm of those has more than that of the speed: sizes are estimates. */
        private final double[] unknowns;

        /** The part of the scale which comes from sizes, for all together. */
        private final double unknown;

        private final Course early;
        private final Course usual;
        private final Course late;

        Line(List<Pending> ordered, Speed speed, Hours hours) {
            this.ordered = ordered;
            this.hours = hours;
            this.errors = TDistribution.of(speed.freedom());
            this.speedDeviation = speed.deviation();
            this.seconds = new double[ordered.size()];
            this.unknowns = new double[ordered.size()];
            double sum = 0;
            double variance = 0;
            for (int i = 0; i < seconds.length; i++) {
                double own = speed.seconds(ordered.get(i).work());
                sum += own;
                variance += Math.pow(own * ordered.get(i).uncertainty(), 2);
                seconds[i] = sum;
                unknowns[i] = Math.hypot(speedDeviation, deviation(variance, sum)) - speedDeviation;
            }
            double most = errors.inverseCumulativeProbability((1 + RANGE) / 2);
            unknown = deviation(variance, sum);
            early = new Course(-most);
            usual = new Course(0);
            late = new Course(most);
        }

        /** With the relative variance v, the logarithm has the variance ln(1 + v), if it is normally distributed. */
        private static double deviation(double variance, double mean) {
            return mean == 0 ? 0 : Math.sqrt(Math.log1p(variance / (mean * mean)));
        }

        /** Returns the probability that an experiment is safe by a moment: it is, if everything is not later than so. */
        double probability(int i, Instant moment) {
            if (hours.usableUntil(moment) <= 0) {
                return 0;
            }
            double inTime = -DEVIATIONS_MAX;
            double tooLate = DEVIATIONS_MAX;
            for (int n = 0; n < HALVINGS; n++) {
                double middle = (inTime + tooLate) / 2;
                if (end(i, middle) <= hours.usableUntil(moment, speed(middle))) {
                    inTime = middle;
                } else {
                    tooLate = middle;
                }
            }
            return errors.cumulativeProbability(inTime);
        }

        /** Returns the seconds until an experiment is safe, if there is more to send by so many deviations. */
        private double end(int i, double late) {
            return seconds[i] * Math.exp(late * unknowns[i]);
        }

        /** Returns the speed, if everything takes longer by so many deviations. */
        private double speed(double late) {
            return Math.exp(-late * speedDeviation);
        }

        long bytes() {
            return ordered.stream().mapToLong(each -> each.work().bytes()).sum();
        }

        Night night(Instant moment) {
            return new Night(
                    moment,
                    new Range<>(late.bytes(moment), usual.bytes(moment), early.bytes(moment)),
                    new Range<>(late.experiments(moment), usual.experiments(moment), early.experiments(moment)));
        }

        Range<@Nullable Instant> safeAt() {
            return new Range<>(early.safeAt(), usual.safeAt(), late.safeAt());
        }

        /** What happens if everything takes longer by so many deviations. */
        private final class Course {

            private final double deviationsLate;
            private final double speed;

            /** The seconds until each experiment is safe; none before the one before it. */
            private final double[] ends = new double[seconds.length];

            Course(double deviationsLate) {
                this.deviationsLate = deviationsLate;
                this.speed = speed(deviationsLate);
                double before = 0;
                for (int i = 0; i < ends.length; i++) {
                    before = Math.max(before, end(i, deviationsLate));
                    ends[i] = before;
                }
            }

            long bytes(Instant moment) {
                double usable = hours.usableUntil(moment, speed);
                double bytes = 0;
                double begin = 0;
                for (int i = 0; i < ends.length && begin <= usable; i++) {
                    double part = ends[i] <= usable ? 1 : (usable - begin) / (ends[i] - begin);
                    bytes += part * ordered.get(i).work().bytes();
                    begin = ends[i];
                }
                // There may be less to send than was estimated; if there is time for everything, also more.
                double all = Line.this.bytes() * Math.exp(-deviationsLate * unknown);
                return Math.round(begin <= usable ? all : Math.min(bytes, all));
            }

            int experiments(Instant moment) {
                double usable = hours.usableUntil(moment, speed);
                return (int) Arrays.stream(ends).filter(end -> end <= usable).count();
            }

            @Nullable
            Instant safeAt() {
                return hours.after(ends.length == 0 ? 0 : ends[ends.length - 1], speed)
                        .orElse(null);
            }
        }
    }
}
