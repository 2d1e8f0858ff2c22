package dozo.plan;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.ZoneId;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The time of day in which stored copies may be read again, once a day; it may include midnight.
 *
 * @param until if both are midnight: the whole day
 */
public record ReadingWindow(LocalTime from, LocalTime until) {

    public static final ReadingWindow WHOLE_DAY = new ReadingWindow(LocalTime.MIDNIGHT, LocalTime.MIDNIGHT);

    /** The form of a window, for messages. */
    public static final String EXPECTED =
            "expected two different times of the day such as 20:00-06:00; 00:00-24:00 for the whole day";

    private static final Pattern TYPED =
            Pattern.compile("([01]\\d|2[0-3]):([0-5]\\d)-(?:([01]\\d|2[0-3]):([0-5]\\d)|24:00)");

    public ReadingWindow {
        if (from.equals(until) && !from.equals(LocalTime.MIDNIGHT)) {
            throw new IllegalArgumentException(EXPECTED);
        }
    }

    /** One day's window. */
    public record Opening(Instant begins, Instant ends) {}

    /**
     * Parses a window such as {@code 20:00-06:00}.
     *
     * @throws IllegalArgumentException with {@link #EXPECTED} if it has another form
     */
    public static ReadingWindow of(String typed) {
        Matcher parts = TYPED.matcher(typed.strip());
        if (!parts.matches() || typed.strip().equals("00:00-00:00")) {
            throw new IllegalArgumentException(EXPECTED);
        }
        LocalTime from = time(parts.group(1), parts.group(2));
        return new ReadingWindow(
                from, parts.group(3) == null ? LocalTime.MIDNIGHT : time(parts.group(3), parts.group(4)));
    }

    /** Returns the length of the window on a day without a clock change, 1 min to 24 h. */
    public int secondsADay() {
        long seconds = Duration.between(from, until).toSeconds();
        return (int) (seconds > 0 ? seconds : seconds + Duration.ofDays(1).toSeconds());
    }

    /** Returns the opening that contains a moment; empty outside. */
    public Optional<Opening> at(Instant moment, ZoneId zone) {
        LocalDate today = moment.atZone(zone).toLocalDate();
        // A window that includes midnight began yesterday.
        return Optional.of(opening(today, zone))
                .filter(opening -> isIn(opening, moment))
                .or(() -> Optional.of(opening(today.minusDays(1), zone)).filter(opening -> isIn(opening, moment)));
    }

    private Opening opening(LocalDate day, ZoneId zone) {
        LocalDate last = until.isAfter(from) ? day : day.plusDays(1);
        return new Opening(
                day.atTime(from).atZone(zone).toInstant(),
                last.atTime(until).atZone(zone).toInstant());
    }

    private static boolean isIn(Opening opening, Instant moment) {
        return !moment.isBefore(opening.begins()) && moment.isBefore(opening.ends());
    }

    private static LocalTime time(String hour, String minute) {
        return LocalTime.of(Integer.parseInt(hour), Integer.parseInt(minute));
    }

    /** Returns the form that {@link #of} parses. */
    @Override
    public String toString() {
        return from + "-" + (until.equals(LocalTime.MIDNIGHT) ? "24:00" : until);
    }
}
