package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import com.zaxxer.hikari.HikariDataSource;
import dozo.collect.Arrivals;
import dozo.collect.Arrivals.Acceptance;
import dozo.collect.Arrivals.Arrival;
import dozo.collect.OriginKind;
import dozo.collect.Origins;
import dozo.collect.Reconciliations;
import dozo.collect.Reconciliations.Report;
import dozo.collect.Terms;
import dozo.db.TestDatabase;
import dozo.file.Problem;
import dozo.ledger.Findings.KeptFinding;
import dozo.ledger.Sight;
import dozo.loopback.LoopbackSite;
import dozo.registry.Projects;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import dozo.source.flywheel.Emulator;
import dozo.source.flywheel.Faults.Fault;
import dozo.source.flywheel.Faults.Planned;
import dozo.source.flywheel.Hierarchy;
import dozo.source.flywheel.Hierarchy.Kind;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.batch.core.launch.JobOperator;
import org.springframework.batch.core.repository.JobRepository;

/**
 * A night delivers a Flywheel's sessions into a spool and backs them up to a real sshd, or reports what is missing and
 * why.
 */
class CollectIT {

    private static final String[] SETTINGS = {OwnModules.ORIGINS, "dozo.collect.first-wait=1ms", "dozo.collect.stall=2s"
    };
    private static final String[] PATIENT = {OwnModules.ORIGINS, "dozo.collect.first-wait=1ms", "dozo.collect.stall=5m"
    };
    private static final String PROJECT = Hierarchy.id(Kind.PROJECT, 0);

    @TempDir
    Path folder;

    private final Hierarchy hierarchy = Hierarchy.small();
    private final HikariDataSource database = TestDatabase.fresh();
    private Emulator emulator;
    private Path spool;
    private Path root;
    private LoopbackSite site;
    private Night night;

    @BeforeEach
    void open() throws IOException {
        emulator = new Emulator(hierarchy);
        spool = Files.createDirectory(folder.resolve("spool"));
        root = Files.createDirectory(folder.resolve("dr"));
        Files.writeString(folder.resolve("key"), emulator.key());
        site = LoopbackSite.openSsh(folder.resolve("sshd"), root, 0);
        night = new Night(database, site.address(), SETTINGS);
        night.get(Projects.class).create("p", "", "test");
    }

    @AfterEach
    void close() {
        night.close();
        site.close();
        emulator.close();
    }

    @Test
    void whatIsAcceptedIsBroughtSealedSentAndProven() throws Exception {
        // Items as new as the newest are looked at again.
        hierarchy.tell(Hierarchy.session(7), "modified", Hierarchy.written(Hierarchy.BEGINNING.plusSeconds(3_600)));
        save("p", false);
        Run first = night.complete();
        assertThat(report(first))
                .extracting(
                        Report::state, Report::itemsTold, Report::itemsChanged, Report::itemsTried, Report::filesTold)
                .containsExactly(Reconciliations.State.EMPTY, 10L, 10L, 10L, 0L);
        assertThat(spool).isEmptyDirectory();
        Arrival proposal = arrival(0);
        assertThat(proposal.filesTold()).isEqualTo(6);
        assertThat(proposal.acquisition().modality()).isEqualTo("MR");
        assertThat(proposal.acquisition().day()).isEqualTo("2026-01-05");
        assertThat(proposal.title()).isEqualTo("ses-00000");

        night.get(Arrivals.class).accept(Sight.EVERYTHING, proposal.id(), Acceptance.AS_PROPOSED, "test");
        Run second = night.complete();

        assertThat(report(second))
                .extracting(Report::state, Report::itemsTried, Report::itemsComplete, Report::filesHere)
                .containsExactly(Reconciliations.State.EMPTY, 2L, 1L, 6L);
        assertThat(arrival(0).state()).isEqualTo(Arrivals.State.COMPLETE);
        assertThat(arrival(0).experiment()).isEqualTo("p/fw-" + Hierarchy.session(0));
        assertThat(night.coverage().safe()).isTrue();
        assertThat(night.coverage().filesSafe()).as("with flywheel.json").isEqualTo(7);
        assertThat(root.resolve("p/fw-%s/data/acquisitions/run-1~~%s/1_0_scan.dicom.zip"
                        .formatted(Hierarchy.session(0), Hierarchy.acquisition(1))))
                .hasBinaryContent(hierarchy.content(2));
    }

    @Test
    void whereNobodyIsAskedAllThatHasAProjectIsSafeAfterOneNight() {
        save(null, true, Map.of(PROJECT, "p"));

        night.complete();

        assertThat(night.coverage().experiments())
                .as("four sessions and their project")
                .isEqualTo(5);
        assertThat(night.coverage().safe()).isTrue();
        assertThat(root.resolve("p/fw-%s/data/flywheel.json".formatted(PROJECT)))
                .content()
                .contains("Study 0");
        assertThat(arrivals())
                .filteredOn(each -> each.experiment() == null)
                .hasSize(4)
                .allSatisfy(each -> assertThat(each.project()).isNull());
    }

    @Test
    void aFaultyNightNamesEachThingThatIsMissingAndTheRestIsSafe() {
        save("p", true);
        emulator.faults.always(emulator.downloadPath(hierarchy.file(0, 1)), Fault.GONE);
        emulator.faults.always("/acquisitions/" + Hierarchy.acquisition(4), Fault.DENIED);
        hierarchy.tell(hierarchy.file(6, 0), "hash", "v0-sha384-" + "0".repeat(96));

        Run run = night.run();

        assertThat(run.state()).isEqualTo(RunState.FINDINGS);
        assertThat(night.findings(run))
                .extracting(KeptFinding::reason, KeptFinding::experiment)
                .containsExactlyInAnyOrder(
                        tuple(Problem.NOT_DELIVERED, experiment(0)),
                        tuple(Problem.NOT_DELIVERED, null),
                        tuple(Problem.NOT_DELIVERED, experiment(3)));
        assertThat(report(run).state()).isEqualTo(Reconciliations.State.DIFFERS);
        assertThat(night.get(Reconciliations.class).lines(Sight.EVERYTHING, run.id(), true, 0, 10))
                .extracting(Reconciliations.ReportLine::reason)
                .containsExactlyInAnyOrder("GONE", "DENIED", "HASH_DIFFERS");
        assertThat(arrival(1).state()).isEqualTo(Arrivals.State.COMPLETE);
        assertThat(arrival(0).state()).isEqualTo(Arrivals.State.ARRIVING);
        assertThat(emulator.faults.unfired()).isEmpty();
    }

    @Test
    void aRenamedAndMovedSessionKeepsItsExperiment() throws Exception {
        save("p", true);
        night.complete();
        Instant later = Hierarchy.BEGINNING.plusSeconds(7_200);
        hierarchy
                .tell(Hierarchy.session(0), "label", "another name")
                .tell(Hierarchy.session(0), "parents", Map.of("project", Hierarchy.id(Kind.PROJECT, 1)))
                .tell(Hierarchy.session(0), "modified", Hierarchy.written(later));
        hierarchy.replace(hierarchy.file(0, 0), "a new version", later);

        Run run = night.complete();

        assertThat(report(run).itemsChanged()).isPositive();
        Arrival moved = arrival(0);
        assertThat(moved.title()).isEqualTo("another name");
        assertThat(moved.theirs()).isEqualTo(Hierarchy.id(Kind.PROJECT, 1));
        assertThat(moved.experiment()).isEqualTo(experiment(0));
        assertThat(night.coverage().experiments()).isEqualTo(10);
        assertThat(night.coverage().safe()).isTrue();
        assertThat(root.resolve("%s/data/acquisitions/run-0~~%s/0_0_scan.dicom.zip"
                        .formatted(experiment(0), Hierarchy.acquisition(0))))
                .hasContent("a new version");
    }

    @Test
    void aChangeOfMetadataAloneIsANewVersionOfOneFile() throws Exception {
        save("p", true);
        night.complete();
        long safe = night.coverage().filesSafe();
        hierarchy
                .tell(Hierarchy.session(1), "tags", List.of("checked"))
                .tell(Hierarchy.session(1), "modified", Hierarchy.written(Hierarchy.BEGINNING.plusSeconds(7_200)));

        Run run = night.complete();

        assertThat(report(run).bytesFetched()).isZero();
        try (Stream<Path> versions = Files.walk(root.resolve(".dozo/versions"))) {
            assertThat(versions.filter(Files::isRegularFile)
                            .filter(path -> path.toString().contains("/data/")))
                    .singleElement()
                    .satisfies(path -> assertThat(path)
                            .endsWithRaw(Path.of("data/flywheel.json"))
                            .content()
                            .doesNotContain("checked"));
        }
        assertThat(night.coverage().filesSafe()).isEqualTo(safe);
        assertThat(root.resolve("%s/data/flywheel.json".formatted(experiment(1))))
                .content()
                .contains("checked");
    }

    @Test
    void metadataThatCannotBeReadAreNamedAndTheFilesAreSafe() {
        save("p", true);
        emulator.faults.always("/subjects/" + Hierarchy.id(Kind.SUBJECT, 0), Fault.DENIED);

        Run run = night.run();

        assertThat(night.findings(run))
                .extracting(KeptFinding::reason, KeptFinding::experiment)
                .containsExactlyInAnyOrder(
                        tuple(Problem.NOT_DELIVERED, experiment(0)),
                        tuple(Problem.NOT_DELIVERED, experiment(1)),
                        // As a proposal, of which nothing is delivered.
                        tuple(Problem.NOT_DELIVERED, null));
        assertThat(arrival(0).state()).isEqualTo(Arrivals.State.ARRIVING);
        assertThat(night.coverage().safe()).isTrue();
    }

    @Test
    void whatIsToldOfNoMoreStaysAndIsRemarked() {
        save("p", true);
        night.complete();
        hierarchy.remove(Hierarchy.session(1));

        Run run = night.complete();

        assertThat(report(run).itemsGone()).isEqualTo(1);
        assertThat(night.get(Reconciliations.class).lines(Sight.EVERYTHING, run.id(), false, 0, 10))
                .extracting(Reconciliations.ReportLine::reason, Reconciliations.ReportLine::experiment)
                .containsExactly(tuple("NOT_TOLD", experiment(1)));
        assertThat(arrival(1).state()).isEqualTo(Arrivals.State.GONE);
        assertThat(night.coverage().experiments()).isEqualTo(10);
        assertThat(night.coverage().safe()).isTrue();
    }

    @Test
    void whatIsGoneBeforeItWasWhollyHereStaysMissing() {
        save("p", true);
        emulator.faults.always(emulator.downloadPath(hierarchy.file(2, 0)), Fault.GONE);
        night.run();
        hierarchy.remove(Hierarchy.session(1));

        for (int i = 0; i < 2; i++) {
            assertThat(night.findings(night.run()))
                    .extracting(KeptFinding::reason, KeptFinding::experiment)
                    .containsExactly(tuple(Problem.NOT_DELIVERED, experiment(1)));
        }
    }

    @Test
    void aRetryDeliversWhatWasMissingAndLooksNowhere() {
        save("p", true);
        Planned gone = emulator.faults.always(emulator.downloadPath(hierarchy.file(0, 1)), Fault.GONE);
        Run run = night.run();
        gone.left().set(0);

        Run retry = night.await(night.operations().retry(run.id(), "test"));

        assertThat(retry.state()).isEqualTo(RunState.COMPLETE);
        assertThat(report(retry))
                .extracting(Report::state, Report::itemsTold, Report::itemsTried, Report::itemsComplete)
                .containsExactly(Reconciliations.State.EMPTY, 0L, 1L, 1L);
        assertThat(night.coverage().safe()).isTrue();
    }

    @Test
    void anOriginThatIsDownIsOneFindingAndAllElseGoesOn() throws Exception {
        save("p", true);
        emulator.close();
        registerFolder();

        Run run = night.run();

        night.assertOnly(run, Problem.ORIGIN_UNUSABLE);
        assertThat(report(run).state()).isEqualTo(Reconciliations.State.UNUSABLE);
        assertThat(night.coverage().filesSafe()).isEqualTo(1);
    }

    @Test
    void aKeyThatDiesInTheMiddleIsOneFindingAndTheNextNightGoesOn() throws Exception {
        save("p", true);
        registerFolder();
        Planned dead = emulator.faults.always("/sessions/" + Hierarchy.session(3), Fault.KEY_REFUSED);
        Planned asked = emulator.faults.always("/auth/status", Fault.KEY_REFUSED);

        Run run = night.run();

        assertThat(night.findings(run)).singleElement().satisfies(finding -> {
            assertThat(finding.reason()).isEqualTo(Problem.ORIGIN_UNUSABLE);
            assertThat(finding.message()).contains("KEY_REFUSED").doesNotContain(Emulator.KEY);
        });
        assertThat(arrivals()).filteredOn(each -> !each.waiting()).hasSize(3);
        dead.left().set(0);
        asked.left().set(0);

        Run second = night.complete();

        assertThat(report(second).itemsComplete()).isEqualTo(10);
        assertThat(night.coverage().experiments()).isEqualTo(11);
        assertThat(night.coverage().safe()).isTrue();
    }

    @Test
    void whenTheTimeIsOverTheNightGoesOnWithoutTheRest() throws Exception {
        night.close();
        night = new Night(
                database,
                site.address(),
                OwnModules.ORIGINS,
                "dozo.collect.first-wait=1ms",
                "dozo.collect.stall=1m",
                "dozo.collect.limit=10s");
        save("p", true);
        registerFolder();
        Planned stalled = emulator.faults.always(emulator.downloadPath(hierarchy.file(0, 0)), Fault.STALLED);

        Run run = night.run();

        assertThat(stalled.fired().get()).isEqualTo(1);
        night.assertOnly(run, Problem.ORIGIN_LATE);
        assertThat(report(run).state()).isEqualTo(Reconciliations.State.LATE);
        assertThat(root.resolve("p/E1/data/a")).hasContent("alpha");
        assertThat(night.coverage().safe()).as("what has come of the other one").isTrue();
    }

    @Test
    void aPausedNightStopsCollectingAtOnceAndGoesOnWhereItWas() {
        restartPatient();
        save("p", true);
        Planned stalled = emulator.faults.at(emulator.downloadPath(hierarchy.file(6, 0)), Fault.STALLED, 1);
        Run run = night.start();
        Night.until(() -> stalled.fired().get() == 1);

        night.operations().pause(run.id(), "test");
        Night.until(() -> !night.operations().worksOn(night.find(run)));
        assertThat(arrival(3).state()).isEqualTo(Arrivals.State.ARRIVING);
        night.operations().resume(run.id(), "test");

        assertGoneOnWith(night.await(run));
    }

    @Test
    void aNightThatStopsThoughNobodyAskedItToHasFailed() throws Exception {
        restartPatient();
        save("p", true);
        Planned stalled = emulator.faults.always(emulator.downloadPath(hierarchy.file(0, 0)), Fault.STALLED);
        Run run = night.start();
        Night.until(() -> stalled.fired().get() == 1);

        night.get(JobOperator.class)
                .stop(night.get(JobRepository.class)
                        .findRunningJobExecutions(NightlyBackupJob.NAME)
                        .iterator()
                        .next());
        night.get(CollectStep.class).interrupt();

        assertThat(night.await(run).state()).isEqualTo(RunState.FAILED);
        night.assertOnly(run, Problem.RUN_FAILED);
    }

    @Test
    void aNightThatIsKilledWhileItCollectsFetchesNothingTwice() throws Exception {
        restartPatient();
        save("p", true);
        night.close();
        Planned stalled = emulator.faults.at(emulator.downloadPath(hierarchy.file(6, 0)), Fault.STALLED, 1);
        NightProcess.start(256, folder.resolve("child.log"), site.address(), database, PATIENT)
                .killWhen(() -> stalled.fired().get() == 1);
        night = new Night(database, site.address(), SETTINGS);
        Run left = night.get(Runs.class).running().orElseThrow();

        night.operations().recover();

        assertGoneOnWith(night.await(left));
    }

    /** Session 3 was being delivered: files that had arrived are not requested again. */
    private void assertGoneOnWith(Run run) {
        night.assertComplete(run);
        assertThat(night.coverage().experiments()).isEqualTo(10);
        assertThat(night.coverage().safe()).isTrue();
        assertThat(report(run).itemsComplete()).isEqualTo(10);
        for (int session = 0; session < 3; session++) {
            assertThat(emulator.downloads(hierarchy.file(session * 2, 0))).isEqualTo(1);
        }
    }

    private void restartPatient() {
        night.close();
        night = new Night(database, site.address(), PATIENT);
    }

    private void registerFolder() throws IOException {
        Path source = folder.resolve("source");
        Night.write(source, Map.of("a", "alpha"));
        night.register("E1", source);
    }

    private void save(@Nullable String project, boolean automatic) {
        save(project, automatic, Map.of());
    }

    private void save(@Nullable String project, boolean automatic, Map<String, String> projects) {
        URI address = URI.create("http://localhost:" + emulator.port());
        Terms terms = new Terms(
                OriginKind.FLYWHEEL,
                address,
                folder.resolve("key"),
                List.of(),
                spool,
                project,
                projects,
                automatic,
                true);
        night.get(Origins.class).save("fw", terms, "test");
    }

    private List<Arrival> arrivals() {
        return night.get(Arrivals.class).page(Sight.EVERYTHING, Arrivals.Filter.ALL, 0, 100);
    }

    private Arrival arrival(int session) {
        return arrivals().stream()
                .filter(each -> each.item().equals(Hierarchy.session(session)))
                .findFirst()
                .orElseThrow();
    }

    private Report report(Run run) {
        return night.get(Reconciliations.class).of(run.id()).getFirst();
    }

    private static String experiment(int session) {
        return "p/fw-" + Hierarchy.session(session);
    }
}
