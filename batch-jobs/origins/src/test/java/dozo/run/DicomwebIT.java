package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.collect.Arrivals;
import dozo.collect.Arrivals.Arrival;
import dozo.collect.Origins;
import dozo.collect.Reconciliations;
import dozo.copy.Trees;
import dozo.file.Problem;
import dozo.ledger.Sight;
import dozo.registry.Projects;
import dozo.registry.Scanners;
import dozo.run.Runs.Run;
import dozo.source.dicomweb.Spool;
import dozo.worklist.Studies;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * After a night, everything that storescu sent to a real Orthanc is verified at a real sshd; irregularities are
 * findings.
 */
class DicomwebIT extends NightWithOrthanc {

    private static final String STUDY = "1.2.840.113619.6.44.278690555559257603308263179064563144783";

    @BeforeEach
    void open() throws IOException {
        night.get(Projects.class).create("p", "", "test");
        origin(orthanc.address(), true);
    }

    @Test
    void fromStorescuToVerifiedAtTheSite() throws Exception {
        Instant began = Instant.now();
        orthanc.store(corpus.resolve("ge_dcm_qa_ge/01_Ax_DWI_TENSOR_R2"));
        Instant stored = Instant.now();
        orthanc.awaitStable();
        Instant stable = Instant.now();
        night.get(Scanners.class).put(new Scanners.Scanner("GE3T", List.of("00090004"), null), "test");

        Run run = night.complete();

        Arrival arrival = arrivals().getFirst();
        assertThat(arrival.item()).isEqualTo(STUDY);
        assertThat(arrival.state()).isEqualTo(Arrivals.State.COMPLETE);
        assertThat(arrival.acquisition().modality()).isEqualTo("MR");
        assertThat(arrival.acquisition().scanner()).isEqualTo("GE3T");
        assertThat(night.jdbc()
                        .sql("select distinct scanner_of(station_name, ae_title) from study_series")
                        .query(String.class)
                        .single())
                .isEqualTo("GE3T");
        assertThat(arrival.acquisition().day()).isEqualTo("2020-09-29");
        assertThat(arrival.title()).isEqualTo("MR 2020-09-29");
        assertThat(arrival.experiment()).isEqualTo("p/dcm-" + Spool.folder(STUDY));
        assertThat(night.coverage().safe()).isTrue();
        assertThat(night.coverage().filesSafe()).isEqualTo(14);
        assertThat(dicomFilesAtTheSite()).isEqualTo(14);
        Studies.Study study = night.get(Studies.class).find(STUDY).orElseThrow();
        assertThat(study.experimentId()).isEqualTo(arrival.experimentId());
        assertThat(study.instances()).isEqualTo(14);
        assertThat(study.instancesCollected()).isEqualTo(14);
        System.out.printf(
                "storescu %d ms, until Orthanc calls it stable %d ms, night %d ms: 14 instances verified at the site by run %d%n",
                Duration.between(began, stored).toMillis(),
                Duration.between(stored, stable).toMillis(),
                Duration.between(stable, Instant.now()).toMillis(),
                run.id());
    }

    @Test
    void aLateSeriesIsTheNextManifestAndOtherPixelsAreAFinding() throws Exception {
        Path conflicts = corpus.resolve("made_conflicts_and_broken");
        orthanc.store(conflicts.resolve("same_sop_uid_v1.dcm"));
        orthanc.awaitStable();
        night.complete();
        orthanc.store(conflicts.resolve("same_sop_uid_v2_other_pixels.dcm"));
        orthanc.awaitStable();

        Run second = night.run();

        night.assertOnly(second, Problem.CONFLICTING);
        assertThat(night.findings(second).getFirst().message()).contains("OTHER_PIXELS");
        assertThat(night.count("select max(manifest_no) from manifest")).isEqualTo(2);
        assertThat(night.coverage().filesSafe()).isEqualTo(2);
        assertThat(dicomFilesAtTheSite()).isEqualTo(2);
        assertThat(arrivals().getFirst().state()).isEqualTo(Arrivals.State.COMPLETE);
        night.complete();
    }

    @Test
    void whatRotsInOrthancIsFoundWithinThePromisedAge() throws Exception {
        orthanc.store(corpus.resolve("ge_dcm_qa_ge/01_Ax_DWI_TENSOR_R2"));
        orthanc.awaitStable();
        night.complete();
        // Otherwise its memory answers.
        orthanc.stop();
        try (Stream<Path> stored = Files.walk(folder.resolve("orthanc/db"))) {
            Trees.flip(
                    stored.filter(file -> file.getFileName().toString().matches("[0-9a-f]{8}-.*"))
                            .sorted()
                            .findFirst()
                            .orElseThrow(),
                    9_000);
        }
        orthanc.start();
        night.jdbc()
                .sql("update origin_check set checked_at = now() - interval '300 days'")
                .update();

        Run run = night.run();

        night.assertOnly(run, Problem.ORIGIN_DIFFERS);
        assertThat(night.findings(run).getFirst().message())
                .contains(
                        "Delete the instance there",
                        "dozo restore p/dcm-",
                        "--to orthanc pacs",
                        "Copies: dr (as it was sent");
        assertThat(night.get(Origins.class).find("pacs").orElseThrow().oldestCheckAt())
                .isAfter(run.startedAt());
    }

    @Test
    void anOrthancThatIsDownIsAFindingAndTheNextNightGoesOn() throws Exception {
        orthanc.store(corpus.resolve("ge_dcm_qa_ge/01_Ax_DWI_TENSOR_R2"));
        orthanc.stop();

        Run run = night.run();

        night.assertOnly(run, Problem.ORIGIN_UNUSABLE);
        assertThat(night.get(Reconciliations.class).of(run.id()).getFirst().state())
                .isEqualTo(Reconciliations.State.UNUSABLE);
        orthanc.start();
        orthanc.awaitStable();
        night.complete();
        assertThat(night.coverage().filesSafe()).isEqualTo(14);
    }

    private List<Arrival> arrivals() {
        return night.get(Arrivals.class).page(Sight.EVERYTHING, Arrivals.Filter.ALL, 0, 100);
    }

    private long dicomFilesAtTheSite() throws IOException {
        try (Stream<Path> all = Files.walk(root.resolve("p"))) {
            return all.filter(file -> file.toString().endsWith(".dcm")).count();
        }
    }
}
