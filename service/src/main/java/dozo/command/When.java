package dozo.command;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.ResolverStyle;
import java.time.temporal.ChronoUnit;
import java.time.temporal.TemporalAccessor;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/**
 * Times as people type them. Like those that commands print, they are in this machine's zone; requests have them in UTC.
 */
final class When {

    /** What may be typed. */
    static final String FORMS =
            "now, today, yesterday, tomorrow, 7d or 12h (ago), +7d (ahead), 2026-11-28, \"2026-11-28 14:00\" or 2026-11-28T14:00:00Z";

    private static final Pattern SPAN = Pattern.compile("(\\+?)(\\d{1,5})([dh])");

    private static final DateTimeFormatter FORM = new DateTimeFormatterBuilder()
            .append(DateTimeFormatter.ISO_LOCAL_DATE)
            .optionalStart()
            .appendLiteral('T')
            .append(DateTimeFormatter.ISO_LOCAL_TIME)
            .optionalStart()
            .appendOffsetId()
            .toFormatter(Locale.ROOT)
            .withResolverStyle(ResolverStyle.STRICT);

    private When() {}

    /** For options from when on: the start of a day, or a time. */
    static final class Begin implements ITypeConverter<String> {
        @Override
        public String convert(String typed) {
            return moment(typed, ZonedDateTime.now(ZoneId.systemDefault()), 0).toString();
        }
    }

    /** For options about the past: the end of a day, of today now, or a time. */
    static final class End implements ITypeConverter<String> {
        @Override
        public String convert(String typed) {
            return past(typed, ZonedDateTime.now(ZoneId.systemDefault())).toString();
        }
    }

    /** For options about the time to come: the end of a day, or a time. */
    static final class Until implements ITypeConverter<String> {
        @Override
        public String convert(String typed) {
            return moment(typed, ZonedDateTime.now(ZoneId.systemDefault()), 1).toString();
        }
    }

    /** For two times with two dots between them: from the start of the first day to the end of the second. */
    static final class Between implements ITypeConverter<String> {
        @Override
        public String convert(String typed) {
            String[] days = typed.split("\\.\\.", -1);
            if (days.length != 2) {
                throw new TypeConversionException(
                        "\"%s\": expected two dates such as 2026-09-01..2026-09-30 or 7d..now".formatted(typed));
            }
            ZonedDateTime now = ZonedDateTime.now(ZoneId.systemDefault());
            return moment(days[0], now, 0) + ".." + past(days[1], now);
        }
    }

    /** For days. What is no word and no span stays as it is: the service knows more forms, such as 令和8年10月1日. */
    static final class Day implements ITypeConverter<String> {
        @Override
        public String convert(String typed) {
            ZonedDateTime now = ZonedDateTime.now(ZoneId.systemDefault());
            return typed.matches("[A-Za-z]+") || SPAN.matcher(typed).matches() ? day(typed, now) : typed;
        }
    }

    /** Returns the day that is meant, such as 2026-11-28. */
    static String day(String typed, ZonedDateTime now) {
        return moment(typed, now, 0).atZone(now.getZone()).toLocalDate().toString();
    }

    /** Returns a time that is meant, or the end of a day; of a day that has not ended, the current time. */
    static Instant past(String typed, ZonedDateTime now) {
        Instant end = moment(typed, now, 1);
        return end.isAfter(now.toInstant()) && !moment(typed, now, 0).isAfter(now.toInstant())
                ? now.toInstant().truncatedTo(ChronoUnit.MICROS)
                : end;
    }

    /**
     * Returns a time that is meant, or the start of a day.
     *
     * @param days added to a day: 1 for its end
     */
    static Instant moment(String typed, ZonedDateTime now, int days) {
        try {
            return switch (parsed(typed.strip(), now)) {
                case LocalDate day ->
                    day.plusDays(days).atStartOfDay(now.getZone()).toInstant();
                case LocalDateTime local -> local.atZone(now.getZone()).toInstant();
                case TemporalAccessor given -> Instant.from(given).truncatedTo(ChronoUnit.MICROS);
            };
        } catch (DateTimeException none) {
            throw new TypeConversionException("\"%s\": expected %s".formatted(typed, FORMS));
        }
    }

    private static TemporalAccessor parsed(String typed, ZonedDateTime now) {
        Matcher span = SPAN.matcher(typed);
        if (span.matches()) {
            long number = Long.parseLong(span.group(2)) * (span.group(1).isEmpty() ? -1 : 1);
            return span.group(3).equals("d") ? now.plusDays(number) : now.plusHours(number);
        }
        return switch (typed) {
            case "now" -> now;
            case "today" -> now.toLocalDate();
            case "yesterday" -> now.toLocalDate().minusDays(1);
            case "tomorrow" -> now.toLocalDate().plusDays(1);
            // As commands print it: 2026-10-02 00:00:00 +09:00.
            default ->
                FORM.parseBest(
                        typed.replaceFirst(" ", "T").replace(" ", ""),
                        OffsetDateTime::from,
                        LocalDateTime::from,
                        LocalDate::from);
        };
    }
}
