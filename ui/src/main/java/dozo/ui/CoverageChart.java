package dozo.ui;

import dozo.ledger.Coverage.Totals;
import dozo.ledger.PastCoverage.History;
import dozo.ui.Plot.Mark;
import dozo.ui.Plot.Point;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * What share of each project was safe in the last year, week by week. What was safe before the history begins is
 * unknown, and not drawn.
 *
 * @param moments the ends of days a week apart; the last is now
 * @param projects those with the lowest share now
 * @param further how many others there are
 */
record CoverageChart(List<Instant> moments, History whole, List<History> projects, int further) {

    private static final int WEEKS = 52;

    /** More pictures than this are not looked at. */
    private static final int PROJECTS_SHOWN = 12;

    /** The table has a column for every so many weeks. */
    private static final int COLUMN_WEEKS = 4;

    static CoverageChart of(List<Instant> moments, List<History> all) {
        List<History> shown = all.stream()
                .sorted(Comparator.comparingInt(
                                (History each) -> each.totals().getLast().percent())
                        .thenComparing(History::project))
                .limit(PROJECTS_SHOWN)
                .toList();
        List<Totals> sums = IntStream.range(0, moments.size())
                .mapToObj(i -> Totals.together(
                        all.stream().map(each -> each.totals().get(i)).toList()))
                .toList();
        return new CoverageChart(moments, new History("", sums), shown, all.size() - shown.size());
    }

    /** Returns the moments of the last year that are not before the history's begin. */
    static List<Instant> moments(Instant begin, Instant now, ZoneId zone) {
        LocalDate today = LocalDate.ofInstant(now, zone);
        return Stream.concat(
                        IntStream.iterate(WEEKS, week -> week > 0, week -> week - 1)
                                .mapToObj(week -> today.minusWeeks(week)
                                        .plusDays(1)
                                        .atStartOfDay(zone)
                                        .toInstant())
                                .filter(moment -> !moment.isBefore(begin)),
                        Stream.of(now))
                .toList();
    }

    /** Returns the places of the table's columns among the moments. */
    public List<Integer> columns() {
        return IntStream.range(0, moments.size())
                .filter(i -> (moments.size() - 1 - i) % COLUMN_WEEKS == 0)
                .boxed()
                .toList();
    }

    /** Draws a history from its first experiment on. */
    public List<Mark> drawn(History history) {
        Plot plot = new Plot(moments.getFirst(), moments.getLast(), 100);
        return List.of(plot.line(
                "line",
                IntStream.range(0, moments.size())
                        .filter(i -> history.totals().get(i).experiments() > 0)
                        .mapToObj(i -> new Point(
                                moments.get(i), history.totals().get(i).percent()))));
    }
}
