package dozo.export;

import com.fasterxml.jackson.annotation.JsonIgnore;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.json.JsonMapper;

/** The columns of a table: those of a record are its components, in their order and with their names, as in JSON. */
public final class Columns<T> {

    private static final JsonMapper JSON = new JsonMapper();

    private final List<Column<T>> all;

    private record Column<T>(String name, Function<T, @Nullable Object> value) {}

    private Columns(List<Column<T>> all) {
        this.all = all;
    }

    /** Returns a column for each component of a record. */
    public static <T extends Record> Columns<T> of(Class<T> type) {
        return new Columns<>(Arrays.stream(type.getRecordComponents())
                .filter(component -> !component.getAccessor().isAnnotationPresent(JsonIgnore.class))
                .map(component -> new Column<T>(component.getName(), record -> value(component, record)))
                .toList());
    }

    /** Returns a single column. */
    public static <T> Columns<T> of(String name, Function<T, @Nullable Object> value) {
        return new Columns<>(List.of(new Column<>(name, value)));
    }

    /** Returns these and more columns. */
    public Columns<T> and(Columns<T> more) {
        return new Columns<>(Stream.concat(all.stream(), more.all.stream()).toList());
    }

    /** Returns these and one more column. */
    public Columns<T> and(String name, Function<T, @Nullable Object> value) {
        return and(of(name, value));
    }

    /** Returns these columns without some. */
    public Columns<T> without(String... names) {
        Set<String> unwanted = Set.of(names);
        return new Columns<>(
                all.stream().filter(column -> !unwanted.contains(column.name())).toList());
    }

    /** Returns these columns for a part of a larger whole; their cells are null if the part is missing. */
    public <R> Columns<R> in(Function<R, ? extends @Nullable T> part) {
        return new Columns<>(all.stream()
                .map(column -> new Column<R>(column.name(), whole -> {
                    T of = part.apply(whole);
                    return of == null ? null : column.value().apply(of);
                }))
                .toList());
    }

    public List<String> names() {
        return all.stream().map(Column::name).toList();
    }

    /** Returns the cells of a row. */
    public List<@Nullable Object> line(T row) {
        return all.stream()
                .<@Nullable Object>map(column -> column.value().apply(row))
                .toList();
    }

    /** Returns one cell of a row; null if there is no such column. */
    public @Nullable Object cell(T row, String name) {
        return all.stream()
                .filter(column -> column.name().equals(name))
                .findFirst()
                .map(column -> column.value().apply(row))
                .orElse(null);
    }

    private static @Nullable Object value(RecordComponent component, Record record) {
        try {
            return asInJson(component.getAccessor().invoke(record));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("%s cannot be read".formatted(component), e);
        }
    }

    /** Returns enums by their words in JSON; anything else as it is. */
    private static @Nullable Object asInJson(@Nullable Object cell) {
        return switch (cell) {
            case Enum<?> constant -> JSON.convertValue(constant, String.class);
            case List<?> items -> items.stream().map(Columns::asInJson).toList();
            case null, default -> cell;
        };
    }
}
