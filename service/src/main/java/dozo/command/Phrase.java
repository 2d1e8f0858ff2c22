package dozo.command;

import dozo.file.Rate;
import dozo.file.Size;
import java.io.PrintWriter;
import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/**
 * A sentence or a cell with fields of a response in braces: {@code hold {id} is ended}. Of several alternatives,
 * separated by {@code |}, the first whose fields are all there is taken. A part in square brackets, perhaps with
 * alternatives of its own, is left out if its fields are not there. {@code {field?}} stands for nothing, and demands that
 * the field is there, and neither false nor 0; {@code {field=value?}} demands that value, or a list with it.
 *
 * <p>A mark says how a field is written: {@code {field word}} a constant as a word, {@code words} as words; {@code lines}
 * a list or text with its lines; {@code list} with commas and spaces; {@code count} how many a list has; {@code raw} as in JSON; {@code number}
 * with separators; {@code signed} with its sign; {@code size} bytes; {@code rate} bytes a second; {@code day} the day of
 * a time, in this machine's zone; {@code time} seconds; {@code ms} seconds in milliseconds.
 */
record Phrase(String text) {

    private static final Pattern PART = Pattern.compile(
            "\\[(?<group>[^\\]]*)]|\\{(?<name>[A-Za-z0-9.]+)(=(?<value>[A-Za-z0-9_-]+))?(?<mark>\\?| [a-z]+)?}");

    /** Not in brackets. */
    private static final Pattern OR = Pattern.compile("\\|(?![^\\[]*])");

    /** Returns the lines that these phrases say of a response. */
    static Stream<String> lines(JsonNode response, Stream<String> phrases) {
        return phrases.flatMap(each -> new Phrase(each).of(response).stream());
    }

    /** Prints the lines that these phrases say of a response. */
    static void print(PrintWriter out, JsonNode response, String... phrases) {
        lines(response, Stream.of(phrases)).forEach(out::println);
    }

    /** Returns what it says of a response; empty if no alternative has all its fields. Control characters are shown. */
    Optional<String> of(JsonNode response) {
        return Stream.of(OR.split(text, -1))
                .flatMap(each -> alternative(each, response).stream())
                .findFirst();
    }

    private static Optional<String> alternative(String alternative, JsonNode response) {
        Matcher parts = PART.matcher(alternative);
        StringBuilder said = new StringBuilder();
        while (parts.find()) {
            String group = parts.group("group");
            String part;
            if (group != null) {
                part = new Phrase(group).of(response).orElse("");
            } else {
                JsonNode value = response.at("/" + parts.group("name").replace('.', '/'));
                String mark = String.valueOf(parts.group("mark")).strip();
                String wanted = parts.group("value");
                if (isMissing(value)
                        || (wanted == null
                                ? mark.equals("?") && isNo(value)
                                : values(value)
                                        .noneMatch(each -> each.asString("").equals(wanted)))) {
                    return Optional.empty();
                }
                part = shown(value, mark);
            }
            parts.appendReplacement(said, Matcher.quoteReplacement(part));
        }
        return Optional.of(parts.appendTail(said).toString());
    }

    private static boolean isMissing(JsonNode value) {
        return value.isMissingNode()
                || value.isNull()
                || (value.isString() && value.stringValue().isEmpty())
                || (value.isArray() && value.isEmpty());
    }

    private static boolean isNo(JsonNode value) {
        return value.isNumber() ? value.doubleValue() == 0 : !value.asBoolean(true);
    }

    private static Stream<JsonNode> values(JsonNode value) {
        return value.isArray() ? value.valueStream() : Stream.of(value);
    }

    private static String shown(JsonNode value, String mark) {
        return switch (mark) {
            case "?" -> "";
            case "count" -> "%,d".formatted(value.size());
            case "lines" -> joined(value, mark, System.lineSeparator());
            case "list", "words" -> joined(value, mark, ", ");
            default -> joined(value, mark, ",");
        };
    }

    private static String joined(JsonNode value, String mark, String between) {
        return values(value).map(each -> one(each, mark, between)).collect(Collectors.joining(between));
    }

    private static String one(JsonNode value, String mark, String between) {
        return switch (mark) {
            case "word" -> value.asString("").toLowerCase(Locale.ROOT).replace('_', '-');
            case "words" -> value.asString("").toLowerCase(Locale.ROOT).replace('_', ' ');
            case "lines" -> value.asString("").lines().map(Phrase::plain).collect(Collectors.joining(between));
            case "raw" -> Connection.visible(value.asString(""));
            case "number" -> "%,d".formatted(number(value));
            case "signed" -> "%+d".formatted(number(value));
            case "size" -> Size.text(number(value));
            case "rate" -> Rate.text(number(value));
            case "day" -> Times.day(Instant.parse(value.asString("")));
            case "time" -> PlanReport.time(value.asDouble());
            case "ms" -> String.format(Locale.ROOT, "%.2f", 1_000 * value.asDouble());
            default -> plain(value.asString(""));
        };
    }

    private static long number(JsonNode value) {
        return value.isIntegralNumber() ? value.longValue() : (long) value.doubleValue();
    }

    private static String plain(String text) {
        if (text.length() >= 20 && text.charAt(10) == 'T' && text.endsWith("Z")) {
            try {
                return Times.text(Instant.parse(text));
            } catch (DateTimeParseException noTime) {
                return Connection.visible(text);
            }
        }
        return Connection.visible(text);
    }
}
