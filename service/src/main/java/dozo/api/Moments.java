package dozo.api;

import dozo.registry.Refusal;
import dozo.registry.WrittenDay;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Parses moments: a day in the service's time zone, or a time with its own zone. */
@Component
record Moments(InstantSource clock, ZoneId zone) {

    /** How far ahead a time may be and still mean now: machines' clocks differ. */
    private static final Duration AHEAD_MAX = Duration.ofMinutes(5);

    /** Returns the start of a day, or the given time. */
    Instant begin(String field, String text) {
        return moment(field, text, day -> day);
    }

    /** Returns the end of a day, or the given time. For today, returns the current time. */
    Instant end(String field, String text) {
        Instant now = clock.instant();
        Instant end = moment(field, text, day -> day.plusDays(1));
        if (text.contains("T")
                ? end.isAfter(now.plus(AHEAD_MAX))
                : begin(field, text).isAfter(now)) {
            throw new Refusal(field, "%s is in the future", text);
        }
        return end.isAfter(now) ? now : end;
    }

    /** Calls {@link #end}; returns null for null. */
    @Nullable
    Instant endOrNull(String field, @Nullable String text) {
        return text == null ? null : end(field, text);
    }

    private Instant moment(String field, String text, UnaryOperator<LocalDate> shift) {
        try {
            ZonedDateTime moment = text.contains("T")
                    ? Instant.parse(text).atZone(ZoneOffset.UTC)
                    : shift.apply(LocalDate.parse(text)).atStartOfDay(zone);
            if (WrittenDay.isKept(moment.toLocalDate())) {
                return moment.toInstant();
            }
        } catch (DateTimeException none) {
            // Refused below, like moments that the database cannot store.
        }
        throw new Refusal(
                field, "\"%s\": expected a date such as 2026-10-01 or a time such as 2026-10-01T15:00:00Z", text);
    }
}
