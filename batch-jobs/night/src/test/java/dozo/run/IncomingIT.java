package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.copy.Trees;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Findings.KeptFinding;
import dozo.loopback.LoopbackSite;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import dozo.send.FaultySite;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** After a run, none of its unfinished files are left under temporary names at the site. */
class IncomingIT {

    private static final int LARGE_BYTES = 3_000_000;

    @TempDir
    Path folder;

    Path source;
    Path root;

    @BeforeEach
    void makeFolders() throws IOException {
        source = Files.createDirectory(folder.resolve("source"));
        root = Files.createDirectory(folder.resolve("dr"));
    }

    @Test
    void whatTheSiteRefusesANameForIsNotKept() throws Exception {
        Night.write(source, Map.of("denied/small", "1", "changing", "2", "fine", "3"));
        large("denied/large");
        Path only = Files.createDirectory(folder.resolve("only"));
        Night.write(only, Map.of("denied/only", "nothing else is in this experiment"));
        try (FaultySite site = FaultySite.hooked(folder.resolve("state"), root, this::change, IncomingIT::deny);
                Night night = Night.on(site.address())) {
            night.register("E1", source);
            night.register("E2", only);
            for (int i = 0; i < 2; i++) {
                assertThat(findings(night))
                        .filteredOn(finding -> finding.reason() == Problem.SITE_REFUSED)
                        .extracting(KeptFinding::path)
                        .containsExactlyInAnyOrder(
                                FilePath.of("denied/small"), FilePath.of("denied/large"), FilePath.of("denied/only"));
                assertThat(incoming()).isEmpty();
            }
        }
        assertThat(root.resolve("p/E1/data/fine")).hasContent("3");
    }

    @Test
    void aPathThatIsTooLongAtTheSiteIsNotKept() throws Exception {
        root = Files.createDirectories(root.resolve("r".repeat(200)));
        Path deep = Files.createDirectories(source.resolve(("d".repeat(120) + "/").repeat(31)));
        Files.writeString(deep.resolve("f".repeat(120)), "too deep");
        large(FilePath.between(source, deep.resolve("g".repeat(120))).toString());
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("sshd"), root, 0);
                Night night = Night.on(site.address())) {
            night.register("E1", source);
            assertThat(findings(night)).extracting(KeptFinding::reason).contains(Problem.SITE_REFUSED);
        }
        assertThat(incoming()).isEmpty();
    }

    @Test
    void whatComesOutWrongIsNotKeptUnlessTheNextRunGoesOnWithIt() throws Exception {
        Night.write(source, Map.of("small", "1"));
        try (FaultySite site = FaultySite.flipping(folder.resolve("state"), root, 3, name -> name.matches("[0-9]+"));
                Night night = Night.on(site.address())) {
            night.register("E1", source);
            assertThat(findings(night)).extracting(KeptFinding::reason).contains(Problem.MISMATCHED);
            assertThat(site.hits()).isEqualTo(3);
            assertThat(incoming()).isEmpty();
        }
    }

    @Test
    void aLargeFileThatTheNextRunGoesOnWithIsKeptAsLongAsItsEntryHolds() throws Exception {
        large("large");
        Night.write(source, Map.of("small", "1"));
        try (FaultySite site = FaultySite.flipping(folder.resolve("state"), root, 1_000, this::isRightSoFar);
                Night night = Night.on(site.address())) {
            night.register("E1", source);
            assertThat(findings(night)).extracting(KeptFinding::reason).contains(Problem.MISMATCHED);
            assertThat(incoming()).hasSize(3);

            Files.delete(source.resolve("large"));
            assertThat(findings(night)).isEmpty();
            assertThat(incoming()).isEmpty();
        }
    }

    @Test
    void whatDeadRunsLeftGoesAlsoWhereNothingIsToBeDone() throws Exception {
        Night.write(source, Map.of("f", "1"));
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("sshd"), root, 0);
                Night night = Night.on(site.address())) {
            night.register("E1", source);
            night.complete();
            assertThat(incoming()).isEmpty();

            Night.write(root, Map.of(".dozo/incoming/p/E1/7", "left", ".dozo/incoming/p/E1/tag-1", "left"));
            Path probe =
                    Files.createDirectories(root.resolve(".dozo/incoming/probe-5dd1b7a6-5b0c-4f5e-9d56-6f4b3a2f7d11"));
            Files.writeString(probe.resolve("of 0"), "left");
            Files.setLastModifiedTime(probe, FileTime.from(Instant.now().minus(Duration.ofDays(2))));
            Path alive =
                    Files.createDirectories(root.resolve(".dozo/incoming/probe-5dd1b7a6-5b0c-4f5e-9d56-6f4b3a2f7d12"));
            Path foreign = Files.createDirectories(root.resolve(".dozo/incoming/other/E1"));
            night.complete();
            assertThat(incoming()).containsExactlyInAnyOrder(alive, foreign, foreign.getParent());
        }
    }

    @Test
    void whatCannotBeRemovedIsAFinding() throws Exception {
        Night.write(source, Map.of("f", "1"));
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("sshd"), root, 0);
                Night night = Night.on(site.address())) {
            night.register("E1", source);
            night.complete();
            Path left = Files.createDirectories(root.resolve(".dozo/incoming/p/E1"));
            Path inTheWay = Files.createDirectory(left.resolve("7"));

            Run run = night.run();
            night.assertOnly(run, Problem.SITE_REFUSED, ".dozo/incoming/p/E1");
            assertThat(inTheWay).exists();
        }
    }

    /** Returns the findings of a night that finished. */
    private static List<KeptFinding> findings(Night night) {
        Run run = night.run();
        List<KeptFinding> findings = night.findings(run);
        assertThat(run.state()).as("%s", findings).isIn(RunState.COMPLETE, RunState.FINDINGS);
        return findings;
    }

    /** Changes a file whenever sending begins. */
    private void change(Path making) throws IOException {
        if (making.toString().contains(".dozo/incoming/p/E1/")) {
            Files.writeString(source.resolve("changing"), Files.readString(source.resolve("changing")) + "2");
        }
    }

    private static void deny(Path name) throws IOException {
        if (name.toString().contains("/denied/")) {
            throw new AccessDeniedException(name.toString());
        }
    }

    /**
     * Returns whether this is the large file with the right first byte: it is closed on several channels, and two flips
     * would cancel out.
     */
    private boolean isRightSoFar(String temporaryName) {
        try (InputStream there =
                        Files.newInputStream(root.resolve(".dozo/incoming/p/E1").resolve(temporaryName));
                InputStream here = Files.newInputStream(source.resolve("large"))) {
            return temporaryName.matches("[0-9]+") && there.available() > 10 && there.read() == here.read();
        } catch (IOException e) {
            return false;
        }
    }

    private void large(String name) throws IOException {
        Path file = FilePath.of(name).under(source);
        Files.createDirectories(file.getParent());
        Files.write(file, Trees.random(LARGE_BYTES));
    }

    private List<Path> incoming() throws IOException {
        return Trees.all(root.resolve(".dozo/incoming")).stream().skip(1).toList();
    }
}
