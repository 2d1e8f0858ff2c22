package dozo.command;

import java.time.Instant;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import tools.jackson.databind.JsonNode;

/**
 * A sentence or a cell with fields of a response in braces: {@code hold {id} is ended}. Of several alternatives,
 * separated by {@code |}, the first whose fields are all there is taken. {@code {field?}} stands for nothing, and demands
 * that the field is there, and neither false nor 0; {@code {field=value?}} demands that value. {@code {field word}} is a
 * constant as a word, {@code {field lines}} a list or text with its lines.
 */
record Phrase(String text) {

    private static final Pattern FIELD =
            Pattern.compile("\\{(?<name>[A-Za-z.]+)(=(?<value>[a-z]+))?(?<mark>\\?| word| lines)?}");

    /** Returns what it says of a response; empty if no alternative has all its fields. Control characters are shown. */
    Optional<String> of(JsonNode response) {
        for (String alternative : text.split("\\|", -1)) {
            Matcher fields = FIELD.matcher(alternative);
            StringBuilder said = new StringBuilder();
            boolean whole = true;
            while (whole && fields.find()) {
                JsonNode value = response.at("/" + fields.group("name").replace('.', '/'));
                String mark = String.valueOf(fields.group("mark"));
                String wanted = fields.group("value");
                whole = !isMissing(value)
                        && (!mark.equals("?") || value.asBoolean(true))
                        && (wanted == null || value.asString("").equals(wanted));
                fields.appendReplacement(said, Matcher.quoteReplacement(shown(value, mark)));
            }
            if (whole) {
                return Optional.of(fields.appendTail(said).toString());
            }
        }
        return Optional.empty();
    }

    private static String shown(JsonNode value, String mark) {
        return switch (mark) {
            case "?" -> "";
            case " word" -> value.asString("").toLowerCase(Locale.ROOT).replace('_', '-');
            case " lines" -> said(value, System.lineSeparator());
            default -> said(value, ",");
        };
    }

    private static boolean isMissing(JsonNode value) {
        return value.isMissingNode()
                || value.isNull()
                || (value.isString() && value.stringValue().isEmpty())
                || (value.isArray() && value.isEmpty());
    }

    private static String said(JsonNode value, String between) {
        if (value.isString() && between.equals(System.lineSeparator())) {
            return value.stringValue().lines().map(Connection::visible).collect(Collectors.joining(between));
        }
        if (value.isArray()) {
            return value.valueStream().map(each -> said(each, between)).collect(Collectors.joining(between));
        }
        String text = value.asString("");
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
