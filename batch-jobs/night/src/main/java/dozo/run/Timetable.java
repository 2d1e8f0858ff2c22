package dozo.run;

import dozo.setting.WrongSetting;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneId;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.scheduling.support.CronExpression;

/**
 * When the nightly backup is due.
 *
 * @param cron null: never
 * @param zone the time zone of the schedule
 */
public record Timetable(@Nullable CronExpression cron, ZoneId zone) {

    /**
     * A time that is further in the future was given by a wrong clock, and does not count. A night that started by less before its
     * time does: a clock that is set back by an hour repeats none.
     */
    static final Duration AHEAD_MAX = Duration.ofHours(2);

    private static final String OFF = "-";

    /**
     * Returns the timetable of the settings.
     *
     * @param zone empty: this machine's
     * @throws WrongSetting if one of them is invalid
     */
    public static Timetable of(String cron, String zone) {
        return new Timetable(OFF.equals(cron.strip()) ? null : cron(cron), zone(zone));
    }

    /**
     * Returns the first time after a moment; empty if there is none. A time of day that a change of the clock leaves out is an hour
     * later, and of one that it repeats, the first counts: Spring would return both.
     */
    public Optional<Instant> next(Instant after) {
        Optional<LocalDateTime> next = nextOnWall(after.atZone(zone).toLocalDateTime());
        while (next.isPresent()) {
            Instant moment = next.get().atZone(zone).toInstant();
            if (moment.isAfter(after)) {
                return Optional.of(moment);
            }
            next = nextOnWall(next.get());
        }
        return Optional.empty();
    }

    /** Returns the next time as a clock on the wall shows it. */
    private Optional<LocalDateTime> nextOnWall(LocalDateTime after) {
        return Optional.ofNullable(cron).map(times -> times.next(after));
    }

    /**
     * Returns whether a run is due, on time or because its night was missed: the first time after the last start is not
     * in the future. A last start that is {@link #isAhead ahead} does not count: a run is due.
     *
     * @param last the last run's start, or the first registration if there was no run
     */
    public boolean due(Instant last, Instant now) {
        return (cron != null && isAhead(last, now))
                || next(last).filter(time -> !time.isAfter(now)).isPresent();
    }

    /** Returns whether a time of the past is more than 2 hours in the future: a wrong clock gave it, then or now. */
    public static boolean isAhead(Instant past, Instant now) {
        return past.isAfter(now.plus(AHEAD_MAX));
    }

    private static CronExpression cron(String text) {
        try {
            return CronExpression.parse(text);
        } catch (IllegalArgumentException e) {
            throw new WrongSetting("cron");
        }
    }

    private static ZoneId zone(String text) {
        try {
            return text.isBlank() ? ZoneId.systemDefault() : ZoneId.of(text.strip());
        } catch (DateTimeException e) {
            throw new WrongSetting("zone");
        }
    }
}
