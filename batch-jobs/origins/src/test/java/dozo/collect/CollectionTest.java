package dozo.collect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dozo.collect.Reconciliations.Report;
import dozo.db.LostDatabase;
import dozo.db.TestDatabase;
import dozo.file.FilePath;
import dozo.ledger.Findings;
import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import dozo.record.Forgetting;
import dozo.registry.Experiments;
import dozo.registry.Projects;
import dozo.registry.Sites;
import dozo.remote.SiteAddress;
import dozo.remote.Tmpfs;
import dozo.source.flywheel.Emulator;
import dozo.source.flywheel.Faults.Fault;
import dozo.source.flywheel.Hierarchy;
import dozo.source.flywheel.Hierarchy.Kind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.SQLException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.UncategorizedSQLException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.unit.DataSize;

/** An origin's part of a night if there is no space, no spool, or suddenly nothing is listed. */
class CollectionTest {

    private static final InstantSource CLOCK = InstantSource.system();

    @TempDir
    Path folder;

    private final DataSource database = TestDatabase.fresh();
    private final JdbcClient jdbc = JdbcClient.create(database);
    private final Ledger ledger = new Ledger(jdbc, CLOCK);
    private final Projects projects = new Projects(jdbc, ledger, CLOCK);
    private final Findings findings = new Findings(new JdbcTemplate(database), CLOCK);
    private final Reconciliations reconciliations = new Reconciliations(new JdbcTemplate(database), findings, CLOCK);

    private final TransactionTemplate transactions = new TransactionTemplate(new JdbcTransactionManager(database));

    private Hierarchy hierarchy = Hierarchy.small();
    private Emulator emulator;
    private Path spool;
    private Arrivals arrivals;
    private Origins origins;
    private Collection collection;

    @BeforeEach
    void open() throws Exception {
        emulator = new Emulator(hierarchy);
        spool = Files.createDirectory(folder.resolve("spool"));
        new Sites(jdbc, ledger, CLOCK)
                .save(
                        "dr",
                        new SiteAddress("127.0.0.1", 1, "dozo", "/dr", folder.resolve("key"), "ssh-ed25519 AAAA"),
                        "t");
        projects.create("p", "", "t");
    }

    @AfterEach
    void close() {
        emulator.close();
    }

    @Test
    void whatDoesNotFitIsNotBroughtAndComesWhenThereIsRoom() throws Exception {
        try (Tmpfs disk = new Tmpfs(spool, "size=2m")) {
            begin(DataSize.ofMegabytes(3));
            Report full = night();

            assertThat(full.state()).isEqualTo(Reconciliations.State.DIFFERS);
            assertThat(full.missing()).isEqualTo(10);
            assertThat(lines(full)).containsOnly("NO_ROOM");
            assertThat(spool).isEmptyDirectory();

            disk.remount("size=6m");
            assertThat(night())
                    .extracting(Report::state, Report::itemsComplete)
                    .containsExactly(Reconciliations.State.EMPTY, 10L);
        }
    }

    /** Files of a few bytes take a page each: that there is no space is only seen when writing. */
    @Test
    void aDiskThatFillsUpIsOneFindingAndTheNextNightGoesOn() throws Exception {
        emulator.close();
        hierarchy = new Hierarchy(1, 1, 2, 1, 40, 1);
        emulator = new Emulator(hierarchy);
        try (Tmpfs disk = new Tmpfs(spool, "size=64k")) {
            begin(DataSize.ofBytes(0));
            Report full = night();

            assertThat(full.state()).isEqualTo(Reconciliations.State.UNUSABLE);
            assertThat(full.message()).contains("No space left on device");
            assertThat(findings(full)).containsExactly(tuple("ORIGIN_UNUSABLE", null));

            disk.remount("size=4m");
            assertThat(night())
                    .extracting(Report::state, Report::itemsComplete)
                    .containsExactly(Reconciliations.State.EMPTY, 3L);
        }
    }

    @Test
    void aSpoolThatIsNotMountedGetsNothing() throws Exception {
        begin(DataSize.ofBytes(0));
        night();
        Files.move(spool, folder.resolve("unmounted"));
        Files.createDirectory(spool);
        hierarchy.replace(hierarchy.file(0, 0), "a new version", Hierarchy.BEGINNING.plusSeconds(7_200));

        Report report = night();

        assertThat(report.state()).isEqualTo(Reconciliations.State.UNUSABLE);
        assertThat(report.message()).contains("its spool is empty, but was not before");
        assertThat(spool).isEmptyDirectory();
    }

    @Test
    void aSpoolThatIsFullWithinDaysIsSaidBefore() throws Exception {
        begin(DataSize.ofBytes(0));
        Report first = night();
        assertThat(findings(first)).isEmpty();
        jdbc.sql("update reconciliation set bytes_fetched = 1000000000000000000")
                .update();

        assertThat(findings(night())).containsExactly(tuple("SPOOL_SHORT", null));
    }

    @Test
    void aKeyThatSuddenlySeesLittleIsAFindingAndWhatIsHereStays() throws Exception {
        begin(DataSize.ofBytes(0));
        night();
        for (int i = 0; i < 6; i++) {
            hierarchy.remove(Hierarchy.session(i));
        }

        Report report = night();

        assertThat(report.state()).isEqualTo(Reconciliations.State.DIFFERS);
        assertThat(findings(report)).containsExactly(tuple("NOT_DELIVERED", null));
        assertThat(lines(report)).containsExactly("MANY_GONE");
        assertThat(night().state()).as("said once").isEqualTo(Reconciliations.State.EMPTY);
        assertThat(Files.list(spool)).hasSize(10);
    }

    @Test
    void aNightOfAPartAsksOnlyTheOriginsOfItsExperiments() throws Exception {
        begin(DataSize.ofBytes(0));
        projects.create("q", "", "t");
        jdbc.sql("""
                        insert into origin (name, kind, address, spool, active, updated_at)
                        values ('other', 'dicomweb', 'http://localhost:1', '/other', false, now())
                        """).update();

        assertThat(reports("part_project_id", "(select project_id from project where code = 'q')"))
                .as("the origin has nothing of this project")
                .isEmpty();
        assertThat(reports("part_origin_id", "(select origin_id from origin where name = 'other')"))
                .isEmpty();
        assertThat(reports("part_origin_id", "(select origin_id from origin where name = 'fw')"))
                .extracting(Report::itemsComplete)
                .containsExactly(10L);
    }

    @Test
    void aNightOfAProjectBringsOnlyItsItems() throws Exception {
        begin(DataSize.ofBytes(0));
        projects.create("q", "", "t");
        night();
        jdbc.sql("update arrival set waiting = true").update();
        jdbc.sql(
                        "update arrival set project_id = (select project_id from project where code = 'q') where arrival_id <= 3")
                .update();

        assertThat(reports("part_project_id", "(select project_id from project where code = 'q')"))
                .extracting(Report::itemsTried)
                .containsExactly(3L);
    }

    /** It does not try 40 files one after the other, with all the waits. */
    @Test
    void aFlywheelThatDiesInTheMiddleOfASessionEndsItsPartSoon() throws Exception {
        emulator.close();
        hierarchy = new Hierarchy(1, 1, 2, 1, 40, 100);
        emulator = new Emulator(hierarchy);
        begin(DataSize.ofBytes(0));
        for (int i = 0; i < 40; i++) {
            emulator.faults.always(emulator.downloadPath(hierarchy.file(0, i)), Fault.DROPPED);
        }
        emulator.faults.always("/auth/status", Fault.DROPPED);

        Report report = night();

        assertThat(report.state()).isEqualTo(Reconciliations.State.UNUSABLE);
        assertThat(report.message()).startsWith("Flywheel no longer answers");
        emulator.faults.heal();
        assertThat(night().itemsComplete()).isEqualTo(3);
    }

    @Test
    void whatAnErasedExperimentWasCollectedFromDoesNotComeBack() throws Exception {
        begin(DataSize.ofBytes(0));
        night();
        Path item = jdbc.sql("select source_root from experiment where experiment_id = 1")
                .query((row, n) -> FilePath.pathOf(row.getBytes(1)).getParent())
                .single();
        assertThat(item.resolve("tree")).isNotEmptyDirectory();
        Path outside = Files.createDirectory(folder.resolve("outside"));
        Files.writeString(outside.resolve("precious"), "keep");
        Files.createSymbolicLink(item.resolve("tree/link"), outside);
        jdbc.sql("""
                insert into erasure (project_id, code, experiment_id, registered_at, reason, requested_by, requested_at, approved_by,
                                     approved_at, not_before, begun_at, manifests, files, bytes, receipts)
                select project_id, code, 1, registered_at, 'wish', 'lab', now(), 'admin', now(), now(), now(), 0, 0, 0, 0
                from experiment where experiment_id = 1
                """).update();

        transactions.executeWithoutResult(_ -> {
            collection.erase(1);
            // As if the process had died before it could commit.
            collection.erase(1);
            new Forgetting(jdbc).forget(1);
        });

        assertThat(item).doesNotExist();
        assertThat(outside.resolve("precious")).hasContent("keep");
        assertThat(Files.list(spool)).hasSize(9);
        Report report = night();
        assertThat(item).doesNotExist();
        assertThat(report.itemsDismissed()).isEqualTo(1);
        assertThat(jdbc.sql("select count(*) from experiment").query(Long.class).single())
                .isEqualTo(9);
    }

    @Test
    void onlyAProjectThatBelongsToOneOfOursIsAnItem() throws Exception {
        String theirs = Hierarchy.id(Kind.PROJECT, 1);
        begin(DataSize.ofBytes(0));
        save(null, Map.of(theirs, "p"));

        night();

        assertThat(jdbc.sql("""
                        select a.theirs || ' ' || a.code || ' ' || a.title || ' ' || a.state from arrival a
                        where a.item = a.theirs
                        """).query(String.class).list())
                .containsExactly("%1$s fw-%1$s project Study 1 COMPLETE".formatted(theirs));
        assertThat(spool.resolve(theirs).resolve("tree")).isDirectoryContaining("glob:**flywheel.json");

        hierarchy.remove(theirs);
        assertThat(night().itemsGone()).isEqualTo(1);
        assertThat(spool.resolve(theirs).resolve("tree")).isNotEmptyDirectory();
    }

    @Test
    void whatAnEarlierReleaseHasCollectedGetsItsMetadataAndNoDownload() throws Exception {
        begin(DataSize.ofBytes(0));
        night();
        try (Stream<Path> all = Files.walk(spool)) {
            for (Path file : all.filter(path -> path.endsWith("flywheel.json")).toList()) {
                Files.delete(file);
            }
        }
        hierarchy.remove(Hierarchy.session(7));
        night();
        // Proposals, and what is gone, do not wait for it.
        jdbc.sql("update arrival set experiment_id = null, state = 'OFFERED', waiting = false where arrival_id = 6")
                .update();
        jdbc.sql("update arrival set waiting = false").update();

        jdbc.sql(new ClassPathResource("db/migration/V202611301805__collect_metadata.sql")
                        .getContentAsString(StandardCharsets.UTF_8))
                .update();

        assertThat(jdbc.sql("select count(*) from arrival where waiting")
                        .query(Long.class)
                        .single())
                .isEqualTo(8);
        assertThat(night().bytesFetched()).isZero();
        assertThat(spool.resolve(Hierarchy.session(0)).resolve("tree/flywheel.json"))
                .isNotEmptyFile();
    }

    @Test
    void anEmptySpoolIsNotTakenForAnErasedItem() throws Exception {
        begin(DataSize.ofBytes(0));
        night();
        Files.move(spool, folder.resolve("unmounted"));
        Files.createDirectory(spool);

        assertThatThrownBy(() -> collection.erase(1))
                .isInstanceOf(UncheckedIOException.class)
                .hasMessageContaining("is empty: is its disk mounted?");
        for (String elsewhere :
                List.of("/", folder.resolve("unmounted/item/tree").toString(), spool + "/item", spool + "/tree")) {
            jdbc.sql("update experiment set source_root = convert_to(:root, 'UTF8') where experiment_id = 1")
                    .param("root", elsewhere)
                    .update();
            assertThatThrownBy(() -> collection.erase(1))
                    .as(elsewhere)
                    .isInstanceOf(UncheckedIOException.class)
                    .hasMessageContaining("is no folder of the spool");
        }
        assertThat(Files.list(folder.resolve("unmounted"))).hasSize(10);
    }

    @Test
    void whatAPersonDismissesWhileItIsDescribedIsNotMissing() throws Exception {
        begin(
                DataSize.ofBytes(0),
                item -> new Dismissals(jdbc, arrivals, ledger, CLOCK)
                        .dismiss(Sight.EVERYTHING, id(item), "phantom", "lab"));

        Report report = night();

        assertThat(lines(report)).isEmpty();
        assertThat(findings(report)).isEmpty();
        assertThat(report)
                .extracting(Report::state, Report::itemsTried)
                .containsExactly(Reconciliations.State.EMPTY, 10L);
        assertThat(jdbc.sql("select count(*) from experiment").query(Long.class).single())
                .isZero();
    }

    @Test
    void whatAPersonAcceptsWhileItIsDescribedIsNotMissingAndComesInTheNextNight() throws Exception {
        begin(
                DataSize.ofBytes(0),
                item -> arrivals.accept(Sight.EVERYTHING, id(item), Arrivals.Acceptance.AS_PROPOSED, "lab"));

        Report report = night();

        assertThat(lines(report)).isEmpty();
        assertThat(findings(report)).isEmpty();
        assertThat(night())
                .extracting(Report::state, Report::itemsComplete)
                .containsExactly(Reconciliations.State.EMPTY, 10L);
    }

    @Test
    void aDatabaseThatIsLostIsNotTheOriginsFault() throws Exception {
        begin(
                DataSize.ofBytes(0),
                _ -> jdbc.sql("select pg_terminate_backend(pg_backend_pid())")
                        .query()
                        .singleRow());

        assertThatThrownBy(this::night).matches(LostDatabase::isBehind);

        assertThat(jdbc.sql("select state from reconciliation")
                        .query(String.class)
                        .list())
                .as("the run continues it")
                .containsExactly("RUNNING");
    }

    @Test
    void onlyADefectIsCalledOneAndOtherFailuresOfThisMachineHaveTheirNames() throws Exception {
        List<RuntimeException> failures = new ArrayList<>(List.of(
                new UncheckedIOException(new IOException("No space left on device")),
                new UncategorizedSQLException("look", "select", new SQLException("invalid page in block 7")),
                new IllegalArgumentException("unforeseen")));
        begin(DataSize.ofBytes(0), _ -> {
            throw failures.removeFirst();
        });

        assertThat(night().message())
                .isEqualTo("the spool cannot be read or written: java.io.IOException: No space left on device");
        assertThat(night().message())
                .isEqualTo("the database failed: invalid page in block 7; the next night tries again");
        assertThat(night().message())
                .isEqualTo(
                        "a defect in Dozo: java.lang.IllegalArgumentException: unforeseen; send the log to the developers");
    }

    private long id(String item) {
        return jdbc.sql("select arrival_id from arrival where item = :item")
                .param("item", item)
                .query(Long.class)
                .single();
    }

    private void begin(DataSize roomLeft) throws Exception {
        begin(roomLeft, _ -> {});
    }

    /** @param meanwhile what a person does with an item while it is described */
    private void begin(DataSize roomLeft, Consumer<String> meanwhile) throws Exception {
        CollectSettings settings = new CollectSettings(
                Duration.ofHours(1),
                3,
                Duration.ofMillis(1),
                Duration.ofSeconds(5),
                roomLeft,
                Duration.ZERO,
                Duration.ofHours(1),
                DataSize.ofBytes(1));
        FlywheelCollector collector = new FlywheelCollector(settings, CLOCK) {
            @Override
            public Delivery describe(Origins.Origin origin, Offer offer) throws IOException, InterruptedException {
                Delivery told = super.describe(origin, offer);
                transactions.executeWithoutResult(_ -> meanwhile.accept(offer.item()));
                return told;
            }
        };
        origins = new Origins(jdbc, projects, List.of(collector), ledger, CLOCK);
        arrivals = new Arrivals(jdbc, new Experiments(jdbc, projects, ledger, CLOCK), origins, ledger, CLOCK);
        collection = new Collection(
                jdbc,
                origins,
                arrivals,
                reconciliations,
                new Room(jdbc, settings, CLOCK),
                settings,
                transactions,
                CLOCK);
        save("p", Map.of());
    }

    private void save(@Nullable String project, Map<String, String> projects) throws IOException {
        Path key = Files.writeString(folder.resolve("key"), emulator.key());
        URI address = URI.create("http://localhost:" + emulator.port());
        origins.save(
                "fw",
                new Terms(OriginKind.FLYWHEEL, address, key, List.of(), spool, project, projects, true, true),
                "t");
    }

    /** Returns the reports of a night of a part. */
    private List<Report> reports(String column, String part) throws InterruptedException {
        return reconciliations.of(night("kind, %s".formatted(column), "'nightlyBackup', %s".formatted(part)));
    }

    private Report night() throws InterruptedException {
        return reconciliations.of(night("kind", "'nightlyBackup'")).getFirst();
    }

    private long night(String columns, String values) throws InterruptedException {
        jdbc.sql("update run set state = 'COMPLETE', ended_at = now() where state = 'RUNNING'")
                .update();
        long run = jdbc.sql("""
                        insert into run (site_id, state, requested_by, started_at, %s)
                        select site_id, 'RUNNING', 't', now(), %s from site returning run_id
                        """.formatted(columns, values)).query(Long.class).single();
        boolean more = true;
        while (more) {
            more = collection.next(run);
        }
        return run;
    }

    private List<String> lines(Report report) {
        return reconciliations.lines(Sight.EVERYTHING, report.runId(), true, 0, 100).stream()
                .map(Reconciliations.ReportLine::reason)
                .toList();
    }

    private List<org.assertj.core.groups.Tuple> findings(Report report) {
        return jdbc.sql("select reason, experiment_id from finding where run_id = :run order by finding_id")
                .param("run", report.runId())
                .query((row, n) -> tuple(row.getString("reason"), row.getObject("experiment_id")))
                .list();
    }
}
