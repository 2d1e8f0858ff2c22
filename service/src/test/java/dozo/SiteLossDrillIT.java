package dozo;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dozo.copy.Trees;
import dozo.db.Program;
import dozo.db.StartsServices;
import dozo.db.TestDatabase;
import dozo.drill.SiteDrills;
import dozo.drill.SiteDrills.SiteDrill;
import dozo.drill.SiteDrills.SiteDrillState;
import dozo.loopback.LoopbackSite;
import dozo.people.Role;
import dozo.remote.SiteAddress;
import dozo.remote.Tmpfs;
import dozo.run.Runs;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With nothing but a site and the recovery key, the centre could be rebuilt; whatever is wrong with them is found and named. */
@StartsServices(1)
class SiteLossDrillIT {

    private static final Duration LIMIT = Duration.ofMinutes(10);
    private static final int EXPERIMENTS = 7;

    @TempDir
    static Path folder;

    private static LoopbackSite server;
    private static RunningService service;
    private static Path pristine;
    private static Path drills;
    private static String key;

    @BeforeAll
    static void open() throws Exception {
        pristine = Files.createDirectory(folder.resolve("dr"));
        drills = folder.resolve("drills");
        server = LoopbackSite.openSsh(folder.resolve("sshd"), pristine, 0);
        service = RunningService.start(
                folder.resolve("work"), TestDatabase.fresh(), Map.of("dozo.drill.folder", drills.toString()));
        service.saveSite("dr", server.address());
        for (int i = 1; i <= EXPERIMENTS; i++) {
            Path source = Files.createDirectories(folder.resolve("source" + i).resolve("sub"));
            Files.write(source.resolve("scan"), Trees.random(20_000 * i, i));
            Files.writeString(source.resolve("changed"), "first");
            service.createExperiment(i < 5 ? "p" : "q", "E" + i, source.resolveSibling(""));
        }
        service.createUser("op", Role.OPERATOR);
        service.createUser("lab", Role.LAB_MANAGER, "p");
        service.backUp();
        Files.writeString(folder.resolve("source1/sub/changed"), "the second content");
        service.createExperiment("p", "late", Files.createDirectory(folder.resolve("late")));
        service.backUp();
        key = Files.readString(folder.resolve("work/recovery-key"));
    }

    @AfterAll
    static void close() {
        service.close();
        server.close();
    }

    @AfterEach
    void nothingIsLeft() throws IOException {
        service.bean(ShiftedClock.class).right();
        if (Files.exists(drills)) {
            assertThat(Trees.in(drills)).isEmpty();
        }
        assertThat(ProcessHandle.allProcesses()
                        .filter(each -> each.info().commandLine().orElse("").contains("site-drill-")))
                .isEmpty();
    }

    @Test
    void aHealthySiteHasEverythingAndTheTimeIsForecast() throws Exception {
        SiteDrill drill = drill(pristine, key, false);

        assertThat(drill.evidence().told()).isEmpty();
        assertThat(drill.state()).isEqualTo(SiteDrillState.COMPLETE);
        assertThat(drill.evidence().differences()).isZero();
        assertThat(drill.evidence().rowsCompared())
                .isGreaterThan(drill.evidence().rowsExplained())
                .isGreaterThan(100);
        assertThat(drill.evidence().digestsCompared()).isEqualTo(3 * EXPERIMENTS + 1);
        assertThat(drill.evidence().experiments()).isEqualTo(EXPERIMENTS);
        assertThat(drill.evidence().restored()).isEqualTo(EXPERIMENTS);
        assertThat(drill.evidence().restoredBytes()).isGreaterThan(28 * 20_000);
        assertThat(drill.evidence().rtoSeconds())
                .isGreaterThan(requireNonNull(drill.evidence().rebuildSeconds()));
        assertThat(drill.evidence().rtoLeastSeconds())
                .isLessThanOrEqualTo(drill.evidence().rtoSeconds());
        assertThat(drill.evidence().rtoMostSeconds())
                .isGreaterThanOrEqualTo(drill.evidence().rtoSeconds());
        assertThat(drill.evidence().recentExperiments()).isEqualTo(EXPERIMENTS);
        assertThat(drill.evidence().recentSeconds())
                .isLessThanOrEqualTo(drill.evidence().rtoSeconds());
        assertThat(drill.evidence().limitedBy()).isNotNull();
        assertThat(drill.message()).contains("nothing was written at the site");

        service.get("/api/v1/site-drills").has("/items/0/state", "COMPLETE");
        service.get("/api/v1/site-drills/" + drill.id()).has("/evidence/differences", 0);
        assertThat(service.page(service.browser(), "/drills")).contains("Everything lost but a site", "mostly the");
        assertThat(service.page(service.browser("lab"), "/drills")).doesNotContain("Everything lost but a site");
        assertThat(service.as("lab").get("/api/v1/site-drills").status()).isEqualTo(403);
        assertThat(service.as("op")
                        .post("/api/v1/site-drills", "{\"site\": \"no\"}")
                        .status())
                .isBetween(400, 499);
        assertThat(service.ledger()).anySatisfy(row -> {
            assertThat(row.action()).isEqualTo("site.drilled");
            assertThat(row.detail()).contains("COMPLETE");
        });
        assertKeyNowhere();
    }

    /** The key is in no table, in no file but its own, and in no output. */
    private static void assertKeyNowhere() throws Exception {
        String secret =
                key.lines().filter(line -> line.startsWith("AGE-")).findFirst().orElseThrow();
        Program found = Program.run("grep", "-rl", "--", secret, folder.toString());
        assertThat(found.output().lines())
                .containsExactly(folder.resolve("work/recovery-key").toString());
        assertThat(service.count("select count(*) from site_drill d where d::text like '%AGE-SECRET%'"))
                .isZero();
        assertThat(service.count("select count(*) from ledger l where l::text like '%AGE-SECRET%'"))
                .isZero();
    }

    @Test
    void ofEachExperimentWhatIsWrongIsFoundAndNamed() throws Exception {
        Path site = copy();
        Trees.flip(onlyRecord(site, "p/E2"), 300);
        Files.delete(onlyRecord(site, "p/E3"));
        cut(onlyRecord(site, "p/E4"));
        Trees.delete(site.resolve("q/E5"));
        Trees.delete(site.resolve("q/E6"));
        Program.succeed(
                "cp",
                "-a",
                site.resolve("q/E7").toString(),
                site.resolve("q/E6").toString());
        Files.writeString(site.resolve("q/E7/bag-info.txt"), "Contact-Name: nobody\n", StandardOpenOption.APPEND);
        Trees.delete(site.resolve(".dozo/versions"));

        SiteDrill drill = drill(site, key, false);

        assertThat(drill.state()).isEqualTo(SiteDrillState.FINDINGS);
        for (String name : List.of("p/E2", "p/E3", "p/E4")) {
            assertThat(drill.evidence().told())
                    .anySatisfy(told -> assertThat(told).contains("the records of " + name));
        }
        assertThat(drill.evidence().told())
                .anySatisfy(told -> assertThat(told).contains("q/E5/data/sub/scan"))
                .anySatisfy(told -> assertThat(told).contains("experiment q/E6", "is that of experiment \"q/E7\""))
                .anySatisfy(told -> assertThat(told).contains("experiment q/E7", "bag-info.txt", "tag manifest"))
                .anySatisfy(told -> assertThat(told).contains(".dozo/versions/p/E1"));
    }

    @Test
    void aWrongKeyIsRefused() throws Exception {
        String other = key.replaceAll("(?m)^#.*$", "").strip();
        char last = other.charAt(other.length() - 1);
        SiteDrill wrong = drill(pristine, other.substring(0, other.length() - 1) + (last == 'Q' ? 'P' : 'Q'), false);

        assertThat(wrong.state()).isEqualTo(SiteDrillState.FAILED);
        assertThat(wrong.message()).contains("was not rebuilt");
        assertThat(wrong.message()).doesNotContain("AGE-SECRET-KEY-1" + other.charAt(16));
    }

    @Test
    void aBaseRecordThatIsMissingIsNamed() throws Exception {
        Path site = copy();
        Files.delete(lastBase(site));

        SiteDrill drill = drill(site, key, true);

        assertThat(drill.state()).isEqualTo(SiteDrillState.FINDINGS);
        assertThat(drill.evidence().told())
                .anySatisfy(told -> assertThat(told).contains("this catalogue wrote its last one at"));
    }

    @Test
    void halfOfABaseRecordIsNamed() throws Exception {
        Path site = copy();
        cut(lastBase(site));

        SiteDrill drill = drill(site, key, true);

        assertThat(drill.state()).isEqualTo(SiteDrillState.FINDINGS);
        assertThat(drill.evidence().told())
                .anySatisfy(told ->
                        assertThat(told).contains(String.valueOf(lastBase(site).getFileName())));
    }

    @Test
    void aWrongClockIsNamed() throws Exception {
        service.bean(ShiftedClock.class).reads(Instant.now().minus(Duration.ofDays(40)));

        SiteDrill drill = drill(pristine, key, true);

        assertThat(drill.state()).isEqualTo(SiteDrillState.FINDINGS);
        assertThat(drill.evidence().told())
                .singleElement()
                .satisfies(told -> assertThat(told).contains("a clock is or was wrong"));
    }

    @Test
    void aLedgerThatWasForkedIsNamed() throws Exception {
        String actor = service.jdbc()
                .sql("select actor from ledger where seq = 3")
                .query(String.class)
                .single();
        fork("somebody else");
        try {
            SiteDrill drill = drill(pristine, key, true);

            assertThat(drill.state()).isEqualTo(SiteDrillState.FINDINGS);
            assertThat(drill.evidence().told()).containsExactly("ledger (3): other in the records: actor");
        } finally {
            fork(actor);
        }
    }

    private static void fork(String actor) {
        service.jdbc().sql("alter table ledger disable trigger all").update();
        service.jdbc()
                .sql("update ledger set actor = :actor where seq = 3")
                .param("actor", actor)
                .update();
        service.jdbc().sql("alter table ledger enable trigger all").update();
    }

    @Test
    void aSiteThatIsReadOnlyOrFullPassesAndTheDrillSaysSo() throws Exception {
        try (Tmpfs small = new Tmpfs(folder.resolve("small"), "size=16m")) {
            Program.succeed("cp", "-a", pristine + "/.", folder.resolve("small").toString());
            Program.run("sh", "-c", "cat /dev/zero > '%s/.dozo/fill'".formatted(folder.resolve("small")));
            SiteDrill full = drill(folder.resolve("small"), key, false);
            assertThat(full.evidence().told()).isEmpty();
            assertThat(full.state()).isEqualTo(SiteDrillState.COMPLETE);
            assertThat(full.message()).contains("its file system is full");

            small.remount("ro");
            SiteDrill readOnly = drill(folder.resolve("small"), key, false);
            assertThat(readOnly.state()).isEqualTo(SiteDrillState.COMPLETE);
            assertThat(readOnly.message()).contains("mounted read-only", "nothing was written at the site");
        }
    }

    @Test
    void withoutTheKeyOnlyListsAndBagsAreCompared() throws Exception {
        Path site = copy();
        Trees.delete(site.resolve("q/E5"));

        SiteDrill whole = drill(pristine, null, false);
        SiteDrill lacking = drill(site, null, false);

        assertThat(whole.keyed()).isFalse();
        assertThat(whole.listsOnly()).isTrue();
        assertThat(whole.evidence().told()).isEmpty();
        assertThat(whole.state()).isEqualTo(SiteDrillState.COMPLETE);
        assertThat(whole.message()).contains("without the recovery key");
        assertThat(lacking.evidence().told())
                .singleElement()
                .satisfies(told -> assertThat(told).contains("the site has no such bag: q/E5, manifest 1"));
    }

    @Test
    void itYieldsToABackupAndGoesOn() throws Exception {
        Run before = service.openRun();
        long id = request(pristine, key, false);
        service.post("/api/v1/site-drills", body(key, false)).isProblem(409);
        service.bean(Runs.class).close(before.id(), RunState.STOPPED, "");
        await().atMost(LIMIT).until(() -> Files.exists(scratch(id).resolve("rebuild.log")));

        Run during = service.openRun();
        await().atMost(LIMIT)
                .until(() -> ProcessHandle.allProcesses()
                        .noneMatch(each -> each.info().commandLine().orElse("").contains("rebuild-catalogue")
                                && each.info()
                                        .commandLine()
                                        .orElse("")
                                        .contains(scratch(id).toString())));
        assertThat(service.bean(SiteDrills.class).find(id).orElseThrow().endedAt())
                .isNull();
        service.bean(Runs.class).close(during.id(), RunState.STOPPED, "");

        assertThat(ended(id).evidence().told()).isEmpty();
        assertThat(ended(id).state()).isEqualTo(SiteDrillState.COMPLETE);
    }

    @Test
    void withoutRoomItIsRefusedAndNothingBegins() throws Exception {
        service.saveSite("dr", server.address());
        long before = service.count("select count(*) from site_drill");
        try (Tmpfs small = new Tmpfs(drills, "size=16m,mode=0700")) {
            assertThat(service.as("op")
                            .post("/api/v1/site-drills", body(key, false))
                            .refused(409, "folder")
                            .text())
                    .contains("needs 1.", "are free");
        }
        assertThat(service.count("select count(*) from site_drill")).isEqualTo(before);
    }

    @Test
    void aSiteWithoutRecordsIsRefusedWithTheKeyAndOneThatIsAwayFails() {
        SiteAddress there = server.address();
        service.saveSite(
                "away", new SiteAddress("127.0.0.1", 1, there.user(), there.root(), there.identity(), there.hostKey()));

        service.as("op")
                .post("/api/v1/site-drills", body(key, false).replace("dr", "away"))
                .refused(409, "site");
        long id = service.as("op")
                .post("/api/v1/site-drills", "{\"site\": \"away\"}")
                .expect(202)
                .number("/id");

        assertThat(ended(id).state()).isEqualTo(SiteDrillState.FAILED);
        assertThat(ended(id).message()).contains("exit code 69");
    }

    @Test
    void whatADeadProcessHasLeftIsRemoved() throws Exception {
        String name = "site-drill-" + UUID.randomUUID();
        Files.createDirectories(drills.resolve(name).resolve("work"));
        Process left = new ProcessBuilder(
                        "tail", "-f", "/dev/null", drills.resolve(name).toString())
                .redirectErrorStream(true)
                .start();
        long id = service.jdbc().sql("""
                        insert into site_drill (site_id, keyed, lists_only, scratch, requested_by, requested_at)
                        select site_id, true, false, :name, 'x', now() from site where name = 'dr' returning drill_id
                        """).param("name", name).query(Long.class).single();

        assertThat(ended(id).state()).isEqualTo(SiteDrillState.BROKEN_OFF);
        assertThat(left.waitFor()).isNotZero();
    }

    private SiteDrill drill(Path site, String typed, boolean listsOnly) {
        return ended(request(site, typed, listsOnly));
    }

    private static long request(Path site, String typed, boolean listsOnly) {
        SiteAddress address = server.address();
        service.saveSite("dr", address.withRoot(site.toString()));
        return service.as("op")
                .post("/api/v1/site-drills", body(typed, listsOnly))
                .expect(202)
                .number("/id");
    }

    private static String body(String typed, boolean listsOnly) {
        return typed == null
                ? "{\"site\": \"dr\"}"
                : "{\"site\": \"dr\", \"recoveryKey\": \"%s\", \"listsOnly\": %s}"
                        .formatted(typed.strip().replace("\n", "\\n"), listsOnly);
    }

    private static SiteDrill ended(long id) {
        return await().atMost(LIMIT)
                .until(() -> service.bean(SiteDrills.class).find(id).orElseThrow(), found -> found.endedAt() != null);
    }

    private static Path scratch(long id) {
        return drills.resolve(service.jdbc()
                .sql("select scratch from site_drill where drill_id = :id")
                .param("id", id)
                .query(String.class)
                .single());
    }

    private static Path copy() throws Exception {
        Path site = folder.resolve("copy-" + UUID.randomUUID());
        Program.succeed("cp", "-a", pristine.toString(), site.toString());
        return site;
    }

    private static Path onlyRecord(Path site, String experiment) throws IOException {
        return last(site.resolve(".dozo/catalogue").resolve(experiment));
    }

    private static Path lastBase(Path site) throws IOException {
        return last(site.resolve(".dozo/catalogue"));
    }

    private static Path last(Path records) throws IOException {
        try (Stream<Path> all = Files.list(records)) {
            return all.filter(Files::isRegularFile)
                    .max(Comparator.comparing(file -> String.valueOf(file.getFileName())))
                    .orElseThrow();
        }
    }

    private static void cut(Path file) throws IOException {
        Files.write(file, Arrays.copyOf(Files.readAllBytes(file), (int) Files.size(file) / 2));
    }
}
