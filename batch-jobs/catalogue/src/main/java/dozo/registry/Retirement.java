package dozo.registry;

import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * Since when something is over, and who said why.
 *
 * @param unsafe what was not verified when it was retired nevertheless; missing: everything was
 */
public record Retirement(
        Instant at, String by, String reason, @Nullable String unsafe) {

    /** Returns what the columns of an experiment or project say; null: it is not over. */
    static @Nullable Retirement of(ResultSet row) throws SQLException {
        Timestamp at = row.getTimestamp("retired_at");
        return at == null
                ? null
                : new Retirement(
                        at.toInstant(),
                        row.getString("retired_by"),
                        row.getString("retired_reason"),
                        row.getString("retired_unsafe"));
    }
}
