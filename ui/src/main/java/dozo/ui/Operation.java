package dozo.ui;

import dozo.file.Message;
import dozo.registry.Refusal;
import dozo.registry.WrittenDay;
import dozo.web.Change;
import java.lang.reflect.Parameter;
import java.lang.reflect.RecordComponent;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.core.MethodParameter;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.web.bind.annotation.RequestBody;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.method.HandlerMethod;

/**
 * An operation of REST that changes something, as its form shows it.
 *
 * @param page the pattern of its form's path
 * @param present the operation that shows what this one corrects; null: it corrects nothing, and its form begins empty
 * @param key the beginning of the keys of its texts, such as {@code do.put.projects.project.priority}
 * @param variables of the path, in its order
 * @param body the parameter that takes the JSON body; null: none
 * @param fields of the body and of the query
 */
record Operation(
        String page,
        HandlerMethod handler,
        @Nullable HandlerMethod present,
        String key,
        List<String> variables,
        @Nullable MethodParameter body,
        List<Field> fields) {

    private static final Pattern VARIABLE = Pattern.compile("\\{(\\w+)}");

    private static final String CONSTRAINTS = "jakarta.validation.constraints.";

    /** The field of a form with the ETag of what it showed. */
    static final String SEEN = "seen";

    /** Who changes their own password types the new one again. */
    private static final String AGAIN = "again";

    /** How it can be done for each of several experiments. */
    enum Each {
        /** Not at all. */
        NONE,
        /** One by one; the path names the experiment. */
        PATH,
        /** One by one; the fields {@code project} and {@code experiment} name it. */
        FIELDS,
        /** All at once; the field {@code experiments} names them. */
        LIST
    }

    /** The fields that name experiments. */
    static final Set<String> NAMING = Set.of("project", "experiment", "experiments");

    /** What a form needs to know of a field. */
    enum Kind {
        TEXT,
        PASSWORD,
        NUMBER,
        DAY,
        CHECK,
        LINES
    }

    /**
     * A field of a form.
     *
     * @param type as the operation declares it
     */
    record Field(String name, Kind kind, Class<?> type, boolean required) {

        /** The names of passwords, which no form shows again. */
        static final Set<String> SECRETS = Set.of("present", "password", "recoveryKey", AGAIN);

        /** Returns the field for a component of a body; null for a type that a form cannot show. */
        static @Nullable Field of(RecordComponent component) {
            Kind kind = kind(component.getName(), ResolvableType.forMethodReturnType(component.getAccessor()));
            if (kind == null || kind == Kind.CHECK || kind == Kind.LINES) {
                return kind == null ? null : new Field(component.getName(), kind, component.getType(), false);
            }
            MergedAnnotations annotations = MergedAnnotations.from(component.getAccessor());
            boolean required = kind == Kind.PASSWORD
                    || !component.getAnnotatedType().isAnnotationPresent(Nullable.class)
                    || Stream.of("NotNull", "NotBlank", "NotEmpty")
                            .anyMatch(each -> annotations.isPresent(CONSTRAINTS + each));
            return new Field(component.getName(), kind, component.getType(), required);
        }

        static @Nullable Kind kind(String name, ResolvableType type) {
            Class<?> raw = type.toClass();
            if (raw == String.class || raw.isEnum()) {
                return SECRETS.contains(name) ? Kind.PASSWORD : Kind.TEXT;
            }
            if (raw == Instant.class || raw == LocalDate.class) {
                return Kind.DAY;
            }
            if (raw == Boolean.class || raw == boolean.class) {
                return Kind.CHECK;
            }
            if (raw == List.class && type.getGeneric().toClass() == String.class) {
                return Kind.LINES;
            }
            return Stream.of(int.class, Integer.class, long.class, Long.class).anyMatch(raw::equals)
                    ? Kind.NUMBER
                    : null;
        }

        /**
         * Returns a typed value as the JSON body has it; null if nothing was typed. A day of a field for a moment is
         * meant to its end.
         *
         * @throws Refusal if it is no number or no day
         */
        @Nullable
        Object read(String typed, ZoneId zone) {
            String text = typed.strip();
            return switch (kind) {
                case TEXT -> text.isEmpty() ? null : text;
                case PASSWORD -> typed.isEmpty() ? null : typed;
                case NUMBER -> text.isEmpty() ? null : (Object) Numbers.whole(name, text);
                case DAY -> text.isEmpty() ? null : day(text, zone);
                case CHECK -> typed.equals("true");
                case LINES ->
                    typed.lines()
                            .map(String::strip)
                            .filter(line -> !line.isEmpty())
                            .toList();
            };
        }

        /** Returns a day, or the time of its end; of an undo, the very time that was given before. */
        private Object day(String text, ZoneId zone) {
            if (type == Instant.class && text.contains("T")) {
                return text;
            }
            LocalDate day = WrittenDay.ofIso(name, text);
            return type == LocalDate.class
                    ? day
                    : day.plusDays(1).atStartOfDay(zone).toInstant();
        }
    }

    /** Describes an operation whose form has this path. */
    static Operation of(HandlerMethod handler, @Nullable HandlerMethod present, String page) {
        MethodParameter body = null;
        List<Field> fields = new ArrayList<>();
        for (MethodParameter parameter : handler.getMethodParameters()) {
            if (parameter.hasParameterAnnotation(RequestBody.class)) {
                body = parameter;
                for (RecordComponent component : parameter.getParameterType().getRecordComponents()) {
                    Stream.ofNullable(Field.of(component)).forEach(fields::add);
                }
            } else if (parameter.hasParameterAnnotation(RequestParam.class)) {
                Parameter declared = parameter.getParameter();
                Kind kind = Field.kind(declared.getName(), ResolvableType.forMethodParameter(parameter));
                Stream.ofNullable(kind)
                        .map(found -> new Field(declared.getName(), found, declared.getType(), false))
                        .forEach(fields::add);
            }
        }
        if (fields.stream().anyMatch(field -> field.name().equals("present"))) {
            fields.add(new Field(AGAIN, Kind.PASSWORD, String.class, true));
        }
        List<String> variables =
                VARIABLE.matcher(page).results().map(found -> found.group(1)).toList();
        return new Operation(page, handler, present, key(page), variables, body, List.copyOf(fields));
    }

    Each each() {
        List<String> names = fields.stream().map(Field::name).toList();
        if (variables.equals(List.of("project", "code"))) {
            return Each.PATH;
        }
        boolean alone = variables.isEmpty();
        return alone && names.contains("experiments")
                ? Each.LIST
                : alone && names.containsAll(List.of("project", "experiment")) ? Each.FIELDS : Each.NONE;
    }

    /** Returns the same with fewer fields: those that name experiments, and these; empty: all. */
    Operation only(List<String> names) {
        List<Field> kept = fields.stream()
                .filter(field -> names.isEmpty() || NAMING.contains(field.name()) || names.contains(field.name()))
                .toList();
        return new Operation(page, handler, present, key, variables, body, kept);
    }

    /** Returns whether it takes something away ({@link Change#destroys}). */
    public boolean destroys() {
        Change change = handler.getMethodAnnotation(Change.class);
        return change != null && change.destroys();
    }

    /** Returns the pattern of the form that undoes it, with its fields; empty if none does. */
    String undo() {
        Change change = handler.getMethodAnnotation(Change.class);
        String undo = change == null ? "" : change.undo();
        int method = undo.indexOf(' ');
        return undo.isEmpty()
                ? ""
                : "/do/" + undo.substring(0, method).toLowerCase(Locale.ROOT) + undo.substring(method + 1);
    }

    /** Returns the beginning of the keys of a form's texts, from its path. */
    static String key(String page) {
        return page.substring(1).replaceAll("[{}]", "").replace('/', '.');
    }

    /**
     * Returns the fields of a form. One of a PATCH, which leaves the others as they are, may ask for some {@code only}.
     */
    List<Field> asked(Form typed) {
        List<String> only = List.of(typed.value("only").split(",", -1));
        return typed.value("only").isEmpty() || !key.startsWith("do.patch.")
                ? fields
                : fields.stream().filter(field -> only.contains(field.name())).toList();
    }

    /**
     * Returns whether a correction leaves a field as it is. Browsers do not send boxes that are not ticked: only of a form
     * that showed them, a missing one is meant.
     */
    private static boolean stays(Field field, Form typed, int asked) {
        boolean shown = !typed.value(SEEN).isEmpty() || !typed.value("only").isEmpty();
        return switch (field.kind()) {
            case PASSWORD -> asked > 1 && typed.value(field.name()).isEmpty();
            case CHECK, LINES -> !shown && !typed.values().containsKey(field.name());
            case TEXT, NUMBER, DAY -> !typed.values().containsKey(field.name());
        };
    }

    /** Returns the fields that a correction changes. */
    List<Field> changed(Form typed) {
        List<Field> asked = asked(typed);
        return asked.stream()
                .filter(field -> !stays(field, typed, asked.size()))
                .toList();
    }

    /**
     * Returns the fields with the typed values, as the JSON body has them.
     *
     * @param errors gets those of the fields that cannot be read
     */
    Map<String, Object> read(Form typed, ZoneId zone, Map<String, Message> errors) {
        Map<String, Object> read = new HashMap<>();
        boolean corrects = key.startsWith("do.patch.");
        for (Field field : corrects ? changed(typed) : asked(typed)) {
            try {
                Object value = field.read(typed.value(field.name()), zone);
                if (value != null) {
                    read.put(field.name(), value);
                } else if (corrects && field.kind() == Kind.TEXT && field.type() == String.class) {
                    // The form showed what is there now, so that nothing is left of it.
                    read.put(field.name(), "");
                } else if (field.required()) {
                    errors.put(field.name(), Message.of("a value is required"));
                }
            } catch (Refusal refused) {
                errors.put(field.name(), refused.message());
            }
        }
        Object again = read.remove(AGAIN);
        if (again != null && !again.equals(read.get("password"))) {
            errors.putIfAbsent(AGAIN, Message.of("the two new passwords differ"));
        }
        return read;
    }
}
