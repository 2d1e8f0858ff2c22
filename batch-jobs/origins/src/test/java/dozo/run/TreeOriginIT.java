package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dozo.collect.Arrivals;
import dozo.collect.Arrivals.Acceptance;
import dozo.collect.Arrivals.Arrival;
import dozo.collect.Origins;
import dozo.collect.Reconciliations;
import dozo.collect.Reconciliations.ReportLine;
import dozo.collect.Terms;
import dozo.collect.Terms.Tree;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.ledger.Findings.KeptFinding;
import dozo.ledger.Sight;
import dozo.loopback.LoopbackSite;
import dozo.registry.Acquisition;
import dozo.registry.Experiments;
import dozo.registry.Projects;
import dozo.registry.Refusal;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Nights find experiments in a tree of folders, recognise them when folders are renamed, and report what is incomplete.
 */
class TreeOriginIT {

    private static final String DAYS = "{project}/{date}_{label}";

    @TempDir
    Path folder;

    private Path tree;
    private Path root;
    private LoopbackSite site;
    private Night night;

    @BeforeEach
    void open() throws IOException {
        tree = Files.createDirectory(folder.resolve("tree")).toRealPath();
        root = Files.createDirectory(folder.resolve("dr"));
        site = LoopbackSite.openSsh(folder.resolve("sshd"), root, 0);
        night = Night.on(site.address(), OwnModules.ORIGINS);
        night.get(Projects.class).create("p", "", "test");
        night.get(Projects.class).create("q", "", "test");
    }

    @AfterEach
    void close() {
        night.close();
        site.close();
    }

    @Test
    void foldersBecomeExperimentsAndStayThemThroughRenamingUntilAllOfThemIsThere() throws Exception {
        byte[] japanese = "20261030_脳計測".getBytes(Charset.forName("windows-31j"));
        Path named = FilePath.of("meg").resolve(japanese).under(tree);
        Night.write(
                tree,
                Map.of(
                        "meg/20261031_visual/a.dat",
                        "alpha",
                        "meg/20261029_old/b",
                        "bravo",
                        "fmri/20261031_x/c.json",
                        "{\"Modality\": \"MR\", \"AcquisitionDateTime\": \"2026-10-30T09:00:00\"}",
                        "fmri/notes/n",
                        "n"));
        Files.createDirectory(named);
        Files.writeString(named.resolve("d"), "delta");
        night.register("hand", tree.resolve("meg/20261029_old"));
        save(true, Map.of("meg", "p"), "quiet 0m", "marker .done");

        Run first = night.complete();

        assertThat(arrivals())
                .extracting(Arrival::title, Arrival::project, Arrival::state)
                .containsExactlyInAnyOrder(
                        tuple("visual", "p", Arrivals.State.ARRIVING),
                        tuple("脳計測", "p", Arrivals.State.ARRIVING),
                        tuple("old", "p", Arrivals.State.ARRIVING),
                        tuple("x", null, Arrivals.State.OFFERED));
        assertThat(titled("old").experiment()).isEqualTo("p/hand");
        assertThat(titled("visual").acquisition().day()).isEqualTo("2026-10-31");
        assertThat(titled("x").acquisition())
                .as("what its files say where its name says nothing")
                .isEqualTo(new Acquisition("MR", null, LocalDate.of(2026, 10, 31)));
        assertThat(night.coverage().experiments()).isEqualTo(3);
        assertThat(night.coverage().safe())
                .as("what is there is safe, all of it or not")
                .isTrue();
        assertThat(lines(first, false))
                .extracting(ReportLine::reason)
                .contains("NO_MARKER", "UNCLAIMED")
                .doesNotContain("CHANGING");
        String visual = titled("visual").experiment();
        assertThat(root.resolve(visual + "/data/a.dat")).hasContent("alpha");

        Files.move(tree.resolve("meg/20261031_visual"), tree.resolve("meg/20261031_auditory"));
        Night.write(tree, Map.of("meg/20261031_auditory/.done", ""));
        Run second = night.complete();

        assertThat(lines(second, false)).extracting(ReportLine::reason).contains("MOVED");
        assertThat(titled("auditory").experiment()).isEqualTo(visual);
        assertThat(night.get(Experiments.class).withSource(tree.resolve("meg/20261031_auditory")))
                .hasValueSatisfying(each -> assertThat(each.name()).isEqualTo(visual));
        assertThat(night.coverage().experiments()).isEqualTo(3);
        assertThat(night.coverage().safe()).isTrue();
        assertThat(root.resolve(visual + "/data/.done")).exists();
        assertThat(titled("auditory").state()).isEqualTo(Arrivals.State.COMPLETE);
        assertThat(titled("old").state()).isEqualTo(Arrivals.State.ARRIVING);

        Night.write(tree, Map.of("meg/20261031_auditory/late.part", "something is coming"));
        night.update("update tree_folder set files = files - 1");
        Run third = night.run();

        assertThat(titled("auditory").state())
                .as("something else was sealed than was seen when it was complete")
                .isEqualTo(Arrivals.State.ARRIVING);
        assertThat(lines(third, true)).singleElement().satisfies(line -> {
            assertThat(line.reason()).isEqualTo("COPYING");
            assertThat(line.experiment()).isEqualTo(visual);
        });
    }

    @Test
    void whatIsSaidToBeThereAndIsNotIsAFindingAndSoIsADisputedFolder() throws Exception {
        Night.write(tree, Map.of("meg/20261031_a/.done", "", "meg/20261031_a/x.part", "x", "meg/20261031_b-r/y", "y"));
        save(true, Map.of("meg", "p"), List.of(DAYS, "meg/{date}_{label}-r"), "quiet 0m", "marker .done");

        Run run = night.run();

        assertThat(run.state()).isEqualTo(RunState.FINDINGS);
        assertThat(arrivals()).extracting(Arrival::title).containsExactly("a");
        assertThat(lines(run, true)).extracting(ReportLine::reason).containsExactly("CLAIMED_TWICE", "COPYING");
        assertThat(night.findings(run)).extracting(KeptFinding::reason).containsOnly(Problem.NOT_DELIVERED);
        assertThat(night.coverage().safe()).isTrue();
    }

    @Test
    void aTreeThatIsNotMountedLosesNothingAndAcceptingIsForWhatIsThere() throws Exception {
        Night.write(tree, Map.of("meg/20261031_a/x", "x", "meg/20261031_b/y", "y"));
        save(false, Map.of("meg", "p"));
        night.complete();
        Arrival a = titled("a");
        Files.move(tree.resolve("meg"), folder.resolve("away"));

        Run run = night.run();

        night.assertOnly(run, Problem.ORIGIN_UNUSABLE);
        assertThat(arrivals()).extracting(Arrival::state).containsOnly(Arrivals.State.OFFERED);
        Arrivals arrivals = night.get(Arrivals.class);
        assertThatThrownBy(() -> arrivals.accept(Sight.EVERYTHING, a.id(), Acceptance.AS_PROPOSED, "test"))
                .isInstanceOf(Refusal.class)
                .hasMessageContaining("there is no folder");

        Files.delete(tree);
        assertThat(night.findings(night.run())).singleElement().satisfies(finding -> {
            assertThat(finding.reason()).isEqualTo(Problem.ORIGIN_UNUSABLE);
            assertThat(finding.message()).contains("cannot be listed");
        });

        Files.createDirectory(tree);
        Files.move(folder.resolve("away"), tree.resolve("meg"));
        assertThat(arrivals.accept(Sight.EVERYTHING, a.id(), Acceptance.AS_PROPOSED, "test"))
                .hasValueSatisfying(each -> assertThat(each.code()).matches("tree-[0-9a-f]{20}"));
    }

    private void save(boolean automatic, Map<String, String> projects, String... ready) {
        save(automatic, projects, List.of(DAYS), ready);
    }

    private void save(boolean automatic, Map<String, String> projects, List<String> patterns, String... ready) {
        night.get(Origins.class)
                .save(
                        "files",
                        Terms.ofTree(tree, Tree.of(patterns, List.of(ready)), null, projects, automatic, true),
                        "test");
    }

    private List<Arrival> arrivals() {
        return night.get(Arrivals.class).page(Sight.EVERYTHING, Arrivals.Filter.ALL, 0, 100);
    }

    private Arrival titled(String title) {
        return arrivals().stream()
                .filter(each -> each.title().equals(title))
                .findFirst()
                .orElseThrow();
    }

    private List<ReportLine> lines(Run run, boolean missing) {
        return night.get(Reconciliations.class).lines(Sight.EVERYTHING, run.id(), missing, 0, 100);
    }
}
