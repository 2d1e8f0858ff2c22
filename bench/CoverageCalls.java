import dozo.audit.AuditReports;
import dozo.audit.FileEvidence;
import dozo.db.EmbeddedDatabase;
import dozo.file.FilePath;
import dozo.ledger.Audit;
import dozo.ledger.Coverage;
import dozo.ledger.Dimension;
import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import dozo.record.Forgetting;
import dozo.run.RetentionSettings;
import dozo.verify.Proofs;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.lang.management.ManagementFactory;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.Supplier;
import javax.sql.DataSource;
import org.postgresql.PGConnection;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Measures coverage and audit queries on a large catalogue, with the classes that answer them: generated experiments in
 * the real tables of their own database, each query so many times with varying parameters, its plan once.
 *
 * <pre>java -cp LIBRARIES CoverageCalls.java FOLDER EXPERIMENTS ENTRIES CALLS [audit]</pre>
 *
 * The database is created in FOLDER, the plans are written to FOLDER/plans.txt. Prints a line of JSON for each query. With
 * {@code audit} the questions are those of audit reports, and the last two lines are about the export of all evidence and the
 * erasure of the largest experiment.
 */
final class CoverageCalls {

    private static final Instant BEGIN = MadeCatalogue.BEGIN;
    private static final int DAYS = MadeCatalogue.DAYS;
    private static final int WARM_UP = 20;
    private static final int PAGE = 500;
    private static final int GIANT = 1;

    private final DataSource database;
    private final MadeCatalogue catalogue;
    private final int calls;
    private final Names names;
    private final Random random = new Random(4711);
    private boolean audit;

    /** Returns a file's path by its number from 1, in an experiment of so many files. */
    interface Names {
        FilePath path(long files, long number);
    }

    CoverageCalls(DataSource database, MadeCatalogue catalogue, int calls, Names names) {
        this.database = database;
        this.catalogue = catalogue;
        this.calls = calls;
        this.names = names;
    }

    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]);
        try (EmbeddedDatabase server = EmbeddedDatabase.start(folder.resolve("postgres"));
                PrintWriter plans = new PrintWriter(folder.resolve("plans.txt").toFile())) {
            MadeCatalogue catalogue = new MadeCatalogue(Integer.parseInt(arguments[1]), Long.parseLong(arguments[2]));
            CoverageCalls measured =
                    new CoverageCalls(MadeCatalogue.migrated(server), catalogue, Integer.parseInt(arguments[3]), (_, number) ->
                            FilePath.of("folder%d/scan%d.dcm".formatted((number - 1) / 100 + 1, number)));
            measured.audit = arguments.length > 4 && arguments[4].equals("audit");
            measured.measure(plans);
            if (measured.audit) {
                measured.export();
                measured.erase();
            }
        }
    }

    private void measure(PrintWriter plans) throws SQLException {
        long started = System.nanoTime();
        try (Connection connection = database.getConnection()) {
            catalogue.fill(connection);
            if (audit) {
                catalogue.audit(connection);
            }
            System.out.printf(
                    "{\"made\": %.1f, \"experiments\": %d, \"entries\": %d, \"receipts\": %d, \"readings\": %d, \"periods\": %d,"
                            + " \"findings\": %d, \"ledger\": %d}%n",
                    (System.nanoTime() - started) / 1e9,
                    count(connection, "experiment"),
                    count(connection, "entry"),
                    count(connection, "receipt"),
                    count(connection, "reading"),
                    count(connection, "coverage"),
                    count(connection, "finding"),
                    count(connection, "ledger"));
            System.out.flush();
        }
        ask(plans);
    }

    /** Makes each query so many times, on an existing catalogue. */
    void ask(PrintWriter plans) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("set plan_cache_mode = force_custom_plan"); // as the service does
            Map<String, Supplier<List<?>>> timed = queries(new SingleConnectionDataSource(connection, true));
            Explained explained = new Explained(connection);
            Map<String, Supplier<List<?>>> shown = queries(new SingleConnectionDataSource(explained.connection(), true));
            for (var query : timed.entrySet()) {
                Times times = times(query.getValue(), explained.server());
                explained.plans.clear();
                int rows = shown.get(query.getKey()).get().size();
                String plan = String.join("\n", explained.plans);
                plans.printf("== %s%n%s%n%n", query.getKey(), plan);
                report(query.getKey(), times, rows, plan);
            }
        }
    }

    /** For every call, in nanoseconds and ascending order: its duration, and its CPU time. */
    private record Times(long[] whole, long[] busy) {}

    /**
     * CPU time is this process's and the database server process's, as the kernel counts it. If others use the machine
     * at the same time, CPU time shows the cost of the calls, and the duration shows the load of the machine.
     */
    private Times times(Supplier<List<?>> query, long server) {
        for (int i = 0; i < Math.min(WARM_UP, calls); i++) {
            query.get();
        }
        long[] whole = new long[calls];
        long[] busy = new long[calls];
        for (int i = 0; i < calls; i++) {
            long busyBefore = busyNanos(server);
            long began = System.nanoTime();
            query.get();
            whole[i] = System.nanoTime() - began;
            busy[i] = busyNanos(server) - busyBefore;
        }
        Arrays.sort(whole);
        Arrays.sort(busy);
        return new Times(whole, busy);
    }

    private static long busyNanos(long server) {
        try {
            String counted = Files.readString(Path.of("/proc", String.valueOf(server), "schedstat"));
            return Long.parseLong(counted.substring(0, counted.indexOf(' ')))
                    + ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static void report(String name, Times times, int rows, String plan) {
        boolean scans = plan.contains("Seq Scan on entry") || plan.contains("Seq Scan on receipt");
        System.out.printf(
                "{\"query\": \"%s\", \"p50\": %.2f, \"p99\": %.2f, \"max\": %.2f, \"busy_p50\": %.2f, \"busy_p99\": %.2f,"
                        + " \"rows\": %d, \"scans\": %b}%n",
                name,
                at(times.whole(), 0.5),
                at(times.whole(), 0.99),
                at(times.whole(), 1),
                at(times.busy(), 0.5),
                at(times.busy(), 0.99),
                rows,
                scans);
        System.out.flush();
    }

    private static double at(long[] sorted, double share) {
        return sorted[(int) Math.ceil(share * sorted.length) - 1] / 1e6;
    }

    private static AuditReports reports(JdbcClient jdbc) {
        InstantSource clock = InstantSource.system();
        return new AuditReports(
                jdbc, new Coverage(jdbc), new Ledger(jdbc, clock), new RetentionSettings(Duration.ofDays(400)), clock);
    }

    private Map<String, Supplier<List<?>>> auditQueries(JdbcClient jdbc) {
        AuditReports reports = reports(jdbc);
        Map<String, Supplier<List<?>>> all = new LinkedHashMap<>();
        all.put("report on a project, now", () -> List.of(reports.of(Sight.EVERYTHING, project(), null)));
        all.put("report on a project, as of a day", () -> List.of(reports.of(Sight.EVERYTHING, project(), day())));
        all.put("report on all 200 projects, now", () -> List.of(reports.of(Sight.EVERYTHING, null, null)));
        all.put("report on all 200 projects, as of a day", () -> List.of(reports.of(Sight.EVERYTHING, null, day())));
        return all;
    }

    private String project() {
        return "P%03d".formatted(1 + random.nextInt(200));
    }

    /**
     * Reads the evidence of every file through a cursor, as the export does, and writes each line as CSV to nowhere. By one
     * connection: the service takes its own from a pool, and a login for each experiment would take half of the time.
     */
    private void export() throws IOException, SQLException {
        long[] lines = new long[1];
        long began = System.nanoTime();
        long busyBefore;
        long busy;
        try (Writer out = Writer.nullWriter();
                Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("set plan_cache_mode = force_custom_plan"); // as the service does
            long server = connection.unwrap(PGConnection.class).getBackendPID();
            busyBefore = busyNanos(server);
            DataSource one = new SingleConnectionDataSource(connection, true);
            new FileEvidence(JdbcClient.create(one), new DataSourceTransactionManager(one))
                    .each(Sight.EVERYTHING, 1, Instant.now(), line -> {
                        lines[0]++;
                        try {
                            out.write(line.toString());
                        } catch (IOException e) {
                            throw new UncheckedIOException(e);
                        }
                    });
            busy = busyNanos(server) - busyBefore;
        }
        System.out.printf(
                "{\"export_lines\": %d, \"seconds\": %.2f, \"busy_seconds\": %.2f}%n",
                lines[0], (System.nanoTime() - began) / 1e9, busy / 1e9);
        System.out.flush();
    }

    /** Erases the largest experiment in the catalogue, as a night does in one transaction. */
    private void erase() throws SQLException {
        try (Connection connection = database.getConnection()) {
            long server = connection.unwrap(PGConnection.class).getBackendPID();
            long busyBefore = busyNanos(server);
            long began = System.nanoTime();
            DataSource one = new SingleConnectionDataSource(connection, true);
            new TransactionTemplate(new DataSourceTransactionManager(one)).executeWithoutResult(_ -> {
                JdbcClient jdbc = JdbcClient.create(one);
                jdbc.sql("""
                                insert into erasure (project_id, code, experiment_id, registered_at, reason, requested_by, requested_at,
                                                     approved_by, approved_at, not_before, begun_at, manifests, files, bytes, receipts)
                                select project_id, code, experiment_id, registered_at, 'asked for', 'one', now(), 'two', now(), now(),
                                       now(), 0, 0, 0, 0
                                from experiment where experiment_id = :giant
                                """).param("giant", GIANT).update();
                new Forgetting(jdbc).forget(GIANT);
            });
            double seconds = (System.nanoTime() - began) / 1e9;
            double busySeconds = (busyNanos(server) - busyBefore) / 1e9;
            System.out.printf(
                    "{\"erased_entries\": %d, \"entries_left\": %d, \"seconds\": %.2f, \"busy_seconds\": %.2f}%n",
                    catalogue.giant(),
                    count(connection, "entry where experiment_id = " + GIANT),
                    seconds,
                    busySeconds);
            System.out.flush();
        }
    }

    private Map<String, Supplier<List<?>>> queries(DataSource source) {
        JdbcClient jdbc = JdbcClient.create(source);
        if (audit) {
            return auditQueries(jdbc);
        }
        Coverage coverage = new Coverage(jdbc);
        Audit changes = new Audit(jdbc);
        Proofs proofs = new Proofs(jdbc);
        Map<String, Supplier<List<?>>> all = new LinkedHashMap<>();
        all.put("everything, now", () -> List.of(coverage.all(1)));
        all.put("everything, as of a day", () -> List.of(coverage.all(Sight.EVERYTHING, 1, day())));
        for (Dimension by : Dimension.values()) {
            all.put("by %s, now".formatted(by.word()), () -> coverage.groups(Sight.EVERYTHING, by, 1, null, after(by), PAGE));
            all.put("by %s, as of a day".formatted(by.word()), () -> coverage.groups(Sight.EVERYTHING, by, 1, day(), after(by), PAGE));
        }
        all.put("a page of experiments, now", () -> coverage.experiments(Sight.EVERYTHING, 1, random.nextInt(catalogue.experiments()), PAGE));
        all.put("the 50 unprotected longest", () -> coverage.oldestUnprotected(Sight.EVERYTHING, 1, null, 50));
        all.put("begin of the record", () -> List.of(coverage.recordedSince(1)));
        all.put("changes of a day, by project", () -> changes(changes, Dimension.PROJECT, 1));
        all.put("changes of a month, by modality", () -> changes(changes, Dimension.MODALITY, 30));
        all.put("changes of a year, by month", () -> changes(changes, Dimension.MONTH, 365));
        all.put("time to protection in a year, by project", () -> waits(changes, Dimension.PROJECT, 365));
        all.put("time to protection ever, by modality", () -> changes.waits(Sight.EVERYTHING, Dimension.MODALITY, 1, BEGIN, BEGIN.plus(DAYS, ChronoUnit.DAYS)));
        all.put("proof of a file", () -> proofs.of(2 + random.nextInt(catalogue.experiments() - 1), 1, file(catalogue.usual()), 100));
        all.put("proof of a file of the largest", () -> proofs.of(GIANT, 1, file(catalogue.giant()), 100));
        return all;
    }

    /** Groups fit on one page, experiments need many. */
    private String after(Dimension by) {
        return by == Dimension.EXPERIMENT ? "P%03d/S".formatted(1 + random.nextInt(200)) : "";
    }

    private List<?> changes(Audit audit, Dimension by, int days) {
        Instant from = day();
        return audit.changes(Sight.EVERYTHING, by, 1, from, from.plus(days, ChronoUnit.DAYS));
    }

    private List<?> waits(Audit audit, Dimension by, int days) {
        Instant from = day();
        return audit.waits(Sight.EVERYTHING, by, 1, from, from.plus(days, ChronoUnit.DAYS));
    }

    private Instant day() {
        return BEGIN.plus(random.nextInt(DAYS), ChronoUnit.DAYS);
    }

    private FilePath file(long files) {
        return names.path(files, 1 + random.nextLong(files));
    }

    private static long count(Connection connection, String table) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select count(*) from " + table)) {
            row.next();
            return row.getLong(1);
        }
    }

    /** A connection that explains each query before it runs, with the same parameters. */
    private static final class Explained {

        private final Connection real;
        private final List<String> plans = new ArrayList<>();

        Explained(Connection real) {
            this.real = real;
        }

        /** Returns the id of the server process of this connection. */
        long server() throws SQLException {
            return real.unwrap(PGConnection.class).getBackendPID();
        }

        Connection connection() {
            return proxy(Connection.class, (proxy, method, arguments) -> method.getName().equals("prepareStatement")
                    ? statement((String) arguments[0])
                    : call(real, method, arguments));
        }

        private PreparedStatement statement(String sql) throws SQLException {
            PreparedStatement run = real.prepareStatement(sql);
            PreparedStatement explain = real.prepareStatement("explain (analyze, buffers) " + sql);
            return proxy(PreparedStatement.class, (proxy, method, arguments) -> {
                if (method.getName().equals("executeQuery")) {
                    explain(explain);
                } else if (method.getName().startsWith("set") && arguments.length > 1) {
                    call(explain, method, arguments);
                }
                return call(run, method, arguments);
            });
        }

        private void explain(PreparedStatement statement) throws SQLException {
            try (statement;
                    ResultSet lines = statement.executeQuery()) {
                while (lines.next()) {
                    plans.add(lines.getString(1));
                }
            }
        }

        private static <T> T proxy(Class<T> type, InvocationHandler handler) {
            return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
        }

        private static Object call(Object on, java.lang.reflect.Method method, Object[] arguments) throws Throwable {
            try {
                return method.invoke(on, arguments);
            } catch (InvocationTargetException failure) {
                throw failure.getCause();
            }
        }
    }
}
