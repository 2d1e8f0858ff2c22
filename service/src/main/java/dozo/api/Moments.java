package dozo.api;

import dozo.registry.Refusal;
import dozo.registry.WrittenDay;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Moments as people ask for them: a day of the service's time zone, or a time with its own. */
@Component
class Moments {

    private final InstantSource clock;
    private final ZoneId zone;

    Moments(InstantSource clock, ZoneId zone) {
        this.clock = clock;
        this.zone = zone;
    }

    /** When a day began, or the time given. */
    Instant begin(String field, String text) {
        return moment(field, text, day -> day);
    }

    /** When a day was over, or the time given; of today, now. */
    Instant end(String field, String text) {
        Instant now = clock.instant();
        Instant end = moment(field, text, day -> day.plusDays(1));
        if (end.isAfter(now) && (text.contains("T") || begin(field, text).isAfter(now))) {
            throw new Refusal(field, "%s is in the future", text);
        }
        return end.isAfter(now) ? now : end;
    }

    /** As {@link #end}; null for none. */
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
            // Refused below, as a moment is that no database keeps.
        }
        throw new Refusal(
                field, "\"%s\": expected a date such as 2026-10-01 or a time such as 2026-10-01T15:00:00Z", text);
    }
}
