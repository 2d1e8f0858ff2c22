package dozo.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dozo.certificate.Certificates;
import dozo.certificate.Checkpoints;
import dozo.certificate.LogKeys;
import dozo.certificate.SigningKey;
import dozo.db.TestDatabase;
import dozo.file.FilePath;
import dozo.ledger.Ledger;
import dozo.ledger.LedgerTree;
import dozo.record.CatalogueTables.Table;
import dozo.record.Records.Made;
import java.io.IOException;
import java.io.InputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** What records cost, and which tables they have. The counts are small; with the properties they are those of ADR 0069. */
class RecordsTest {

    private static final int ENTRIES = Integer.getInteger("records.entries", 20_000);
    private static final int EXPERIMENTS = Integer.getInteger("records.experiments", 100);
    private static final int LEDGER_ROWS = Integer.getInteger("records.ledger", 5_000);

    @TempDir
    Path folder;

    private HikariDataSource database;
    private JdbcClient jdbc;
    private RecoveryKey key;
    private RecoveryKeys keys;
    private Records records;

    @BeforeEach
    void open() {
        database = TestDatabase.fresh();
        jdbc = JdbcClient.create(database);
        key = new RecoveryKey(folder.resolve("recovery-key"));
        key.create();
        records = records(database);
    }

    private Records records(HikariDataSource of) {
        JdbcTransactionManager transactions = new JdbcTransactionManager(of);
        JdbcClient client = JdbcClient.create(of);
        Ledger ledger = new Ledger(client, InstantSource.system());
        SigningKey signing = new SigningKey(folder.resolve("certificate-key"));
        signing.create();
        keys = new RecoveryKeys(key, new RecoverySettings(""), ledger, client);
        return new Records(
                new JdbcTemplate(of),
                transactions,
                new Certificates(
                        client,
                        transactions,
                        ledger,
                        signing,
                        new Checkpoints(client, ledger, new LedgerTree(client), new LogKeys(signing, signing, "test")),
                        InstantSource.system()),
                keys,
                InstantSource.system());
    }

    @Test
    void everyTableIsInOneKindOfRecordOrLeftOutForAReason() {
        List<Table> all = CatalogueTables.all(jdbc);
        Set<String> names = new HashSet<>(all.stream().map(Table::name).toList());

        assertThat(names)
                .as("what is named exists")
                .containsAll(CatalogueTables.OF_EXPERIMENTS)
                .containsAll(CatalogueTables.LEFT_OUT.keySet())
                .containsAll(CatalogueTables.GROWING);
        assertThat(CatalogueTables.OF_EXPERIMENTS).doesNotContainAnyElementsOf(CatalogueTables.LEFT_OUT.keySet());
        assertThat(CatalogueTables.ofBase(jdbc))
                .as("rows are known by a key")
                .allSatisfy(table -> assertThat(table.key()).as(table.name()).isNotEmpty())
                .extracting(Table::name)
                .containsAll(CatalogueTables.GROWING)
                .contains("experiment", "project", "dozo_user", "site")
                .doesNotContain("api_token", "receipt", "batch_job_instance");
        assertThat(CatalogueTables.ofBase(jdbc))
                .as("numbers of entries are only in the records that have the entries")
                .flatExtracting(Table::columns)
                .contains("instance_numbers")
                .doesNotContain("entry_no", "entry_nos");
        assertThat(all.stream()
                        .filter(table -> table.columns().containsAll(List.of("experiment_id", "entry_no"))
                                && table.key().equals(List.of("experiment_id", "entry_no")))
                        .map(Table::name))
                .as("tables of entries")
                .noneMatch(CatalogueTables::isInBase);
    }

    @Test
    void aRecordCostsWhatChanged() throws Exception {
        register(1);
        jdbc.sql("""
                        insert into manifest (experiment_id, manifest_no, sealed_at, files, bytes, folders, links, entries_new,
                                              entries_changed, entries_gone)
                        values (1, 1, now(), :entries, :entries, 0, 0, :entries, 0, 0)
                        """).param("entries", ENTRIES).update();
        jdbc.sql("""
                        insert into directory (experiment_id, directory_no, path)
                        select 1, n, convert_to('sub-' || n || '/ses-01/func', 'UTF8') from generate_series(1, :entries / 1000) n
                        """).param("entries", ENTRIES).update();
        jdbc.sql("""
                        insert into entry (experiment_id, entry_no, directory_no, since_manifest, size_bytes, modified_ns, mode, kind, name)
                        select 1, n, 1 + n % (:entries / 1000), 1, 1000 + n % 100000, 1700000000000000000 + n * 1000003::bigint, 420, 'f',
                               convert_to('image-' || n || '.dcm', 'UTF8')
                        from generate_series(1, :entries) n
                        """).param("entries", ENTRIES).update();
        protect();
        receipt(1, ENTRIES);

        long bytes = measured("first segment", 1);

        assertThat(bytes / ENTRIES).as("bytes an entry: a digest takes 32").isLessThan(100);
        assertThat(records.due(1, 0, 10)).isEmpty();

        jdbc.sql("""
                        with ended as (delete from entry where experiment_id = 1 and entry_no = 7 returning *)
                        insert into ended_entry select *, 2 from ended
                        """).update();
        jdbc.sql("insert into entry values (1, :no, 8, 2, 5, 5, 420, 'f', 'image-7.dcm')")
                .param("no", ENTRIES + 1)
                .update();
        jdbc.sql("""
                        insert into manifest (experiment_id, manifest_no, sealed_at, files, bytes, folders, links, entries_new,
                                              entries_changed, entries_gone)
                        values (1, 2, now(), :entries, :entries, 0, 0, 0, 1, 0)
                        """).param("entries", ENTRIES).update();
        jdbc.sql("update protection set manifest_no = 2").update();
        receipt(ENTRIES + 1, ENTRIES + 1);
        jdbc.sql("analyze").update();

        assertThat(measured("segment of one change", 1)).isLessThan(2_000);
        assertThat(records.due(1, 0, 10)).isEmpty();
    }

    @Test
    void aBaseRecordIsBoundedByExperimentsAndTheDay() throws Exception {
        register(EXPERIMENTS);
        ledger(LEDGER_ROWS);
        long first = measured("first base record", 0);
        jdbc.sql("update experiment set title = 'changed' where experiment_id = 1")
                .update();
        ledger(3);
        long changed = measured("base record after a change of an experiment", 0);
        ledger(3);
        long quiet = measured("base record of a quiet night", 0);

        assertThat(changed).isLessThan(first / 3).isLessThan(3_000 + 100L * EXPERIMENTS);
        assertThat(quiet).isLessThan(5_000);
    }

    @Test
    void afterTheKeyWasReplacedTheNewRecordsAloneAreEnough() throws Exception {
        register(1);
        jdbc.sql("""
                        insert into manifest (experiment_id, manifest_no, sealed_at, files, bytes, folders, links, entries_new,
                                              entries_changed, entries_gone)
                        values (1, 1, now(), 1, 1, 0, 0, 1, 0, 0)
                        """).update();
        protect();
        receipt(1, 1);
        keep(records.segments(records.due(1, 0, 1), 1).getFirst());
        keep(records.base(1));
        String old = Files.readString(key.file());
        assertThatThrownBy(() -> keys.replace("admin")).hasMessageContaining("a run is active");
        jdbc.sql("update run set state = 'COMPLETE', ended_at = now()").update();
        assertThatThrownBy(() -> keys.drop(true, "admin")).hasMessageContaining("there is no key before");

        keys.replace("admin");

        String present = Files.readString(key.file());
        assertThatThrownBy(() -> keys.drop(false, "admin"))
                .hasMessageContaining("site dr has records that only the former key can read");
        for (Path file : List.of(keep(records.segments(records.due(1, 0, 1), 1).getFirst()), keep(records.base(1)))) {
            assertThat(header(file, old))
                    .isEqualTo(header(file, present))
                    .satisfies(header -> assertThat(header.continues()).isNull());
        }
        assertThat(records.due(1, 0, 1)).isEmpty();
        keys.drop(false, "admin");

        Path last = keep(records.base(1));
        assertThat(header(last, present).continues()).isNotNull();
        assertThatThrownBy(() -> header(last, old)).isInstanceOf(DamagedRecord.class);
    }

    private Header header(Path file, String identity) throws IOException {
        try (RecordReader record = new RecordReader(
                FilePath.of(folder.relativize(file).toString()),
                Files.newInputStream(file),
                RecoveryKey.identities(identity))) {
            return record.header();
        }
    }

    /** Keeps a record in a file that it returns. */
    private Path keep(Made made) throws IOException {
        try (made) {
            Path file = made.file().under(folder);
            Files.createDirectories(file.getParent());
            try (InputStream in = made.content().read()) {
                Files.copy(in, file);
            }
            made.kept().run();
            return file;
        }
    }

    /**
     * Makes a record and keeps it. Returns its size.
     *
     * @param experiment 0: a base record
     */
    private long measured(String what, int experiment) throws IOException {
        long cpu = cpu();
        try (Made made = experiment == 0
                ? records.base(1)
                : records.segments(records.due(1, 0, 1), 1).getFirst()) {
            made.kept().run();
            System.out.printf(
                    "%s: %,d bytes, %.3f s of CPU%n", what, made.content().length(), (cpu() - cpu) / 1e9);
            Path file = made.file().under(folder);
            Files.createDirectories(file.getParent());
            try (InputStream in = made.content().read()) {
                Files.copy(in, file);
            }
            return made.content().length();
        }
    }

    private static long cpu() {
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private void register(int experiments) {
        jdbc.sql("""
                        insert into site (name, host, port, login, root, host_key, identity_file, updated_at)
                        values ('dr', 'h', 22, 'u', '/r', 'k', '/i', now())
                        """).update();
        jdbc.sql(
                        "insert into run (kind, site_id, state, requested_by, started_at) values ('nightlyBackup', 1, 'RUNNING', 'x', now())")
                .update();
        jdbc.sql("insert into project (code, title, created_at) values ('P1', '計画', now())")
                .update();
        jdbc.sql("""
                        insert into experiment (project_id, code, title, source_kind, source_root, modality, scanner, acquired_on,
                                                registered_at, registered_by)
                        select 1, 'E' || n, 'visit ' || n, 'filesystem', convert_to('/data/study/visit-' || n, 'UTF8'), 'MR', 'prisma-1',
                               date '2020-01-01' + n % 2000, now(), 'lab'
                        from generate_series(1, :count) n
                        """).param("count", experiments).update();
    }

    private void protect() {
        jdbc.sql("""
                        insert into protection (experiment_id, site_id, manifest_no, files, bytes, entries, files_safe, bytes_safe,
                                                entries_safe, counted_at)
                        values (1, 1, 1, 1, 1, 1, 0, 0, 0, now())
                        """).update();
    }

    /** Receipts of a thousand entries each, with digests that do not compress. */
    private void receipt(int from, int to) {
        // It reads all entries, for sums that no record has.
        jdbc.sql("alter table receipt disable trigger receipt_is_stored").update();
        jdbc.sql("""
                        insert into receipt (experiment_id, site_id, unit_id, run_id, manifest_no, entry_nos, digests, method, worker,
                                             verified_at)
                        select 1, 1, 1, 1, 1, array_agg(n order by n), string_agg(sha256(n::text::bytea), ''::bytea order by n), 'm', 'w', now()
                        from generate_series(:from, :to) n group by n / 1000
                        """).param("from", from).param("to", to).update();
    }

    private void ledger(int rows) {
        jdbc.sql("""
                        insert into ledger (at, actor, action, subject, detail)
                        select now(), 'system', 'experiment.settled', 'P1/E' || n || '#1',
                               jsonb_build_object('run', n, 'files', n * 3, 'files_safe', n * 3, 'bytes', n * 100003,
                                                  'manifest_sha256', encode(sha256(n::text::bytea), 'hex'))
                        from generate_series(1, :rows) n
                        """).param("rows", rows).update();
    }
}
