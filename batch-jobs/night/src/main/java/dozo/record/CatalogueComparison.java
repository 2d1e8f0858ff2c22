package dozo.record;

import dozo.record.CatalogueTables.Table;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.jdbc.core.simple.JdbcClient;
import tools.jackson.core.type.TypeReference;
import tools.jackson.databind.json.JsonMapper;

/**
 * Compares this catalogue with one that was rebuilt from its records at a site, row by row: both sides come in the order of the key, and
 * only one row of each is in memory. A difference names table, key and column, never a value.
 *
 * <p>A row is explained if it is newer than the record, by the number of the transaction that wrote it, whatever the clocks say; or if
 * the rebuild itself has written it. The ledger is only appended to: there, being newer explains only what is missing.
 */
public final class CatalogueComparison {

    /** More differences are only counted. */
    public static final int TOLD_MAX = 100;

    private static final String LEDGER = "ledger";
    private static final int KEY_CHARACTERS_MAX = 120;
    private static final int FETCH = 2_000;

    /** What loading ends, because no process goes on with it or nothing is proven, and in which columns. */
    private static final Map<String, Set<String>> ENDED_BY_LOADING = Map.of(
            "run", Set.of("state", "ended_at", "message", "paused_by", "paused_at"),
            "restore", Set.of("state", "ended_at", "message"),
            "reconciliation", Set.of("state", "ended_at"),
            "coverage", Set.of("until"));

    private final DataSource living;
    private final DataSource rebuilt;
    private final int siteId;
    private final Written written;
    private final List<String> told = new ArrayList<>();
    private long rows;
    private long explained;
    private long digests;
    private long differences;

    /**
     * The last base record that this catalogue has written to a site.
     *
     * @param since transactions from this one on are not in it
     * @param counts the rows of tables that are written whole
     */
    public record Written(Instant at, String since, Map<String, Long> counts) {}

    /**
     * The result.
     *
     * @param rows of tables, on both sides together
     * @param explained rows among them that differ for a good reason
     * @param digests of copies that the site should have
     * @param told the first differences
     */
    public record Compared(long rows, long explained, long digests, long differences, List<String> told) {}

    /** @param own SQL: whether the row differs, or is alone, for a good reason */
    private record Side(Connection connection, String own) {}

    /** A row; {@code excused}: newer than the record, or of the rebuilt catalogue: written by the rebuild itself. */
    private static final class Row {
        private final byte[] key;
        private final boolean excused;
        private final List<@Nullable String> values;

        Row(ResultSet row) throws SQLException {
            key = row.getBytes(1);
            excused = row.getBoolean(2);
            values = Arrays.asList((@Nullable String[]) row.getArray(3).getArray());
        }
    }

    /**
     * Compares nothing yet.
     *
     * @param rebuilt with the schema's owner as user
     * @param written the record that was loaded
     */
    public CatalogueComparison(DataSource living, DataSource rebuilt, int siteId, Written written) {
        this.living = living;
        this.rebuilt = rebuilt;
        this.siteId = siteId;
        this.written = written;
    }

    /** Returns the last base record at a site; empty if this database has written none there. */
    public static Optional<Written> written(JdbcClient living, int siteId) {
        return living.sql("""
                        select written_at, since::text as since, counts::text as counts from catalogue_base
                        where site_id = :site and database = (
                            select system_identifier || '/' || (select oid from pg_database where datname = current_database())
                            from pg_control_system())
                        """)
                .param("site", siteId)
                .query((row, n) -> new Written(
                        row.getTimestamp("written_at").toInstant(),
                        row.getString("since"),
                        JsonMapper.shared()
                                .readValue(row.getString("counts"), new TypeReference<Map<String, Long>>() {})))
                .optional();
    }

    /** Returns when the base record was written that a rebuilt catalogue was loaded from; empty: it was loaded from none. */
    public static Optional<Instant> loadedFrom(JdbcClient rebuilt) {
        return rebuilt.sql("select detail->>'written' from ledger where action = 'catalogue.loaded'")
                .query((row, n) -> Instant.parse(row.getString(1)))
                .optional();
    }

    /** Compares all tables of base records, the manifests, and the digests of the copies at the site. */
    public Compared compare() throws SQLException {
        try (Connection here = opened(living);
                Connection there = opened(rebuilt)) {
            String loading = text(there, "select xmin::text from ledger where action = 'catalogue.loaded'");
            Side old = new Side(here, "age(xmin) between 0 and age('%s'::xid8::xid)".formatted(written.since));
            Side young = new Side(there, "age(xmin) <= age('%s'::xid)".formatted(loading));
            List<Table> all = CatalogueTables.all(JdbcClient.create(living));
            for (Table table : all) {
                if (CatalogueTables.isInBase(table.name())) {
                    compare(table, old, young);
                } else if (table.name().equals("manifest")) {
                    compare(table, new Side(here, notRecorded()), young);
                }
            }
            digests(here, there);
        }
        return new Compared(rows, explained, digests, differences, List.copyOf(told));
    }

    private static Connection opened(DataSource source) throws SQLException {
        Connection connection = source.getConnection();
        // A cursor needs a transaction.
        connection.setAutoCommit(false);
        text(connection, "select set_config('TimeZone', 'UTC', true)");
        return connection;
    }

    private static String text(Connection connection, String query) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(query);
                ResultSet row = statement.executeQuery()) {
            if (!row.next()) {
                throw new SQLException("no row: " + query);
            }
            return String.valueOf(row.getString(1));
        }
    }

    private String notRecorded() {
        return """
                not exists (select from catalogue_segment s where s.site_id = %d and s.experiment_id = t.experiment_id
                                                             and s.manifest_no >= t.manifest_no)
                """.formatted(siteId);
    }

    private void compare(Table table, Side old, Side young) throws SQLException {
        List<Row> gone = new ArrayList<>();
        long[] loaded = new long[2];
        try (Rows here = new Rows(table, old);
                Rows there = new Rows(table, young)) {
            Row ours = here.next();
            Row theirs = there.next();
            for (; ours != null || theirs != null; rows++) {
                int order = ours == null ? 1 : theirs == null ? -1 : Arrays.compareUnsigned(ours.key, theirs.key);
                if (theirs != null && order >= 0) {
                    loaded[theirs.excused ? 1 : 0]++;
                }
                if (ours != null && theirs != null && order == 0) {
                    both(table, ours, theirs);
                } else if (ours != null && order < 0) {
                    alone(ours.excused, "it is not in the records", table, ours);
                } else if (theirs != null && !theirs.excused && !isDeletedInTime(table)) {
                    gone.add(theirs);
                } else {
                    explained++;
                }
                ours = order <= 0 ? here.next() : ours;
                theirs = order >= 0 ? there.next() : theirs;
            }
        }
        // The number of rows in the record says whether they were deleted here since.
        Long recorded = written.counts.get(table.name());
        boolean isAll = recorded != null && loaded[0] <= recorded && recorded <= loaded[0] + loaded[1];
        gone.forEach(row -> alone(isAll, "it is only in the records", table, row));
    }

    /** Records keep what is deleted here by the retention or an erasure; of the ledger nothing is. */
    private static boolean isDeletedInTime(Table table) {
        return table.grows() && !table.name().equals(LEDGER);
    }

    private void alone(boolean excused, String what, Table table, Row row) {
        if (excused) {
            explained++;
        } else {
            differs(what, table, row);
        }
    }

    private void both(Table table, Row ours, Row theirs) {
        if (ours.values.equals(theirs.values)) {
            return;
        }
        boolean isLedger = table.name().equals(LEDGER);
        boolean excused = isLedger ? ours.excused && theirs.excused : ours.excused || theirs.excused;
        List<String> columns = IntStream.range(0, ours.values.size())
                .filter(i -> !Objects.equals(ours.values.get(i), theirs.values.get(i)))
                .mapToObj(table.columns()::get)
                .toList();
        alone(
                excused || isEndedByLoading(table, ours, columns),
                "other in the records: " + String.join(", ", columns),
                table,
                ours);
    }

    private static boolean isEndedByLoading(Table table, Row ours, List<String> columns) {
        Set<String> ended = ENDED_BY_LOADING.getOrDefault(table.name(), Set.of());
        int end = table.columns().indexOf(ended.contains("until") ? "until" : "ended_at");
        return ended.containsAll(columns) && (ours.values.get(end) == null || "infinity".equals(ours.values.get(end)));
    }

    private void differs(String what, Table table, Row row) {
        String key = new String(row.key, StandardCharsets.UTF_8);
        tell("%s %s: %s".formatted(table.name(), key.substring(0, Math.min(key.length(), KEY_CHARACTERS_MAX)), what));
    }

    private void tell(String difference) {
        differences++;
        if (told.size() < TOLD_MAX) {
            told.add(difference);
        }
    }

    private static final class Rows implements AutoCloseable {
        private final PreparedStatement statement;
        private final ResultSet rows;

        Rows(Table table, Side side) throws SQLException {
            statement = side.connection.prepareStatement("""
                    select convert_to(row(%s)::text, 'UTF8') as key, %s as excused, array[%s] as values from %s t order by 1
                    """.formatted(
                    table.keyed(),
                    side.own,
                    table.columns().stream().map(column -> column + "::text").collect(Collectors.joining(", ")),
                    table.name()));
            statement.setFetchSize(FETCH);
            rows = statement.executeQuery();
        }

        @Nullable
        Row next() throws SQLException {
            return rows.next() ? new Row(rows) : null;
        }

        @Override
        public void close() throws SQLException {
            statement.close();
        }
    }

    /** What the records say of copies at the site: the rebuilt catalogue must know each, with the same digest. */
    private void digests(Connection here, Connection there) throws SQLException {
        try (PreparedStatement experiments = here.prepareStatement("""
                        select s.experiment_id, s.receipt_id, p.code || '/' || e.code
                        from catalogue_segment s join experiment e using (experiment_id) join project p using (project_id)
                        where s.site_id = ? order by 1
                        """)) {
            experiments.setInt(1, siteId);
            experiments.setFetchSize(FETCH);
            try (ResultSet each = experiments.executeQuery()) {
                while (each.next()) {
                    digests(here, there, each.getInt(1), each.getLong(2), each.getString(3));
                }
            }
        }
    }

    private void digests(Connection here, Connection there, int experiment, long receipt, String name)
            throws SQLException {
        long absent = 0;
        long other = 0;
        try (PreparedStatement recorded = copies(here, experiment, receipt);
                PreparedStatement found = copies(there, experiment, Long.MAX_VALUE);
                ResultSet ours = recorded.executeQuery();
                ResultSet theirs = found.executeQuery()) {
            boolean any = theirs.next();
            while (ours.next()) {
                digests++;
                while (any && theirs.getInt(1) < ours.getInt(1)) {
                    any = theirs.next();
                }
                if (!any || theirs.getInt(1) > ours.getInt(1)) {
                    absent++;
                } else if (!Arrays.equals(theirs.getBytes(2), ours.getBytes(2))) {
                    other++;
                }
            }
        }
        if (absent + other > 0) {
            tell("%s: of its copies, the rebuilt catalogue lacks %,d and has %,d with another digest"
                    .formatted(name, absent, other));
        }
    }

    private PreparedStatement copies(Connection from, int experiment, long receipt) throws SQLException {
        PreparedStatement copies = from.prepareStatement("""
                select distinct on (entry_no) entry_no, digest from claimed_entry
                where experiment_id = ? and site_id = ? and receipt_id <= ? order by entry_no, receipt_id desc
                """);
        copies.setInt(1, experiment);
        copies.setInt(2, siteId);
        copies.setLong(3, receipt);
        copies.setFetchSize(FETCH);
        return copies;
    }
}
