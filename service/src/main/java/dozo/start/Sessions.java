package dozo.start;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;

/**
 * Sessions of the database. Locks, terms and settings belong to them, so a connection needs one of its own for as long
 * as it is open (ADR 0081).
 */
public final class Sessions {

    private Sessions() {}

    /**
     * Returns whether a pooler gives one session to several connections. With sessions of their own, two connections
     * that are open at the same time never have the same server process.
     */
    public static boolean areShared(DataSource login) throws SQLException {
        try (Connection one = login.getConnection();
                Connection other = login.getConnection()) {
            int first = process(one);
            return process(other) == first || process(one) != first;
        }
    }

    private static int process(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select pg_backend_pid()")) {
            row.next();
            return row.getInt(1);
        }
    }
}
