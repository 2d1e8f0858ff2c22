package dozo.ui;

import dozo.run.Nights.Proven;
import dozo.ui.Plot.Mark;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.ToDoubleFunction;
import java.util.stream.Collectors;

/** What each of the last nights proved. Nights belong to the day on which they started. */
record NightBars(List<Proven> nights, LocalDate from, LocalDate until, Format format) {

    private static final int DAYS = 60;

    /** A bar is narrower than its day, by this at both sides. */
    private static final Duration GAP = Duration.ofHours(3);

    /** All nights of a day. */
    public record Day(LocalDate date, List<Proven> nights) {

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

        private long lastRun() {
            return nights.getLast().run();
        }
    }

    static NightBars of(List<Proven> nights, Instant now, Format format) {
        return new NightBars(nights, begin(now, format.zone()), LocalDate.ofInstant(now, format.zone()), format);
    }

    /** Returns the first day that is shown. */
    static LocalDate begin(Instant now, ZoneId zone) {
        return LocalDate.ofInstant(now, zone).minusDays(DAYS - 1);
    }

    /** Returns the days with nights, the oldest first. */
    public List<Day> days() {
        return nights.stream()
                .collect(Collectors.groupingBy(
                        night -> LocalDate.ofInstant(night.startedAt(), format.zone()),
                        TreeMap::new,
                        Collectors.toCollection(ArrayList::new)))
                .entrySet()
                .stream()
                .map(day -> new Day(day.getKey(), day.getValue()))
                .toList();
    }

    public int daysShown() {
        return DAYS;
    }

    public long bytes() {
        return days().stream().mapToLong(Day::bytes).sum();
    }

    public long entries() {
        return days().stream().mapToLong(Day::entries).sum();
    }

    /** Returns the day with the most bytes; there must be one. */
    public Day most() {
        return days().stream().max(Comparator.comparingLong(Day::bytes)).orElseThrow();
    }

    public long entriesMax() {
        return (long) max(Day::entries);
    }

    public double bytesPerSecondMax() {
        return max(Day::bytesPerSecond);
    }

    public List<Mark> bytesDrawn() {
        return drawn(Day::bytes, day -> format.size(day.bytes()));
    }

    public List<Mark> entriesDrawn() {
        return drawn(Day::entries, day -> format.number(day.entries()));
    }

    public List<Mark> ratesDrawn() {
        return drawn(Day::bytesPerSecond, day -> format.rate(day.bytesPerSecond()));
    }

    private double max(ToDoubleFunction<Day> value) {
        return days().stream().mapToDouble(value).max().orElse(0);
    }

    private List<Mark> drawn(ToDoubleFunction<Day> value, Function<Day, String> words) {
        Plot plot = new Plot(start(from), start(until.plusDays(1)), max(value));
        return days().stream()
                .map(day -> new Mark(
                        "bar",
                        plot.bar(
                                start(day.date).plus(GAP),
                                start(day.date.plusDays(1)).minus(GAP),
                                value.applyAsDouble(day)),
                        format.date(day.date) + ": " + words.apply(day),
                        "/runs/" + day.lastRun()))
                .toList();
    }

    private Instant start(LocalDate day) {
        return day.atStartOfDay(format.zone()).toInstant();
    }
}
