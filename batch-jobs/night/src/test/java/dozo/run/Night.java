package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.copy.Copy;
import dozo.copy.Copy.Options;
import dozo.copy.Inventory;
import dozo.copy.Restore;
import dozo.db.ActiveService;
import dozo.db.TestDatabase;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.file.Selection;
import dozo.ledger.Coverage;
import dozo.ledger.Findings;
import dozo.ledger.Sight;
import dozo.manifest.Manifests;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Projects;
import dozo.registry.Sites;
import dozo.registry.Sites.Site;
import dozo.remote.SiteAddress;
import dozo.restore.Inventories;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.awaitility.Awaitility;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.util.FileSystemUtils;

/** The jobs without the service around them, with a database and a site of the test. */
final class Night implements AutoCloseable {

    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final Duration POLL = Duration.ofMillis(20);
    private static final int POLLS_A_QUESTION = 10;

    /** The folder of the service's keys; all nights of a process have the same. */
    static final Path KEYS = keys();

    private static final List<String> SETTINGS = List.of(
            "spring.batch.job.enabled=false",
            "spring.batch.jdbc.initialize-schema=never",
            "spring.batch.jdbc.isolation-level-for-create=read-committed",
            "dozo.transfer.outage=0s",
            "dozo.transfer.large=2MB",
            "dozo.transfer.bundle=1MB",
            "spring.main.banner-mode=off");

    private final Jobs jobs;
    private boolean closed;

    private static Path keys() {
        try {
            Path folder = Files.createTempDirectory("dozo-keys-");
            Runtime.getRuntime().addShutdownHook(new Thread(() -> FileSystemUtils.deleteRecursively(folder.toFile())));
            return folder;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Night(DataSource database, SiteAddress site, String... properties) {
        this(Jobs.alone(database, with(properties)));
        get(Sites.class).save("dr", site, "test");
    }

    private Night(Jobs jobs) {
        this.jobs = jobs;
    }

    private static List<String> with(String... properties) {
        return Stream.concat(SETTINGS.stream(), Stream.of(properties)).toList();
    }

    /** Returns a night without a site. */
    static Night without(DataSource database) {
        return new Night(Jobs.alone(database, with()));
    }

    /** Returns the jobs of a worker process, for the nights of another one with the same database. */
    static Night worker(DataSource database, String... properties) {
        return new Night(Jobs.of(database, new ActiveService("worker", true), with(properties)));
    }

    /** Returns the jobs of a service of which another one may take over. */
    static Night service(DataSource database, ActiveService active) {
        return new Night(Jobs.of(database, active, with()));
    }

    static Night on(SiteAddress site, String... properties) {
        return new Night(TestDatabase.fresh(), site, properties);
    }

    <T> T get(Class<T> type) {
        return jobs.get(type);
    }

    JdbcClient jdbc() {
        return get(JdbcClient.class);
    }

    /** Changes rows by SQL. Returns how many. */
    int update(String sql) {
        return jdbc().sql(sql).update();
    }

    /** Returns the first column of a query. */
    List<String> texts(String sql) {
        return jdbc().sql(sql).query(String.class).list();
    }

    Operations operations() {
        return get(Operations.class);
    }

    /** Returns the site {@code dr}. */
    Site site() {
        return get(Sites.class).find("dr").orElseThrow();
    }

    /** Returns experiment {@code p/E1}. */
    Experiment experiment() {
        return get(Experiments.class).find("p", "E1").orElseThrow();
    }

    /** Returns a run as it is now. */
    Run find(Run run) {
        return get(Runs.class).find(run.id()).orElseThrow();
    }

    /** Registers a folder as experiment {@code p/CODE}. */
    void register(String code, Path source) {
        Projects projects = get(Projects.class);
        if (projects.find("p").isEmpty()) {
            projects.create("p", "", "test");
        }
        get(Experiments.class).register("p", code, "", source, "test");
    }

    /** Starts a night to the site {@code dr}. */
    Run start() {
        return operations().start("dr", "test");
    }

    /** Opens a night to the site {@code dr} on which nobody works. */
    Run open() {
        return get(Runs.class).open(Runs.RunKind.NIGHTLY_BACKUP, site(), "test");
    }

    /** Runs a complete night to the site {@code dr}. */
    Run run() {
        return run("dr");
    }

    /** Runs a complete night, and waits until its job's thread has ended too: before that, nothing can be recovered. */
    Run run(String site) {
        Run run = await(operations().start(site, "test"));
        awaitIdle();
        return run;
    }

    /** Runs a complete night to the site {@code dr} without findings. */
    Run complete() {
        Run run = run();
        assertComplete(run);
        return run;
    }

    /** Goes on with the run that a dead process left, to its end. */
    Run goOn() {
        operations().recover();
        Run run = await(get(Runs.class).latest().orElseThrow());
        assertComplete(run);
        return run;
    }

    void assertComplete(Run run) {
        assertThat(findings(run)).isEmpty();
        assertThat(run.state()).as(run.message()).isEqualTo(RunState.COMPLETE);
    }

    /** Runs a scrub of everything. */
    Run scrub() {
        return await(startScrub(0));
    }

    /**
     * Starts a scrub of everything.
     *
     * @param bytesPerSecond 0: as fast as possible
     */
    Run startScrub(long bytesPerSecond) {
        return operations().startScrub(everything(bytesPerSecond), "test");
    }

    static ScrubRequest everything(long bytesPerSecond) {
        return new ScrubRequest(null, Duration.ofDays(1), true, bytesPerSecond, null, false);
    }

    /** Returns the sums of what is safe that differ from the receipts. */
    private List<String> wrongSums() {
        return jdbc().sql("""
                        select concat_ws(' ', 'experiment', p.experiment_id, 'site', p.site_id, 'has', p.files_safe, p.bytes_safe,
                                         p.entries_safe, 'and not', c.files, c.bytes, c.entries)
                        from protection p cross join lateral (
                            select count(*) as entries, count(*) filter (where e.kind = 'f') as files,
                                   coalesce(sum(e.size_bytes), 0) as bytes
                            from entry e
                            where e.experiment_id = p.experiment_id
                              and exists (select from proven_entry r
                                          where r.experiment_id = p.experiment_id and r.site_id = p.site_id
                                            and r.entry_no = e.entry_no)) c
                        where (p.files_safe, p.bytes_safe, p.entries_safe) <> (c.files, c.bytes, c.entries)
                        """).query(String.class).list();
    }

    /** Waits for a run's end. While a job works here, the database is asked seldom: each question costs processor time. */
    Run await(long id) {
        Runs runs = get(Runs.class);
        Executions executions = get(Executions.class);
        AtomicInteger polls = new AtomicInteger();
        Awaitility.await()
                .atMost(LIMIT)
                .pollInterval(POLL)
                .until(() -> (executions.idle() || polls.incrementAndGet() % POLLS_A_QUESTION == 0)
                        && !runs.find(id).orElseThrow().goesOn());
        Run ended = runs.find(id).orElseThrow();
        assertThat(wrongSums()).isEmpty();
        return ended;
    }

    Run await(Run run) {
        return await(run.id());
    }

    /** Waits until no job works in this process. */
    void awaitIdle() {
        until(get(Executions.class)::idle);
    }

    /** Waits until something is so. */
    static void until(Callable<Boolean> condition) {
        Awaitility.await().atMost(LIMIT).pollInterval(Duration.ofMillis(10)).until(condition);
    }

    List<Findings.KeptFinding> findings(Run run) {
        return get(Findings.class).of(Sight.EVERYTHING, run.id(), 0, 1_000);
    }

    /** Checks that a run has one finding, whose message has these words. */
    void assertOnly(Run run, Problem reason, String... words) {
        assertThat(findings(run)).singleElement().satisfies(finding -> {
            assertThat(finding.reason()).isEqualTo(reason);
            assertThat(words).allSatisfy(word -> assertThat(finding.message()).contains(word));
        });
    }

    Coverage.Totals coverage() {
        return get(Coverage.class).all(1);
    }

    long count(String sql) {
        return jdbc().sql(sql).query((row, n) -> row.getLong(1)).single();
    }

    /**
     * Waits until somebody waits for a lock.
     *
     * @param lock which one: a condition for {@code pg_locks}
     */
    void awaitHeldUp(String lock) {
        until(() -> count("""
                select count(*) from pg_locks
                where not granted and database = (select oid from pg_database where datname = current_database())
                  and %s
                """.formatted(lock)) > 0);
    }

    /** What a test does while a run is held up. */
    interface Meanwhile {
        void run() throws Exception;
    }

    /** Returns what something returns that is done while a transaction, undone then, holds a statement's locks. */
    <T> T whileHolding(String locks, Callable<T> meanwhile) throws Exception {
        try (Connection held = get(DataSource.class).getConnection();
                Statement lock = held.createStatement()) {
            held.setAutoCommit(false);
            lock.execute(locks);
            T made = meanwhile.call();
            held.rollback();
            return made;
        }
    }

    void whileHolding(String locks, Meanwhile meanwhile) throws Exception {
        whileHolding(locks, () -> {
            meanwhile.run();
            return null;
        });
    }

    /** Starts a run, and holds it up before a step while something is done. Only once for each database: it creates a trigger. */
    Run startAndHoldUpBefore(String step, Meanwhile meanwhile) throws Exception {
        return startAndHoldUpBefore(step, this::start, meanwhile);
    }

    /** Holds up another run in the same way. */
    Run startAndHoldUpBefore(String step, Supplier<Run> start, Meanwhile meanwhile) throws Exception {
        try (Connection held = get(DataSource.class).getConnection();
                Statement statement = held.createStatement()) {
            statement.execute("select pg_advisory_lock(1)");
            statement.execute("""
                    create function hold_up() returns trigger language plpgsql as $$
                    begin
                        perform pg_advisory_xact_lock(1);
                        return new;
                    end $$
                    """);
            statement.execute("""
                    create trigger hold_up before insert on batch_step_execution for each row
                    when (new.step_name = '%s') execute function hold_up()
                    """.formatted(step));
            Run run = start.get();
            awaitHeldUp("locktype = 'advisory' and (classid, objid, objsubid) = (0, 1, 1)");
            meanwhile.run();
            statement.execute("select pg_advisory_unlock(1)");
            return run;
        }
    }

    /** Some tests close a night before its process would end. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            jobs.close();
        }
    }

    /** Returns a restore, not begun yet. */
    Restore restoring(Experiment experiment, int manifest, SiteAddress from, Path into, Options options) {
        Inventory inventory = get(Inventories.class)
                .of(get(Manifests.class).find(experiment.id(), manifest).orElseThrow(), 1);
        return new Restore(inventory, experiment.name(), manifest, Selection.ALL, from, into, options);
    }

    /** Restores a manifest completely into a new folder. */
    void restore(Experiment experiment, int manifest, SiteAddress from, Path into, Options options) throws Exception {
        List<Copy.Finding> lost = new ArrayList<>();
        try (Restore restore = restoring(experiment, manifest, from, into, options)) {
            assertThat(restore.run(lost::add).complete()).isTrue();
        }
        assertThat(lost).isEmpty();
    }

    /** Writes many small files into a folder. */
    static void writeMany(Path folder, int files) throws IOException {
        for (int i = 0; i < files; i++) {
            Files.writeString(folder.resolve("file" + i), "content of " + i);
        }
    }

    /** Writes files below a folder: path to content. */
    static void write(Path root, Map<String, String> files) throws IOException {
        for (Map.Entry<String, String> file : files.entrySet()) {
            Path path = FilePath.of(file.getKey()).under(root);
            Files.createDirectories(path.getParent());
            Files.writeString(path, file.getValue());
        }
    }
}
