import com.zaxxer.hikari.HikariDataSource;
import dozo.db.EmbeddedDatabase;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.ledger.Coverage;
import dozo.ledger.Ledger;
import dozo.manifest.Freezes;
import dozo.manifest.Ingest;
import dozo.manifest.IngestSettings;
import dozo.manifest.Known;
import dozo.manifest.Manifests;
import dozo.manifest.SourceLook;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Projects;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntFunction;
import java.util.stream.IntStream;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Measures a whole centre without files for {@code bench/run catalogue --entries N}, on its own embedded PostgreSQL.
 *
 * <pre>java -cp LIBRARIES CatalogueCentre.java FOLDER EXPERIMENTS ENTRIES ROUNDS CALLS</pre>
 *
 * Experiments are looked at as in a night, four in parallel, but their sources are computed. Prints a line
 * {@code NAME VALUE…} for each figure as soon as it is known, and a line of JSON for each query about coverage.
 */
final class CatalogueCentre {

    private static final int LOOKS = 4;
    private static final int PAGE = 100;
    private static final int SITE = 1;
    private static final int GIANT = 1;
    private static final int SLICE = 500;

    private final MadeCatalogue catalogue;
    private final JdbcClient jdbc;
    private final TransactionTemplate transaction;
    private final Experiments experiments;
    private final Coverage coverage;
    private final Ingest ingest;
    private final ThreadLocal<Instant> now = ThreadLocal.withInitial(Instant::now);

    private CatalogueCentre(MadeCatalogue catalogue, HikariDataSource database) {
        this.catalogue = catalogue;
        JdbcTemplate template = new JdbcTemplate(database);
        InstantSource clock = now::get;
        jdbc = JdbcClient.create(template);
        transaction = new TransactionTemplate(new JdbcTransactionManager(database));
        Ledger ledger = new Ledger(jdbc, clock);
        experiments = new Experiments(jdbc, new Projects(jdbc, ledger, clock), ledger, clock);
        coverage = new Coverage(jdbc);
        ingest = new Ingest(template, new Manifests(jdbc), new Freezes(jdbc, ledger, clock), ledger, clock,
                new IngestSettings(Duration.ofDays(1), LOOKS, Duration.ofMinutes(10), true, false));
    }

    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]);
        MadeCatalogue catalogue = new MadeCatalogue(Integer.parseInt(arguments[1]), Long.parseLong(arguments[2]));
        try (EmbeddedDatabase server = EmbeddedDatabase.start(folder.resolve("postgres"));
                PrintWriter plans = new PrintWriter(folder.resolve("plans.txt").toFile());
                HikariDataSource database = new HikariDataSource()) {
            database.setDataSource(MadeCatalogue.migrated(server));
            database.setMaximumPoolSize(LOOKS + 2);
            database.setConnectionInitSql("set plan_cache_mode = force_custom_plan");
            CatalogueCentre centre = new CatalogueCentre(catalogue, database);
            try (Connection connection = database.getConnection()) {
                catalogue.register(connection);
                centre.load();
                CatalogueLoad.print("receipts", CatalogueLoad.seconds(() -> centre.prove(connection)));
            }
            centre.sizes();
            for (int round = 0; round < Integer.parseInt(arguments[3]); round++) {
                CatalogueLoad.print("quiet", CatalogueLoad.seconds(() -> centre.night(false, Map.of())));
                int file = (int) (catalogue.giant() / 2) + round;
                CatalogueLoad.print("changed", centre.changed(file));
            }
            new CoverageCalls(MadeCatalogue.migrated(server), catalogue, Integer.parseInt(arguments[4]), CatalogueCentre::file)
                    .ask(plans);
        }
    }

    /** Runs a first night; each experiment is sealed in the night after its registration. */
    private void load() throws Exception {
        Map<Integer, Instant> nights = new HashMap<>();
        jdbc.sql("select experiment_id, registered_at from experiment")
                .query((row, n) -> nights.put(row.getInt(1), row.getTimestamp(2).toInstant().plus(20, ChronoUnit.HOURS)))
                .list();
        double seconds = CatalogueLoad.seconds(() -> night(true, nights));
        CatalogueLoad.print("load", jdbc.sql("select count(*) from entry").query(Long.class).single(), seconds);
    }

    /** Adds receipts, for a part of the experiments at a time. */
    private void prove(Connection connection) throws Exception {
        for (int first = 1; first <= catalogue.experiments(); first += SLICE) {
            catalogue.prove(connection, first, Math.min(catalogue.experiments(), first + SLICE - 1));
        }
        catalogue.find(connection);
    }

    /** Makes a night's looks. {@code news}: whether everything is new; if not, any change is a defect. */
    private void night(boolean news, Map<Integer, Instant> times) throws Exception {
        List<Future<?>> looks = new ArrayList<>();
        // As in a night: so many threads, and at most a page of waiting tasks.
        try (ThreadPoolExecutor pool = new ThreadPoolExecutor(
                LOOKS, LOOKS, 1, TimeUnit.MINUTES, new ArrayBlockingQueue<>(PAGE), new ThreadPoolExecutor.CallerRunsPolicy())) {
            for (int first = 1; first <= catalogue.experiments(); first += PAGE) {
                int[] ids = IntStream.rangeClosed(first, Math.min(catalogue.experiments(), first + PAGE - 1)).toArray();
                Map<Integer, Known> known = ingest.known(ids);
                Set<Integer> safe = coverage.safe(SITE, ids);
                for (int id : ids) {
                    looks.add(pool.submit(() -> {
                        now.set(times.getOrDefault(id, Instant.now()));
                        boolean sealed = look(experiment(id), known.get(id), safe.contains(id), CatalogueLoad::facts);
                        if (sealed != news) {
                            throw new IllegalStateException("experiment " + id + (sealed ? " has news" : " is not sealed"));
                        }
                        return null;
                    }));
                }
            }
            for (Future<?> each : looks) {
                each.get();
            }
        }
    }

    /** Changes the time of one file of the largest experiment; returns the seconds of its look. */
    private double changed(int file) throws Exception {
        now.set(Instant.now());
        double seconds = CatalogueLoad.seconds(() -> news(i -> CatalogueLoad.facts(i == file ? i + 1 : i)));
        // Otherwise the next night would see a change again.
        news(CatalogueLoad::facts);
        return seconds;
    }

    private void news(IntFunction<Facts> facts) throws InterruptedException {
        if (!look(experiment(GIANT), ingest.known(new int[] {GIANT}).get(GIANT), true, facts)) {
            throw new IllegalStateException("a changed file was not seen");
        }
    }

    private boolean look(Experiment experiment, Known known, boolean safe, IntFunction<Facts> facts) throws InterruptedException {
        int entries = (int) (experiment.id() == GIANT ? catalogue.giant() : catalogue.usual());
        Ingest.Walk walk = listings -> CatalogueLoad.tell(listings, entries, facts);
        try (SourceLook look = ingest.look(experiment, known, walk, new LongAdder())) {
            if (safe && look.isUnchanged()) {
                return false;
            }
            SourceLook.Ingested ingested = transaction.execute(_ -> look.seal());
            if (!ingested.findings().isEmpty()) {
                throw new IllegalStateException(ingested.findings().toString());
            }
            return ingested.sealed();
        }
    }

    private Experiment experiment(int id) {
        return experiments.find("P%03d".formatted(1 + id % 200), "S" + id).orElseThrow();
    }

    private static FilePath file(long files, long number) {
        return CatalogueLoad.path((int) number - 1, (int) files);
    }

    private void sizes() {
        jdbc.sql("vacuum analyze").update();
        jdbc.sql("checkpoint").update();
        for (String table : List.of("entry", "directory", "transfer_unit", "receipt", "stored", "coverage", "ledger")) {
            CatalogueLoad.print("part", table, jdbc.sql("""
                    select sum(pg_total_relation_size(c.oid)) from pg_class c
                    where c.oid = :table::regclass or c.oid in (select inhrelid from pg_inherits where inhparent = :table::regclass)
                    """).param("table", table).query(Long.class).single());
        }
        CatalogueLoad.print("database", jdbc.sql("select pg_database_size(current_database())").query(Long.class).single());
        CatalogueLoad.print("names", jdbc.sql("select avg(octet_length(name)) from entry where experiment_id = 2").query(Double.class).single());
    }
}
