package dozo.ui;

import dozo.registry.Refusal;
import dozo.registry.WrittenDay;
import java.time.Instant;
import java.time.InstantSource;
import java.time.LocalDate;
import java.time.ZoneId;
import org.jspecify.annotations.Nullable;
import org.springframework.stereotype.Component;

/** Days that people type, and their moments in Dozo's time zone. */
@Component
record Days(InstantSource clock, ZoneId zone) {

    LocalDate today() {
        return LocalDate.ofInstant(clock.instant(), zone);
    }

    Instant begin(LocalDate day) {
        return day.atStartOfDay(zone).toInstant();
    }

    /** Returns the end of a day; for today, the current time. */
    Instant end(LocalDate day) {
        Instant end = begin(day.plusDays(1));
        Instant now = clock.instant();
        return end.isAfter(now) ? now : end;
    }

    /**
     * Returns the day in a field; null if it is blank.
     *
     * @throws Refusal if it is not a date
     */
    static @Nullable LocalDate typed(String field, @Nullable String text) {
        return text == null || text.isBlank() ? null : WrittenDay.ofIso(field, text);
    }

    /** Returns the same, and also refuses a day in the future. */
    @Nullable
    LocalDate past(String field, @Nullable String text) {
        LocalDate day = typed(field, text);
        if (day != null && day.isAfter(today())) {
            throw new Refusal(field, "%s is in the future", day);
        }
        return day;
    }
}
