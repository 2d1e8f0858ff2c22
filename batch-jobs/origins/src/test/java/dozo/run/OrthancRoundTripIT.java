package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.file.Problem;
import dozo.file.Selection;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Projects;
import dozo.run.Runs.Run;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.Test;

/**
 * Every file of the shared data that an Orthanc stores is collected from it, proven at the site, and restored into an empty
 * Orthanc with its bytes. Files of other origins: {@code DOZO_SHARED_DATA=FOLDER ./dozo test OrthancRoundTripIT} takes
 * those of {@code FOLDER/dicom}.
 */
class OrthancRoundTripIT extends NightWithOrthanc {

    /** Of the files that Orthanc stores, the MD5 of those that are no Part 10 files: STOW-RS is not for them. */
    private final Set<String> notPart10 = new TreeSet<>();

    /** What Orthanc refuses, by its reason. */
    private final Map<String, Set<String>> refused = new TreeMap<>();

    @Test
    void whatAnOrthancHadItHasAgain() throws Exception {
        storeAll();
        orthanc.awaitStable();
        Map<String, String> before = digests();
        night.get(Projects.class).create("p", "", "test");
        origin(orthanc.address(), true);

        Run run = night.run();

        assertThat(night.findings(run)).extracting(finding -> finding.reason()).doesNotContain(Problem.NOT_DELIVERED);
        assertThat(night.coverage().safe()).isTrue();
        assertThat(night.coverage().filesSafe()).isEqualTo(before.size());
        replace("new", false);
        origin(orthanc.address(), false);
        List<String> findings = restoreAll();
        System.out.printf(
                "%d instances of %s; not restored: %s; refused by Orthanc in the first place: %s%n",
                before.size(), corpus, findings, refused);
        notPart10.retainAll(before.values());
        before.values().removeAll(notPart10);
        assertThat(digests()).isEqualTo(before);
        assertThat(findings)
                .hasSize(notPart10.size())
                .allSatisfy(
                        finding -> assertThat(finding).startsWith("NOT_SENT ").endsWith("not a DICOM Part 10 file"));
    }

    /** Restores all experiments. Returns the findings. */
    private List<String> restoreAll() {
        Map<Experiment, Long> restores = new LinkedHashMap<>();
        night.get(Experiments.class)
                .page(0, 1_000)
                .forEach(each -> restores.put(each, request(each, Selection.ALL, false)));
        List<String> findings = new ArrayList<>();
        restores.forEach((experiment, id) -> findings.addAll(findings(ended(experiment, id))));
        return findings;
    }

    private void storeAll() throws Exception {
        try (Stream<Path> all = Files.walk(corpus)) {
            for (Path file : all.filter(Files::isRegularFile).sorted().toList()) {
                byte[] bytes = bytes(file);
                Optional<String> why = orthanc.storeAsIs(bytes);
                why.ifPresent(reason -> refused.computeIfAbsent(reason, _ -> new TreeSet<>())
                        .add(corpus.relativize(file).toString()));
                if (why.isEmpty() && !isPart10(bytes)) {
                    notPart10.add(md5(bytes));
                }
            }
        }
    }

    private static boolean isPart10(byte[] bytes) {
        return new String(bytes, 0, Math.min(bytes.length, 132), StandardCharsets.ISO_8859_1).endsWith("DICM");
    }

    private static byte[] bytes(Path file) throws IOException {
        try (InputStream in = Files.newInputStream(file)) {
            return file.toString().endsWith(".gz") ? new GZIPInputStream(in).readAllBytes() : in.readAllBytes();
        }
    }
}
