package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dozo.copy.Trees;
import dozo.drill.DrillPromises;
import dozo.drill.DrillPromises.Standing;
import dozo.drill.Rehearsals;
import dozo.drill.RestoreForecasts;
import dozo.drill.RestoreForecasts.Compared;
import dozo.file.Problem;
import dozo.file.Selection;
import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import dozo.manifest.Manifests;
import dozo.plan.Work;
import dozo.registry.Experiments;
import dozo.registry.Projects;
import dozo.registry.Refusal;
import dozo.registry.RestorePlaces;
import dozo.registry.Sites;
import dozo.restore.KeptRestore;
import dozo.restore.RestoreQueue;
import dozo.restore.Restores;
import dozo.restore.Restores.RestoreState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.util.FileSystemUtils;

/** Restores are rehearsed into a scratch folder of which nothing stays; the evidence does. */
class DrillIT extends NightAtSite {

    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final String SIZE = "dozo.drill.size=1MB";

    /** The same for all tests, so that their nights have the same settings. */
    @TempDir
    static Path drills;

    private Path scratch = Path.of("");

    @BeforeEach
    void open() {
        scratch = drills.resolve("scratch");
        reopen();
        night.register("E1", source);
    }

    @AfterEach
    void removeScratch() throws IOException {
        FileSystemUtils.deleteRecursively(drills.resolve("scratch"));
    }

    private void reopen() {
        night.close();
        night = new Night(database, site.address(), "dozo.drill.folder=" + scratch, SIZE);
    }

    @Test
    void everythingComesBackIsProvenAndRemovedAndTheEvidenceStays() throws Exception {
        Night.write(source, Map.of("f", "1", "deep/er/g", "2", "empty", ""));
        Files.createSymbolicLink(source.resolve("link"), source.resolve("f"));
        Files.setPosixFilePermissions(source.resolve("deep/er"), PosixFilePermissions.fromString("r-x------"));
        night.complete();
        long before = night.get(Ledger.class).last();
        assertThat(standing()).as("no false comfort").isEqualTo(Standing.NEVER);

        KeptRestore drill = ended(request());

        assertThat(drill.message()).isEmpty();
        assertThat(drill.state()).isEqualTo(RestoreState.COMPLETE);
        assertThat(drill.path()).isEmpty();
        assertThat(drill.entriesVerified()).isEqualTo(drill.entries()).isEqualTo(6);
        assertThat(drill.bytesVerified()).isEqualTo(2);
        assertThat(drill.seconds()).isPositive();
        assertThat(drill.firstByteSeconds()).isPositive().isLessThan(drill.seconds());
        assertThat(standing()).isEqualTo(Standing.KEPT);
        assertThat(Trees.names(scratch)).isEmpty();
        assertThat(source.resolve("f")).hasContent("1");
        assertThat(night.get(Ledger.class).after(before, 10))
                .extracting(row -> row.actor(), row -> row.action(), row -> row.subject())
                .containsExactly(
                        tuple("operator", "drill.requested", "p/E1"), tuple(Ledger.SYSTEM, "drill.ended", "p/E1"));
        assertThat(night.get(Restores.class).page(night.experiment(), Long.MAX_VALUE, 10))
                .as("it is not a restore that somebody asked for")
                .isEmpty();
        assertThat(night.get(Restores.class).drills(Sight.EVERYTHING, "p", Long.MAX_VALUE, 10))
                .usingRecursiveFieldByFieldElementComparator()
                .containsExactly(drill);
        assertThat(night.get(Restores.class).drills(Sight.of(List.of("q")), null, Long.MAX_VALUE, 10))
                .isEmpty();
    }

    @Test
    void ofTwoDrillsOfAProjectThatAreRequestedAtOnceOneIsRefused() throws Exception {
        complete(Map.of("f", "1"));
        FutureTask<Long> first = new FutureTask<>(this::request);
        FutureTask<Long> second = new FutureTask<>(this::request);
        // So that the first drill does not end before the second is requested.
        RestoreQueueIT.signalSite("STOP");
        try {
            night.whileHolding("lock table ledger in share mode", () -> {
                Thread.ofPlatform().start(first);
                night.awaitHeldUp("relation = 'ledger'::regclass");
                Thread waiting = Thread.ofPlatform().start(second);
                Night.until(() -> waiting.getState() == Thread.State.BLOCKED || !waiting.isAlive());
            });
            long drill = first.get();
            assertThatThrownBy(second::get)
                    .hasRootCauseInstanceOf(Refusal.class)
                    .hasRootCauseMessage("drill %d of project p has not ended yet".formatted(drill));
        } finally {
            RestoreQueueIT.signalSite("CONT");
        }
        assertThat(night.count("select count(*) from drill")).isEqualTo(1);
        RestoreQueueIT.awaitNone(night);
    }

    @Test
    void aDrillThatIsSeenToBeCompleteIsSeenWithItsTime() throws Exception {
        complete(Map.of("f", "1"));

        for (int i = 0; i < 10; i++) {
            long id = request();
            KeptRestore seen = Stream.generate(() -> night.get(Restores.class).drill(Sight.EVERYTHING, id))
                    .map(Optional::orElseThrow)
                    .dropWhile(drill -> drill.state().goesOn())
                    .findFirst()
                    .orElseThrow();
            assertThat(seen.state()).as(seen.message()).isEqualTo(RestoreState.COMPLETE);
            assertThat(seen.seconds()).isNotNull();
        }
    }

    @Test
    void ofALargeExperimentARandomPartIsRestored() throws Exception {
        for (String name : List.of("a/1", "a/2", "b/c/1", "b/c/2", "b/d/1")) {
            Path file = source.resolve(name);
            Files.createDirectories(file.getParent());
            Files.write(file, new byte[400_000]);
        }
        Files.write(source.resolve("large"), new byte[3 << 20]);
        night.complete();

        Set<String> parts = new HashSet<>();
        for (int i = 0; i < 8; i++) {
            KeptRestore drill = ended(request());
            assertThat(drill.state()).as(drill.message()).isEqualTo(RestoreState.COMPLETE);
            assertThat(drill.bytes()).isBetween(400_000L, 1_048_576L);
            parts.add(drill.path());
        }

        assertThat(parts).isSubsetOf("a", "b/c", "b/d");
        assertThat(parts).as("random").hasSizeGreaterThan(1);
        assertThat(Trees.names(scratch)).isEmpty();
    }

    @Test
    void anExperimentOfNothingButLargeFilesIsRefusedWithAWayOut() throws Exception {
        Files.write(source.resolve("large"), new byte[3 << 20]);
        night.complete();

        assertThatThrownBy(this::request)
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("every file of p/E1 is larger")
                .hasMessageContaining("DOZO_DRILL_SIZE");
    }

    @Test
    void aDamagedCopyIsAFailedDrillUntilOneSucceeds() throws Exception {
        complete(Map.of("good", "1", "bad name", "2"));
        Path copy = root.resolve("p/E1/data/bad name");
        byte[] sound = Files.readAllBytes(copy);
        overwrite(copy, "3".getBytes());
        long before = night.get(Ledger.class).last();

        KeptRestore drill = ended(request());

        assertThat(drill.state()).isEqualTo(RestoreState.FINDINGS);
        assertThat(drill.failed()).isTrue();
        assertThat(night.get(Restores.class).findings(drill.id(), 0, 10))
                .singleElement()
                .satisfies(finding -> assertThat(finding.path()).isEqualTo("bad name"))
                .satisfies(finding -> assertThat(finding.reason()).isEqualTo(Problem.MISMATCHED));
        assertThat(night.get(Ledger.class).after(before, 10))
                .noneMatch(row -> row.detail().contains("bad name"));
        assertThat(standing()).isEqualTo(Standing.FAILED);
        assertThat(night.get(Headlines.class).all(Sight.EVERYTHING))
                .singleElement()
                .satisfies(headline -> assertThat(headline.kind()).isEqualTo(Headlines.Kind.DRILL_FAILED))
                .satisfies(headline -> assertThat(headline.subject()).isEqualTo("p"))
                .satisfies(headline -> assertThat(headline.count()).isEqualTo(1));

        overwrite(copy, sound);
        assertThat(ended(request()).state()).isEqualTo(RestoreState.COMPLETE);
        assertThat(standing()).isEqualTo(Standing.KEPT);
    }

    @Test
    void aSiteThatIsAwayIsAFailedDrill() throws Exception {
        complete(Map.of("f", "1"));
        site.close();

        KeptRestore drill = ended(request());

        assertThat(drill.state()).isEqualTo(RestoreState.FAILED);
        assertThat(drill.message()).isNotEmpty().doesNotContain("/proc/self");
        assertThat(drill.seconds()).isNull();
        assertThat(standing()).isEqualTo(Standing.FAILED);
        assertThat(Trees.names(scratch)).isEmpty();
    }

    @Test
    void aScratchFolderThatCannotBeUsedIsAFailedDrill() throws Exception {
        complete(Map.of("f", "1"));
        Files.writeString(scratch, "a file");
        assertThat(ended(request()).state()).isEqualTo(RestoreState.FAILED);
        Files.delete(scratch);

        Files.createDirectory(scratch);
        if (Files.getAttribute(scratch, "unix:uid").equals(0)) {
            // Only root may give a folder away.
            Files.setAttribute(scratch, "unix:uid", 1);
            assertThat(ended(request()).message()).contains("does not belong to the service's user");
        }
        assertThat(Trees.names(scratch)).isEmpty();
    }

    @Test
    void aScratchFolderInASourceIsRefused() throws Exception {
        complete(Map.of("f", "1"));
        scratch = source.resolve("scratch");
        reopen();

        assertThatThrownBy(this::request).hasMessageContaining("overlaps with a source");
        assertThat(scratch).doesNotExist();
    }

    @Test
    void oneThatIsKilledIsCleanedUpAndShowsNothing() throws Exception {
        Night.writeMany(source, 2_000);
        night.complete();
        night.get(RestoreQueue.class).stop();
        long id = request();
        night.close();
        RestoreProcess.start(folder.resolve("child.log"), site.address(), database)
                .killWhen(() -> files(scratch) > 10);
        assertThat(Trees.names(scratch)).hasSize(1);
        night = new Night(database, site.address(), "dozo.drill.folder=" + scratch);

        assertThat(ended(id).state()).isEqualTo(RestoreState.BROKEN_OFF);
        assertThat(Trees.names(scratch)).isEmpty();
        assertThat(standing()).as("neither a success nor a failure").isEqualTo(Standing.NEVER);
        assertThat(promise().lastDrill()).isNull();
        assertThat(ended(request()).state()).isEqualTo(RestoreState.COMPLETE);
    }

    @Test
    void aRestoreByAPersonGoesFirst() throws Exception {
        Night.writeMany(source, 10);
        night.complete();
        Path allowed = allowed();
        // While the site is suspended, the drill cannot end, however fast or slow the machine is.
        RestoreQueueIT.signalSite("STOP");
        long drill;
        long person;
        try {
            drill = request();
            long running = drill;
            Night.until(() -> now(running).state() == RestoreState.RUNNING);
            person = requestRestore(allowed.resolve("new"));
            Night.until(() -> night.count("""
                    select count(*) from restore join drill using (restore_id) where state = 'WAITING'
                    """) == 1);
        } finally {
            RestoreQueueIT.signalSite("CONT");
        }

        assertThat(ended(drill).state()).isEqualTo(RestoreState.COMPLETE);
        KeptRestore restored =
                night.get(Restores.class).find(night.experiment(), person).orElseThrow();
        assertThat(restored.state()).isEqualTo(RestoreState.COMPLETE);
        assertThat(restored.endedAt()).isBeforeOrEqualTo(now(drill).startedAt());
        NightlyBackupIT.assertSame(source, allowed.resolve("new"));
        assertThat(Trees.names(scratch)).isEmpty();
    }

    /** What still arrives for an interrupted drill must not be written once its folder is being removed. */
    @Test
    void aDrillThatIsPutBackWhileItsFilesArriveLeavesNothingAndBeginsAnew() throws Exception {
        Night.writeMany(source, 2_000);
        night.complete();
        Path allowed = allowed();
        for (int attempt = 0; attempt < 2; attempt++) {
            long drill = request();
            Night.until(() -> now(drill).entriesVerified() > 0);
            RestoreQueueIT.signalSite("STOP");
            try {
                requestRestore(allowed.resolve("new" + attempt));
                Night.until(() -> now(drill).state() != RestoreState.RUNNING);
            } finally {
                RestoreQueueIT.signalSite("CONT");
            }

            KeptRestore ended = ended(drill);
            assertThat(ended.state()).as(ended.message()).isEqualTo(RestoreState.COMPLETE);
            assertThat(Trees.names(scratch)).isEmpty();
        }
    }

    @Test
    void itWaitsForABackupAndCanBeStopped() throws Exception {
        complete(Map.of("f", "1"));
        Path allowed = allowed();
        night.update("""
                insert into run (kind, site_id, state, requested_by, started_at) values ('nightlyBackup', 1, 'RUNNING', 'x', now())
                """);
        long drill = request();
        long person = requestRestore(allowed.resolve("new"));
        Night.until(() -> !night.get(Restores.class)
                .find(night.experiment(), person)
                .orElseThrow()
                .state()
                .goesOn());

        assertThat(now(drill).state()).isEqualTo(RestoreState.WAITING);
        assertThatThrownBy(this::request).hasMessage("drill %d of project p has not ended yet".formatted(drill));
        night.get(RestoreQueue.class).stop(drill, "operator");
        assertThat(now(drill).state()).isEqualTo(RestoreState.STOPPED);

        night.update("update run set state = 'STOPPED', ended_at = now() where ended_at is null");
        assertThat(ended(request()).state()).isEqualTo(RestoreState.COMPLETE);
    }

    @Test
    void whatHasNoSafeFileHasNothingToRehearse() throws Exception {
        assertThat(standing()).isEqualTo(Standing.NOTHING);
        assertThatThrownBy(this::request).hasMessageContaining("there is nothing to rehearse");
        Files.createDirectory(source.resolve("only a folder"));
        night.complete();
        assertThat(standing()).isEqualTo(Standing.NOTHING);
        complete(Map.of("f", "1"));
        registered(Duration.ofDays(100));
        assertThat(standing()).isEqualTo(Standing.OVERDUE);

        night.get(Sites.class).remove("dr", true, "admin");

        assertThat(standing()).isEqualTo(Standing.NOTHING);
        assertThatThrownBy(this::request).hasMessageContaining("there is nothing to rehearse");
    }

    @Test
    void aProjectIsRehearsedWithinItsOwnDays() throws Exception {
        complete(Map.of("f", "1"));
        registered(Duration.ofDays(20));
        assertThat(standing()).isEqualTo(Standing.NEVER);
        Projects projects = night.get(Projects.class);
        projects.setDrillDays("p", 10, "admin");
        assertThat(standing()).isEqualTo(Standing.OVERDUE);
        assertThat(night.get(Headlines.class).all(Sight.EVERYTHING))
                .extracting(Headlines.Headline::kind)
                .isSubsetOf(Headlines.Kind.UNREHEARSED, Headlines.Kind.NO_NIGHT);
        for (int wrong : new int[] {0, -1, 3_661}) {
            assertThatThrownBy(() -> projects.setDrillDays("p", wrong, "admin")).hasMessageContaining("expected 1 to");
        }

        long drill = request();
        assertThat(ended(drill).state()).isEqualTo(RestoreState.COMPLETE);
        assertThat(standing()).isEqualTo(Standing.KEPT);

        night.update("update restore set ended_at = now() + interval '1 year'");
        assertThat(standing())
                .as("a drill of the future, before the clock was set back")
                .isEqualTo(Standing.OVERDUE);
        projects.setDrillDays("p", null, "admin");
        assertThat(promise().days()).isEqualTo(90);
    }

    @Test
    void theScheduleRehearsesWhatIsDueOnce() throws Exception {
        Night.write(source, Map.of("f", "1"));
        Path other = Files.createDirectory(folder.resolve("other"));
        Night.write(other, Map.of("g", "2"));
        night.get(Projects.class).create("q", "", "test");
        night.get(Experiments.class).register("q", "E1", "", other, "test");
        night.get(Projects.class).create("empty", "", "test");
        night.complete();
        Rehearsals rehearsals = night.get(Rehearsals.class);

        rehearsals.requestDue();
        rehearsals.requestDue();
        RestoreQueueIT.awaitNone(night);
        assertThat(night.get(Restores.class).drills(Sight.EVERYTHING, null, Long.MAX_VALUE, 10))
                .extracting(KeptRestore::project, KeptRestore::requestedBy, KeptRestore::state)
                .containsExactlyInAnyOrder(
                        tuple("p", Ledger.SYSTEM, RestoreState.COMPLETE),
                        tuple("q", Ledger.SYSTEM, RestoreState.COMPLETE));

        rehearsals.requestDue();
        RestoreQueueIT.awaitNone(night);
        assertThat(night.count("select count(*) from drill")).isEqualTo(2);
        night.update("update restore set ended_at = ended_at - interval '50 days'");
        rehearsals.requestDue();
        RestoreQueueIT.awaitNone(night);
        assertThat(night.count("select count(*) from drill")).isEqualTo(4);
    }

    @Test
    void theTimeOfARestoreIsForecastFromDrills() throws Exception {
        complete(Map.of("f", "1"));
        int at = night.site().id();
        RestoreForecasts forecasts = night.get(RestoreForecasts.class);
        for (int i = 0; i < 5; i++) {
            assertThat(forecasts.of(at, new Work(1, 1))).isEmpty();
            assertThat(ended(request()).state()).isEqualTo(RestoreState.COMPLETE);
        }

        assertThat(forecasts.of(at, new Work(1, 1)))
                .hasValueSatisfying(time ->
                        assertThat(time.seconds()).isPositive().isBetween(time.leastSeconds(), time.mostSeconds()));
        assertThat(forecasts.projects(Sight.EVERYTHING, at))
                .extracting(each -> each.project(), each -> each.experiments(), each -> each.bytes())
                .containsExactly(tuple("p", 1L, 1L), tuple(null, 1L, 1L));
        assertThat(forecasts.projects(Sight.of(List.of()), at)).isEmpty();
        assertThat(ended(request()).state()).isEqualTo(RestoreState.COMPLETE);
        List<Compared> compared = forecasts.compared(Sight.EVERYTHING, at);
        assertThat(compared).hasSize(6);
        assertThat(compared.getFirst().forecastSeconds()).isNull();
        assertThat(compared.getLast().forecastSeconds()).isPositive();
    }

    private long request() {
        return night.get(Rehearsals.class).request("p", null, null, "operator").id();
    }

    /** Returns a folder into which the project may restore. */
    private Path allowed() throws IOException {
        Path allowed = Files.createDirectory(folder.resolve("allowed"));
        night.get(RestorePlaces.class).setRoots("p", List.of(allowed), "admin");
        return allowed;
    }

    private long requestRestore(Path target) {
        return night.get(RestoreQueue.class)
                .request(
                        night.experiment(),
                        night.get(Manifests.class).find(1, 1).orElseThrow(),
                        Selection.ALL,
                        night.site(),
                        target,
                        "lab")
                .id();
    }

    private KeptRestore now(long id) {
        return night.get(Restores.class).drill(Sight.EVERYTHING, id).orElseThrow();
    }

    private KeptRestore ended(long id) {
        return Awaitility.await()
                .atMost(LIMIT)
                .pollInterval(Duration.ofMillis(50))
                .until(() -> now(id), drill -> !drill.state().goesOn());
    }

    private DrillPromises.DrillPromise promise() {
        return night.get(DrillPromises.class).all(Sight.EVERYTHING).getFirst();
    }

    private Standing standing() {
        return promise().standing();
    }

    /** Lets the project's first experiment be as old as this. */
    private void registered(Duration ago) {
        night.jdbc()
                .sql("update experiment set registered_at = now() - make_interval(secs => :seconds)")
                .param("seconds", ago.toSeconds())
                .update();
    }

    private static void overwrite(Path copy, byte[] content) throws IOException {
        Files.setPosixFilePermissions(copy, PosixFilePermissions.fromString("rw-------"));
        Files.write(copy, content);
    }

    private static long files(Path folder) throws IOException {
        long files = 0;
        for (Path each : Files.exists(folder) ? Trees.in(folder) : List.<Path>of()) {
            files += Trees.in(each).size();
        }
        return files;
    }
}
