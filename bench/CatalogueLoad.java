import dozo.db.EmbeddedDatabase;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
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
import dozo.source.Crawl;
import dozo.source.Listings;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.IntFunction;
import org.flywaydb.core.Flyway;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Measures for {@code bench/run catalogue} in one process, on its own embedded PostgreSQL.
 *
 * <pre>java -cp LIBRARIES CatalogueLoad.java WORK_FOLDER ENTRIES FILES CHANGED ROUNDS PAGES</pre>
 *
 * Prints a line {@code NAME VALUE…} for each figure as soon as it is known.
 */
final class CatalogueLoad {

    private static final int ENTRIES_A_FOLDER = 38;
    private static final int LARGE_FOLDER = 100_000;
    private static final int PAGE = 100;
    private static final String[] SUFFIXES = {".dcm", "_bold.nii.gz", "_bold.json", "_T1w.nii.gz", ".IMA"};

    private final EmbeddedDatabase server;
    private final JdbcClient jdbc;
    private final TransactionTemplate transaction;
    private final Manifests manifests;
    private final Experiments experiments;
    private final Ingest ingest;

    private CatalogueLoad(EmbeddedDatabase server) {
        this.server = server;
        var database = new SingleConnectionDataSource(server.url(), server.owner().user(), server.owner().password(), true);
        Flyway.configure().dataSource(database).load().migrate();
        JdbcTemplate template = new JdbcTemplate(database);
        InstantSource clock = InstantSource.system();
        jdbc = JdbcClient.create(template);
        transaction = new TransactionTemplate(new JdbcTransactionManager(database));
        manifests = new Manifests(jdbc);
        Ledger ledger = new Ledger(jdbc, clock);
        Projects projects = new Projects(jdbc, ledger, clock);
        experiments = new Experiments(jdbc, projects, ledger, clock);
        ingest = new Ingest(template, manifests, new Freezes(jdbc, ledger, clock), ledger, clock, new IngestSettings(Duration.ofDays(1), 4, Duration.ofMinutes(10), true, false));
        projects.create("p", "", "bench");
    }

    public static void main(String[] arguments) throws Exception {
        Path work = Path.of(arguments[0]);
        int[] sizes = Arrays.stream(arguments).skip(1).mapToInt(Integer::parseInt).toArray();
        try (EmbeddedDatabase server = EmbeddedDatabase.start(work.resolve("database"))) {
            CatalogueLoad bench = new CatalogueLoad(server);
            bench.nights(work.resolve("tree"), sizes[1], sizes[2], sizes[3]);
            bench.load(sizes[0]);
            bench.pages(sizes[4]);
        }
    }

    /** Loads a large experiment without files: rate, and bytes per entry. */
    private void load(int entries) {
        Experiment experiment = experiment("made-up");
        long bytesBefore = catalogueBytes();
        long rowsBefore = rows();
        double seconds = seconds(() -> night(experiment, listings -> tell(listings, entries)));
        long loaded = manifests.current(experiment.id()).orElseThrow().entries();
        print("load", loaded, seconds);
        jdbc.sql("analyze entry, directory").update();
        print("bytes", rows(), catalogueBytes(), rowsBefore, bytesBefore);
        for (String part : List.of("entry", "entry_pkey", "entry_large_folder", "directory")) {
            print("part", part, part.equals("directory") ? sizeBytes(part) : ownBytes(part));
        }
        print("names", jdbc.sql("select avg(octet_length(name)) from entry where experiment_id = :e")
                .param("e", experiment.id()).query(Double.class).single());
    }

    /** Reads pages of the last experiment at any depth, and of its largest folder. */
    private void pages(int calls) {
        int experiment = jdbc.sql("select max(experiment_id) from experiment").query(Integer.class).single();
        long all = manifests.current(experiment).orElseThrow().entries();
        Random dice = new Random(1);
        double[] anywhere = new double[calls];
        double[] large = new double[calls];
        for (int i = -calls / 10; i < calls; i++) {
            FilePath after = entry(experiment, 1 + dice.nextInt((int) all)).path();
            double seconds = seconds(() -> manifests.page(experiment, 1, after, PAGE));
            byte[] name = "image-%06d.dcm".formatted(dice.nextInt(LARGE_FOLDER)).getBytes(StandardCharsets.UTF_8);
            double listing = seconds(() -> manifests.folder(experiment, 1, FilePath.of("large"), name, PAGE));
            if (i >= 0) {
                anywhere[i] = seconds;
                large[i] = listing;
            }
        }
        quantiles("page", anywhere);
        quantiles("large-folder", large);
    }

    private Entry entry(int experiment, int number) {
        return manifests.current(experiment, new int[] {number}).getFirst();
    }

    /**
     * Measures real files in several rounds: the walk alone, find and psql, a first night, a night with some changed
     * files.
     */
    private void nights(Path tree, int files, int changed, int rounds) throws Exception {
        makeTree(tree, files);
        for (int round = 0; round < rounds; round++) {
            print("walk", seconds(() -> new Crawl(tree).into(new Nobody())));
            findAndCopy(tree);
            Experiment experiment = experiment("night-" + round);
            print("first", seconds(() -> night(experiment, new Crawl(tree)::into)));
            change(tree, files, changed, round);
            print("second", seconds(() -> night(experiment, new Crawl(tree)::into)));
            print("rows", jdbc.sql("""
                            select count(*) filter (where since_manifest = 2), count(*) filter (where until_manifest = 2)
                            from entry_version where experiment_id = :e
                            """).param("e", experiment.id())
                    .query((row, n) -> row.getLong(1) + " " + row.getLong(2)).single());
            print("quiet", seconds(() -> night(experiment, new Crawl(tree)::into)));
        }
    }

    /** Loads the same columns with other tools into a table without an index; prints nothing if psql is missing. */
    private void findAndCopy(Path tree) throws Exception {
        jdbc.sql("drop table if exists found").update();
        jdbc.sql("""
                create table found (directory text, name text, kind "char", size_bytes bigint, modified double precision,
                                    mode integer, links integer, inode bigint, link_target text)
                """).update();
        String command = "find \"$0\" -mindepth 1 -printf '%h\\t%f\\t%y\\t%s\\t%T@\\t%m\\t%n\\t%i\\t%l\\n'"
                + " | psql -q \"$1\" -c '\\copy found from stdin'";
        ProcessBuilder process = new ProcessBuilder(
                "bash", "-o", "pipefail", "-c", command, tree.toString(), server.url().replace("jdbc:", ""));
        process.environment().put("PGUSER", server.owner().user());
        process.environment().put("PGPASSWORD", server.owner().password());
        process.inheritIO();
        int[] code = new int[1];
        double seconds = seconds(() -> code[0] = process.start().waitFor());
        long found = jdbc.sql("select count(*) from found").query(Long.class).single();
        if (code[0] == 0 && found > 0) {
            print("find", seconds);
        }
    }

    private static void makeTree(Path tree, int files) throws IOException {
        Path folder = tree;
        for (int i = 0; i < files; i++) {
            if (i % ENTRIES_A_FOLDER == 0) {
                folder = tree.resolve(folderOf(i / ENTRIES_A_FOLDER));
                Files.createDirectories(folder);
            }
            Files.createFile(folder.resolve(nameOf(i)));
        }
    }

    private static void change(Path tree, int files, int changed, int round) throws IOException {
        for (int i = 0; i < changed; i++) {
            int file = (int) ((long) i * files / changed);
            Files.setLastModifiedTime(
                    tree.resolve(folderOf(file / ENTRIES_A_FOLDER)).resolve(nameOf(file)),
                    FileTime.from(Instant.ofEpochSecond(1_000_000_000L + round)));
        }
    }

    private static void tell(Listings listings, int entries) throws IOException, InterruptedException {
        tell(listings, entries, CatalogueLoad::facts);
    }

    /** Reports an experiment without files, with these facts for each number from 0. */
    static void tell(Listings listings, int entries, IntFunction<Facts> facts) throws IOException, InterruptedException {
        int large = large(entries);
        Listings.Listing folder = listings.folder(FilePath.of("large"));
        for (int i = 0; i < large; i++) {
            folder.entry("image-%06d.dcm".formatted(i).getBytes(StandardCharsets.US_ASCII), facts.apply(i));
        }
        folder.end();
        for (int i = large; i < entries; i++) {
            if (i == large || i % ENTRIES_A_FOLDER == 0) {
                if (i > large) {
                    folder.end();
                }
                folder = listings.folder(FilePath.of(folderOf(i / ENTRIES_A_FOLDER)));
            }
            folder.entry(nameOf(i).getBytes(StandardCharsets.US_ASCII), facts.apply(i));
        }
        folder.end();
    }

    /** Returns the path of a number in an experiment of so many entries. */
    static FilePath path(int i, int entries) {
        return FilePath.of(
                i < large(entries) ? "large/image-%06d.dcm".formatted(i) : folderOf(i / ENTRIES_A_FOLDER) + "/" + nameOf(i));
    }

    private static int large(int entries) {
        return Math.min(LARGE_FOLDER, entries / 10);
    }

    static Facts facts(int i) {
        return new Facts(EntryKind.FILE, 100_000 + i % 900_000, 1_700_000_000_000_000_000L + i, 0, 0640, null, null);
    }

    private static String folderOf(int number) {
        return "sub-%04d/ses-%02d/func/series-%05d".formatted(number / 64, number / 16 % 4, number);
    }

    private static String nameOf(int number) {
        return "sub-%04d_run-%02d_%05d%s"
                .formatted(number / 2_432 % 10_000, number % 100, number % 100_000, SUFFIXES[number % SUFFIXES.length]);
    }

    private void night(Experiment experiment, Ingest.Walk walk) {
        Known known = ingest.known(new int[] {experiment.id()}).get(experiment.id());
        try (SourceLook look = ingest.look(experiment, known, walk, new LongAdder())) {
            var findings = transaction.execute(status -> look.seal()).findings();
            if (!findings.isEmpty()) {
                throw new IllegalStateException(findings.toString());
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private Experiment experiment(String code) {
        jdbc.sql("""
                insert into experiment (project_id, code, source_kind, source_root, registered_at, registered_by)
                select project_id, :code, 'filesystem', convert_to('/' || :code, 'UTF8'), now(), 'bench' from project
                """).param("code", code).update();
        return experiments.find("p", code).orElseThrow();
    }

    private long rows() {
        return jdbc.sql("select count(*) from entry_version").query(Long.class).single();
    }

    private long catalogueBytes() {
        return sizeBytes("entry") + sizeBytes("ended_entry") + sizeBytes("entry_link") + sizeBytes("entry_owner") + sizeBytes("entry_attribute") + sizeBytes("directory");
    }

    /** Returns a table's bytes including indexes, over all partitions. */
    private long sizeBytes(String table) {
        return jdbc.sql("select sum(pg_total_relation_size(relid)) from pg_partition_tree(:table::regclass)")
                .param("table", table).query(Long.class).single();
    }

    /** Returns a table's or an index's own bytes. */
    private long ownBytes(String relation) {
        return jdbc.sql("select sum(pg_relation_size(relid)) from pg_partition_tree(:relation::regclass)")
                .param("relation", relation).query(Long.class).single();
    }

    private static void quantiles(String name, double[] seconds) {
        Arrays.sort(seconds);
        print(name, seconds[seconds.length / 2] * 1_000, seconds[seconds.length * 99 / 100] * 1_000,
                seconds[seconds.length - 1] * 1_000);
    }

    static void print(String name, Object... values) {
        StringBuilder line = new StringBuilder(name);
        for (Object value : values) {
            line.append(' ').append(value);
        }
        System.out.println(line);
    }

    interface Work {
        void run() throws Exception;
    }

    static double seconds(Work work) {
        long start = System.nanoTime();
        try {
            work.run();
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        return (System.nanoTime() - start) / 1e9;
    }

    /** Receives a walk and does nothing. */
    private static final class Nobody implements Listings, Listings.Listing {
        @Override
        public Listing folder(FilePath folder) {
            return this;
        }

        @Override
        public void problem(FilePath path, Problem problem, String message) {
            throw new IllegalStateException(path + ": " + message);
        }

        @Override
        public void entry(byte[] name, Facts facts) {}

        @Override
        public void end() {}
    }
}
