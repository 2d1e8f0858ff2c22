package dozo.db;

import static java.util.Objects.requireNonNull;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.DigestInputStream;
import java.security.DigestOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.zip.Deflater;
import java.util.zip.GZIPInputStream;
import java.util.zip.GZIPOutputStream;
import org.postgresql.PGConnection;

/**
 * The rows of all tables of a schema as files, one for each table: what {@code COPY} writes (the text format of
 * PostgreSQL), compressed with gzip. The tables themselves are not in it: the migrations make them (ADR 0101).
 */
public final class TableDump {

    /** The migrations write it. */
    static final String HISTORY = "flyway_schema_history";

    private static final String END = ".copy.gz";
    private static final int BUFFER_BYTES = 1 << 16;

    /** NB: COPY writes the end of a line within a value as two characters. */
    private static final byte END_OF_ROW = '\n';

    private TableDump() {}

    /**
     * A table.
     *
     * @param columns those that are not computed, as SQL writes them
     * @param sha256 of the file, in hexadecimal
     */
    public record Table(String name, List<String> columns, long rows, String sha256) {}

    /**
     * What was written.
     *
     * @param sequences the last number that each sequence gave; those that gave none are missing
     */
    public record Contents(List<Table> tables, Map<String, Long> sequences) {

        /** Returns the number of rows of all tables. */
        public long rows() {
            return tables.stream().mapToLong(Table::rows).sum();
        }
    }

    /**
     * Writes all tables as they are at one moment. {@link #check} reads the files again.
     *
     * @param connection without a transaction; it may be used by nobody else meanwhile
     * @param folder exists and is empty
     * @throws IOException if a file cannot be written
     */
    public static Contents write(Connection connection, Path folder) throws SQLException, IOException {
        connection.setAutoCommit(false);
        try (Statement statement = connection.createStatement()) {
            statement.execute("set transaction isolation level repeatable read, read only");
            List<Table> tables = new ArrayList<>();
            for (String name : tables(statement)) {
                tables.add(write(connection, name, columns(connection, name), folder));
            }
            // NB: sequences know no snapshot. Read after the rows, they are never behind them.
            return new Contents(tables, sequences(statement));
        } finally {
            connection.rollback();
            connection.setAutoCommit(true);
        }
    }

    private static Table write(Connection connection, String name, List<String> columns, Path folder)
            throws SQLException, IOException {
        MessageDigest digest = sha256();
        try (FileChannel channel =
                FileChannel.open(file(folder, name), StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
            GZIPOutputStream compressed = new Fast(new DigestOutputStream(
                    new BufferedOutputStream(Channels.newOutputStream(channel), BUFFER_BYTES), digest));
            long rows = connection
                    .unwrap(PGConnection.class)
                    .getCopyAPI()
                    .copyOut(
                            "copy (select %s from %s) to stdout".formatted(String.join(", ", columns), name),
                            compressed);
            compressed.finish();
            compressed.flush();
            channel.force(true);
            return new Table(name, columns, rows, HexFormat.of().formatHex(digest.digest()));
        }
    }

    /**
     * Reads the files.
     *
     * @throws IOException for the first one that is missing or not what was written
     */
    public static void check(Path folder, Contents contents) throws IOException {
        for (Table table : contents.tables) {
            Counted read = read(file(folder, table.name));
            if (read.rows != table.rows || !read.sha256.equals(table.sha256)) {
                throw new IOException("%s is not what was written: expected %,d rows and SHA-256 %s, found %,d and %s"
                        .formatted(file(folder, table.name), table.rows, table.sha256, read.rows, read.sha256));
            }
        }
    }

    /**
     * Replaces the rows of all tables, in the transaction of this connection.
     *
     * @param connection of the owner of the tables, in a transaction. The tables are those that the migrations made up to the version
     *     that wrote the files
     * @throws SQLException if the tables are not these, for example; the transaction must be rolled back then
     */
    public static void load(Connection connection, Path folder, Contents contents) throws SQLException, IOException {
        Map<String, Table> given = contents.tables.stream().collect(Collectors.toMap(Table::name, table -> table));
        try (Statement statement = connection.createStatement()) {
            List<String> order = tables(statement);
            if (!given.keySet().equals(Set.copyOf(order))) {
                throw new SQLException(
                        "the tables are %s, and those of the backup %s".formatted(order, given.keySet()));
            }
            for (Table table : contents.tables) {
                // They become a part of a statement of the owner.
                if (!table.columns.equals(columns(connection, table.name))) {
                    throw new SQLException("the columns of table %s are not those of the backup".formatted(table.name));
                }
            }
            for (String name : order) {
                // What rows cause when they are appended, the other tables have already. Evidence cannot be emptied
                // otherwise.
                statement.execute("alter table %s disable trigger user".formatted(name));
            }
            statement.execute("truncate " + String.join(", ", order));
            for (String name : order) {
                load(connection, file(folder, name), requireNonNull(given.get(name)));
            }
            for (String name : order) {
                statement.execute("alter table %s enable trigger user".formatted(name));
            }
            try (PreparedStatement set = connection.prepareStatement("select setval(?::regclass, ?)")) {
                for (Map.Entry<String, Long> sequence : contents.sequences.entrySet()) {
                    set.setString(1, sequence.getKey());
                    set.setLong(2, sequence.getValue());
                    set.execute();
                }
            }
        }
    }

    private static void load(Connection connection, Path file, Table table) throws SQLException, IOException {
        try (InputStream rows = new GZIPInputStream(Files.newInputStream(file), BUFFER_BYTES)) {
            long loaded = connection
                    .unwrap(PGConnection.class)
                    .getCopyAPI()
                    .copyIn(
                            "copy %s (%s) from stdin".formatted(table.name, String.join(", ", table.columns)),
                            rows,
                            BUFFER_BYTES);
            if (loaded != table.rows) {
                throw new SQLException("%,d rows of %s were loaded of %,d".formatted(loaded, table.name, table.rows));
            }
        }
    }

    private static Path file(Path folder, String table) {
        return folder.resolve(table + END);
    }

    private record Counted(long rows, String sha256) {}

    private static Counted read(Path file) throws IOException {
        MessageDigest digest = sha256();
        long rows = 0;
        try (InputStream bytes = new DigestInputStream(
                        new BufferedInputStream(Files.newInputStream(file), BUFFER_BYTES), digest);
                InputStream text = new GZIPInputStream(bytes, BUFFER_BYTES)) {
            byte[] buffer = new byte[BUFFER_BYTES];
            for (int length = text.read(buffer); length >= 0; length = text.read(buffer)) {
                for (int at = 0; at < length; at++) {
                    rows += buffer[at] == END_OF_ROW ? 1 : 0;
                }
            }
            if (bytes.read() >= 0) {
                throw new IOException(file + " has bytes after its end");
            }
        }
        return new Counted(rows, HexFormat.of().formatHex(digest.digest()));
    }

    private static MessageDigest sha256() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java has SHA-256", e);
        }
    }

    /** Returns the names of the tables, as SQL writes them: each after those that its foreign keys name. */
    private static List<String> tables(Statement statement) throws SQLException {
        Map<String, Set<String>> needs = new LinkedHashMap<>();
        try (ResultSet row = statement.executeQuery("""
                select quote_ident(t.relname) as name,
                       array(select distinct quote_ident(r.relname) from pg_constraint c join pg_class r on r.oid = c.confrelid
                             where c.conrelid = t.oid and c.contype = 'f' and r.oid <> t.oid and not r.relispartition) as needs
                from pg_class t
                where t.relnamespace = current_schema()::regnamespace and t.relkind in ('r', 'p') and not t.relispartition
                  and t.relname <> '%s'
                order by t.relname
                """.formatted(HISTORY))) {
            while (row.next()) {
                needs.put(row.getString("name"), Set.of((String[])
                        row.getArray("needs").getArray()));
            }
        }
        Set<String> ordered = new LinkedHashSet<>();
        while (ordered.size() < needs.size()) {
            int before = ordered.size();
            needs.forEach((name, others) -> {
                if (ordered.containsAll(others)) {
                    ordered.add(name);
                }
            });
            if (ordered.size() == before) {
                throw new IllegalStateException("foreign keys in a circle, beside " + ordered);
            }
        }
        return List.copyOf(ordered);
    }

    private static List<String> columns(Connection connection, String table) throws SQLException {
        List<String> columns = new ArrayList<>();
        try (PreparedStatement query = connection.prepareStatement("""
                select quote_ident(attname) from pg_attribute
                where attrelid = ?::regclass and attnum > 0 and not attisdropped and attgenerated = '' order by attnum
                """)) {
            query.setString(1, table);
            try (ResultSet row = query.executeQuery()) {
                while (row.next()) {
                    columns.add(row.getString(1));
                }
            }
        }
        return columns;
    }

    private static Map<String, Long> sequences(Statement statement) throws SQLException {
        Map<String, Long> sequences = new LinkedHashMap<>();
        try (ResultSet row = statement.executeQuery("""
                select quote_ident(sequencename) as name, last_value from pg_sequences
                where schemaname = current_schema() and last_value is not null order by 1
                """)) {
            while (row.next()) {
                sequences.put(row.getString("name"), row.getLong("last_value"));
            }
        }
        return sequences;
    }

    /** Most of the rows are digests, which no effort makes smaller. */
    private static final class Fast extends GZIPOutputStream {
        Fast(OutputStream out) throws IOException {
            super(out, BUFFER_BYTES);
            def.setLevel(Deflater.BEST_SPEED);
        }
    }
}
