package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dozo.collect.OriginKind;
import dozo.collect.Origins;
import dozo.collect.Reconciliations;
import dozo.collect.Reconciliations.Report;
import dozo.collect.Reconciliations.ReportLine;
import dozo.collect.Terms;
import dozo.db.TestDatabase;
import dozo.file.Problem;
import dozo.file.Selection;
import dozo.ledger.Findings.KeptFinding;
import dozo.ledger.Sight;
import dozo.loopback.LoopbackSite;
import dozo.manifest.Manifests;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Projects;
import dozo.registry.Refusal;
import dozo.registry.SourceKind;
import dozo.restore.ArchiveRestore.Counts;
import dozo.restore.KeptRestore;
import dozo.restore.RestoreQueue;
import dozo.restore.Restores;
import dozo.restore.Restores.RestoreState;
import dozo.restore.Target;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import dozo.source.xnat.EmulatedXnat;
import dozo.source.xnat.EmulatedXnat.Fate;
import dozo.source.xnat.XnatContent;
import dozo.source.xnat.XnatContent.Res;
import dozo.source.xnat.XnatContent.Session;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A night backs an XNAT's sessions up to a real sshd, or reports what is missing and why; a restore fills an empty XNAT. */
class XnatIT {

    @TempDir
    Path folder;

    private final XnatContent content = XnatContent.small();
    private final Session session = content.sessions.getFirst();
    private final HikariDataSource database = TestDatabase.fresh();
    private EmulatedXnat emulator;
    private Path login;
    private Path root;
    private LoopbackSite site;
    private Night night;

    @BeforeEach
    void open() throws IOException {
        Session second = content.session("BRAIN", "sub-02", "visit 1 of 02");
        content.store(content.resource(content.holder(second, "scans", "7"), "DICOM"), "1.dcm", "seven");
        content.projects.add("SECRET");
        Session foreign = content.session("SECRET", "sub-03", "hidden");
        content.store(content.resource(foreign, "NOTES"), "n", "secret");
        foreign.sharedInto.add("BRAIN");
        emulator = new EmulatedXnat(content);
        root = Files.createDirectory(folder.resolve("dr"));
        Files.createDirectory(folder.resolve("spool"));
        login = Files.writeString(folder.resolve("login"), EmulatedXnat.LOGIN);
        site = LoopbackSite.openSsh(folder.resolve("sshd"), root, 0);
        night = new Night(database, site.address(), OwnModules.ORIGINS, "dozo.collect.first-wait=1ms");
        night.get(Projects.class).create("p", "", "test");
        save(null, Map.of("BRAIN", "p"));
    }

    @AfterEach
    void close() {
        night.close();
        site.close();
        emulator.close();
    }

    private void save(@Nullable String project, Map<String, String> projects) {
        night.get(Origins.class).save("xnat", terms(login, project, projects), "test");
    }

    private Terms terms(@Nullable Path secret, @Nullable String project, Map<String, String> projects) {
        return new Terms(
                OriginKind.XNAT,
                URI.create(emulator.address()),
                secret,
                List.of(),
                folder.resolve("spool"),
                project,
                projects,
                true,
                true);
    }

    @Test
    void theSessionsOfAMappedProjectAreSafeAfterOneNightAndNoOthers() throws Exception {
        Run first = night.complete();

        assertThat(report(first))
                .extracting(Report::state, Report::itemsTold, Report::itemsComplete, Report::filesHere)
                .containsExactly(Reconciliations.State.EMPTY, 2L, 2L, 8L);
        assertThat(night.coverage().safe()).isTrue();
        assertThat(night.coverage().filesSafe()).as("with two xnat.json").isEqualTo(10);
        Experiment experiment = experiment(session);
        assertThat(experiment.kind()).isEqualTo(SourceKind.XNAT);
        assertThat(experiment.title()).isEqualTo("sub-01 visit 1");
        Res dicom = content.resource(session.holder("scans", "1"), "DICOM");
        assertThat(root.resolve(
                        "p/xnat-%s/data/scans/1/DICOM~~%d/sub dir/2 +%%41#.dcm".formatted(session.id, dicom.id)))
                .hasContent("two".repeat(50_000));

        Run second = night.complete();

        assertThat(report(second).bytesFetched()).isZero();
        assertThat(night.coverage().filesSafe()).isEqualTo(10);
        assertThat(emulator.open()).as("sessions that are left there").isZero();
    }

    @Test
    void aFaultyNightNamesEachThingThatIsMissingAndTheRestIsSafe() {
        content.prearchive.add(Map.of(
                "project",
                "BRAIN",
                "session",
                "new one",
                "status",
                "RECEIVING",
                "url",
                "/prearchive/projects/BRAIN/1/n"));
        Res dicom = content.resource(session.holder("scans", "1"), "DICOM");
        dicom.catalogue.put("1.dcm", "0".repeat(32));
        emulator.fate = request -> request.endsWith("/files/protocol.pdf") ? Fate.NO_CONTENT : Fate.DONE;

        Run run = night.run();

        assertThat(run.state()).isEqualTo(RunState.FINDINGS);
        assertThat(night.findings(run))
                .extracting(KeptFinding::reason)
                .containsOnly(Problem.NOT_DELIVERED)
                .hasSize(3);
        assertThat(night.get(Reconciliations.class).lines(Sight.EVERYTHING, run.id(), true, 0, 10))
                .extracting(ReportLine::reason)
                .containsExactlyInAnyOrder("PREARCHIVED", "HASH_DIFFERS", "GONE");
        assertThat(night.coverage().filesSafe()).isEqualTo(8);
    }

    @Test
    void anOriginThatIsDownOrRefusesTheLoginIsOneFinding() throws Exception {
        Files.writeString(login, "dozo:pw-9981");
        Run refused = night.run();
        night.assertOnly(refused, Problem.ORIGIN_UNUSABLE);
        assertThat(night.findings(refused).getFirst().message())
                .contains("KEY_REFUSED")
                .doesNotContain("pw-9981");

        Files.writeString(login, EmulatedXnat.LOGIN);
        emulator.close();
        night.assertOnly(night.run(), Problem.ORIGIN_UNUSABLE);
    }

    @Test
    void anXnatThatStopsAnsweringInTheMiddleIsOneFinding() {
        AtomicBoolean broken = new AtomicBoolean();
        emulator.fate = request -> {
            broken.compareAndSet(false, request.contains("/data/experiments/"));
            return broken.get() ? Fate.BROKEN : Fate.DONE;
        };

        night.assertOnly(night.run(), Problem.ORIGIN_UNUSABLE);
    }

    @Test
    void anOriginWithoutALoginIsRefused() {
        assertThatThrownBy(() -> night.get(Origins.class).save("other", terms(null, null, Map.of()), "test"))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("XNAT requires a login");
    }

    @Test
    void whatNightsHaveCollectedComesBackIntoAnEmptyXnat() throws Exception {
        night.complete();
        Map<String, String> before = new TreeMap<>(content.shown());
        before.keySet().removeIf(each -> each.startsWith("SECRET"));
        Experiment collected = experiment(session);
        Experiment second = experiment(content.sessions.get(1));
        emulator.close();
        XnatContent empty = new XnatContent();
        empty.projects.add("BRAIN");
        emulator = new EmulatedXnat(empty);
        save(null, Map.of("BRAIN", "p"));

        KeptRestore restored = ended(request(collected));

        assertThat(restored.state()).as(reasons(restored)).isEqualTo(RestoreState.COMPLETE);
        assertThat(restored.counts()).isEqualTo(new Counts(1, 2, 7, 0, 0, 0));
        assertThat(ended(request(second)).state()).isEqualTo(RestoreState.COMPLETE);
        assertThat(empty.shown()).isEqualTo(before);
        emulator.writes.clear();
        assertThat(ended(request(collected)).counts()).isEqualTo(new Counts(1, 2, 0, 7, 0, 0));
        assertThat(emulator.writes).as("asked twice").isEmpty();
    }

    private Experiment experiment(Session of) {
        return night.get(Experiments.class).find("p", "xnat-" + of.id).orElseThrow();
    }

    private Report report(Run run) {
        return night.get(Reconciliations.class).of(run.id()).getFirst();
    }

    private KeptRestore request(Experiment experiment) {
        return night.get(RestoreQueue.class)
                .request(
                        experiment,
                        night.get(Manifests.class).all(experiment.id()).getFirst(),
                        Selection.ALL,
                        night.site(),
                        new Target.Archive("xnat", false),
                        "lab");
    }

    private KeptRestore ended(KeptRestore asked) {
        Night.until(() -> !now(asked).state().goesOn());
        return now(asked);
    }

    private KeptRestore now(KeptRestore asked) {
        return night.get(Restores.class)
                .find(night.get(Experiments.class).find(asked.experiment()).orElseThrow(), asked.id())
                .orElseThrow();
    }

    private String reasons(KeptRestore restore) {
        return restore.message()
                + night.get(Restores.class).findings(restore.id(), 0, 20).stream()
                        .map(each -> each.reason() + " " + each.message())
                        .toList();
    }
}
