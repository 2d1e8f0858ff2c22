package dozo.registry;

import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.chrono.JapaneseDate;
import java.time.chrono.JapaneseEra;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses unambiguous dates as people and spreadsheets write them: the year first, or a Japanese era by its name. */
public final class WrittenDay {

    private static final Pattern YEAR_FIRST = Pattern.compile("(\\d{4})([-/])(\\d{1,2})\\2(\\d{1,2})");
    private static final Pattern DIGITS = Pattern.compile("(\\d{4})(\\d{2})(\\d{2})");
    private static final Pattern JAPANESE = Pattern.compile("(\\d{4})年(\\d{1,2})月(\\d{1,2})日");
    private static final Pattern ERA = Pattern.compile("(令和|平成|昭和|大正|明治)(\\d{1,2}|元)年(\\d{1,2})月(\\d{1,2})日");

    private static final Map<String, JapaneseEra> ERAS = Map.of(
            "令和", JapaneseEra.REIWA,
            "平成", JapaneseEra.HEISEI,
            "昭和", JapaneseEra.SHOWA,
            "大正", JapaneseEra.TAISHO,
            "明治", JapaneseEra.MEIJI);

    private WrittenDay() {}

    /**
     * Parses a day.
     *
     * @param field the name of its field
     * @throws Refusal if it is not a date, or ambiguous
     */
    public static LocalDate of(String field, String written) {
        try {
            Matcher era = ERA.matcher(written);
            if (era.matches()) {
                int year = era.group(2).equals("元") ? 1 : number(era, 2);
                // NB: refuses a day outside its era.
                return LocalDate.from(JapaneseDate.of(ERAS.get(era.group(1)), year, number(era, 3), number(era, 4)));
            }
            Matcher yearFirst = YEAR_FIRST.matcher(written);
            if (yearFirst.matches()) {
                return LocalDate.of(number(yearFirst, 1), number(yearFirst, 3), number(yearFirst, 4));
            }
            Matcher plain = DIGITS.matcher(written);
            Matcher day = plain.matches() ? plain : JAPANESE.matcher(written);
            if (day.matches()) {
                return LocalDate.of(number(day, 1), number(day, 2), number(day, 3));
            }
        } catch (DateTimeException noSuchDay) {
            throw new Refusal(field, "\"%s\": there is no such date", written);
        }
        throw new Refusal(
                field,
                "\"%s\": expected a date such as 2026-10-01, 2026/10/01, 20261001, 2026年10月1日 or 令和8年10月1日",
                written);
    }

    /**
     * Parses a day as programs write it, {@code 2026-10-01}, with a year that a database can store: 1 to 9999.
     *
     * @param field the name of its field
     * @throws Refusal if it is not a date
     */
    public static LocalDate ofIso(String field, String written) {
        try {
            LocalDate day = LocalDate.parse(written);
            if (isKept(day)) {
                return day;
            }
        } catch (DateTimeException none) {
            // Refused below, like a day that a database cannot store.
        }
        throw new Refusal(field, "\"%s\": expected a date such as 2026-10-01", written);
    }

    /** Returns whether a database can store its year. */
    public static boolean isKept(LocalDate day) {
        return day.getYear() >= 1 && day.getYear() <= 9999;
    }

    private static int number(Matcher matcher, int group) {
        return Integer.parseInt(matcher.group(group));
    }
}
