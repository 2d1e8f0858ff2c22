package dozo.command;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;
import picocli.CommandLine.ParameterException;
import tools.jackson.databind.JsonNode;

/**
 * An argument of a {@link Request}, as the synopsis of {@link dozo.api.http.Verb} has it.
 *
 * @param option with its dashes; null: it has no name
 * @param label what help calls its value; empty: it has none
 * @param field where its value goes; two with a {@code /} or {@code -} between them for a pair; two with a {@code |}
 *     for one of them, the second if the value has a {@code /}; {@code -} for nowhere
 * @param fixed the value in JSON, if it does not come from the command line
 * @param many whether there may be several
 * @param list whether they may also stand in one word, with commas between them
 * @param content whether it names a file of which the content is meant
 */
record Argument(
        @Nullable String option,
        String label,
        String field,
        @Nullable String fixed,
        boolean optional,
        boolean many,
        boolean list,
        boolean content) {

    /** Labels that mean days or times. */
    private static final Map<String, ITypeConverter<?>> TIMES = Map.of(
            "DAY", new When.Day(),
            "FROM", new When.Day(),
            "UNTIL", new When.Day(),
            "WHEN", new When.End(),
            "TIME", new When.Until());

    /** Reads one word of a synopsis. */
    static Argument of(String synopsis) {
        boolean optional = synopsis.startsWith("[");
        String word = optional ? synopsis.substring(1, synopsis.length() - 1) : synopsis;
        boolean content = word.contains("<");
        String[] parts = word.split("[:<]", 2);
        boolean many = parts[0].endsWith("…");
        boolean list = parts[0].endsWith(",…");
        String[] name = parts[0].replaceAll(",?…$", "").split("=", 2);
        String value = name.length == 2 ? name[1] : "";
        if (name[0].startsWith("--")) {
            String[] target = (parts.length == 2 ? parts[1] : camel(name[0].substring(2))).split("=", 2);
            String fixed = target.length == 2 ? target[1] : value.isEmpty() ? "true" : null;
            return new Argument(name[0], value, target[0], fixed, optional, many, list, content);
        }
        return name.length == 2
                ? new Argument(null, "", name[0], value, optional, many, list, content)
                : new Argument(
                        null,
                        name[0],
                        parts.length == 2 ? parts[1] : name[0].toLowerCase(Locale.ROOT),
                        null,
                        optional,
                        many,
                        list,
                        content);
    }

    private static String camel(String dashed) {
        String[] parts = dashed.split("-", -1);
        StringBuilder camel = new StringBuilder(parts[0]);
        Stream.of(parts)
                .skip(1)
                .forEach(part -> camel.append(part.substring(0, 1).toUpperCase(Locale.ROOT))
                        .append(part.substring(1)));
        return camel.toString();
    }

    /** Returns its name, for a message; empty: it has none, and is not typed. */
    String name() {
        return option == null ? label : option;
    }

    /** Whether both are the same argument of a command. */
    boolean hasNameOf(Argument other) {
        return option == null ? other.option == null && label.equals(other.label) : option.equals(other.option);
    }

    /**
     * Adds it to a command that does not have it yet.
     *
     * @param always whether every request of the command has it
     */
    void addTo(CommandSpec command, boolean always, Request request) {
        if (isFixed() || arg(command).isPresent()) {
            return;
        }
        boolean needed = always && !optional;
        JsonNode schema = request.schema(field);
        String type = schema.path("type").asString("");
        Class<?> one = schema.at(type.equals("array") ? "/items/type" : "/type")
                        .asString("")
                        .equals("integer")
                ? Long.class
                : String.class;
        boolean pairs = type.equals("object");
        Class<?> whole = label.isEmpty() ? boolean.class : pairs ? Map.class : many ? List.class : one;
        Class<?>[] parts =
                pairs ? new Class<?>[] {String.class, String.class} : new Class<?>[] {label.isEmpty() ? whole : one};
        String split = list ? "," : "";
        ITypeConverter<?>[] times = TIMES.containsKey(label) && one == String.class
                ? new ITypeConverter<?>[] {requireNonNull(TIMES.get(label))}
                : new ITypeConverter<?>[0];
        String about = sentence(request.meaning(name(), field));
        int position = command.positionalParameters().size();
        command.add(
                option != null
                        ? OptionSpec.builder(option)
                                .required(needed)
                                .paramLabel(label)
                                .type(whole)
                                .auxiliaryTypes(parts)
                                .splitRegex(split)
                                .converters(times)
                                .description(about)
                                .build()
                        : PositionalParamSpec.builder()
                                .index(position + (many ? "..*" : ""))
                                .arity((needed ? "1" : "0") + (many ? "..*" : "..1"))
                                .paramLabel(label)
                                .type(whole)
                                .auxiliaryTypes(parts)
                                .splitRegex(split)
                                .converters(times)
                                .description(about)
                                .build());
    }

    private static String sentence(String meaning) {
        String text = meaning.replaceAll("; required$", "");
        return text.isEmpty() ? "" : text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1) + ".";
    }

    private boolean isFixed() {
        return option == null && label.isEmpty();
    }

    private Optional<ArgSpec> arg(CommandSpec command) {
        return Stream.<ArgSpec>concat(command.options().stream(), command.positionalParameters().stream())
                .filter(each -> each instanceof OptionSpec known
                        ? known.longestName().equals(option)
                        : option == null && each.paramLabel().equals(label))
                .findFirst();
    }

    /** Whether the command line has it. */
    boolean isTyped(CommandSpec command) {
        return arg(command)
                .<Object>map(ArgSpec::getValue)
                .filter(value -> !Boolean.FALSE.equals(value))
                .isPresent();
    }

    /** Whether it has a value. */
    boolean isGiven(CommandSpec command) {
        return isFixed() || isTyped(command);
    }

    /** Adds what was given for it, by field. */
    void addTo(Map<String, Object> given, CommandSpec command, Request request) {
        if (option == null && many && optional && !isGiven(command)) {
            given.put(field, List.of());
            return;
        }
        if (!isGiven(command) || field.equals("-")) {
            return;
        }
        if (fixed != null) {
            given.put(field, Connection.JSON.readValue(fixed, Object.class));
            return;
        }
        Object value = requireNonNull(arg(command).orElseThrow().getValue());
        if (field.contains("|")) {
            given.put(field.split("\\|", 2)[value.toString().contains("/") ? 1 : 0], value);
        } else if (field.contains("/") || field.contains("-")) {
            addPair(given, command, value.toString(), field.contains("/") ? "/" : "-");
        } else if (content) {
            given.put(field, read(value.toString()));
        } else if (field.endsWith("Bytes")) {
            given.put(
                    field,
                    value instanceof List<?> names
                            ? names.stream()
                                    .map(name -> RawArgument.path(name.toString()))
                                    .toList()
                            : RawArgument.path(value.toString()));
        } else if (request.schema(field).path("type").asString("").equals("boolean")) {
            given.put(field, isYes(command, value.toString()));
        } else {
            given.put(field, value);
        }
    }

    /** Adds the two parts of {@code P/E} or {@code FROM-UNTIL}; with a label as {@code P[/E]} the second may be missing. */
    private void addPair(Map<String, Object> given, CommandSpec command, String value, String between) {
        String[] fields = field.split(between, 2);
        String[] parts = value.split(between, -1);
        boolean first = parts.length == 1 && label.contains("[");
        if (!first && (parts.length != 2 || parts[0].isEmpty() || parts[1].isEmpty())) {
            throw wrong(command, value, label);
        }
        given.put(fields[0], parts[0]);
        if (!first) {
            given.put(fields[1], parts[1]);
        }
    }

    private boolean isYes(CommandSpec command, String value) {
        return switch (value) {
            case "yes" -> true;
            case "no" -> false;
            default -> throw wrong(command, value, "yes or no");
        };
    }

    private ParameterException wrong(CommandSpec command, String value, String expected) {
        return new ParameterException(
                command.commandLine(),
                "%s\"%s\": expected %s".formatted(option == null ? "" : option + " ", value, expected));
    }

    private String read(String file) {
        try {
            return Files.readString(Path.of(file)).strip();
        } catch (IOException e) {
            throw new Failure(
                    Exit.USAGE, "%s cannot be read: expected a file that contains the %s".formatted(file, field));
        }
    }
}
