package dozo.start;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.MigrationState;
import org.jspecify.annotations.Nullable;

/** The schema of the database. Only the active service migrates it; a service that stands by needs the same one. */
final class Schema {

    private final Flyway flyway;

    Schema(DataSource database) {
        flyway = Flyway.configure().dataSource(database).load();
    }

    /** Creates or upgrades the schema. */
    void migrate() {
        var _ = flyway.migrate();
    }

    /** Returns whether the database has exactly the migrations of this program. */
    boolean isCurrent() {
        return Arrays.stream(flyway.info().all()).allMatch(each -> each.getState() == MigrationState.SUCCESS);
    }

    /** Returns the version of the database's schema; null if it has none. */
    static @Nullable String version(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet found = statement.executeQuery("select to_regclass('flyway_schema_history') is not null")) {
            found.next();
            if (!found.getBoolean(1)) {
                return null;
            }
            try (ResultSet version =
                    statement.executeQuery("select max(version) from flyway_schema_history where success")) {
                version.next();
                return version.getString(1);
            }
        }
    }
}
