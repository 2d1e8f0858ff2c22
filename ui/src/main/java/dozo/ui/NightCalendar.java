package dozo.ui;

import dozo.run.Nights.Night;
import dozo.run.Nights.NightSite;
import dozo.run.Runs.RunState;
import java.time.Instant;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * How each night of the last twelve months went. A night belongs to the day on which it started. If a site had several
 * nights on a day, the last one counts; of several sites, the worst result.
 *
 * @param days from the first of a month until today; those of months before the first night are left out
 */
record NightCalendar(List<Day> days, Format format) {

    private static final int MONTHS = 12;

    /** The length of the strip of the overview. */
    static final int DAYS_LATELY = 30;

    /** The width of a day's square in the picture of a month, with its margin. */
    private static final int STEP = 20;

    /** The result of a day, or of a site on a day; the worst first. */
    enum Look {
        FAILED,
        FINDINGS,
        /** No run: whether one was planned is not recorded. */
        NONE,
        RUNNING,
        COMPLETE,
        /** Before the first night, or between sites. */
        BEFORE;

        static Look of(RunState state) {
            return switch (state) {
                case COMPLETE -> COMPLETE;
                case FINDINGS -> FINDINGS;
                case FAILED, STOPPED -> FAILED;
                case RUNNING, PAUSED -> RUNNING;
            };
        }
    }

    /**
     * A site on a day.
     *
     * @param night its last night; null: none
     */
    public record AtSite(String site, @Nullable Night night) {

        Look look() {
            return night == null ? Look.NONE : Look.of(night.state());
        }
    }

    /** A day, with each site that had had nights by then and was not removed. */
    public record Day(LocalDate date, List<AtSite> sites) {

        public Look look() {
            return sites.stream()
                    .map(AtSite::look)
                    .min(Comparator.naturalOrder())
                    .orElse(Look.BEFORE);
        }

        public String shape() {
            return NightCalendar.shape(look(), 0, 0);
        }

        /** Returns the run to look at: the one with the worst result; null if there is none. */
        public @Nullable Night worst() {
            return sites.stream()
                    .filter(each -> each.night != null)
                    .min(Comparator.comparing(AtSite::look))
                    .map(AtSite::night)
                    .orElse(null);
        }
    }

    /** A month, with the place of each day in its picture of seven columns. */
    public record Month(YearMonth month, List<Drawn> days) {}

    public record Drawn(Day day, String path) {}

    /** A look with its shape, and the number of days that have it. */
    public record Kind(Look look, String path, long days) {}

    /** Successive days that look the same and have no run; or one day. */
    public record Row(LocalDate from, LocalDate until, Day day) {}

    static NightCalendar of(List<Night> nights, List<NightSite> sites, Instant now, Format format) {
        ZoneId zone = format.zone();
        LocalDate today = LocalDate.ofInstant(now, zone);
        Map<LocalDate, Map<String, Night>> last = nights.stream()
                .collect(Collectors.groupingBy(
                        night -> LocalDate.ofInstant(night.startedAt(), zone),
                        Collectors.toMap(Night::site, night -> night, (earlier, later) -> later)));
        List<Day> days = begin(sites, now, zone)
                .datesUntil(today.plusDays(1))
                .map(date -> day(date, last.getOrDefault(date, Map.of()), sites, zone))
                .toList();
        return new NightCalendar(days, format);
    }

    /** Returns the first day that may be shown. */
    static LocalDate begin(Instant now, ZoneId zone) {
        return YearMonth.from(LocalDate.ofInstant(now, zone))
                .minusMonths(MONTHS - 1)
                .atDay(1);
    }

    /** Leaves out the months before the first night of all. */
    private static LocalDate begin(List<NightSite> sites, Instant now, ZoneId zone) {
        LocalDate begin = begin(now, zone);
        return sites.stream()
                .map(NightSite::firstAt)
                .min(Comparator.naturalOrder())
                .or(() -> Optional.of(now))
                .map(first -> LocalDate.ofInstant(first, zone).withDayOfMonth(1))
                .filter(first -> first.isAfter(begin))
                .orElse(begin);
    }

    private static Day day(LocalDate date, Map<String, Night> nights, List<NightSite> sites, ZoneId zone) {
        return new Day(
                date,
                sites.stream()
                        .filter(site -> nights.containsKey(site.site()) || expects(site, date, zone))
                        .map(site -> new AtSite(site.site(), nights.get(site.site())))
                        .toList());
    }

    /** Returns whether a day without a night at a site is worth showing. */
    private static boolean expects(NightSite site, LocalDate date, ZoneId zone) {
        Instant removed = site.removedAt();
        return date.isAfter(LocalDate.ofInstant(site.firstAt(), zone))
                && (removed == null || date.isBefore(LocalDate.ofInstant(removed, zone)));
    }

    /** Returns the last days, the oldest first; none before the first night. */
    public List<Day> lately() {
        List<Day> last = days.subList(Math.max(0, days.size() - DAYS_LATELY), days.size());
        return last.stream().allMatch(day -> day.look() == Look.BEFORE) ? List.of() : last;
    }

    /** Returns how many days look how; the best first, without looks that no day has. */
    public List<Kind> kinds() {
        return Stream.of(Look.COMPLETE, Look.FINDINGS, Look.FAILED, Look.RUNNING, Look.NONE)
                .map(look -> new Kind(
                        look,
                        shape(look, 0, 0),
                        days.stream().filter(day -> day.look() == look).count()))
                .filter(kind -> kind.days > 0)
                .toList();
    }

    public List<Month> months() {
        return days.stream().collect(Collectors.groupingBy(day -> YearMonth.from(day.date()))).entrySet().stream()
                .sorted(Map.Entry.comparingByKey())
                .map(month -> new Month(
                        month.getKey(),
                        month.getValue().stream()
                                .map(day -> new Drawn(day, path(day)))
                                .toList()))
                .toList();
    }

    /** Returns the table's rows, the latest first. */
    public List<Row> rows() {
        List<Row> rows = new ArrayList<>();
        IntStream.rangeClosed(1, days.size())
                .mapToObj(i -> days.get(days.size() - i))
                .forEach(day -> {
                    Row last = rows.isEmpty() ? null : rows.getLast();
                    if (last != null && day.worst() == null && day.sites().equals(last.day.sites())) {
                        rows.set(rows.size() - 1, new Row(day.date(), last.until, day));
                    } else {
                        rows.add(new Row(day.date(), day.date(), day));
                    }
                });
        return rows;
    }

    /** Returns a day's shape at its place. Each look has its own shape, so that nobody needs to tell colours apart. */
    private String path(Day day) {
        LocalDate first = day.date().withDayOfMonth(1);
        int before = first.get(format.week().dayOfWeek()) - 1;
        int place = before + day.date().getDayOfMonth() - 1;
        return shape(day.look(), place % 7 * STEP, place / 7 * STEP);
    }

    /** Returns the shape of a look in a square of 18 by 18. */
    static String shape(Look look, int x, int y) {
        return "M%d %d".formatted(x, y)
                + switch (look) {
                    case COMPLETE -> "m1 1h16v16h-16z";
                    case FINDINGS -> "m9 1l8.5 16h-17z";
                    case FAILED -> "m4 1l5 5 5-5 3 3-5 5 5 5-3 3-5-5-5 5-3-3 5-5-5-5z";
                    case RUNNING -> "m9 0l9 9-9 9-9-9z";
                    case NONE -> "m2.5 2.5h13v13h-13z";
                    case BEFORE -> "m8 8h2v2h-2z";
                };
    }
}
