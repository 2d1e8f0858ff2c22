package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dozo.collect.Arrivals;
import dozo.collect.Arrivals.Acceptance;
import dozo.collect.Arrivals.Arrival;
import dozo.collect.OriginKind;
import dozo.collect.Origins;
import dozo.collect.Origins.Terms;
import dozo.collect.Reconciliations;
import dozo.collect.Reconciliations.Report;
import dozo.db.TestDatabase;
import dozo.file.Problem;
import dozo.ledger.Findings.KeptFinding;
import dozo.ledger.Sight;
import dozo.registry.Projects;
import dozo.remote.LoopbackSite;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import dozo.source.flywheel.Emulator;
import dozo.source.flywheel.Faults.Fault;
import dozo.source.flywheel.Hierarchy;
import dozo.source.flywheel.Hierarchy.Kind;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;

/** A night brings a Flywheel's sessions into a spool and makes them safe at a real sshd, or says what is missing and why. */
class CollectIT {

    private static final String[] SETTINGS = {"dozo.collect.first-wait=1ms", "dozo.collect.stall=2s"};
    private static final String PROJECT = Hierarchy.id(Kind.PROJECT, 0);

    @TempDir
    Path folder;

    private final Hierarchy hierarchy = Hierarchy.small();
    private final PGSimpleDataSource database = TestDatabase.fresh();
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
        // What is as new as the newest is looked at again.
        hierarchy.tell(Hierarchy.session(7), "modified", Hierarchy.written(Hierarchy.BEGINNING.plusSeconds(3_600)));
        save("p", false);
        Run first = night.complete();
        assertThat(report(first))
                .extracting(
                        Report::state, Report::itemsTold, Report::itemsChanged, Report::itemsTried, Report::filesTold)
                .containsExactly(Reconciliations.State.EMPTY, 8L, 8L, 8L, 0L);
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
        assertThat(night.coverage().filesSafe()).isEqualTo(6);
        assertThat(root.resolve("p/fw-%s/data/acquisitions/run-1~~%s/1_0_scan.dicom.zip"
                        .formatted(Hierarchy.session(0), Hierarchy.acquisition(1))))
                .hasBinaryContent(hierarchy.content(2));
    }

    @Test
    void whereNobodyIsAskedAllThatHasAProjectIsSafeAfterOneNight() {
        save(null, true, Map.of(PROJECT, "p"));

        night.complete();

        assertThat(night.coverage().experiments()).isEqualTo(4);
        assertThat(night.coverage().safe()).isTrue();
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
                .extracting(Reconciliations.Line::reason)
                .containsExactlyInAnyOrder("GONE", "DENIED", "HASH_DIFFERS");
        assertThat(arrival(1).state()).isEqualTo(Arrivals.State.COMPLETE);
        assertThat(arrival(0).state()).isEqualTo(Arrivals.State.ARRIVING);
        assertThat(emulator.faults.unfired()).isEmpty();
    }

    private void save(@Nullable String project, boolean automatic) {
        save(project, automatic, Map.of());
    }

    private void save(@Nullable String project, boolean automatic, Map<String, String> projects) {
        night.get(Origins.class)
                .save(
                        "fw",
                        new Terms(
                                OriginKind.FLYWHEEL,
                                URI.create("http://localhost:" + emulator.port()),
                                folder.resolve("key"),
                                List.of(),
                                spool,
                                project,
                                projects,
                                automatic,
                                true),
                        "test");
    }

    private List<Arrival> arrivals() {
        return night.get(Arrivals.class).page(Sight.EVERYTHING, Arrivals.Wanted.ALL, 0, 100);
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
