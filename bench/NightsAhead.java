import static java.util.Comparator.comparingDouble;
import static java.util.stream.Collectors.joining;

import dozo.plan.CostFit;
import dozo.plan.CostModel;
import dozo.plan.Hours;
import dozo.plan.Hours.Step;
import dozo.plan.Measurement;
import dozo.plan.NightForecast;
import dozo.plan.Pending;
import dozo.plan.SendingOrder;
import dozo.plan.Speed;
import dozo.plan.Work;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * Simulates a site with Dozo's planner and cost model, without files: nights that are compared with their forecasts,
 * and experiments that are deleted before all of them can be sent.
 *
 * <pre>java -cp ENGINE NightsAhead nights RUNS WARM_UP NIGHTS
 * java -cp ENGINE NightsAhead order RUNS DAYS</pre>
 *
 * Run n has the seed n. Prints a line of JSON for each run.
 */
final class NightsAhead {

    private static final Instant FIRST_EVENING = Instant.parse("2026-11-26T20:00:00Z");
    private static final double DAY = 86_400;
    private static final int LANES = 8;
    private static final double ENTRY_SECONDS = 1e-3;

    private static final double MEDIAN_BYTES = 100e9;
    private static final double SIZE_DEVIATION = 0.6;
    private static final double FILE_BYTES = 1e6;
    private static final int A_DAY_MIN = 5;
    private static final int A_DAY_MAX = 15;

    private NightsAhead() {}

    public static void main(String[] arguments) {
        int runs = Integer.parseInt(arguments[1]);
        for (int seed = 1; seed <= runs; seed++) {
            System.out.println(
                    switch (arguments[0]) {
                        case "nights" ->
                            new Site(seed).nights(Integer.parseInt(arguments[2]), Integer.parseInt(arguments[3]));
                        case "order" -> new Purges(seed, Integer.parseInt(arguments[2])).compare();
                        default -> throw new IllegalArgumentException(arguments[0]);
                    });
        }
    }

    private static Work drawWork(Random dice) {
        double bytes = MEDIAN_BYTES * Math.exp(SIZE_DEVIATION * dice.nextGaussian());
        double fileBytes = FILE_BYTES * Math.exp(0.3 * dice.nextGaussian());
        return new Work(Math.round(bytes), Math.round(bytes / fileBytes));
    }

    private static int drawCount(Random dice) {
        return dice.nextInt(A_DAY_MIN, A_DAY_MAX + 1);
    }

    /** A site with one window a night, whose speed drifts and differs between nights. What is not sent waits. */
    private static final class Site {

        private static final double LANE_BYTES_PER_SECOND = 6e6;
        private static final double DRIFT_DEVIATION = 0.03;
        private static final double NIGHT_DEVIATION = 0.2;
        private static final double STALLS = 0.1;
        private static final double UNREAD = 0.3;
        private static final int PROJECTS = 3;

        /** On two days of seven. Without it the site carries more than twice as much. */
        private static final double LIMIT_BYTES_PER_SECOND = 20e6;

        private static final double LIMIT_SECONDS = 4 * 3_600;
        private static final double WINDOW_SECONDS = 10 * 3_600;
        private static final int DAYS_AHEAD = 14;

        /** As many as the service learns from. */
        private static final int MEASUREMENTS_MAX = 30;

        private final int seed;
        private final Random dice;
        private final List<Experiment> waiting = new ArrayList<>();
        private final List<Work> known = new ArrayList<>();
        private final List<Measurement> measurements = new ArrayList<>();
        private final List<Double> factors = new ArrayList<>();
        private double drift = 1;
        private int experiments;

        Site(int seed) {
            this.seed = seed;
            this.dice = new Random(seed);
        }

        /** Simulates nights; those that warm up are not printed. */
        String nights(int warmUp, int nights) {
            List<String> printed = new ArrayList<>();
            for (int night = 0; night < warmUp + nights; night++) {
                String one = night(night);
                if (night >= warmUp) {
                    printed.add(one);
                }
            }
            return "{\"seed\": %d, \"nights\": [%s]}".formatted(seed, String.join(", ", printed));
        }

        private String night(int night) {
            acquire();
            CostModel model = CostFit.of(CostModel.DEFAULT, measurements);
            Speed speed = Speed.of(model, LANES, factors);
            List<Pending> pending = waiting.stream().map(this::pending).toList();
            Hours hours = hours(night, speed, pending);
            Instant until = hours.begin().plusSeconds((long) WINDOW_SECONDS);
            List<Pending> ordered = SendingOrder.of(pending, speed, hours);
            NightForecast forecast = NightForecast.of(ordered, speed, hours, until);
            Sent sent = send(ordered, night);
            learn(sent, model);
            return json(forecast, sent);
        }

        private void acquire() {
            drift *= Math.exp(DRIFT_DEVIATION * dice.nextGaussian());
            List<Experiment> acquired = new ArrayList<>();
            int count = drawCount(dice);
            for (int i = 0; i < count; i++) {
                boolean read = known.isEmpty() || dice.nextDouble() >= UNREAD;
                acquired.add(new Experiment(++experiments, dice.nextInt(PROJECTS), drawWork(dice), read));
            }
            waiting.addAll(acquired);
            acquired.stream().filter(each -> each.read).forEach(each -> known.add(each.work));
        }

        /** Of what has not been read, the size is that of the others. */
        private Pending pending(Experiment each) {
            if (each.read) {
                return new Pending(each.number, each.project, 10, each.work, 0, null);
            }
            double mean = known.stream().mapToLong(Work::bytes).average().orElseThrow();
            double entries = known.stream().mapToLong(Work::entries).average().orElseThrow();
            double variance = known.stream()
                    .mapToDouble(work -> Math.pow(work.bytes() - mean, 2))
                    .average()
                    .orElseThrow();
            Work estimate = new Work(Math.round(mean), Math.round(entries));
            return new Pending(each.number, each.project, 10, estimate, Math.sqrt(variance) / mean, null);
        }

        private static Hours hours(int night, Speed speed, List<Pending> pending) {
            Instant begin = FIRST_EVENING.plus(Duration.ofDays(night));
            List<Step> steps = new ArrayList<>();
            for (int day = 0; day < DAYS_AHEAD; day++) {
                Instant evening = begin.plus(Duration.ofDays(day));
                if (limited(night + day)) {
                    steps.add(new Step(evening, LIMIT_BYTES_PER_SECOND));
                }
                steps.add(new Step(
                        limited(night + day) ? evening.plusSeconds((long) LIMIT_SECONDS) : evening,
                        Double.POSITIVE_INFINITY));
                steps.add(new Step(evening.plusSeconds((long) WINDOW_SECONDS), 0));
            }
            Work all = pending.stream().map(Pending::work).reduce(Work.NONE, Work::plus);
            return new Hours(steps, begin.plus(Duration.ofDays(DAYS_AHEAD)), all.bytes() / speed.seconds(all));
        }

        private static boolean limited(int night) {
            return night % 7 == 1 || night % 7 == 4;
        }

        /** Sends in this order. Whatever is waiting has been read afterwards. */
        private Sent send(List<Pending> ordered, int night) {
            double factor = Math.exp(NIGHT_DEVIATION * dice.nextGaussian())
                    * (dice.nextDouble() < STALLS ? 2 + dice.nextDouble() : 1);
            CostModel cost = new CostModel(LANE_BYTES_PER_SECOND / drift, ENTRY_SECONDS * drift);
            double limitedUntil = limited(night) ? LIMIT_SECONDS : 0;
            Sent sent = new Sent();
            for (Pending each : ordered) {
                Experiment experiment = waiting.stream()
                        .filter(one -> one.number == each.experiment())
                        .findFirst()
                        .orElseThrow();
                sent.send(experiment, factor * cost.seconds(experiment.work) / LANES, limitedUntil);
                if (!experiment.read) {
                    known.add(experiment.work);
                    experiment.read = true;
                }
                experiment.work = sent.left;
            }
            waiting.removeIf(each -> sent.safe.contains(each.number));
            return sent;
        }

        /** As in the service, a limited time counts like any other, and the default model's error is not a night's. */
        private void learn(Sent sent, CostModel before) {
            Measurement measured = new Measurement(sent.work, LANES, sent.seconds);
            if (!measurements.isEmpty()) {
                factors.add(measured.seconds() * LANES / before.seconds(sent.work));
            }
            measurements.add(measured);
            latest(measurements);
            latest(factors);
        }

        private static void latest(List<?> all) {
            if (all.size() > MEASUREMENTS_MAX) {
                all.removeFirst();
            }
        }

        private static String json(NightForecast forecast, Sent sent) {
            String experiments = forecast.experiments().stream()
                    .map(each -> "[%.4f, %b]"
                            .formatted(
                                    each.untilProbability(),
                                    sent.safe.contains(each.pending().experiment())))
                    .collect(joining(", "));
            var bytes = forecast.bytesUntil();
            var safeAt = forecast.safeAt();
            return """
                    {"bytes": %d, "range": [%d, %d, %d], "sent": %d, \
                    "safe_range": [%s, %s, %s], "safe": %s, "experiments": [%s]}"""
                    .formatted(
                            forecast.bytes(),
                            bytes.low(),
                            bytes.middle(),
                            bytes.high(),
                            sent.work.bytes(),
                            seconds(forecast.begin(), safeAt.low()),
                            seconds(forecast.begin(), safeAt.middle()),
                            seconds(forecast.begin(), safeAt.high()),
                            sent.left == Work.NONE ? sent.seconds : "null",
                            experiments);
        }

        private static String seconds(Instant begin, Instant end) {
            return end == null
                    ? "null"
                    : String.valueOf(Duration.between(begin, end).toMillis() / 1e3);
        }

        private static final class Experiment {

            final int number;
            final int project;
            Work work;
            boolean read;

            Experiment(int number, int project, Work work, boolean read) {
                this.number = number;
                this.project = project;
                this.work = work;
                this.read = read;
            }
        }

        /** What one night has sent. */
        private static final class Sent {

            final List<Integer> safe = new ArrayList<>();
            Work work = Work.NONE;
            double seconds;

            /** Of the last experiment, because the window has ended. */
            Work left = Work.NONE;

            /** Sends for so many seconds at the full rate, or until the window ends. */
            void send(Experiment experiment, double needed, double limitedUntil) {
                double share = Math.min(1, LIMIT_BYTES_PER_SECOND * needed / experiment.work.bytes());
                double limited = Math.max(0, limitedUntil - seconds);
                double usable = limited * share + Math.max(0, WINDOW_SECONDS - Math.max(seconds, limitedUntil));
                double used = Math.min(needed, usable);
                seconds += used <= limited * share ? used / share : limited + used - limited * share;
                if (used == needed) {
                    safe.add(experiment.number);
                    work = work.plus(experiment.work);
                    left = Work.NONE;
                } else {
                    Work part = new Work((long) (experiment.work.bytes() * used / needed), (long)
                            (experiment.work.entries() * used / needed));
                    work = work.plus(part);
                    left = new Work(experiment.work.bytes() - part.bytes(), experiment.work.entries() - part.entries());
                }
            }
        }
    }

    /** More experiments than can be sent before their source deletes them. The link is used all the time. */
    private static final class Purges {

        private static final double LOAD = 2;
        private static final double AGE_MIN = DAY;
        private static final double AGE_MAX = 2 * DAY;

        /** The planner knows the mean time an experiment takes, not its own. */
        private static final double TIME_DEVIATION = 0.2;

        private static final double MORNING = 8 * 3_600;
        private static final double EVENING = 20 * 3_600;

        private final int seed;
        private final int counted;
        private final List<Acquired> all = new ArrayList<>();
        private final Speed speed;

        /** Times are seconds from the midnight before the first day. */
        private record Acquired(int number, Work work, double at, double purged, double factor) {}

        Purges(int seed, int days) {
            this.seed = seed;
            Random dice = new Random(seed);
            double meanBytes = MEDIAN_BYTES * Math.exp(SIZE_DEVIATION * SIZE_DEVIATION / 2);
            double bytesPerSecond = meanBytes * (A_DAY_MIN + A_DAY_MAX) / 2 / DAY / LOAD;
            CostModel cost = new CostModel(1 / (LANES / bytesPerSecond - ENTRY_SECONDS / FILE_BYTES), ENTRY_SECONDS);
            speed = Speed.of(cost, LANES, List.of());
            // After the last day that counts, acquisition goes on until its experiments are purged.
            int counted = 0;
            for (int day = 0; day < days + AGE_MAX / DAY; day++) {
                int count = drawCount(dice);
                for (int i = 0; i < count; i++) {
                    double at = day * DAY + dice.nextDouble(MORNING, EVENING);
                    double purged = at + dice.nextDouble(AGE_MIN, AGE_MAX);
                    double factor = Math.exp(TIME_DEVIATION * dice.nextGaussian());
                    all.add(new Acquired(all.size(), drawWork(dice), at, purged, factor));
                }
                counted = day < days ? all.size() : counted;
            }
            this.counted = counted;
            all.sort(comparingDouble(Acquired::at));
        }

        String compare() {
            return "{\"seed\": %d, \"all\": %s, \"by_slack\": %s, \"first_in_first_out\": %s}"
                    .formatted(seed, json(all), json(verified(true)), json(verified(false)));
        }

        /** Returns the number of experiments and bytes, of those that count. */
        private String json(List<Acquired> some) {
            List<Acquired> these =
                    some.stream().filter(each -> each.number < counted).toList();
            return "[%d, %d]"
                    .formatted(
                            these.size(),
                            these.stream().mapToLong(each -> each.work.bytes()).sum());
        }

        /** Returns what is verified before its purge. */
        private List<Acquired> verified(boolean bySlack) {
            List<Acquired> left = new ArrayList<>(all);
            List<Acquired> verified = new ArrayList<>();
            double now = 0;
            while (!left.isEmpty()) {
                double moment = Math.max(now, left.getFirst().at);
                List<Acquired> there = left.stream()
                        .filter(each -> each.at <= moment && each.purged > moment)
                        .toList();
                Acquired next = bySlack ? next(there, moment) : there.getFirst();
                double end = moment + next.factor * speed.seconds(next.work);
                if (end <= next.purged) {
                    verified.add(next);
                }
                // If it is purged meanwhile, it is lost, and the next one begins.
                now = Math.min(end, next.purged);
                double later = now;
                left.removeIf(each -> each == next || each.purged <= later);
            }
            return verified;
        }

        private Acquired next(List<Acquired> there, double now) {
            List<Pending> pending = there.stream()
                    .map(each -> new Pending(each.number, 1, 10, each.work, 0, instant(each.purged)))
                    .toList();
            Hours hours =
                    new Hours(List.of(new Step(instant(now), Double.POSITIVE_INFINITY)), instant(now + 3 * DAY), 1);
            int first = SendingOrder.of(pending, speed, hours).getFirst().experiment();
            return there.stream()
                    .filter(each -> each.number == first)
                    .findFirst()
                    .orElseThrow();
        }

        private static Instant instant(double seconds) {
            return FIRST_EVENING.plusMillis(Math.round(seconds * 1e3));
        }
    }
}
