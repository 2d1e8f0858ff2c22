package dozo.source.dicom;

import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Checks values against the standard's rules. Empty values are legal. */
final class Legal {

    private static final int UID_LENGTH_MAX = 64;
    private static final Pattern UID = Pattern.compile("(0|[1-9][0-9]*)([.](0|[1-9][0-9]*))*");
    private static final Pattern DAY = Pattern.compile("([0-9]{4})([.]?)([0-9]{2})\\2([0-9]{2})");
    /** A second may be a leap second. */
    private static final Pattern TIME =
            Pattern.compile("([01][0-9]|2[0-3])([0-5][0-9](([0-5][0-9]|60)([.][0-9]{1,6})?)?)?");

    private Legal() {}

    static boolean uid(String text) {
        return text.isEmpty()
                || (text.length() <= UID_LENGTH_MAX && UID.matcher(text).matches());
    }

    static boolean ascii(String text) {
        return text.chars().allMatch(c -> c >= ' ' && c < 0x7F);
    }

    static boolean date(String text) {
        return text.isEmpty() || day(text).isPresent();
    }

    /** Returns the day of {@code 20260417} or, as written before 1993, {@code 2026.04.17}. */
    static Optional<LocalDate> day(String text) {
        Matcher day = DAY.matcher(text);
        try {
            return day.matches()
                    ? Optional.of(LocalDate.of(
                            Integer.parseInt(day.group(1)),
                            Integer.parseInt(day.group(3)),
                            Integer.parseInt(day.group(4))))
                    : Optional.empty();
        } catch (DateTimeException noSuchDay) {
            return Optional.empty();
        }
    }

    /** Accepts {@code 09}, {@code 0930}, {@code 093000} and {@code 093000.123456}, also with colons as before 1993. */
    static boolean time(String text) {
        int dot = text.indexOf('.');
        String fraction = dot < 0 ? "" : text.substring(dot);
        String whole = (dot < 0 ? text : text.substring(0, dot)).replace(":", "");
        return text.isEmpty() || TIME.matcher(whole + fraction).matches();
    }

    static boolean whole(String text) {
        if (text.isEmpty()) {
            return true;
        }
        try {
            Integer.parseInt(text);
            return true;
        } catch (NumberFormatException notWhole) {
            return false;
        }
    }

    /** NB: Java's own parser would also accept "NaN", "0x1p3" and "1f". */
    static boolean decimal(String text) {
        return text.isEmpty() || text.matches("[+-]?([0-9]+\\.?[0-9]*|\\.[0-9]+)([eE][+-]?[0-9]{1,3})?");
    }
}
