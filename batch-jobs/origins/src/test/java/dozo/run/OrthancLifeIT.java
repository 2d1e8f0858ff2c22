package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.collect.Arrivals;
import dozo.collect.Arrivals.Arrival;
import dozo.collect.Reconciliations;
import dozo.collect.Reconciliations.ReportLine;
import dozo.file.Problem;
import dozo.ledger.Sight;
import dozo.registry.Projects;
import dozo.run.Runs.Run;
import dozo.source.dicom.MadeImage;
import dozo.source.dicomweb.FaultyProxy;
import dozo.source.dicomweb.FaultyProxy.Fault;
import dozo.source.dicomweb.OrthancServer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Whatever happens in an Orthanc between two nights, nothing that was proven is lost: its copy stays at the site, and its
 * receipt in the catalogue. What is new is proven in the next night, and coverage counts both.
 */
class OrthancLifeIT extends NightWithOrthanc {

    private static final Pattern WADO = Pattern.compile("/dicom-web/studies/[0-9.]+/series/[0-9.]+/instances/[0-9.]+");

    /** The content of files at the site, and how many receipts there were, when they were last looked at. */
    private final Set<String> proven = new TreeSet<>();

    private long receipts;

    @BeforeEach
    void open() throws Exception {
        night.get(Projects.class).create("p", "", "test");
        origin(orthanc.address(), true);
    }

    /** NB: after each test, whatever it did. */
    @AfterEach
    void assertNothingProvenIsLost() throws Exception {
        look();
    }

    private void look() throws Exception {
        Set<String> now = new TreeSet<>();
        try (Stream<Path> all = Files.walk(root)) {
            for (Path file :
                    all.filter(each -> each.toString().endsWith(".dcm")).toList()) {
                now.add(md5(Files.readAllBytes(file)));
            }
        }
        assertThat(now).containsAll(proven);
        proven.addAll(now);
        long kept = night.count("select count(*) from receipt");
        assertThat(kept).isGreaterThanOrEqualTo(receipts);
        receipts = kept;
    }

    /** Stores made instances of a study, and waits until all is stable. */
    private void store(int patient, int study, int from, int to) throws Exception {
        for (int number = from; number <= to; number++) {
            assertThat(orthanc.storeAsIs(MadeImage.of(patient, study, number))).isEmpty();
        }
        orthanc.awaitStable();
    }

    /** Runs a night in which nothing is missing, after which so many files are safe, in so many experiments. */
    private Run night(int experiments, int files) throws Exception {
        Run run = night.complete();
        assertSafe(experiments, files);
        return run;
    }

    private void assertSafe(int experiments, int files) throws Exception {
        look();
        assertThat(night.coverage().safe()).isTrue();
        assertThat(night.coverage().experiments()).isEqualTo(experiments);
        assertThat(night.coverage().filesSafe()).isEqualTo(files);
        assertThat(proven).hasSize(files);
    }

    private List<Arrival> arrivals() {
        return night.get(Arrivals.class).page(Sight.EVERYTHING, Arrivals.Filter.ALL, 0, 100);
    }

    private List<String> reasons(Run run) {
        return night.get(Reconciliations.class).lines(Sight.EVERYTHING, run.id(), false, 0, 100).stream()
                .map(ReportLine::reason)
                .toList();
    }

    private void delete(String path) throws Exception {
        orthanc.ask("DELETE", path, new byte[0]);
    }

    private String only(String path) throws Exception {
        assertThat(ids(path)).hasSize(1);
        return ids(path).iterator().next();
    }

    private static byte[] text(String json) {
        return json.getBytes(StandardCharsets.UTF_8);
    }

    @Test
    void whatIsDeletedThereStaysAtTheSite() throws Exception {
        store(1, 1, 1, 3);
        store(2, 2, 4, 4);
        night(2, 4);

        delete("/instances/" + ids("/instances").stream().sorted().findFirst().orElseThrow());
        night(2, 4);
        for (String study : ids("/studies")) {
            delete("/studies/" + study);
        }
        night(2, 4);

        assertThat(arrivals()).extracting(Arrival::state).containsOnly(Arrivals.State.GONE);
    }

    @Test
    void whatIsModifiedUnderItsUidsIsKeptBesideWhatItWas() throws Exception {
        store(1, 1, 1, 1);
        night(1, 1);
        String id = only("/instances");

        byte[] modified = orthanc.ask("POST", "/instances/%s/modify".formatted(id), text("""
                {"Replace": {"SeriesDescription": "other"}, "Force": true,
                 "Keep": ["StudyInstanceUID", "SeriesInstanceUID", "SOPInstanceUID"]}"""));
        assertThat(orthanc.storeAsIs(modified)).isEmpty();
        assertThat(only("/instances")).isEqualTo(id);
        orthanc.awaitStable();
        Run run = night.run();

        night.assertOnly(run, Problem.CONFLICTING, "OTHER_HEADER");
        assertSafe(1, 2);
        assertThat(proven).contains(md5(modified));
    }

    @Test
    void whatIsAnonymisedIsAnotherStudy() throws Exception {
        store(1, 1, 1, 2);
        night(1, 2);

        orthanc.ask("POST", "/studies/%s/anonymize".formatted(only("/studies")), text("{}"));
        orthanc.awaitStable();

        night(2, 4);
    }

    @Test
    void mergedStudiesAndPatientsLoseNothingOfWhatTheyWere() throws Exception {
        store(1, 1, 1, 2);
        String first = only("/studies");
        store(1, 2, 3, 3);
        Set<String> studies = ids("/studies");
        night(2, 3);

        studies.remove(first);
        orthanc.ask("POST", "/studies/%s/merge".formatted(first), text("""
                {"Resources": ["%s"], "KeepSource": false}""".formatted(
                        studies.iterator().next())));
        orthanc.awaitStable();
        assertThat(only("/studies")).isEqualTo(first);
        night(2, 4);

        orthanc.ask("POST", "/patients/%s/modify".formatted(only("/patients")), text("""
                {"Replace": {"PatientID": "0002"}, "Force": true, "KeepSource": false}"""));
        orthanc.awaitStable();
        night(3, 7);
    }

    @Test
    void whatArrivesWhileAStudyIsCollectedIsInTheNextManifest() throws Exception {
        store(1, 1, 1, 3);
        try (FaultyProxy proxy = new FaultyProxy(orthanc.address())) {
            origin(proxy.address(), true);
            proxy.plan(WADO, 1, () -> store(1, 1, 4, 4));
            night.run();
            look();
        }
        origin(orthanc.address(), true);

        night(1, 4);
    }

    @Test
    void aStudyThatStillArrivesIsNotCalledSafe() throws Exception {
        orthanc.close();
        orthanc = new OrthancServer(Files.createDirectory(folder.resolve("slow")), 3_600, true);
        origin(orthanc.address(), true);
        assertThat(orthanc.storeAsIs(MadeImage.of(1, 1, 1))).isEmpty();

        night.complete();
        assertThat(arrivals()).singleElement().satisfies(arrival -> {
            assertThat(arrival.state()).isEqualTo(Arrivals.State.OFFERED);
            assertThat(arrival.waiting()).isTrue();
        });
        assertThat(night.coverage().safe()).isFalse();
        // One that is started calls everything stable that it has.
        orthanc.stop();
        orthanc.start();
        night(1, 1);

        assertThat(orthanc.storeAsIs(MadeImage.of(1, 1, 2))).isEmpty();
        night(1, 1);
        assertThat(arrivals()).extracting(Arrival::state).containsExactly(Arrivals.State.ARRIVING);
        orthanc.stop();
        orthanc.start();
        night(1, 2);
        assertThat(arrivals()).extracting(Arrival::state).containsExactly(Arrivals.State.COMPLETE);
    }

    @Test
    void whatItRecyclesStaysAtTheSite() throws Exception {
        replace("small", true, "\"MaximumPatientCount\": 1");
        origin(orthanc.address(), true);
        store(1, 1, 1, 2);
        night(1, 2);

        store(2, 2, 3, 3);
        assertThat(ids("/patients")).hasSize(1);

        night(2, 3);
        assertThat(arrivals())
                .extracting(Arrival::state)
                .containsExactlyInAnyOrder(Arrivals.State.GONE, Arrivals.State.COMPLETE);
    }

    @Test
    void whatItRecyclesBeforeItWasCollectedStaysAFinding() throws Exception {
        replace("small", true, "\"MaximumPatientCount\": 1");
        store(1, 1, 1, 2);
        try (FaultyProxy proxy = new FaultyProxy(orthanc.address())) {
            origin(proxy.address(), true);
            proxy.plan(WADO, 0, 1, Fault.GONE);
            night.assertOnly(night.run(), Problem.NOT_DELIVERED, "GONE");
        }
        look();
        origin(orthanc.address(), true);
        store(2, 2, 3, 3);

        for (int i = 0; i < 2; i++) {
            night.assertOnly(night.run(), Problem.NOT_DELIVERED, "NOT_TOLD");
            assertSafe(2, 2);
        }
    }

    @Test
    void aClearedLogOfChangesHidesNoArrival() throws Exception {
        store(1, 1, 1, 1);
        night(1, 1);

        store(1, 1, 2, 2);
        delete("/changes");
        Run restarted = night(1, 2);
        assertThat(reasons(restarted)).containsExactly("CHANGES_RESTARTED");

        store(1, 1, 3, 3);
        delete("/changes");
        // As many changes as were removed, or more: the numbers go on.
        store(2, 2, 4, 9);
        night(2, 9);
    }

    @Test
    void anOrthancThatIsRestartedOrKilledBetweenGoesOn() throws Exception {
        store(1, 1, 1, 1);
        night(1, 1);

        store(1, 1, 2, 2);
        orthanc.stop();
        orthanc.start();
        night(1, 2);
        assertThat(orthanc.storeAsIs(MadeImage.of(1, 1, 3))).isEmpty();
        orthanc.kill();
        orthanc.start();
        night(1, 3);
    }
}
