package dozo.identity;

import static java.util.Map.entry;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import javax.sql.DataSource;

/**
 * Searches every value of the catalogue, except where names of sources belong: there a person at home finds an experiment by
 * them. A table or column that is not named here is searched, also a new one.
 */
public final class CatalogueScan {

    private static final int FETCH = 1_000;

    /** Columns where names belong. No column: the whole table. */
    static final Map<String, Set<String>> HOME = Map.ofEntries(
            // What sources contain: together with the keys, the table of codes.
            entry("directory", Set.of()),
            entry("entry", Set.of()),
            entry("ended_entry", Set.of()),
            entry("entry_link", Set.of()),
            entry("entry_attribute", Set.of()),
            entry("tree_folder", Set.of()),
            // Where sources are, and what people call them.
            entry("project", Set.of("title", "source_roots", "restore_roots")),
            entry("experiment", Set.of("title", "words", "source_root", "list_file")),
            entry("origin", Set.of("spool", "patterns")),
            entry("origin_project", Set.of("theirs")),
            entry("arrival", Set.of("item", "theirs", "title")),
            // What is missing, by name.
            entry("finding", Set.of("path", "message")),
            entry("frozen_experiment", Set.of("message", "signs")),
            entry("frozen_change", Set.of()),
            entry("reconciliation_item", Set.of("name", "id", "message")),
            entry("restore", Set.of("folder", "part", "paths", "patterns", "message")),
            entry("restore_finding", Set.of("path", "message")),
            entry("restore_batch", Set.of("folder")),
            entry("restore_batch_item", Set.of("refused")),
            // Answers to programs, kept for a day.
            entry("kept_answer", Set.of()));

    private final Wanted wanted;
    private final Places places;

    /**
     * A column.
     *
     * @param value an expression of type bytea
     */
    private record Column(String name, String value) {}

    public CatalogueScan(Wanted wanted, Places places) {
        this.wanted = wanted;
        this.places = places;
    }

    /** Searches all of it, in one snapshot. */
    public void run(DataSource catalogue) throws SQLException {
        try (Connection connection = catalogue.getConnection()) {
            connection.setAutoCommit(false);
            connection.setReadOnly(true);
            connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            Map<String, List<Column>> tables = tables(connection);
            long values = 0;
            for (Map.Entry<String, List<Column>> table : tables.entrySet()) {
                values += search(connection, table.getKey(), table.getValue());
            }
            connection.rollback();
            places.searched("database: %,d values in %d tables".formatted(values, tables.size()));
        }
    }

    private static Map<String, List<Column>> tables(Connection connection) throws SQLException {
        Map<String, List<Column>> tables = new LinkedHashMap<>();
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("""
                        select quote_ident(c.relname) as relname, a.attname, quote_ident(a.attname) as name, t.typname
                        from pg_class c join pg_attribute a on a.attrelid = c.oid join pg_type t on t.oid = a.atttypid
                        where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
                          and a.attnum > 0 and not a.attisdropped
                          and t.typname in ('text', 'varchar', 'json', 'jsonb', 'bytea', '_text', '_varchar', '_bytea')
                        order by c.relname, a.attnum
                        """)) {
            while (row.next()) {
                String table = row.getString("relname");
                Set<String> home = HOME.get(table);
                if (home == null || (!home.isEmpty() && !home.contains(row.getString("attname")))) {
                    String name = row.getString("name");
                    tables.computeIfAbsent(table, _ -> new ArrayList<>())
                            .add(new Column(row.getString("attname"), value(name, row.getString("typname"))));
                }
            }
        }
        return tables;
    }

    private static String value(String name, String type) {
        return switch (type) {
            case "bytea" -> name;
            case "_bytea" -> "(select string_agg(one, '\\x00'::bytea) from unnest(%s) as one)".formatted(name);
            default -> "convert_to(%s::text, 'UTF8')".formatted(name);
        };
    }

    private long search(Connection connection, String table, List<Column> columns) throws SQLException {
        long values = 0;
        String all = String.join(", ", columns.stream().map(Column::value).toList());
        try (Statement statement = connection.createStatement()) {
            statement.setFetchSize(FETCH);
            try (ResultSet row = statement.executeQuery("select %s from %s".formatted(all, table))) {
                while (row.next()) {
                    for (int i = 0; i < columns.size(); i++) {
                        byte[] value = row.getBytes(i + 1);
                        if (value != null) {
                            values++;
                            places.add("database: %s.%s".formatted(table, columns.get(i).name), wanted.in(value));
                        }
                    }
                }
            }
        }
        return values;
    }
}
