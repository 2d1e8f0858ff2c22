package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.file.Digest;
import dozo.file.Problem;
import dozo.ledger.Findings.KeptFinding;
import dozo.loopback.FoldingSite;
import dozo.loopback.LoopbackSite;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Nights to a site that takes different names for one: what is safe there stays as it is. */
class FoldingSiteNightIT extends NightAtSite {

    @Override
    LoopbackSite serve() throws IOException {
        return FoldingSite.start(folder.resolve("state"), root);
    }

    @Test
    void whatIsSafeIsNeitherMovedNorReplacedForAnotherName() throws Exception {
        Map<String, String> files = Map.of(
                "SCAN.dat",
                "1",
                "scan.dat",
                "2",
                "\u00e9",
                "3",
                "e\u0301",
                "4",
                "Sub/x",
                "5",
                "sub/x",
                "6",
                "alone",
                "7");
        Night.write(source, files);
        Files.createLink(source.resolve("ALONE too"), source.resolve("alone"));
        Files.createLink(source.resolve("alone too"), source.resolve("alone"));
        for (String large : List.of("LARGE", "large", "Sub/large", "sub/large")) {
            Files.write(
                    source.resolve(large),
                    large.substring(large.length() - 5).repeat(500_000).getBytes(StandardCharsets.UTF_8));
            Files.setLastModifiedTime(source.resolve(large), FileTime.fromMillis(0));
        }
        night.register("E1", source);

        Run first = night.run();

        assertThat(first.state()).isEqualTo(RunState.FINDINGS);
        List<KeptFinding> findings = night.findings(first);
        assertThat(findings).hasSize(7).allSatisfy(finding -> {
            assertThat(finding.reason()).isEqualTo(Problem.SITE_REFUSED);
            assertThat(finding.message().toString()).containsPattern("distinguish p/E1/data/.* from p/E1/data/.*");
        });
        assertThat(night.coverage().filesSafe()).isEqualTo(7);
        List<String> lines = checkedLines();
        assertThat(lines).hasSize(7);
        assertThat(night.run().state()).isEqualTo(RunState.FINDINGS);
        assertThat(checkedLines()).isEqualTo(lines);
        assertThat(root.resolve(".dozo/versions")).doesNotExist();

        // A changed file still replaces its own earlier copy.
        Path stored = Files.exists(bag.resolve("data/SCAN.dat")) ? Path.of("SCAN.dat") : Path.of("scan.dat");
        Files.writeString(source.resolve(stored), "changed");
        assertThat(night.run().state()).isEqualTo(RunState.FINDINGS);
        assertThat(bag.resolve("data").resolve(stored)).hasContent("changed");
        assertThat(checkedLines()).hasSize(7);
        assertThat(root.resolve(".dozo/versions/p/E1/2/data").resolve(stored)).exists();
    }

    @Test
    void ofExperimentsThatAreOneThereOneIsSafe() throws Exception {
        Night.write(source, Map.of("of E1", "1"));
        Path other = Files.createDirectory(folder.resolve("other"));
        Night.write(other, Map.of("of e1", "22"));
        night.register("E1", source);
        assertThat(night.complete().state()).isEqualTo(RunState.COMPLETE);
        night.register("e1", other);

        Run run = night.run();

        assertThat(run.state()).isEqualTo(RunState.FINDINGS);
        assertThat(night.findings(run))
                .isNotEmpty()
                .allSatisfy(finding ->
                        assertThat(finding.message().toString()).containsPattern("distinguish .*p/e1 from .*p/E1"));
        assertThat(night.coverage().filesSafe()).isEqualTo(1);
        assertThat(checkedLines()).hasSize(1);
        assertThat(bag.resolve("data")).isDirectoryContaining("glob:**/of E1");
        assertThat(bag.resolve("data/of e1")).doesNotExist();
    }

    /** Returns the lines of the bag's manifest, each of which is true at the site. */
    private List<String> checkedLines() throws IOException {
        List<String> lines = Files.readAllLines(bag.resolve("manifest-sha256.txt"));
        for (String line : lines) {
            String[] parts = line.split("  ", 2);
            Path file = FoldingSite.there(bag.resolve(parts[1]));
            assertThat(file).exists();
            assertThat(Digest.ofContent(Files.readAllBytes(file)).toString()).isEqualTo(parts[0]);
        }
        return lines;
    }
}
