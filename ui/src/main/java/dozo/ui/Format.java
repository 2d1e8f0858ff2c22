package dozo.ui;

import dozo.file.FilePath;
import dozo.file.Message;
import dozo.file.Rate;
import dozo.file.Size;
import dozo.ledger.Coverage.ExperimentCoverage;
import dozo.ledger.Coverage.Totals;
import dozo.ledger.Findings;
import dozo.manifest.ChangeSummary.Sum;
import dozo.registry.ExperimentSearch.Held;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.YearMonth;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.time.temporal.WeekFields;
import java.util.Collection;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Formats sizes, numbers, times and shares for all pages, in the reader's language and Dozo's time zone. */
public record Format(ZoneId zone, Locale locale) {

    private static final String NOTHING = "–";

    private static final long DAY_SECONDS = 86_400;
    private static final long HOUR_SECONDS = 3_600;

    /** Shorter times are in seconds, and so many minutes are in hours. */
    private static final double MINUTES_FROM = 120;

    private static final long NANOS = 1_000_000_000L;

    /** Formats a size in units of 1,024, with at least two significant digits. */
    public String size(long bytes) {
        return Size.text(bytes);
    }

    /** Formats a path for an address, with all its bytes. */
    public String address(FilePath path) {
        return Bytes.of(path);
    }

    /** Formats the last name of a path. */
    public String name(FilePath path) {
        return FilePath.render(path.name());
    }

    /** Formats a rate in bytes a second. */
    public String rate(double bytesPerSecond) {
        return size((long) bytesPerSecond) + "/s";
    }

    /** Formats a limit exactly, in bits a second, as networks are described. */
    public String limit(long bytesPerSecond) {
        return Rate.text(bytesPerSecond);
    }

    /** Formats a share, from 0 to 1; one that is not 0 is at least 1 %. */
    public String percent(double share) {
        return number(share > 0 ? Math.max(1, Math.round(100 * share)) : 0) + " %";
    }

    /** Formats a probability, from 0 to 1; only certainties are 0 and 100 %. */
    public String probability(double probability) {
        long percent = Math.round(100 * probability);
        return number(probability > 0 && probability < 1 ? Math.clamp(percent, 1, 99) : percent) + " %";
    }

    /** Formats a number of files a second. */
    public String perSecond(double number) {
        return number(Math.round(number)) + "/s";
    }

    /** Formats a path for people. */
    public String path(Path path) {
        return FilePath.render(FilePath.rawBytes(path));
    }

    /** Formats values for a field with several lines. */
    public String lines(Collection<?> values) {
        return values.stream().map(String::valueOf).collect(Collectors.joining("\n"));
    }

    public String number(long number) {
        return String.format(locale, "%,d", number);
    }

    /** Formats a number of findings, which is not exact above 1,000. */
    public String counted(long findings) {
        return Findings.words(findings);
    }

    /** Formats a time to the minute, with its zone. */
    public String time(@Nullable Instant time) {
        return time == null ? NOTHING : formatter(day() + " HH:mm z").format(time.atZone(zone));
    }

    /** Formats a time to the second, with its zone, for evidence. */
    public String exactly(@Nullable Instant time) {
        return time == null ? NOTHING : formatter(day() + " HH:mm:ss z").format(time.atZone(zone));
    }

    /** Formats the time of day to the second. */
    public String clock(Instant time) {
        return formatter("HH:mm:ss").format(time.atZone(zone));
    }

    /** Formats a file's time, given in nanoseconds since 1970. */
    public String fileTime(long nanos) {
        return time(Instant.ofEpochSecond(Math.floorDiv(nanos, NANOS), Math.floorMod(nanos, NANOS)));
    }

    public String date(@Nullable LocalDate day) {
        return day == null ? NOTHING : formatter(day()).format(day);
    }

    public String dayOf(@Nullable Instant time) {
        return time == null ? NOTHING : date(time.atZone(zone).toLocalDate());
    }

    public String month(YearMonth month) {
        return formatter(isJapanese() ? "uuuu/MM" : "MMM uuuu").format(month);
    }

    /** Returns how weeks are printed in calendars. */
    WeekFields week() {
        return isJapanese() ? WeekFields.SUNDAY_START : WeekFields.ISO;
    }

    private String day() {
        return isJapanese() ? "uuuu/MM/dd" : "d MMM uuuu";
    }

    private boolean isJapanese() {
        return locale.getLanguage().equals(Locale.JAPANESE.getLanguage());
    }

    private DateTimeFormatter formatter(String pattern) {
        return DateTimeFormatter.ofPattern(pattern, locale);
    }

    /** Returns a message in the reader's language; null if it must be shown in English. */
    public @Nullable String message(Message message) {
        return Translations.in(locale, message).orElse(null);
    }

    /** Returns an age in days, or in hours if it is not a whole number of days. {@link #ageUnit} returns the unit. */
    public long age(long seconds) {
        return isDays(seconds) ? seconds / DAY_SECONDS : seconds / HOUR_SECONDS;
    }

    /** Returns the key of the text for the unit of an age. */
    public String ageUnit(long seconds) {
        return isDays(seconds) ? "days" : "hours";
    }

    private static boolean isDays(long seconds) {
        return seconds % DAY_SECONDS == 0;
    }

    /** Formats a duration as hours, minutes and seconds; 0 if the clock was set back in it. */
    public String duration(Instant from, Instant until) {
        Duration took = from.isAfter(until) ? Duration.ZERO : Duration.between(from, until);
        return "%d:%02d:%02d".formatted(took.toHours(), took.toMinutesPart(), took.toSecondsPart());
    }

    /** Returns the number of whole days between two times. */
    public long days(Instant from, Instant until) {
        return Duration.between(from, until).toDays();
    }

    /** Formats a time that was measured or forecast, in one unit. */
    public String about(@Nullable Double seconds) {
        if (seconds == null) {
            return NOTHING;
        }
        if (seconds < MINUTES_FROM) {
            return of(seconds, isJapanese() ? " 秒" : " s");
        }
        if (seconds < MINUTES_FROM * HOUR_SECONDS / 60) {
            return of(seconds / 60, isJapanese() ? " 分" : " min");
        }
        return seconds < 2 * DAY_SECONDS
                ? of(seconds / HOUR_SECONDS, isJapanese() ? " 時間" : " h")
                : of(seconds / DAY_SECONDS, isJapanese() ? " 日" : " days");
    }

    private String of(double number, String unit) {
        return String.format(locale, number < 10 ? "%.1f" : "%,.0f", number) + unit;
    }

    /** Formats whole minutes as hours and minutes; from two days on, also with days. */
    public String minutes(@Nullable Long minutes) {
        if (minutes == null) {
            return NOTHING;
        }
        Duration took = Duration.ofMinutes(minutes);
        return took.toDays() < 2
                ? "%d:%02d".formatted(took.toHours(), took.toMinutesPart())
                : (isJapanese() ? "%d 日 %d:%02d" : "%d d %d:%02d")
                        .formatted(took.toDays(), took.toHoursPart(), took.toMinutesPart());
    }

    /** Returns the safe share of a project in percent, by bytes; by experiments if all known bytes are safe. */
    public int share(Totals totals) {
        return totals.percent();
    }

    /** Returns the safe share of an experiment in percent, by bytes. */
    public int share(ExperimentCoverage experiment) {
        return share(experiment.bytesSafe(), experiment.bytes(), experiment.safe());
    }

    /** Returns the same of an experiment in a list. */
    public int share(Held held) {
        return share(held.bytesSafe(), held.bytes(), held.safe());
    }

    /** Formats the size of entries that changed: before and after, or the one that there is. */
    public String change(Sum sum) {
        return switch (sum.kind()) {
            case GONE -> size(sum.bytesBefore());
            case BACK, NEW -> size(sum.bytesAfter());
            case CHANGED, TYPE_CHANGED -> size(sum.bytesBefore()) + " → " + size(sum.bytesAfter());
        };
    }

    /** Returns a share in percent: 100 only if everything is done, 0 only if nothing is. */
    private static int share(long done, long whole, boolean all) {
        if (all) {
            return 100;
        }
        return whole == 0 ? 0 : (int) Math.clamp(100.0 * done / whole, done > 0 ? 1 : 0, 99);
    }
}
