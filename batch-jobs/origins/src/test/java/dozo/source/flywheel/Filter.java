package dozo.source.flywheel;

import java.time.OffsetDateTime;
import java.time.format.DateTimeParseException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The {@code filter} of a list: conditions joined by commas, all of which hold. */
final class Filter {

    private static final Pattern CONDITION = Pattern.compile("([A-Za-z_.]+)(<=|>=|!=|=~|<|>|=)(.*)", Pattern.DOTALL);

    private Filter() {}

    /** Parses a filter; empty if it is malformed. */
    static Optional<Predicate<Map<String, Object>>> of(String text) {
        List<Predicate<Map<String, Object>>> all = new ArrayList<>();
        for (String condition : text.split("(?<!\\\\),")) {
            Matcher matcher = CONDITION.matcher(condition);
            if (!matcher.matches()) {
                return Optional.empty();
            }
            String[] keys = matcher.group(1).split("\\.");
            String operator = matcher.group(2);
            String value = unquoted(matcher.group(3).replace("\\,", ","));
            all.add(told -> holds(field(told, keys), operator, value));
        }
        return Optional.of(told -> all.stream().allMatch(one -> one.test(told)));
    }

    private static String unquoted(String value) {
        boolean quoted = value.length() > 1 && value.startsWith("\"") && value.endsWith("\"");
        return quoted ? value.substring(1, value.length() - 1) : value;
    }

    static Object field(Map<String, Object> told, String... keys) {
        Object at = told;
        for (String key : keys) {
            at = at instanceof Map<?, ?> map ? map.get(key) : null;
        }
        return at;
    }

    private static boolean holds(Object field, String operator, String value) {
        if (field == null) {
            return operator.equals("!=");
        }
        if (operator.equals("=~")) {
            return Pattern.compile(value).matcher(field.toString()).find();
        }
        int order = compare(field.toString(), value);
        return switch (operator) {
            case "<" -> order < 0;
            case "<=" -> order <= 0;
            case ">" -> order > 0;
            case ">=" -> order >= 0;
            case "!=" -> order != 0;
            default -> order == 0;
        };
    }

    private static int compare(String field, String value) {
        try {
            return OffsetDateTime.parse(field).toInstant().compareTo(time(value));
        } catch (DateTimeParseException noTime) {
            return field.compareTo(value);
        }
    }

    private static java.time.Instant time(String value) {
        String whole = value.length() == 10 ? value + "T00:00:00Z" : value;
        return OffsetDateTime.parse(whole).toInstant();
    }
}
