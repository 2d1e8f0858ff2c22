package dozo.ui;

import dozo.drill.RestoreForecasts.Compared;
import dozo.ledger.Coverage.Totals;
import dozo.ledger.PastCoverage.History;
import dozo.plan.NightForecast.Night;
import dozo.registry.Capacities;
import dozo.registry.Capacity;
import dozo.registry.Capacity.Seen;
import dozo.registry.Sites.Site;
import dozo.run.Nights.Proven;
import dozo.run.Paces.Pace;
import dozo.run.Promises.Promise;
import dozo.verify.Readings.Age;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The tables that {@code chart.js} draws over time, where they are not simply the records of another room. */
final class Charts {

    /** How far back the space of a site is shown. A forecast is shown as far ahead at most: a longer one would leave no room for the past. */
    private static final Duration SPACE_SHOWN = Duration.ofDays(365);

    private static final int SPACE_ROWS_MAX = 60;
    private static final int WEEK = 7;
    private static final double DAY_SECONDS = 86_400;

    private static final int NIGHT_DAYS = 60;

    private static final int COVERAGE_WEEKS = 52;

    /** More pictures than this are not looked at. */
    private static final int PROJECTS_SHOWN = 12;

    private static final Logger LOG = LoggerFactory.getLogger(Charts.class);

    private Charts() {}

    /** Loads the data of a picture. Empty if that failed: the rest of the page is shown without it. */
    static <T> Optional<T> tried(Supplier<T> load) {
        try {
            return Optional.of(load.get());
        } catch (RuntimeException e) {
            LOG.warn("the data of a picture could not be loaded", e);
            return Optional.empty();
        }
    }

    /**
     * The space of a site at a time.
     *
     * @param usedBytes null: in the future
     * @param forecastBytes how much will be used; null: before the last check, or unknown
     */
    public record Space(
            Instant at, @Nullable Long usedBytes, @Nullable Long forecastBytes, long totalBytes) {}

    /** Loads the space of a site for a picture. NB: the last check may be older than the picture goes back. */
    static Optional<List<Space>> space(Capacities capacities, Site site, Capacity present, Instant now) {
        return tried(() -> capacities.history(site.id(), now.minus(SPACE_SHOWN)))
                .filter(history -> !history.isEmpty())
                .map(history -> space(history, present));
    }

    /**
     * Returns the checks of a site's space, a week apart if there are many, and at the end when it will be full, or a forecast in a
     * year.
     *
     * @param history at most one check a day, the oldest first
     */
    static List<Space> space(List<Seen> history, Capacity capacity) {
        int last = history.size() - 1;
        int step = history.size() > SPACE_ROWS_MAX ? WEEK : 1;
        Long perDay = capacity.bytesPerDay();
        Stream<Space> seen = IntStream.rangeClosed(0, last)
                .filter(i -> (last - i) % step == 0)
                .mapToObj(i -> {
                    Seen check = history.get(i);
                    Long forecast = i == last && perDay != null ? check.usedBytes() : null;
                    return new Space(check.at(), check.usedBytes(), forecast, check.totalBytes());
                });
        return perDay == null
                ? seen.toList()
                : Stream.concat(seen, Stream.of(full(history.getLast(), capacity, perDay)))
                        .toList();
    }

    private static Space full(Seen last, Capacity capacity, long perDay) {
        Instant end = last.at().plus(SPACE_SHOWN);
        if (capacity.fullAt() != null && capacity.fullAt().isBefore(end)) {
            return new Space(capacity.fullAt(), null, last.totalBytes(), last.totalBytes());
        }
        double days = Duration.between(last.at(), end).toSeconds() / DAY_SECONDS;
        return new Space(end, null, Math.round(last.usedBytes() + perDay * days), last.totalBytes());
    }

    /**
     * How much of a site was last read how long ago, in parts of the promised age. Only the present is known, because earlier states
     * are not stored.
     *
     * @param bars the oldest first; the first is all that is older than promised
     */
    public record Ages(Promise promise, Duration step, List<Bar> bars) {

        private static final int STEPS = 12;

        /** What was last read in a time; overdue: or before it. */
        public record Bar(Instant from, Instant until, boolean overdue, long files, long bytes) {}

        static Ages of(Promise promise, List<Age> ages, Instant now) {
            Duration step = Duration.ofSeconds(promise.maxAgeSeconds()).dividedBy(STEPS);
            Map<Integer, List<Age>> bySteps = ages.stream()
                    .collect(Collectors.groupingBy(age ->
                            Math.clamp(Duration.between(age.lastReadAt(), now).dividedBy(step), 0, STEPS)));
            return new Ages(
                    promise,
                    step,
                    IntStream.rangeClosed(0, STEPS)
                            .mapToObj(i -> STEPS - i)
                            .map(steps -> bar(
                                    now.minus(step.multipliedBy(steps + 1)),
                                    step,
                                    steps == STEPS,
                                    bySteps.getOrDefault(steps, List.of())))
                            .toList());
        }

        private static Bar bar(Instant from, Duration step, boolean overdue, List<Age> ages) {
            return new Bar(
                    from,
                    from.plus(step),
                    overdue,
                    ages.stream().mapToLong(Age::files).sum(),
                    ages.stream().mapToLong(Age::bytes).sum());
        }

        public boolean isEmpty() {
            return bars.stream().allMatch(bar -> bar.files() == 0 && bar.bytes() == 0);
        }

        public long bytesOverdue() {
            return bars.getFirst().bytes();
        }

        /** Returns the first moment that is not overdue. */
        public Instant promised() {
            return bars.getFirst().until();
        }
    }

    /** What the nights of a day proved, which started on it. */
    public record Day(LocalDate date, Instant at, List<Proven> nights) {

        public long bytes() {
            return nights.stream().mapToLong(Proven::bytes).sum();
        }

        public long entries() {
            return nights.stream().mapToLong(Proven::entries).sum();
        }

        /** Returns the bytes a second over the whole time of the nights, also while nothing was sent. */
        public double bytesPerSecond() {
            Duration took = nights.stream().map(Proven::took).reduce(Duration.ZERO, Duration::plus);
            return bytes() / Math.max(0.001, took.toMillis() / 1e3);
        }
    }

    /** What each of the last days with nights proved, the oldest first. */
    public record Proofs(List<Day> days) {

        static Proofs of(List<Proven> nights, ZoneId zone) {
            return new Proofs(nights.stream()
                    .collect(Collectors.groupingBy(
                            night -> LocalDate.ofInstant(night.startedAt(), zone), TreeMap::new, Collectors.toList()))
                    .entrySet()
                    .stream()
                    .map(day -> new Day(
                            day.getKey(), day.getKey().atStartOfDay(zone).toInstant(), day.getValue()))
                    .toList());
        }

        /** Returns the begin of the first day that is shown. */
        static Instant begin(Instant now, ZoneId zone) {
            return LocalDate.ofInstant(now, zone)
                    .minusDays(NIGHT_DAYS - 1)
                    .atStartOfDay(zone)
                    .toInstant();
        }

        public long bytes() {
            return days.stream().mapToLong(Day::bytes).sum();
        }

        public long entries() {
            return days.stream().mapToLong(Day::entries).sum();
        }

        /** Returns the day with the most bytes; there must be one. */
        public Day most() {
            return days.stream().max(Comparator.comparingLong(Day::bytes)).orElseThrow();
        }
    }

    /**
     * What share of each project was safe in the last year, week by week. What was safe before the history begins is unknown, and
     * not shown.
     *
     * @param moments the ends of days a week apart; the last is now
     * @param histories of all projects together, and of those with the lowest share now
     * @param further how many projects there are besides
     */
    public record Coverages(List<Instant> moments, List<History> histories, int further) {

        static Coverages of(List<Instant> moments, List<History> all) {
            Stream<History> worst = all.stream()
                    .sorted(Comparator.comparingInt(
                                    (History each) -> each.totals().getLast().percent())
                            .thenComparing(History::project))
                    .limit(PROJECTS_SHOWN);
            List<Totals> sums = IntStream.range(0, moments.size())
                    .mapToObj(i -> Totals.together(
                            all.stream().map(each -> each.totals().get(i)).toList()))
                    .toList();
            return new Coverages(
                    moments,
                    Stream.concat(Stream.of(new History("", sums)), worst).toList(),
                    Math.max(0, all.size() - PROJECTS_SHOWN));
        }

        /** Returns the moments of the last year that are not before the history's begin. */
        static List<Instant> moments(Instant begin, Instant now, ZoneId zone) {
            LocalDate today = LocalDate.ofInstant(now, zone);
            return Stream.concat(
                            IntStream.iterate(COVERAGE_WEEKS, week -> week > 0, week -> week - 1)
                                    .mapToObj(week -> today.minusWeeks(week)
                                            .plusDays(1)
                                            .atStartOfDay(zone)
                                            .toInstant())
                                    .filter(moment -> !moment.isBefore(begin)),
                            Stream.of(now))
                    .toList();
        }
    }

    /** Returns after how many nights everything is probably safe; 0: after more than are forecast. */
    static int enough(int experiments, List<Night> nights) {
        return IntStream.rangeClosed(1, nights.size())
                .filter(night -> nights.get(night - 1).safe().middle() == experiments)
                .findFirst()
                .orElse(0);
    }

    /** How fast a run went from its beginning to its end, as far as that was measured. */
    public record Speed(List<Pace> paces) {

        /** Returns the speed while it was measured, in bytes a second. */
        public double bytesPerSecond() {
            return paces.stream().mapToLong(Pace::bytes).sum()
                    / paces.stream().mapToDouble(Pace::seconds).sum();
        }

        public double bytesPerSecondMax() {
            return paces.stream().mapToDouble(Pace::bytesPerSecond).max().orElse(0);
        }
    }

    /** Returns the median error of the forecasts of drills in percent; empty if there was none. */
    static Optional<Long> errorPercent(List<Compared> drills) {
        List<Double> errors = drills.stream()
                .filter(drill -> drill.forecastSeconds() != null)
                .map(drill -> Math.abs(Objects.requireNonNull(drill.forecastSeconds()) / drill.seconds() - 1))
                .sorted()
                .toList();
        return errors.isEmpty() ? Optional.empty() : Optional.of(Math.round(100 * errors.get(errors.size() / 2)));
    }
}
