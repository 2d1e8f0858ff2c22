package dozo.source.dicom;

import java.time.DateTimeException;
import java.time.LocalDate;
import java.util.Optional;

/** Checks values against the standard's rules. Empty values are legal. */
final class Legal {

    private static final int UID_LENGTH_MAX = 64;

    private Legal() {}

    static boolean uid(String text) {
        if (text.length() > UID_LENGTH_MAX) {
            return false;
        }
        int start = 0;
        for (int i = 0; i <= text.length() && !text.isEmpty(); i++) {
            if (i == text.length() || text.charAt(i) == '.') {
                boolean zeroFirst = i - start > 1 && text.charAt(start) == '0';
                if (i == start || zeroFirst) {
                    return false;
                }
                start = i + 1;
            } else if (!isDigit(text.charAt(i))) {
                return false;
            }
        }
        return true;
    }

    static boolean ascii(String text) {
        return text.chars().allMatch(c -> c >= ' ' && c < 0x7F);
    }

    static boolean date(String text) {
        return text.isEmpty() || day(text).isPresent();
    }

    /** Returns the day of {@code 20260417} or, as written before 1993, {@code 2026.04.17}. */
    static Optional<LocalDate> day(String text) {
        boolean dotted = text.length() == 10 && text.charAt(4) == '.' && text.charAt(7) == '.';
        String digits = dotted ? text.substring(0, 4) + text.substring(5, 7) + text.substring(8) : text;
        if (digits.length() != 8 || !allDigits(digits)) {
            return Optional.empty();
        }
        try {
            return Optional.of(LocalDate.of(
                    Integer.parseInt(digits, 0, 4, 10),
                    Integer.parseInt(digits, 4, 6, 10),
                    Integer.parseInt(digits, 6, 8, 10)));
        } catch (DateTimeException noSuchDay) {
            return Optional.empty();
        }
    }

    /** Accepts {@code 09}, {@code 0930}, {@code 093000} and {@code 093000.123456}, also with colons as before 1993. */
    static boolean time(String text) {
        int dot = text.indexOf('.');
        String whole = (dot < 0 ? text : text.substring(0, dot)).replace(":", "");
        String fraction = dot < 0 ? "0" : text.substring(dot + 1);
        if (text.isEmpty()) {
            return true;
        }
        boolean rightLength = whole.length() == 6 || (dot < 0 && (whole.length() == 2 || whole.length() == 4));
        return rightLength
                && allDigits(whole)
                && !fraction.isEmpty()
                && fraction.length() <= 6
                && allDigits(fraction)
                && below(whole, 0, 24)
                && below(whole, 2, 60)
                && below(whole, 4, 61);
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

    private static boolean below(String digits, int at, int limit) {
        return at >= digits.length() || Integer.parseInt(digits, at, at + 2, 10) < limit;
    }

    private static boolean allDigits(String text) {
        return text.chars().allMatch(c -> isDigit((char) c));
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }
}
