package dozo.registry;

import java.time.DateTimeException;
import java.time.LocalDate;
import java.time.chrono.JapaneseDate;
import java.time.chrono.JapaneseEra;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A day as people and spreadsheets write it, where it can mean only one: the year first, or a Japanese era by its name. */
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
     * The day.
     *
     * @param field the name of the field that it stands in
     * @throws Refusal when it is none, or could be several
     */
    public static LocalDate of(String field, String written) {
        try {
            Matcher era = ERA.matcher(written);
            if (era.matches()) {
                int year = era.group(2).equals("元") ? 1 : number(era, 2);
                // NB: refuses a day that was not in this era any more, or not yet.
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
     * A day as programs write it, {@code 2026-10-01}, of the years that a database keeps: 1 to 9999.
     *
     * @param field the name of the field that it stands in
     * @throws Refusal when it is none
     */
    public static LocalDate ofIso(String field, String written) {
        try {
            LocalDate day = LocalDate.parse(written);
            if (isKept(day)) {
                return day;
            }
        } catch (DateTimeException none) {
            // Refused below, as a day is that no database keeps.
        }
        throw new Refusal(field, "\"%s\": expected a date such as 2026-10-01", written);
    }

    /** Whether its year is one that a database keeps. */
    public static boolean isKept(LocalDate day) {
        return day.getYear() >= 1 && day.getYear() <= 9999;
    }

    private static int number(Matcher matcher, int group) {
        return Integer.parseInt(matcher.group(group));
    }
}
