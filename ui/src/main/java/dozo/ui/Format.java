package dozo.ui;

import dozo.file.Message;
import dozo.file.Size;
import dozo.ledger.Coverage.ExperimentCoverage;
import dozo.ledger.Coverage.Totals;
import dozo.ledger.Findings;
import dozo.transfer.TransferUnits.Progress;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.time.format.DateTimeFormatter;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** How pages write sizes, numbers, times and shares: the same everywhere, in the reader's language and Dozo's time zone. */
public record Format(ZoneId zone, Locale locale) {

    private static final String NOTHING = "–";

    private static final long DAY_SECONDS = 86_400;
    private static final long HOUR_SECONDS = 3_600;
    private static final long NANOS = 1_000_000_000L;

    /** In units of 1,024, at least two digits that count. */
    public String size(long bytes) {
        return Size.text(bytes);
    }

    /** Bytes a second. */
    public String rate(double bytesPerSecond) {
        return size((long) bytesPerSecond) + "/s";
    }

    public String number(long number) {
        return String.format(locale, "%,d", number);
    }

    /** A number of findings, which are counted no further than people do. */
    public String counted(long findings) {
        return Findings.words(findings);
    }

    /** To the minute. */
    public String time(@Nullable Instant time) {
        return time == null ? NOTHING : formatter(day() + " HH:mm").format(time.atZone(zone));
    }

    /** To the second, for what is evidence. */
    public String exactly(@Nullable Instant time) {
        return time == null ? NOTHING : formatter(day() + " HH:mm:ss").format(time.atZone(zone));
    }

    /** Only the time of the day, to the second. */
    public String clock(Instant time) {
        return formatter("HH:mm:ss").format(time.atZone(zone));
    }

    /** A file's time, from nanoseconds since 1970. */
    public String fileTime(long nanos) {
        return time(Instant.ofEpochSecond(Math.floorDiv(nanos, NANOS), Math.floorMod(nanos, NANOS)));
    }

    public String date(@Nullable LocalDate day) {
        return day == null ? NOTHING : formatter(day()).format(day);
    }

    /** The day on which a moment is. */
    public String dayOf(@Nullable Instant time) {
        return time == null ? NOTHING : date(time.atZone(zone).toLocalDate());
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

    /** A sentence in the reader's language; null where it is to be said in English. */
    public @Nullable String message(Message message) {
        return Translations.in(locale, message).orElse(null);
    }

    /** Days, or hours where they are no whole days; told by their number and a message's name. */
    public long age(long seconds) {
        return isDays(seconds) ? seconds / DAY_SECONDS : seconds / HOUR_SECONDS;
    }

    /** The message for such an age. */
    public String ageUnit(long seconds) {
        return isDays(seconds) ? "days" : "hours";
    }

    private static boolean isDays(long seconds) {
        return seconds % DAY_SECONDS == 0;
    }

    /** Hours, minutes and seconds. */
    public String duration(Instant from, Instant until) {
        Duration took = Duration.between(from, until);
        return "%d:%02d:%02d".formatted(took.toHours(), took.toMinutesPart(), took.toSecondsPart());
    }

    /** Hours and minutes of whole minutes, days too where they are many. */
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

    /** What of a project is safe in percent, by bytes; by experiments where all that is known of is safe. */
    public int share(Totals totals) {
        return totals.percent();
    }

    /** What of an experiment is safe in percent, by bytes. */
    public int share(ExperimentCoverage experiment) {
        return share(experiment.bytesSafe(), experiment.bytes(), experiment.safe());
    }

    /** How far a run is, in percent. */
    public int share(Progress progress) {
        boolean all = progress.units() > 0 && progress.units() == progress.unitsDone();
        return share(progress.bytesDone(), progress.bytes(), all);
    }

    /** 100 only if all is done; of nothing, nothing is. */
    private static int share(long done, long whole, boolean all) {
        if (all) {
            return 100;
        }
        return whole == 0 ? 0 : (int) Math.min(99, 100.0 * done / whole);
    }
}
