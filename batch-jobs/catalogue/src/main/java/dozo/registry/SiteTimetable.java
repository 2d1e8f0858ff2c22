package dozo.registry;

import dozo.file.Rate;
import java.time.DayOfWeek;
import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * When runs may use a site, and how fast: rules for the days of a week. A rule is {@code mon-fri 08:00-20:00 500 Mbit/s},
 * {@code daily 06:00-07:00 closed} or {@code mon-fri 08:00-18:00 yielding}; where none holds, there is no limit. Only the
 * local time of day counts, as a clock on the wall shows it, so the change to daylight-saving time makes a window an hour shorter or longer.
 */
public final class SiteTimetable {

    /** No rules: always open, without a limit. */
    public static final SiteTimetable NONE = new SiteTimetable(List.of());

    private static final int RULES_MAX = 100;
    private static final int DAY_MINUTES = 24 * 60;
    private static final int WEEK_MINUTES = 7 * DAY_MINUTES;
    private static final int NO_RULE = -1;

    private static final Pattern RULE = Pattern.compile(
            "([a-z,-]+) +([01]\\d|2[0-3]):([0-5]\\d) ?- ?(?:([01]\\d|2[0-3]):([0-5]\\d)|24:00) +(\\S.*)");

    private static final String CLOSED_WORD = "closed";
    private static final String YIELDING_WORD = "yielding";
    private static final String DAILY = "daily";
    private static final List<String> DAYS = List.of("mon", "tue", "wed", "thu", "fri", "sat", "sun");

    private final List<Rule> rules;

    /** For each minute of the week, from Monday, the number of its rule. */
    private final int[] ruleOf = new int[WEEK_MINUTES];

    /**
     * What runs may do.
     *
     * @param open whether they may run
     * @param bytesPerSecond 0: without a limit
     * @param yielding whether they step back for others who use their sources or the site (ADR 0079)
     */
    public record Allowance(boolean open, long bytesPerSecond, boolean yielding) {

        public static final Allowance UNLIMITED = new Allowance(true, 0, false);
        public static final Allowance CLOSED = new Allowance(false, 0, false);

        private String text() {
            if (!open) {
                return CLOSED_WORD;
            }
            String rate = bytesPerSecond == 0 ? "" : Rate.text(bytesPerSecond);
            return yielding ? (rate + " " + YIELDING_WORD).strip() : rate;
        }
    }

    /**
     * One rule.
     *
     * @param days on which it begins
     * @param from its first minute of the day
     * @param until its end, a minute of the same day or of the next
     */
    private record Rule(Set<DayOfWeek> days, int from, int until, Allowance allowance) {

        int minutes() {
            return until > from ? until - from : until + DAY_MINUTES - from;
        }

        String text() {
            return "%s %s-%s %s".formatted(daysText(), time(from), time(until), allowance.text());
        }

        private String daysText() {
            if (days.size() == DAYS.size()) {
                return DAILY;
            }
            int first = days.stream().mapToInt(SiteTimetable::index).min().orElseThrow();
            int last = days.stream().mapToInt(SiteTimetable::index).max().orElseThrow();
            return days.size() > 2 && last - first + 1 == days.size()
                    ? DAYS.get(first) + "-" + DAYS.get(last)
                    : days.stream().map(day -> DAYS.get(index(day))).collect(Collectors.joining(","));
        }

        private static String time(int minute) {
            return "%02d:%02d".formatted(minute / 60, minute % 60);
        }
    }

    private SiteTimetable(List<Rule> rules) {
        this.rules = rules;
        Arrays.fill(ruleOf, NO_RULE);
        for (int i = 0; i < rules.size(); i++) {
            enter(i);
        }
        if (!rules.isEmpty() && Arrays.stream(ruleOf).noneMatch(rule -> allowance(rule).open)) {
            throw new Refusal("rules", "the site would be closed the whole week, so nothing would ever be sent");
        }
    }

    private void enter(int number) {
        Rule rule = rules.get(number);
        for (DayOfWeek day : rule.days) {
            int begin = index(day) * DAY_MINUTES + rule.from;
            for (int i = begin; i < begin + rule.minutes(); i++) {
                int minute = i % WEEK_MINUTES;
                if (ruleOf[minute] != NO_RULE) {
                    throw new Refusal(
                            "rules",
                            "\"%s\" and \"%s\" overlap on %s at %s",
                            rules.get(ruleOf[minute]).text(),
                            rule.text(),
                            DAYS.get(minute / DAY_MINUTES),
                            Rule.time(minute % DAY_MINUTES));
                }
                ruleOf[minute] = number;
            }
        }
    }

    /**
     * Parses rules, each on its own.
     *
     * @throws Refusal if one has another form or an empty window, two overlap, or the site would never be open
     */
    public static SiteTimetable of(List<String> rules) {
        if (rules.size() > RULES_MAX) {
            throw new Refusal("rules", "expected at most %d rules", RULES_MAX);
        }
        return rules.isEmpty()
                ? NONE
                : new SiteTimetable(rules.stream().map(SiteTimetable::rule).toList());
    }

    private static Rule rule(String typed) {
        Matcher parts = RULE.matcher(typed.strip().toLowerCase(Locale.ROOT));
        Optional<Set<DayOfWeek>> days = parts.matches() ? days(parts.group(1)) : Optional.empty();
        if (days.isEmpty()) {
            throw new Refusal(
                    "rules",
                    "\"%s\": expected days, hours and a limit, such as mon-fri 08:00-20:00 500 Mbit/s, or sat,sun 00:00-24:00 closed",
                    typed.strip());
        }
        int from = minute(parts.group(2), parts.group(3));
        int until = parts.group(4) == null ? DAY_MINUTES : minute(parts.group(4), parts.group(5));
        if (from == until) {
            throw new Refusal("rules", "\"%s\" holds for no time; write 00:00-24:00 for the whole day", typed.strip());
        }
        return new Rule(days.get(), from, until, allowance(typed, parts.group(6)));
    }

    private static Allowance allowance(String rule, String typed) {
        if (typed.equals(CLOSED_WORD)) {
            return Allowance.CLOSED;
        }
        boolean yielding = typed.endsWith(YIELDING_WORD);
        String limit = yielding ? typed.substring(0, typed.length() - YIELDING_WORD.length()) : typed;
        if (limit.isEmpty()) {
            return new Allowance(true, 0, true);
        }
        if (yielding && !limit.endsWith(" ")) {
            throw noLimit(rule);
        }
        return new Allowance(true, Rate.typed(limit).orElseThrow(() -> noLimit(rule)), yielding);
    }

    private static Refusal noLimit(String rule) {
        return new Refusal(
                "rules",
                "\"%s\": expected closed, or a limit such as 500 Mbit/s or 60 MB/s, or yielding, or a limit and yielding",
                rule.strip());
    }

    private static int minute(String hour, String minute) {
        return Integer.parseInt(hour) * 60 + Integer.parseInt(minute);
    }

    private static Optional<Set<DayOfWeek>> days(String typed) {
        if (typed.equals(DAILY)) {
            return Optional.of(EnumSet.allOf(DayOfWeek.class));
        }
        Set<DayOfWeek> days = EnumSet.noneOf(DayOfWeek.class);
        for (String part : typed.split(",", -1)) {
            String[] ends = part.split("-", -1);
            int first = DAYS.indexOf(ends[0]);
            int last = DAYS.indexOf(ends[ends.length - 1]);
            if (ends.length > 2 || first < 0 || last < 0) {
                return Optional.empty();
            }
            // From Saturday to Monday is three days.
            for (int i = 0; i <= Math.floorMod(last - first, DAYS.size()); i++) {
                days.add(DayOfWeek.of((first + i) % DAYS.size() + 1));
            }
        }
        return Optional.of(days);
    }

    /** Returns the rules as {@link #of} accepts them, in one form whatever was typed. */
    public List<String> rules() {
        return rules.stream().map(Rule::text).toList();
    }

    /** Returns what holds at a moment. */
    public Allowance at(ZonedDateTime moment) {
        return allowance(ruleOf[minuteOfWeek(moment)]);
    }

    /** Returns when something else begins to hold; empty: never. */
    public Optional<ZonedDateTime> nextChange(ZonedDateTime moment) {
        Allowance now = at(moment);
        ZonedDateTime next = moment.truncatedTo(ChronoUnit.MINUTES);
        // Two weeks: a change of the clock may leave out the only minute of a rule.
        for (int i = 0; i < 2 * WEEK_MINUTES; i++) {
            next = next.plusMinutes(1);
            if (!at(next).equals(now)) {
                return Optional.of(next);
            }
        }
        return Optional.empty();
    }

    private Allowance allowance(int rule) {
        return rule == NO_RULE ? Allowance.UNLIMITED : rules.get(rule).allowance;
    }

    private static int minuteOfWeek(ZonedDateTime moment) {
        return index(moment.getDayOfWeek()) * DAY_MINUTES + moment.getHour() * 60 + moment.getMinute();
    }

    /** Returns the day's place in a week, from 0 for Monday. */
    private static int index(DayOfWeek day) {
        return day.getValue() - 1;
    }
}
