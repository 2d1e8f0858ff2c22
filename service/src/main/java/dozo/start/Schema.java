package dozo.start;

import dozo.start.DatabaseServer.Unfit;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.MigrationInfo;
import org.flywaydb.core.api.MigrationState;
import org.flywaydb.core.api.MigrationVersion;
import org.flywaydb.core.internal.exception.FlywaySqlException;
import org.jspecify.annotations.Nullable;
import org.springframework.core.NestedExceptionUtils;

/** The schema of the database. Only the active service migrates it; a service that stands by needs the same one. */
public final class Schema {

    /** SQLSTATE: the role lacks a right. */
    private static final String INSUFFICIENT_PRIVILEGE = "42501";

    private final DataSource database;
    private final Flyway flyway;
    private final @Nullable Owner owner;

    /**
     * Who owns the tables, if the service does not.
     *
     * @param admitted the role of the service, which gets the rights that it needs at run time
     */
    record Owner(DataSource login, String admitted) {}

    /** How the schema of a database compares with that of this program. */
    public enum Standing {
        /** There is none: the first start creates it. */
        NONE,
        CURRENT,
        /** The next start upgrades it. */
        OLDER,
        /** It is of another version, and this program refuses it. */
        OTHER,
        /** The user may not read it. */
        UNREADABLE
    }

    public Schema(DataSource database) {
        this(database, null);
    }

    /** @param owner null: the login of the database owns the tables */
    Schema(DataSource database, @Nullable Owner owner) {
        this.database = database;
        this.flyway = Flyway.configure().dataSource(database).load();
        this.owner = owner;
    }

    /**
     * Creates or upgrades the schema as the owner of its tables, and admits the service's role (ADR 0098).
     *
     * @throws StartFailure if it is one that this program cannot upgrade, the server is none for Dozo, or the owner may not; nothing is
     *     changed then
     */
    void migrate() throws SQLException {
        DatabaseServer server = server();
        refuse(server.unfit());
        Flyway migrating = owner == null
                ? flyway
                : Flyway.configure().dataSource(owner.login).load();
        try {
            List<MigrationInfo> all = List.of(migrating.info().all());
            Standing standing = standing(all);
            if (standing == Standing.OTHER) {
                throw refused(all);
            }
            if (standing != Standing.CURRENT) {
                refuse(server.unfitForTables(owner == null ? "user" : "owner"));
            }
            var _ = migrating.migrate();
            if (owner != null) {
                admit(owner);
            }
        } catch (FlywayException | SQLException e) {
            if (NestedExceptionUtils.getMostSpecificCause(e) instanceof SQLException refused
                    && INSUFFICIENT_PRIVILEGE.equals(refused.getSQLState())) {
                throw new StartFailure(
                        StartFailure.CONFIGURATION,
                        "%s may not create or upgrade the schema: %s. Set DOZO_DB_OWNER_USER to the owner of the tables"
                                .formatted(
                                        owner == null ? "DOZO_DB_USER" : "DOZO_DB_OWNER_USER",
                                        String.valueOf(refused.getMessage()).replaceAll("\\s+", " ")),
                        e);
            }
            throw e;
        }
    }

    private DatabaseServer server() throws SQLException {
        try (Connection connection = (owner == null ? database : owner.login).getConnection()) {
            return DatabaseServer.of(connection);
        }
    }

    private static void refuse(List<Unfit> unfit) {
        if (!unfit.isEmpty()) {
            Unfit first = unfit.getFirst();
            throw new StartFailure(
                    first.passing() ? StartFailure.UNAVAILABLE : StartFailure.CONFIGURATION,
                    "the database cannot be used: %s. %s".formatted(first.message(), first.cure()));
        }
    }

    /**
     * Creates the tables of a version in a database that has none, or has just these.
     *
     * @throws StartFailure if this program does not have that version, or the database has other tables of Dozo
     */
    public static void create(DataSource owner, String version) {
        Flyway flyway = Flyway.configure()
                .dataSource(owner)
                .target(MigrationVersion.fromVersion(version))
                .load();
        List<MigrationInfo> all = List.of(flyway.info().all());
        if (all.stream()
                .noneMatch(each -> MigrationVersion.fromVersion(version).equals(each.getVersion())
                        && each.getState().isResolved())) {
            throw new StartFailure(
                    StartFailure.UNAVAILABLE,
                    "the backup has schema %s, which this program does not have: install the version that made it, or a later one"
                            .formatted(version));
        }
        if (all.stream()
                .anyMatch(each -> each.getInstalledOn() != null
                        && (each.getVersion() == null
                                || each.getVersion().compareTo(MigrationVersion.fromVersion(version)) > 0))) {
            throw refused(all);
        }
        var _ = flyway.migrate();
    }

    private static void admit(Owner owner) throws SQLException {
        try (Connection connection = owner.login.getConnection();
                PreparedStatement admit = connection.prepareStatement("call admit_service(?)")) {
            admit.setString(1, owner.admitted);
            admit.execute();
        }
    }

    /** Returns the refusal of a schema that this program does not have. */
    StartFailure refused() {
        return refused(List.of(flyway.info().all()));
    }

    private static StartFailure refused(List<MigrationInfo> all) {
        String there = latest(all.stream().filter(each -> each.getInstalledOn() != null));
        String here = latest(all.stream().filter(each -> each.getState().isResolved()));
        return new StartFailure(
                StartFailure.UNAVAILABLE,
                there.compareTo(here) > 0
                        ? "a later version of Dozo has upgraded the database: it has schema %s, this program has %s. Nothing was changed; install the later version here too"
                                .formatted(there, here)
                        : "the database has schema %s of another version of Dozo, which this program, with schema %s, cannot upgrade. Nothing was changed; install the version that used it last"
                                .formatted(there, here));
    }

    private static String latest(Stream<MigrationInfo> migrations) {
        return migrations
                .map(MigrationInfo::getVersion)
                .filter(Objects::nonNull)
                .max(Comparator.naturalOrder())
                .map(MigrationVersion::toString)
                .orElse("none");
    }

    /** Returns whether the database has exactly the migrations of this program. */
    boolean isCurrent() {
        return Arrays.stream(flyway.info().all()).allMatch(each -> each.getState() == MigrationState.SUCCESS);
    }

    /** Compares the database's schema with that of this program. */
    public Standing standing() {
        try {
            return standing(List.of(flyway.info().all()));
        } catch (FlywaySqlException refused) {
            return Standing.UNREADABLE;
        }
    }

    private static Standing standing(List<MigrationInfo> all) {
        Set<MigrationState> states = all.stream().map(MigrationInfo::getState).collect(Collectors.toSet());
        if (states.equals(Set.of(MigrationState.PENDING))) {
            return Standing.NONE;
        }
        boolean known = Set.of(MigrationState.SUCCESS, MigrationState.PENDING).containsAll(states)
                && all.stream().allMatch(MigrationInfo::isChecksumMatching);
        if (!known) {
            return Standing.OTHER;
        }
        return states.contains(MigrationState.PENDING) ? Standing.OLDER : Standing.CURRENT;
    }

    /** Returns the version of the database's schema; null if it has none. */
    public static @Nullable String version(Connection connection) throws SQLException {
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
