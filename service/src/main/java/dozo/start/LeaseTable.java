package dozo.start;

import dozo.db.ActiveService.Holder;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Optional;

/** The lease's row in the database, and what the database does with the sessions of its terms (ADR 0081). */
final class LeaseTable {

    /** How often earlier sessions are ended; each time the database waits up to 2 s for each of them. */
    private static final int ENDINGS_MAX = 3;

    private LeaseTable() {}

    /** @param valid whether it has not expired */
    record Kept(Holder holder, Instant until, boolean valid) {}

    /** Returns the lease. Empty: there is no schema with it, or its owner has not admitted this service's role to it yet. */
    static Optional<Kept> kept(Connection open) throws SQLException {
        try (Statement statement = open.createStatement();
                ResultSet found =
                        statement.executeQuery("select has_table_privilege(to_regclass('service_lease'), 'update')")) {
            found.next();
            if (!found.getBoolean(1)) {
                return Optional.empty();
            }
            try (ResultSet row = statement.executeQuery("""
                    select term, name, url, began_at, lease_until, lease_until >= now() as valid from service_lease
                    """)) {
                row.next();
                return Optional.of(new Kept(holder(row), instant(row, "lease_until"), row.getBoolean("valid")));
            }
        }
    }

    /** Begins a new term if the lease has expired, or at a start if it has this name. Empty: it is not free. */
    static Optional<Holder> take(Connection open, String name, String url, Duration length, boolean atStart)
            throws SQLException {
        try (PreparedStatement take = prepared(open, """
                update service_lease
                set term = term + 1, name = ?, url = ?, began_at = now(), lease_until = now() + ? * interval '1 ms'
                where lease_until < now() or (? and name = ?)
                returning term, name, url, began_at
                """, name, url, length.toMillis(), atStart, name);
                ResultSet taken = take.executeQuery()) {
            return taken.next() ? Optional.of(holder(taken)) : Optional.empty();
        }
    }

    /** Renews the lease. Returns false if the term has ended. */
    static boolean renew(Connection open, int term, Duration length) throws SQLException {
        String sql = "update service_lease set lease_until = now() + ? * interval '1 ms' where term = ?";
        return update(open, sql, length.toMillis(), term) > 0;
    }

    /** Records the length that workers use. */
    static void setLength(Connection open, int term, Duration length) throws SQLException {
        update(open, "update service_lease set lease_millis = ? where term = ?", length.toMillis(), term);
    }

    /** Gives the lease back. */
    static void release(Connection open, int term) throws SQLException {
        update(open, "update service_lease set lease_until = now() where term = ?", term);
    }

    /** Makes a new session one of a term. The database refuses it if the term has ended. */
    static void enter(Connection session, int term) throws SQLException {
        try (PreparedStatement enter = prepared(session, "select enter_term(?)", (long) term)) {
            enter.execute();
        }
    }

    /** Ends the sessions of earlier terms, with their transactions. */
    static void endEarlier(Connection open, int term) throws SQLException {
        for (int i = 1; i <= ENDINGS_MAX; i++) {
            try (PreparedStatement end = prepared(open, "select end_terms_before(?)", (long) term);
                    ResultSet ended = end.executeQuery()) {
                ended.next();
                if (ended.getLong(1) == 0) {
                    return;
                }
            }
        }
        throw new SQLException("sessions of the former active service do not end");
    }

    /** Executes a statement on the connection of a lease, and returns how many rows it has changed. */
    static int update(Connection open, String sql, Object... values) throws SQLException {
        try (PreparedStatement update = prepared(open, sql, values)) {
            return update.executeUpdate();
        }
    }

    static PreparedStatement prepared(Connection open, String sql, Object... values) throws SQLException {
        PreparedStatement statement = open.prepareStatement(sql);
        for (int i = 0; i < values.length; i++) {
            statement.setObject(i + 1, values[i]);
        }
        return statement;
    }

    private static Holder holder(ResultSet row) throws SQLException {
        return new Holder(row.getString("name"), row.getString("url"), instant(row, "began_at"), row.getInt("term"));
    }

    private static Instant instant(ResultSet row, String column) throws SQLException {
        return row.getObject(column, OffsetDateTime.class).toInstant();
    }
}
