package dozo.start;

import dozo.setting.Setting;
import dozo.setting.Setting.Secret;
import dozo.setting.SizeOfSetting;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.convert.DurationStyle;
import org.springframework.util.unit.DataSize;

/**
 * A setting as the code declares it.
 *
 * @param property its name, such as {@code dozo.db.password-file}
 * @param standard the default value
 */
public record Declared(Class<? extends Record> owner, String property, Class<?> type, String standard, Setting says) {

    /** Lists all settings of these records in the order of declaration. */
    public static List<Declared> in(List<Class<? extends Record>> records) {
        List<Declared> declared = new ArrayList<>();
        records.forEach(record -> add(declared, record, prefix(record)));
        return declared;
    }

    /** Returns the heading for a record's settings: their common prefix. */
    public static String title(Class<? extends Record> record) {
        return "`" + prefix(record) + "`";
    }

    static String prefix(Class<? extends Record> record) {
        return record.getAnnotation(ConfigurationProperties.class).value();
    }

    private static void add(List<Declared> declared, Class<? extends Record> owner, String prefix) {
        for (RecordComponent component : owner.getRecordComponents()) {
            String property = prefix + "." + dashed(component.getName());
            if (component.getType().isRecord()) {
                add(declared, component.getType().asSubclass(Record.class), property);
            } else {
                declared.add(new Declared(
                        owner,
                        property,
                        component.getType(),
                        standard(owner, component),
                        Objects.requireNonNull(
                                component.getAnnotation(Setting.class), () -> property + " says nothing")));
            }
        }
    }

    /**
     * Returns the default value. NB: Spring's annotation is on the constructor's parameter, not on the record
     * component.
     */
    private static String standard(Class<? extends Record> owner, RecordComponent component) {
        for (var parameter : owner.getDeclaredConstructors()[0].getParameters()) {
            if (parameter.getName().equals(component.getName())) {
                return String.join(
                        ",", parameter.getAnnotation(DefaultValue.class).value());
            }
        }
        throw new IllegalStateException(owner + " has no parameter " + component);
    }

    static String dashed(String component) {
        return component.replaceAll("([A-Z])", "-$1").toLowerCase(Locale.ROOT);
    }

    /** Returns the name of the environment variable, such as {@code DOZO_DB_PASSWORD_FILE}. */
    public String environment() {
        return environment(property);
    }

    static String environment(String property) {
        return property.replaceAll("[.-]", "_").toUpperCase(Locale.ROOT);
    }

    public boolean secret() {
        return says.secret() == Secret.ITSELF;
    }

    /** Describes the allowed values. */
    public String allowed() {
        if (!says.allowed().isEmpty()) {
            return says.allowed();
        }
        String range = range().isEmpty() ? "" : ", " + range();
        return switch (kind()) {
            case NUMBER -> "a whole number" + range;
            case TIME -> "a duration with a unit, such as 500ms, 10s, 5m, 36h or 90d" + range;
            case SIZE -> "a size such as 512kB, 200MB or 64MiB" + range;
            case SWITCH -> "true or false";
            case TEXT -> throw new IllegalStateException(property + " does not say what is allowed");
        };
    }

    /** Describes the allowed values for a narrow column. */
    public String allowedInShort() {
        return range().isEmpty() ? allowed() : range();
    }

    private String range() {
        return says.min().isEmpty() ? "" : says.min() + " to " + says.max();
    }

    /** Returns whether a value has the right type and is in range. The records themselves check texts. */
    boolean takes(String value) {
        try {
            return switch (kind()) {
                case NUMBER ->
                    value.strip().matches("-?\\d{1,18}") && within(Long.parseLong(value.strip()), Long::parseLong);
                // NB: Spring reads a number without a unit as milliseconds, people read it as seconds.
                case TIME -> !value.strip().matches("[+-]?\\d+") && within(time(value), Declared::time);
                case SIZE -> within(SizeOfSetting.parse(value), SizeOfSetting::parse);
                case SWITCH -> value.equals("true") || value.equals("false");
                case TEXT -> true;
            };
        } catch (IllegalArgumentException | ArithmeticException wrong) {
            return false;
        }
    }

    /** Returns a valid value in one form, however it was written; for the machine's time zone, its name. */
    String plain(String value) {
        return switch (kind()) {
            case TIME -> time(value).toString();
            case SIZE -> SizeOfSetting.parse(value).toString();
            case NUMBER, SWITCH -> value.strip();
            case TEXT ->
                value.isEmpty() && property.equals("dozo.schedule.zone")
                        ? ZoneId.systemDefault().getId()
                        : value;
        };
    }

    private <T extends Comparable<T>> boolean within(T value, java.util.function.Function<String, T> typed) {
        return says.min().isEmpty()
                || (value.compareTo(typed.apply(says.min())) >= 0 && value.compareTo(typed.apply(says.max())) <= 0);
    }

    private static Duration time(String value) {
        return DurationStyle.detectAndParse(value.strip());
    }

    private enum Kind {
        NUMBER,
        TIME,
        SIZE,
        SWITCH,
        TEXT
    }

    private Kind kind() {
        if (type == int.class || type == long.class) {
            return Kind.NUMBER;
        }
        if (type == Duration.class) {
            return Kind.TIME;
        }
        if (type == DataSize.class) {
            return Kind.SIZE;
        }
        return type == boolean.class ? Kind.SWITCH : Kind.TEXT;
    }
}
