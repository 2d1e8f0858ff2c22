package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dozo.audit.AuditReports;
import dozo.copy.Trees;
import dozo.db.Race;
import dozo.db.TestDatabase;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Findings.KeptFinding;
import dozo.ledger.Sight;
import dozo.loopback.LoopbackSite;
import dozo.record.Loading;
import dozo.record.RecordFolder;
import dozo.registry.Erasures;
import dozo.registry.Erasures.Erasure;
import dozo.registry.Erasures.ErasureAtSite;
import dozo.registry.Erasures.State;
import dozo.registry.Holds;
import dozo.registry.Refusal;
import dozo.registry.Sites;
import dozo.remote.GuardedSite;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Instant;
import java.time.InstantSource;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import javax.sql.DataSource;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.util.FileSystemUtils;

/** An erased experiment is gone from the catalogue and from every site, and nothing else is. */
class ErasingIT extends NightAtSite {

    private static final String[] SETTINGS = {"dozo.erasure.waiting=0s"};
    private static final int FILES = 6_000;
    private static final String NAME = "YAMADA_Hanako";

    /** The source of experiment {@code p/E2}, which stays. */
    private Path other;

    private Erasures erasures;

    ErasingIT() {
        super(SETTINGS);
    }

    @BeforeEach
    void register() throws IOException {
        erasures = night.get(Erasures.class);
        Night.write(
                source,
                Map.of(NAME + "/scan", "1", NAME + "/changes", "2", "deep/er/and/deeper", "3", "new\nline", "4"));
        Files.createSymbolicLink(source.resolve("link"), Path.of("/etc"));
        Files.createSymbolicLink(source.resolve("dangling"), Path.of(NAME));
        Files.createLink(source.resolve("hard"), source.resolve("new\nline"));
        Files.write(FilePath.of(new byte[] {(byte) 0x83, 'x'}).under(source), new byte[] {1});
        Files.createDirectories(source.resolve("closed/in"));
        Files.writeString(source.resolve("closed/in/file"), "5");
        for (String closed : List.of("closed/in", "closed")) {
            Files.setPosixFilePermissions(source.resolve(closed), PosixFilePermissions.fromString("r-xr-x---"));
        }
        other = Files.createDirectory(folder.resolve("other"));
        Night.write(other, Map.of("a/b", "stays"));
        night.register("E1", source);
        night.register("E2", other);
    }

    @Test
    void anErasedExperimentIsGoneFromTheCatalogueAndTheSiteAndNothingElseIs() throws Exception {
        versions();
        Map<Path, String> stays = everythingOf("E2");
        List<Path> records = records();
        Instant before = Instant.now();
        assertThat(records).hasSizeGreaterThan(1);

        Erasure asked = erasures.request(Sight.EVERYTHING, "p", "E1", "a subject's wish", "lab");
        assertThat(asked.state()).isEqualTo(State.REQUESTED);
        night.complete();
        assertThat(bag).as("nobody has approved it").exists();
        assertThat(erasures.approve(asked.id(), "admin").orElseThrow().state()).isEqualTo(State.APPROVED);
        night.complete();

        Erasure erased = erasures.find(Sight.EVERYTHING, asked.id()).orElseThrow();
        assertThat(erased.state()).isEqualTo(State.ERASED);
        assertThat(erased.manifests()).isEqualTo(2);
        assertThat(erased.files()).isEqualTo(7);
        assertThat(erased.receipts()).isPositive();
        assertThat(pathsAtSite()).noneMatch(path -> path.contains("p/E1"));
        assertThat(everythingOf("E2")).isEqualTo(stays);
        assertThat(records()).as("one record, which continues none").hasSize(1).doesNotContainAnyElementsOf(records);
        assertThat(source.resolve(NAME + "/scan"))
                .as("the source is the researchers' own")
                .hasContent("1");
        assertThat(tablesWith(night.jdbc(), NAME)).isEmpty();
        assertThat(rowsOf(asked)).isEmpty();
        assertThat(ledgerOf("p/E1"))
                .endsWith(
                        "erasure.requested",
                        "erasure.approved",
                        "erasure.begun",
                        "erasure.removed",
                        "erasure.completed")
                .contains("experiment.registered");
        assertThat(night.count("""
                        select count(*) from (select hash = ledger_hash(coalesce(lag(hash) over (order by seq), ''::bytea), seq, at, actor,
                                                                        action, subject, detail) as fits
                                              from ledger) l
                        where not fits
                        """))
                .as("rows of the ledger that do not fit the chain")
                .isZero();
        assertThat(night.coverage().experiments()).isEqualTo(1);
        AuditReports reports = night.get(AuditReports.class);
        assertThat(reports.of(Sight.EVERYTHING, null, before).erasedSince()).isEqualTo(1);
        assertThat(reports.of(Sight.of(List.of("q")), null, before).erasedSince())
                .isZero();
        assertThat(reports.of(Sight.EVERYTHING, null, null).erasedSince()).isZero();
        assertThat(night.coverage().safe()).isTrue();
        NightlyBackupIT.assertChecks(root.resolve("p/E2"));
        night.complete();
    }

    @Test
    void aCatalogueThatIsRebuiltAfterwardsDoesNotHaveIt() throws Exception {
        versions();
        erase();
        night.complete();
        night.complete();

        DataSource fresh = TestDatabase.fresh();
        JdbcClient rebuilt = JdbcClient.create(fresh);
        Loading loading =
                new Loading(new JdbcTemplate(fresh), new JdbcTransactionManager(fresh), InstantSource.system());
        String identity = Files.readString(Night.KEYS.resolve("recovery-key"));
        assertThat(loading.load(new RecordFolder(root), identity, Set.of()).broken())
                .isEmpty();

        assertThat(rebuilt.sql("select string_agg(code, ' ') from experiment")
                        .query(String.class)
                        .single())
                .isEqualTo("E2");
        assertThat(tablesWith(rebuilt, NAME)).isEmpty();
        assertThat(rebuilt.sql("select count(*) from erasure where completed_at is not null")
                        .query(Long.class)
                        .single())
                .isEqualTo(1);
    }

    @Test
    void theCodeOfAnErasedExperimentIsNotGivenAgain() throws Exception {
        night.complete();
        erase();
        night.complete();

        assertThatThrownBy(() -> night.register("E1", source))
                .isInstanceOf(Refusal.class)
                .hasMessage("experiment p/E1 was erased; its code is not given again");
        night.register("E3", source);
    }

    @Test
    void whoRequestedAnErasureCannotApproveIt() {
        Erasure asked = erasures.request(Sight.EVERYTHING, "p", "E1", "wish", "Admin");

        assertThatThrownBy(() -> erasures.approve(asked.id(), "admin"))
                .isInstanceOf(Refusal.class)
                .hasMessage("erasure 1 was requested by Admin; another person has to approve it");
        assertThatThrownBy(() -> night.update(
                        "update erasure set approved_by = 'ADMIN', approved_at = now(), not_before = now()"))
                .as("nor by SQL")
                .isInstanceOf(DataAccessException.class);
    }

    @Test
    void anErasureGoesOnInOneDirectionOnly() throws Exception {
        Erasure asked = erasures.request(Sight.EVERYTHING, "p", "E1", "wish", "lab");
        assertRefused(
                () -> erasures.request(Sight.EVERYTHING, "p", "E1", "wish", "other"),
                "an erasure of experiment p/E1 is requested already");
        assertRefused(
                () -> erasures.request(Sight.of(List.of("q")), "p", "E1", "wish", "lab"),
                "experiment \"p/E1\" does not exist");
        assertRefused(
                () -> erasures.request(Sight.EVERYTHING, "p", "E2", " ", "lab"),
                "expected a reason of 1 to 500 characters in one line");
        assertRefused(
                () -> erasures.state(asked.id(), "dr", "burnt", "admin"), "the erasure of p/E1 has not been approved");
        assertThat(erasures.withdraw(Sight.of(List.of("q")), asked.id(), "lab")).isEmpty();
        erasures.withdraw(Sight.EVERYTHING, asked.id(), "lab");
        assertRefused(() -> erasures.approve(asked.id(), "admin"), "the erasure of p/E1 was withdrawn");
        assertThat(erasures.approve(99, "admin")).isEmpty();

        Erasure again = erase();
        assertRefused(() -> erasures.approve(again.id(), "admin"), "the erasure of p/E1 is approved and has not begun");
        night.complete();
        assertRefused(() -> erasures.withdraw(Sight.EVERYTHING, again.id(), "lab"), "the erasure of p/E1 is complete");
        assertRefused(
                () -> erasures.state(again.id(), "dr", "burnt", "admin"),
                "erasure 2 has nothing left to do at site \"dr\"");
        for (String forbidden : List.of(
                "delete from erasure", "delete from erasure_site", "update erasure set requested_by = 'other'")) {
            assertThatThrownBy(() -> night.update(forbidden)).as(forbidden).isInstanceOf(DataAccessException.class);
        }
    }

    @Test
    void evidenceOfExperimentsThatAreNotErasedIsStillNotDeleted() throws Exception {
        night.complete();
        erase();
        night.complete();

        for (String table : List.of("receipt", "manifest", "coverage", "experiment_owner")) {
            assertThatThrownBy(() -> night.jdbc().sql("delete from " + table).update())
                    .as(table)
                    .isInstanceOf(DataAccessException.class)
                    .hasMessageContaining("evidence");
        }
    }

    @Test
    void aHoldOrAWaitingTimeOrARestoreKeepsItFromBeginning() throws Exception {
        night.complete();
        Holds holds = night.get(Holds.class);
        long project = holds.place("p", null, "court", null, "admin").id();
        assertRefused(
                () -> erasures.request(Sight.EVERYTHING, "p", "E1", "wish", "lab"),
                "hold 1 stands on p (by admin: court); nothing of it may be removed until the hold is ended");
        holds.end(project, "over", "admin");
        Erasure asked = erasures.request(Sight.EVERYTHING, "p", "E1", "wish", "lab");
        long hold = holds.place("p", 1, "court", null, "admin").id();
        assertRefused(
                () -> erasures.approve(asked.id(), "admin"),
                "hold 2 stands on p/E1 (by admin: court); nothing of it may be removed until the hold is ended");
        holds.end(hold, "over", "admin");
        erasures.approve(asked.id(), "admin");
        long late = holds.place("p", 1, "another court", null, "admin").id();

        assertThat(messages(night.run())).containsExactly("erasure 1 of p/E1: hold 3 stands on p/E1");
        assertThat(erasures.find(Sight.EVERYTHING, asked.id()).orElseThrow().message())
                .isEqualTo("hold 3 stands on p/E1");
        holds.end(late, "over", "admin");
        long restore = night.jdbc().sql("""
                        insert into restore (experiment_id, manifest_no, site_id, folder, requested_by, requested_at)
                        values (1, 1, 1, '/elsewhere', 'lab', now())
                        returning restore_id
                        """).query(Long.class).single();
        assertThat(messages(night.run()))
                .containsExactly("erasure 1 of p/E1: restore %d of it is under way".formatted(restore));
        assertThat(bag).exists();
        night.update("update restore set state = 'STOPPED', ended_at = now()");

        night.complete();
        assertThat(bag).doesNotExist();
        assertThat(ledgerOf("p/E1")).endsWith("erasure.completed");
    }

    @Test
    void whatIsBeingCopiedIsNotErasedBeforeTheNextNight() throws Exception {
        Run copying = night.whileHolding("lock table receipt in share mode", () -> {
            Run started = night.start();
            night.awaitHeldUp("relation = 'receipt'::regclass");
            erase();
            return started;
        });
        assertThat(night.await(copying).state()).isEqualTo(RunState.COMPLETE);
        night.awaitIdle();
        assertThat(bag).exists();
        assertThat(night.coverage().experimentsSafe()).isEqualTo(2);

        night.complete();
        assertThat(bag).doesNotExist();
    }

    @Test
    void whatIsWithdrawnJustBeforeItsTurnIsNoFinding() throws Exception {
        night.complete();
        erase();
        Erasure second = erasures.request(Sight.EVERYTHING, "p", "E2", "wish", "lab");
        erasures.approve(second.id(), "admin");
        Run run = night.whileHolding("select from experiment where code = 'E1' for key share", () -> {
            Run started = night.start();
            Race.awaitWaiting(database);
            erasures.withdraw(Sight.EVERYTHING, second.id(), "lab");
            return started;
        });

        assertThat(messages(night.await(run))).isEmpty();
        assertThat(state(second)).isEqualTo(State.WITHDRAWN);
        assertThat(bag).doesNotExist();
        assertThat(root.resolve("p/E2/data/a/b")).hasContent("stays");
    }

    @Test
    void withinItsWaitingTimeNothingIsErased() throws Exception {
        restart();
        erasures = night.get(Erasures.class);
        night.complete();
        Erasure asked = erase();

        night.complete();

        assertThat(bag).exists();
        assertThat(state(asked)).isEqualTo(State.APPROVED);
        erasures.withdraw(Sight.EVERYTHING, asked.id(), "lab");
        night.complete();
        assertThat(bag).exists();
    }

    @Test
    void whatASiteDoesNotRemoveIsToldAndTriedAgain() throws Exception {
        night.complete();
        int port = site.address().port();
        site.close();
        site = LoopbackSite.openSsh(folder.resolve("sshd"), root, port, "ForceCommand internal-sftp -P rmdir");
        Erasure asked = erase();

        Run run = night.run();

        assertThat(run.state()).isEqualTo(RunState.FINDINGS);
        assertThat(messages(run))
                .singleElement()
                .asString()
                .startsWith("erasure 1 of p/E1: it could not be removed from the site: ");
        assertThat(state(asked)).isEqualTo(State.ERASING);
        assertThat(erasures.sites(asked.id()).getFirst().message()).contains("p/E1");
        assertThat(rowsOf(asked)).as("at home it is gone").isEmpty();

        site.close();
        site = LoopbackSite.openSsh(folder.resolve("sshd"), root, port);
        night.complete();
        assertThat(pathsAtSite()).noneMatch(path -> path.contains("p/E1"));
        assertThat(ledgerOf("p/E1")).endsWith("erasure.removed", "erasure.completed");
    }

    @Test
    void aHardenedSiteKeepsItUntilAPersonStatesThatItIsGone() throws Exception {
        Path hard = folder.resolve("hard");
        try (LoopbackSite guarded = GuardedSite.start(folder.resolve("sshd2"), hard)) {
            night.get(Sites.class).save("hard", guarded.address(), "test");
            night.complete();
            night.run("hard");
            Erasure asked = erase();
            night.complete();
            assertThat(state(asked)).as("not at the other site yet").isEqualTo(State.ERASING);

            assertThat(messages(night.run("hard")))
                    .singleElement()
                    .asString()
                    .contains("it could not be removed from the site");
            assertThat(hard.resolve("p/E1/data/link")).isSymbolicLink();

            erasures.state(asked.id(), "hard", "removed by the site's administrators", "admin");
            assertThat(state(asked)).isEqualTo(State.ERASED);
            assertThat(erasures.sites(asked.id()))
                    .extracting(ErasureAtSite::site, ErasureAtSite::statedBy)
                    .containsExactly(tuple("dr", null), tuple("hard", "admin"));
        }
    }

    @Test
    void aFolderThatIsThereAgainIsRemovedByTheNextNight() throws Exception {
        night.complete();
        Erasure asked = erase();
        Run run = night.startAndHoldUpBefore("compare", () -> {
            assertThat(bag).doesNotExist();
            Files.createDirectories(bag.resolve("data"));
            Files.writeString(bag.resolve("data/from-a-snapshot"), "1");
        });
        assertThat(messages(night.await(run)))
                .containsExactly(
                        "erasure 1 of p/E1: it could not be removed from the site: the folder p/E1 is there again");
        night.awaitIdle();
        assertThat(state(asked)).isEqualTo(State.ERASING);

        night.complete();

        assertThat(bag).doesNotExist();
        assertThat(state(asked)).isEqualTo(State.ERASED);
    }

    @Test
    void nothingBehindALinkIsRemoved() throws Exception {
        night.complete();
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        Files.writeString(elsewhere.resolve("precious"), "keep");
        Path versions = root.resolve(".dozo/versions");
        Files.createDirectories(versions.resolve("p"));
        Files.createSymbolicLink(versions.resolve("p/E1"), elsewhere);
        Files.createSymbolicLink(bag.resolve("data/to"), elsewhere);
        erase();

        assertThat(messages(night.run()))
                .singleElement()
                .asString()
                .contains(".dozo/versions/p/E1 is not a folder; nothing behind it was removed");
        assertThat(elsewhere.resolve("precious")).hasContent("keep");
        assertThat(bag).doesNotExist();

        Files.delete(versions.resolve("p/E1"));
        night.complete();
        assertThat(elsewhere.resolve("precious")).hasContent("keep");
    }

    @Test
    void aSiteWhoseDiskIsNotMountedIsNotTakenForAnEmptyOne() throws Exception {
        night.complete();
        Erasure asked = erase();
        Path disk = folder.resolve("disk");
        Files.move(root, disk);
        Files.createDirectory(root);

        assertThat(messages(night.run())).anyMatch(each -> each.contains("has no folder .dozo/ledger"));
        assertThat(erasures.sites(asked.id()).getFirst().removedAt()).isNull();

        FileSystemUtils.deleteRecursively(root);
        Files.move(disk, root);
        night.complete();
        assertThat(bag).doesNotExist();
        assertThat(state(asked)).isEqualTo(State.ERASED);
    }

    @Test
    void aProcessThatIsKilledWhileItErasesIsContinuedByTheNext() throws Exception {
        for (int i = 0; i < FILES; i++) {
            Path file = source.resolve("series" + i % 60).resolve("image" + i);
            Files.createDirectories(file.getParent());
            Files.writeString(file, "image " + i);
        }
        night.complete();
        Erasure asked = erase();
        night.close();
        long all = filesInBag();

        NightProcess.start(256, folder.resolve("child.log"), site.address(), database, SETTINGS)
                .killWhen(() -> filesInBag() < all);
        assertThat(bag).as("killed in the middle, not after the end").exists();

        night = new Night(database, site.address(), SETTINGS);
        erasures = night.get(Erasures.class);
        night.goOn();
        assertThat(pathsAtSite()).noneMatch(path -> path.contains("p/E1"));
        assertThat(root.resolve("p/E2/data/a/b")).hasContent("stays");
        assertThat(state(asked)).isEqualTo(State.ERASED);
        assertThat(ledgerOf("p/E1").stream().filter("erasure.begun"::equals)).hasSize(1);
    }

    private long filesInBag() throws IOException {
        String[] folders = bag.resolve("data").toFile().list();
        long files = 0;
        for (String each : folders == null ? new String[0] : folders) {
            String[] names = bag.resolve("data").resolve(each).toFile().list();
            files += names == null ? 0 : names.length;
        }
        return files;
    }

    private Erasure erase() {
        Erasure asked = erasures.request(Sight.EVERYTHING, "p", "E1", "wish", "lab");
        return erasures.approve(asked.id(), "admin").orElseThrow();
    }

    /** Two nights, so that the site has versions of replaced files, and more than one record. */
    private void versions() throws IOException {
        night.complete();
        Files.writeString(source.resolve(NAME + "/changes"), "twenty-two");
        night.complete();
        assertThat(root.resolve(".dozo/versions/p/E1")).isDirectory();
    }

    private State state(Erasure erasure) {
        return erasures.find(Sight.EVERYTHING, erasure.id()).orElseThrow().state();
    }

    private List<String> messages(Run run) {
        return night.findings(run).stream()
                .filter(finding -> finding.reason() == Problem.UNERASED)
                .map(KeptFinding::message)
                .toList();
    }

    private List<String> ledgerOf(String subject) {
        return night.jdbc()
                .sql("select action from ledger where subject = :subject order by seq")
                .param("subject", subject)
                .query(String.class)
                .list();
    }

    private List<Path> records() throws IOException {
        return Trees.files(root.resolve(".dozo/catalogue"));
    }

    private List<String> pathsAtSite() throws IOException {
        return Trees.all(root).stream()
                .map(path -> root.relativize(path).toString())
                .toList();
    }

    /** Returns the files at the site of an experiment, with their content. */
    private Map<Path, String> everythingOf(String code) throws IOException {
        Map<Path, String> contents = new TreeMap<>();
        for (Path path : Trees.all(root.resolve("p").resolve(code))) {
            if (Files.isRegularFile(path)) {
                contents.put(path, Files.readString(path, StandardCharsets.ISO_8859_1));
            }
        }
        return contents;
    }

    /** Returns the tables with a row that contains a text, as text or as bytes. */
    private static List<String> tablesWith(JdbcClient jdbc, String text) {
        List<String> tables = jdbc.sql("""
                        select c.relname from pg_class c
                        where c.relnamespace = current_schema()::regnamespace and c.relkind = 'r' order by 1
                        """).query(String.class).list();
        return tables.stream()
                .filter(table -> jdbc.sql("""
                                select exists (select from %s t
                                               where to_jsonb(t)::text like '%%' || :text || '%%'
                                                  or to_jsonb(t)::text like '%%' || encode(convert_to(:text, 'UTF8'), 'hex') || '%%')
                                """.formatted(table))
                        .param("text", text)
                        .query(Boolean.class)
                        .single())
                .toList();
    }

    /** Returns the tables with a row that has the number of an erased experiment. */
    private List<String> rowsOf(Erasure erased) {
        return night.texts("""
                        select c.relname from pg_class c join pg_attribute a on a.attrelid = c.oid
                        where c.relnamespace = current_schema()::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
                          and a.attname = 'experiment_id' and c.relname <> 'erasure'
                        """).stream()
                .filter(table -> night.count("""
                        select count(*) from %s where experiment_id = (select experiment_id from erasure where erasure_id = %d)
                        """.formatted(table, erased.id())) > 0)
                .toList();
    }

    private static void assertRefused(ThrowingCallable asked, String message) {
        assertThatThrownBy(asked).isInstanceOf(Refusal.class).hasMessage(message);
    }
}
