package dozo.report;

import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;

/**
 * The night of a morning: from noon to noon, so that a night that begins in the evening and one that begins after midnight
 * belong to the same morning.
 *
 * @param until excluded
 */
record Span(LocalDate day, Instant from, Instant until) {

    static Span of(LocalDate day, ZoneId zone) {
        return new Span(day, noon(day.minusDays(1), zone), noon(day, zone));
    }

    /** Returns the day of the morning to which a night belongs that starts at a moment. */
    static LocalDate dayOf(Instant start, ZoneId zone) {
        LocalDate day = LocalDate.ofInstant(start, zone);
        return start.isBefore(noon(day, zone)) ? day : day.plusDays(1);
    }

    boolean contains(Instant moment) {
        return !moment.isBefore(from) && moment.isBefore(until);
    }

    private static Instant noon(LocalDate day, ZoneId zone) {
        return day.atTime(LocalTime.NOON).atZone(zone).toInstant();
    }
}
