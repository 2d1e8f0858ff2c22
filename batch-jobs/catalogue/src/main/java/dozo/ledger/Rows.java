package dozo.ledger;

import dozo.file.Digest;
import dozo.file.FilePath;
import java.lang.reflect.RecordComponent;
import java.nio.file.Path;
import java.sql.Array;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.DataClassRowMapper;
import org.springframework.jdbc.core.RowMapper;
import org.springframework.jdbc.core.SqlParameterValue;
import org.springframework.jdbc.core.namedparam.SimplePropertySqlParameterSource;
import org.springframework.jdbc.core.namedparam.SqlParameterSource;

/**
 * Maps rows to records: the component {@code filesSafe} is the column {@code files_safe}. Extra columns are ignored. A
 * duration is a number of seconds. A component without a column is a defect, and so is null for a primitive component.
 */
public final class Rows<T> extends DataClassRowMapper<T> {

    private Rows(Class<T> record) {
        super(record);
    }

    /** Returns a mapper to a record; it can be reused for any number of queries. */
    public static <T extends Record> RowMapper<T> of(Class<T> record) {
        return new Rows<>(record);
    }

    /**
     * Returns the components of a record as parameters of a statement: the component {@code filesSafe} is
     * {@code :filesSafe}. Times, enums and lists of texts, enums or numbers are written as {@link #of} reads them; a list
     * needs a cast to the column's type.
     */
    public static Map<String, SqlParameterValue> params(Record record) {
        SqlParameterSource source = new SimplePropertySqlParameterSource(record);
        return Arrays.stream(record.getClass().getRecordComponents())
                .map(RecordComponent::getName)
                .collect(Collectors.toMap(
                        Function.identity(),
                        name -> new SqlParameterValue(source.getSqlType(name), written(source.getValue(name)))));
    }

    private static @Nullable Object written(@Nullable Object value) {
        return switch (value) {
            case Instant moment -> moment.atOffset(ZoneOffset.UTC);
            case Enum<?> word -> word.name();
            case Collection<?> all ->
                all.stream().map(each -> String.valueOf(written(each))).toArray(String[]::new);
            case null, default -> value;
        };
    }

    /** Returns a column's time; null if the column is null. */
    public static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
        return instant(row.getTimestamp(column));
    }

    /**
     * NB: the mapper tries this name first. By default it is the property's own name, and each miss costs an exception
     * per row.
     */
    @Override
    protected String lowerCaseName(@Nullable String name) {
        return underscoreName(name);
    }

    @Override
    protected @Nullable Object getColumnValue(ResultSet row, int index, Class<?> type) throws SQLException {
        if (type == Instant.class) {
            return instant(row.getTimestamp(index));
        }
        if (type == Duration.class) {
            return Duration.ofSeconds(row.getLong(index));
        }
        if (Collection.class.isAssignableFrom(type)) {
            Array array = row.getArray(index);
            return array == null ? null : array.getArray();
        }
        if (type != FilePath.class && type != Path.class && type != Digest.class) {
            return super.getColumnValue(row, index, type);
        }
        byte[] bytes = row.getBytes(index);
        if (bytes == null) {
            return null;
        }
        return type == Digest.class
                ? Digest.of(bytes)
                : type == Path.class ? FilePath.pathOf(bytes) : FilePath.of(bytes);
    }

    private static @Nullable Instant instant(@Nullable Timestamp moment) {
        return moment == null ? null : moment.toInstant();
    }
}
