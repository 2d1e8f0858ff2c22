package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dozo.certificate.Certificates;
import dozo.copy.Trees;
import dozo.db.TestDatabase;
import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.loopback.LoopbackSite;
import dozo.record.DamagedRecord;
import dozo.record.Loading;
import dozo.record.Loading.Broken;
import dozo.record.Loading.Loaded;
import dozo.record.RecordFiles;
import dozo.record.RecordFolder;
import dozo.record.Records;
import dozo.record.RecordsAtSite;
import dozo.record.RecoveryKey;
import dozo.registry.Refusal;
import dozo.remote.RemoteException;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** Nights write records of the catalogue to the site, and an empty database is filled from them (ADR 0069). */
class RecordsIT extends NightAtSite {

    /** Tables, or their columns, that are not as they were. */
    private static final Set<String> OTHERWISE = Set.of("""
            receipt reading stored damage tag_file protection transfer_unit
            run_worker catalogue_segment catalogue_base own_file found_copy coverage flyway_schema_history
            service_lease service_seen
            """.strip().split("\\s+"));

    private final HikariDataSource other = TestDatabase.fresh();
    private final JdbcClient rebuilt = JdbcClient.create(other);

    @Test
    void anEmptyDatabaseGetsTheCatalogueAsItWas() throws Exception {
        Night.write(source, Map.of("keep/a", "1", "change/b", "2", "gone/c", "3", "type", "4", "rename/d", "5"));
        Files.createSymbolicLink(source.resolve("link"), Path.of("keep/a"));
        Files.createLink(source.resolve("keep/hard"), source.resolve("keep/a"));
        Files.write(
                FilePath.of(new byte[] {'n', (byte) 0x83, (byte) 0x6a, '\n'}).under(source), new byte[] {1});
        Path second = Files.createDirectory(folder.resolve("second"));
        Night.write(second, Map.of("x", "x"));
        night.register("E1", source);
        night.register("E2", second);
        night.complete();
        night.update("update experiment set title = '安静時 fMRI' where code = 'E1'");
        Night.write(source, Map.of("change/b", "twenty-two", "new/e", "6"));
        Files.delete(source.resolve("gone/c"));
        Files.delete(source.resolve("gone"));
        night.complete();
        Files.delete(source.resolve("type"));
        Night.write(source, Map.of("type/now a folder", "7"));
        Files.move(source.resolve("rename/d"), source.resolve("rename/f"));
        record(night.complete());

        Loaded loaded = load(new RecordFolder(root));

        assertThat(loaded.broken()).isEmpty();
        assertThat(loaded.experiments()).isEqualTo(2);
        assertThat(contents(rebuilt)).isEqualTo(contents(night.jdbc()));
        assertThat(count("select count(*) from manifest where experiment_id = 1"))
                .isEqualTo(3);
        assertThat(count("select count(*) from entry_link")).isEqualTo(3);
        assertThat(count("""
                        select count(*) from (select hash = ledger_hash(coalesce(lag(hash) over (order by seq), ''::bytea), seq, at, actor,
                                                                        action, subject, detail) as fits
                                              from ledger) l
                        where not fits
                        """)).as("rows that do not fit the chain").isZero();
        // Nothing is proven, and it is known what was.
        assertThat(count("select sum(entries_safe + files_stored) from protection"))
                .isZero();
        assertThat(count("select count(*) from protection where unprotected_since is not null and tags_unknown"))
                .isEqualTo(2);
        assertThat(count("select count(*) from receipt")).isZero();
        String proven = "select string_agg(n || encode(d, 'hex'), ' ' order by n, d) from (%s) x";
        assertThat(text(rebuilt, proven.formatted("""
                        select n.entry_no as n, substring(f.digests from (n.i::integer - 1) * 32 + 1 for 32) as d
                        from found_copy f cross join lateral unnest(f.entry_nos) with ordinality n (entry_no, i)
                        """)))
                .isEqualTo(
                        text(night.jdbc(), proven.formatted("select entry_no as n, digest as d from entry_receipt")));
        assertThat(count("select count(*) from coverage where until = 'infinity' and entries_safe > 0"))
                .isZero();
        assertThat(
                        text(
                                rebuilt,
                                "select string_agg(entry_nos::text || manifest_no, ' ' order by found_id) from found_copy where experiment_id = 2"))
                .isEqualTo(
                        text(
                                night.jdbc(),
                                "select string_agg(entry_nos::text || manifest_no, ' ' order by receipt_id) from receipt where experiment_id = 2"));
        assertThat(count("select nextval(pg_get_serial_sequence('receipt', 'receipt_id'))"))
                .as("no number is given twice")
                .isGreaterThan(night.count("select max(receipt_id) from receipt"));
    }

    @Test
    void verdictsOnContentComeBack() throws Exception {
        register(Map.of("cut.json", "{", "whole.json", "{}"));
        night.run();
        Night.write(source, Map.of("later.json", "[1"));
        record(night.run());
        assertThat(records("p/E1")).hasSize(2);

        assertThat(load(new RecordFolder(root)).broken()).isEmpty();

        assertThat(contents(rebuilt)).isEqualTo(contents(night.jdbc()));
        assertThat(text(rebuilt, "select string_agg(state, ' ' order by content_id) from content"))
                .isEqualTo(text(night.jdbc(), "select string_agg(state, ' ' order by content_id) from content"))
                .contains("BROKEN", "WHOLE");
        assertThat(count("select nextval(pg_get_serial_sequence('content', 'content_id'))"))
                .as("no number is given twice")
                .isGreaterThan(night.count("select max(content_id) from content"));
    }

    @Test
    void aNightWithoutAChangeWritesNoSegment() throws Exception {
        safe(Map.of("a", "1"));
        List<Path> segments = records("p/E1");
        assertThat(segments).hasSize(1);

        night.complete();

        assertThat(records("p/E1")).isEqualTo(segments);
        assertThat(records("")).hasSize(2);
        assertThat(root.resolve(".dozo/incoming")).isEmptyDirectory();
    }

    @Test
    void aRecordWhoseNoteWasLostIsWrittenAgainAndBothAreUsable() throws Exception {
        safe(Map.of("a", "1"));
        Night.write(source, Map.of("b", "2"));
        night.update("create table before as select * from catalogue_segment");
        night.complete();
        // As if the process had died after the file got its name.
        night.update("update catalogue_segment s set (number, digest, manifest_no, folder_no, entry_no, receipt_id) ="
                + " (b.number, b.digest, b.manifest_no, b.folder_no, b.entry_no, b.receipt_id) from before b");
        night.update("drop table before");
        Night.write(source, Map.of("c", "3"));
        record(night.complete());

        assertThat(records("p/E1")).hasSize(3);
        assertThat(load(new RecordFolder(root)).broken()).isEmpty();
        assertThat(contents(rebuilt)).isEqualTo(contents(night.jdbc()));
    }

    @Test
    void recordsAreReadBySftpToo() throws Exception {
        register(Map.of("a", "1"));
        record(night.complete());

        try (RecordsAtSite files = new RecordsAtSite(site.address())) {
            assertThat(load(files).broken()).isEmpty();
        }
        assertThat(contents(rebuilt)).isEqualTo(contents(night.jdbc()));
    }

    @Test
    void aFileThatIsLongerThanItsSizeIsNoRecord() throws Exception {
        try (LoopbackSite sizeless = LoopbackSite.openSsh(folder.resolve("sizeless"), Path.of("/proc"), 0);
                RecordsAtSite files = new RecordsAtSite(sizeless.address())) {
            assertThatThrownBy(() -> files.open(FilePath.of("version")))
                    .isInstanceOf(RemoteException.class)
                    .hasMessage("version at the site is longer than the 0 bytes of its size");
        }
    }

    @Test
    void anExperimentWithADamagedOrMissingRecordIsLeftOut() throws Exception {
        register(Map.of("a", "1"));
        for (String code : List.of("E2", "E3", "E4")) {
            Path more = Files.createDirectory(folder.resolve(code));
            Night.write(more, Map.of("x", code));
            night.register(code, more);
        }
        night.complete();
        Night.write(folder.resolve("E2"), Map.of("y", "2"));
        Night.write(folder.resolve("E3"), Map.of("y", "3"));
        night.complete();
        Files.delete(records("p/E2").getFirst());
        Files.delete(records("p/E3").getLast());
        Path cut = records("p/E4").getFirst();
        byte[] whole = Files.readAllBytes(cut);
        Files.delete(cut);
        Files.write(cut, Arrays.copyOf(whole, whole.length - 20));

        Loaded loaded = load(new RecordFolder(root));

        assertThat(loaded.experiments()).isEqualTo(1);
        assertThat(loaded.broken()).extracting(Broken::experiment).containsExactly("p/E2", "p/E3", "p/E4");
        assertThat(loaded.broken().stream().map(Broken::reason))
                .satisfiesExactly(
                        missing -> assertThat(missing)
                                .contains("the record .dozo/catalogue/p/E2/")
                                .contains("is missing"),
                        unknown -> assertThat(unknown)
                                .contains("the record .dozo/catalogue/p/E3/")
                                .contains("is missing"),
                        damaged -> assertThat(damaged)
                                .contains("the record .dozo/catalogue/p/E4/")
                                .contains("is damaged or cut"));
        assertThat(count("select count(*) from manifest where experiment_id > 1"))
                .isZero();
        assertThat(count("select count(*) from coverage where until = 'infinity'"))
                .isEqualTo(1);
        assertThat(count("select count(*) from experiment")).isEqualTo(4);
    }

    @Test
    void foreignAndNewerBaseRecordsAreRefusedAndNothingIsLoaded() throws Exception {
        safe(Map.of("a", "1"));
        night.complete();
        RecordFolder files = new RecordFolder(root);
        Digest mine = Digest.ofHex(night.get(Certificates.class).key().fingerprint());

        assertRefused(
                "is signed with another key: " + mine,
                () -> loading().load(files, identity(), Set.of(Digest.OF_NOTHING)));
        assertRefused("expected a private key", () -> loading().load(files, "nothing", Set.of()));
        assertRefused(
                "cannot be decrypted with this key",
                () -> loading()
                        .load(
                                files,
                                "AGE-SECRET-KEY-1T472F0L8XVPLLSMFZ756C7HZ85FPJ7GZSXPV5W4YKJLY5SM6UH2Q9AKGPQ",
                                Set.of()));
        rebuilt.sql("update flyway_schema_history set version = '1' where version is not null")
                .update();
        assertRefused("was written by a newer Dozo", () -> load(files));
        rebuilt.sql("update flyway_schema_history set version = '999999999999' where version is not null")
                .update();
        assertThat(count("select count(*) from project")).isZero();

        assertThat(loading().load(files, identity(), Set.of(mine)).signers()).containsExactly(mine);
        assertRefused("the database is not empty", () -> load(files));
    }

    @Test
    void ofDamagedAndMissingBaseRecordsEverythingElseIsLoaded() throws Exception {
        safe(Map.of("a", "1"));
        night.update("update experiment set title = 'later'");
        night.complete();
        night.complete();
        List<Path> base = records("");
        damage(base.get(1));

        Loaded loaded = load(new RecordFolder(root));

        assertThat(loaded.unusable())
                .satisfiesExactly(
                        damaged -> assertThat(damaged)
                                .contains("the record .dozo/catalogue/"
                                        + base.get(1).getFileName() + " is damaged or cut"),
                        cut -> assertThat(cut).contains("the ledger ends before a row that is missing"));
        assertThat(loaded.experiments()).isEqualTo(1);
        assertThat(count("select count(*) from run")).isEqualTo(3);
        long last = count("select max(seq) from ledger");
        assertThat(last).isLessThan(night.count("select max(seq) from ledger"));
        assertThat(text(rebuilt, "select encode(hash, 'hex') from ledger where seq = " + last))
                .as("the ledger is loaded up to the gap")
                .isEqualTo(text(night.jdbc(), "select encode(hash, 'hex') from ledger where seq = " + last));
    }

    @Test
    void ifTheLastBaseRecordIsDamagedTheOneBeforeIsLoaded() throws Exception {
        safe(Map.of("a", "1"));
        night.complete();
        night.complete();
        List<Path> base = records("");
        Files.delete(base.get(1));
        damage(base.get(2));

        Loaded loaded = load(new RecordFolder(root));

        assertThat(loaded.unusable())
                .singleElement()
                .asString()
                .contains(String.valueOf(base.get(2).getFileName()));
        assertThat(loaded.experiments()).isEqualTo(1);
        assertThat(count("select count(*) from run")).isEqualTo(1);
    }

    @Test
    void aSegmentThatContinuesNoneIsCompleteAlsoForAnEarlierBaseRecord() throws Exception {
        safe(Map.of("a", "1"));
        complete(Map.of("b", "2"));
        night.get(Records.class).renew(1, 1);
        night.complete();
        damage(records("").getLast());

        assertThat(load(new RecordFolder(root)).broken()).isEmpty();
        assertThat(count("select count(*) from manifest")).isEqualTo(2);
    }

    @Test
    void ifTheSiteItselfIsOnlyInADamagedBaseRecordNothingIsLoaded() throws Exception {
        safe(Map.of("a", "1"));
        night.complete();
        damage(records("").getFirst());

        assertThatThrownBy(() -> load(new RecordFolder(root)))
                .isInstanceOf(DamagedRecord.class)
                .hasMessageContaining("do not describe the site")
                .hasMessageContaining("is damaged or cut");
        assertThat(count("select count(*) from project")).isZero();
    }

    @Test
    void ifNoBaseRecordIsUsableNothingIsLoaded() throws Exception {
        safe(Map.of("a", "1"));
        damage(records("").getFirst());

        assertThatThrownBy(() -> load(new RecordFolder(root)))
                .isInstanceOf(DamagedRecord.class)
                .hasMessageContaining("is damaged or cut");
        assertThat(count("select count(*) from project")).isZero();
    }

    static void damage(Path record) throws IOException {
        byte[] altered = Files.readAllBytes(record);
        altered[altered.length / 2] ^= 1;
        Files.delete(record);
        Files.write(record, altered);
    }

    @Test
    void aNightWithoutAKeyHasAFindingAndTheNextOneWritesWhatIsMissing() throws Exception {
        register(Map.of("a", "1"));
        Path key = Night.KEYS.resolve("recovery-key");
        Files.deleteIfExists(key);
        Files.writeString(key, "not a key");
        try {
            Run run = night.run();

            assertThat(run.state()).isEqualTo(RunState.FINDINGS);
            night.assertOnly(run, Problem.UNRECORDED, "is not a usable recovery key");
            assertThat(night.coverage().safe()).isTrue();
        } finally {
            Files.delete(key);
            // As a restart does.
            new RecoveryKey(key).create();
        }
        night.complete();
        assertThat(records("p/E1")).hasSize(1);
    }

    @Test
    void whatKeepsTheNameOfTheFolderIsAFindingOfThatExperiment() throws Exception {
        register(Map.of("a", "1"));
        Path more = Files.createDirectory(folder.resolve("E2"));
        Night.write(more, Map.of("x", "2"));
        night.register("E2", more);
        Path inTheWay = root.resolve(".dozo/catalogue/p/E1");
        Files.createDirectories(inTheWay.getParent());
        Files.writeString(inTheWay, "foreign");

        Run run = night.run();

        assertThat(night.findings(run)).singleElement().satisfies(finding -> {
            assertThat(finding.reason()).isEqualTo(Problem.UNRECORDED);
            assertThat(finding.experiment()).isEqualTo("p/E1");
        });
        assertThat(inTheWay).hasContent("foreign");
        assertThat(records("p/E2")).hasSize(1);
        assertThat(records("")).hasSize(1);
    }

    private static void assertRefused(String why, ThrowingCallable work) {
        assertThatThrownBy(work).isInstanceOf(Refusal.class).hasMessageContaining(why);
    }

    /** Records the catalogue after a run, so that the record has the run's end. */
    private void record(Run run) throws Exception {
        NightFlow flow = night.get(NightFlows.class).of(run.id(), 1);
        // Its check of the site changes a row, which is to be in the record.
        assertThat(night.get(Senders.class).of(run.id(), 1)).isNotNull();
        night.get(Recording.class).record(flow);
        night.get(NightFlows.class).close(run.id());
        night.get(Senders.class).close(run.id());
    }

    private Loaded load(RecordFiles files) throws Exception {
        return loading().load(files, identity(), Set.of());
    }

    private static String identity() throws IOException {
        return Files.readString(Night.KEYS.resolve("recovery-key"));
    }

    private Loading loading() {
        return new Loading(new JdbcTemplate(other), new JdbcTransactionManager(other), InstantSource.system());
    }

    /** Returns the record files of an experiment, or of the base for "", oldest first. */
    private List<Path> records(String experiment) throws IOException {
        return Trees.files(root.resolve(".dozo/catalogue").resolve(experiment));
    }

    private long count(String sql) {
        return rebuilt.sql(sql).query(Long.class).single();
    }

    private static String text(JdbcClient jdbc, String sql) {
        return jdbc.sql(sql).query(String.class).single();
    }

    /** Returns all rows of each table, as text. */
    private static Map<String, String> contents(JdbcClient jdbc) {
        Map<String, String> contents = new TreeMap<>();
        List<String> tables = jdbc.sql("""
                        select relname from pg_class
                        where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p') and not relispartition
                          and relname not like 'batch%'
                        """).query(String.class).list();
        for (String table : tables) {
            if (!OTHERWISE.contains(table)) {
                String row = table.equals("directory") ? "(t.experiment_id, t.directory_no, t.path, t.entries)" : "t";
                contents.put(
                        table,
                        String.valueOf(jdbc.sql(
                                        "select string_agg(%1$s::text, e'\\n' order by %1$s::text collate \"C\") from %2$s t"
                                                .formatted(row, table))
                                .query((found, n) -> String.valueOf(found.getString(1)))
                                .single()));
            }
        }
        return contents;
    }
}
