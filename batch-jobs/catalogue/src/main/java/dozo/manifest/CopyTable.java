package dozo.manifest;

import java.sql.Connection;
import java.sql.SQLException;
import org.postgresql.PGConnection;
import org.postgresql.copy.CopyIn;

/**
 * Rows on their way into one table by binary COPY. They are sent by a statement of their own whenever there are a few MiB of
 * them, so that several tables can be filled side by side over one connection. Not for several threads.
 */
final class CopyTable {

    private static final byte[] HEAD = {
        'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xFF, '\r', '\n', 0, 0, 0, 0, 0, 0, 0, 0, 0
    };
    private static final byte[] TAIL = {(byte) 0xFF, (byte) 0xFF};
    private static final int FULL_BYTES = 2 << 20;

    private final Connection connection;
    private final String copy;
    private final CopyBytes rows = new CopyBytes(1 << 16);

    /**
     * @param copy the statement: {@code copy TABLE (COLUMNS) from stdin with (format binary)}
     */
    CopyTable(Connection connection, String copy) {
        this.connection = connection;
        this.copy = copy;
        rows.append(HEAD, 0, HEAD.length);
    }

    /** Where the next row's columns go. */
    CopyBytes row(int columns) throws SQLException {
        if (rows.length() >= FULL_BYTES) {
            send();
        }
        rows.columns(columns);
        return rows;
    }

    /** Sends what has not been sent. */
    void send() throws SQLException {
        if (rows.length() == HEAD.length) {
            return;
        }
        rows.append(TAIL, 0, TAIL.length);
        CopyIn in = connection.unwrap(PGConnection.class).getCopyAPI().copyIn(copy);
        try {
            in.writeToCopy(rows.bytes(), 0, rows.length());
            in.endCopy();
        } finally {
            if (in.isActive()) {
                in.cancelCopy();
            }
        }
        rows.clear();
        rows.append(HEAD, 0, HEAD.length);
    }
}
