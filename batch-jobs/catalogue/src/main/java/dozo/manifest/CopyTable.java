package dozo.manifest;

import dozo.file.Spool;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.SequenceInputStream;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.postgresql.PGConnection;

/**
 * Collects rows for one table without a connection, and then loads them by one binary COPY. A few MiB stay in memory,
 * the rest goes to a file. Not thread-safe.
 */
final class CopyTable implements AutoCloseable {

    private static final byte[] HEAD = {
        'P', 'G', 'C', 'O', 'P', 'Y', '\n', (byte) 0xFF, '\r', '\n', 0, 0, 0, 0, 0, 0, 0, 0, 0
    };
    private static final byte[] TAIL = {(byte) 0xFF, (byte) 0xFF};
    private static final int FULL_BYTES = 64 << 10;
    private static final int BUFFER_BYTES = 1 << 20;

    private final String copy;
    private final Spool spool;
    private final CopyBytes rows = new CopyBytes(1 << 10);
    private long count;

    /** @param copy the statement: {@code copy TABLE (COLUMNS) from stdin with (format binary)} */
    CopyTable(String copy) {
        this.copy = copy;
        this.spool = new Spool();
    }

    /** Begins the next row; its columns go into the result. */
    CopyBytes row(int columns) throws IOException {
        if (rows.length() >= FULL_BYTES) {
            spill();
        }
        rows.columns(columns);
        count++;
        return rows;
    }

    long count() {
        return count;
    }

    /** Loads all rows. No row may be added afterwards. */
    void load(Connection connection) throws SQLException, IOException {
        load(connection, List.of(this));
    }

    /** Loads all rows of tables with the same statement, in their order. No row may be added afterwards. */
    static void load(Connection connection, List<CopyTable> tables) throws SQLException, IOException {
        List<InputStream> parts = new ArrayList<>();
        for (CopyTable table : tables) {
            if (table.count > 0) {
                table.spill();
                parts.add(table.spool.read());
            }
        }
        if (parts.isEmpty()) {
            return;
        }
        parts.addFirst(new ByteArrayInputStream(HEAD));
        parts.addLast(new ByteArrayInputStream(TAIL));
        try (InputStream all = new SequenceInputStream(Collections.enumeration(parts))) {
            connection.unwrap(PGConnection.class).getCopyAPI().copyIn(tables.getFirst().copy, all, BUFFER_BYTES);
        }
    }

    @Override
    public void close() {
        spool.close();
    }

    private void spill() throws IOException {
        spool.write(rows.bytes(), 0, rows.length());
        rows.clear();
    }
}
