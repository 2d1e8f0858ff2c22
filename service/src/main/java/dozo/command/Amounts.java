package dozo.command;

import dozo.file.FilePath;
import dozo.file.Rate;
import dozo.plan.ScrubForecast;
import java.math.BigInteger;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses amounts that people type. */
final class Amounts {

    private static final Pattern AGE = Pattern.compile("([0-9]{1,5})([hdw])");
    private static final Pattern SHORT = Pattern.compile("([0-9]{1,4}(?:\\.[0-9]{1,6})?)(ms|s)?");

    private static final Pattern RSYNC = Pattern.compile("([0-9.]+)([kKmMgG]?)");

    private Amounts() {}

    /** Parses bytes a second, such as {@code 10M}, {@code 1.5GB}, {@code 16MiB}, {@code 800Mbit}, {@code 250000}. */
    static long rate(String option, String typed) {
        return Rate.typed(typed).orElseThrow(() -> refused(option, typed, "expected " + Rate.ACCEPTED));
    }

    /** Parses bytes a second as rsync's {@code --bwlimit}: without a unit in KiB, and K, M, G are those of 1,024. */
    static long rsyncRate(String option, String typed) {
        Matcher parts = RSYNC.matcher(typed.strip());
        String unit = parts.matches() ? parts.group(2).toUpperCase(Locale.ROOT) : "";
        return rate(option, parts.matches() ? parts.group(1) + (unit.isEmpty() ? "K" : unit) + "iB" : typed);
    }

    /** Parses bytes, such as {@code 250000}, {@code 1.5TB}, {@code 1.27PiB}. */
    static long bytes(String option, String typed) {
        return SizesTable.size(typed.strip(), "")
                .filter(size -> size.bitLength() < Long.SIZE)
                .map(BigInteger::longValue)
                .orElseThrow(
                        () -> refused(option, typed, "expected bytes up to 9.2 EB such as 250000, 1.5TB or 1.27PiB"));
    }

    /** Parses a number of files, such as {@code 482977782} or {@code 482,977,782}. */
    static long files(String option, String typed) {
        return SizesTable.count(typed.strip())
                .filter(count -> !typed.isBlank())
                .orElseThrow(() -> refused(option, typed, "expected a number up to 999,999,999,999,999,999"));
    }

    /** Parses an age, such as {@code 36h}, {@code 90d}, {@code 12w}. */
    static Duration age(String option, String typed) {
        Matcher parts = AGE.matcher(typed.strip().toLowerCase(Locale.ROOT));
        Duration age = parts.matches()
                ? Duration.ofHours(Long.parseLong(parts.group(1)) * hours(parts.group(2)))
                : Duration.ZERO;
        if (age.compareTo(ScrubForecast.MAX_AGE_MIN) < 0 || age.compareTo(ScrubForecast.MAX_AGE_MAX) > 0) {
            throw refused(option, typed, "expected 1h to 3660d, such as 36h, 90d or 12w");
        }
        return age;
    }

    /** Parses a short time and returns seconds, such as {@code 4ms}, {@code 0.25ms}, {@code 1s}, {@code 0}. */
    static double seconds(String option, String typed) {
        Matcher parts = SHORT.matcher(typed.strip().toLowerCase(Locale.ROOT));
        if (!parts.matches() || (parts.group(2) == null && !parts.group(1).equals("0"))) {
            throw refused(option, typed, "expected a time such as 4ms, 0.25ms, 1s or 0");
        }
        double number = Double.parseDouble(parts.group(1));
        return "ms".equals(parts.group(2)) ? number / 1_000 : number;
    }

    private static long hours(String unit) {
        return switch (unit) {
            case "h" -> 1;
            case "d" -> 24;
            default -> 7 * 24;
        };
    }

    private static Failure refused(String option, String typed, String accepted) {
        return new Failure(
                Exit.USAGE, "%s %s: %s".formatted(option, FilePath.render(RawArgument.typed(typed)), accepted));
    }
}
