package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dozo.copy.Copy.Options;
import dozo.copy.Trees;
import dozo.db.TestDatabase;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.file.SiteNames;
import dozo.ledger.Findings.KeptFinding;
import dozo.manifest.Manifests;
import dozo.rebuild.Rebuild;
import dozo.rebuild.Rebuild.RecordKey;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Projects;
import dozo.registry.Refusal;
import dozo.registry.SourceKind;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.simple.JdbcClient;

/** A project whose names are codes at the sites: no name of a source is there, and everything is as with any other project. */
class CodedNamesIT extends NightAtSite {

    private static final Options OPTIONS = new Options(2, 0, false);
    private static final String NAME = "YamadaTaro";

    @BeforeEach
    void coded() {
        night.get(Projects.class).create("p", "", "codes", List.of(), "test");
    }

    /** Writes files, folders and links whose names and link texts contain the person's name. */
    private void writeNames() throws IOException {
        Night.write(
                source,
                Map.of(
                        "sub-%s/anat/%1$s_T1w.nii".formatted(NAME),
                        "voxels",
                        "sub-%s/notes\n%1$s".formatted(NAME),
                        "n",
                        "plain",
                        "p"));
        Files.writeString(Trees.named(source, NAME + "脳", "windows-31j"), "shift-jis");
        Path scan = source.resolve("sub-%s/anat/%1$s_T1w.nii".formatted(NAME));
        Files.createLink(source.resolve("hard-" + NAME), scan);
        Files.createSymbolicLink(source.resolve("link"), Path.of("sub-" + NAME, "anat", NAME + "_T1w.nii"));
        Files.createSymbolicLink(source.resolve("dangling"), Path.of("/home/" + NAME));
        Files.createDirectories(source.resolve("empty-" + NAME));
    }

    @Test
    void noNameIsAtTheSiteAndTheBagIsValidAndComesBack() throws Exception {
        writeNames();
        night.register("E1", source);

        night.complete();

        assertThat(seen(root)).noneMatch(seen -> seen.contains(NAME));
        NightlyBackupIT.assertChecks(bag);
        assertThat(bag.resolve("bag-info.txt")).content().contains("\nDozo-Names: codes\n");
        assertThat(bag.resolve("sha256sums.txt"))
                .as("codes need no second list")
                .doesNotExist();
        SiteNames names = night.experiment().names();
        Path link = bag.resolve("data").resolve(names.of(FilePath.of("link")).toString());
        assertThat(link).isSymbolicLink().hasContent("voxels");
        NightlyBackupIT.assertSame(source, restored(night));
        assertThat(night.scrub().state()).isEqualTo(RunState.COMPLETE);
        assertThat(night.run().state()).as("nothing to do").isEqualTo(RunState.COMPLETE);
        assertThat(night.count("select count(distinct run_id) from transfer_unit"))
                .isEqualTo(1);
        // The validator refuses every bag with a link that leads nowhere.
        Files.delete(
                bag.resolve("data").resolve(names.of(FilePath.of("dangling")).toString()));
        Bagit.assertValid(bag);
    }

    @Test
    void anExperimentWithoutCodesIsNotSentToAPartner() throws Exception {
        writeNames();
        night.register("E1", source);
        night.get(Projects.class).setSiteNames("p", "kept", "test");
        Path other = folder.resolve("other");
        Night.write(other, Map.of(NAME, "of another"));
        night.register("E2", other);
        night.get(JdbcClient.class)
                .sql("insert into partner (name, accepted, site_id) select name, 'Dozo partner', site_id from site")
                .update();

        Run refused = night.run();

        assertThat(night.findings(refused))
                .singleElement()
                .satisfies(finding -> assertThat(finding.reason()).isEqualTo(Problem.SITE_REFUSED))
                .extracting(KeptFinding::message)
                .asString()
                .startsWith("p/E2 has no codes for names");
        assertThat(root.resolve("p/E1/bagit.txt")).exists();
        assertThat(root.resolve("p/E2")).doesNotExist();
        assertThat(seen(root)).noneMatch(seen -> seen.contains(NAME));
        assertThat(night.findings(night.run())).as("it stays open").hasSize(1);
        night.get(JdbcClient.class).sql("delete from partner").update();
        night.complete();
        assertThat(root.resolve("p/E2/bagit.txt")).exists();
    }

    @Test
    void replacedCopiesAndDamageAreFoundUnderTheirCodes() throws Exception {
        writeNames();
        night.register("E1", source);
        night.complete();
        complete(Map.of("plain", "second content"));
        SiteNames names = night.experiment().names();
        String plain = names.of(FilePath.of("plain")).toString();
        assertThat(root.resolve(".dozo/versions/p/E1/2/data").resolve(plain)).hasContent("p");
        assertThat(night.scrub().state()).isEqualTo(RunState.COMPLETE);

        Path note = bag.resolve("data")
                .resolve(names.of(FilePath.of("sub-%s/notes\n%1$s".formatted(NAME)))
                        .toString());
        Files.delete(note);
        Files.writeString(bag.resolve("data").resolve(plain), "second CONTENT");
        Files.writeString(bag.resolve("data/stranger"), "x");
        Run scrub = night.scrub();

        assertThat(night.findings(scrub))
                .extracting(KeptFinding::reason, finding -> String.valueOf(finding.path()))
                .containsExactlyInAnyOrder(
                        tuple(Problem.MISSING, "sub-%s/notes\\x0A%1$s".formatted(NAME)),
                        tuple(Problem.DAMAGED, "plain"),
                        tuple(Problem.UNEXPECTED, "stranger"));
        night.complete();
        assertThat(note).hasContent("n");
    }

    @Test
    void aCopyThatADeadRunMovedAsideIsFoundByItsDigest() throws Exception {
        writeNames();
        night.register("E1", source);
        night.complete();
        FilePath scan = night.experiment().names().of(FilePath.of("sub-%s/anat/%1$s_T1w.nii".formatted(NAME)));
        Path aside = root.resolve(".dozo/versions/p/E1/7/data").resolve(scan.toString());
        Files.createDirectories(aside.getParent());
        Files.move(bag.resolve("data").resolve(scan.toString()), aside);

        assertThat(night.findings(night.scrub())).isEmpty();
        NightlyBackupIT.assertSame(source, restored(night));
    }

    @Test
    void theDatabaseMakesTheSameCodes() throws Exception {
        writeNames();
        night.register("E1", source);
        night.run();
        SiteNames names = night.experiment().names();

        List<List<FilePath>> paths = night.jdbc()
                .sql("""
                        select entry_path(d.path, e.name) as path, path_at_site(x, entry_path(d.path, e.name)) as coded
                        from entry e join directory d using (experiment_id, directory_no) join experiment x using (experiment_id)
                        """)
                .query((row, n) -> List.of(FilePath.of(row.getBytes("path")), FilePath.of(row.getBytes("coded"))))
                .list();

        assertThat(paths)
                .hasSize(10)
                .allSatisfy(path -> assertThat(path.getLast()).isEqualTo(names.of(path.getFirst())));
        assertThat(night.count("select count(*) from experiment x where path_at_site(x, '') = ''"))
                .isEqualTo(1);
    }

    @Test
    void whatIsRegisteredAlreadyKeepsItsNames() throws Exception {
        night.get(Projects.class).setSiteNames("p", "kept", "test");
        register(Map.of(NAME, "n"));
        night.get(Projects.class).setSiteNames("p", "codes", "test");
        Path second = Files.createDirectory(folder.resolve("second"));
        Night.write(second, Map.of(NAME, "n"));
        night.register("E2", second);

        night.complete();

        assertThat(bag.resolve("data").resolve(NAME)).exists();
        assertThat(seen(root.resolve("p/E2"))).noneMatch(seen -> seen.contains(NAME));
    }

    @Test
    void aCatalogueFromRecordsHasTheNamesAgain() throws Exception {
        writeNames();
        night.register("E1", source);
        night.complete();
        try (Night rebuilt = Night.without(TestDatabase.fresh())) {
            RecordKey key = new RecordKey(Files.readString(Night.KEYS.resolve("recovery-key")), Set.of());

            Run run = rebuilt.get(Rebuild.class).run("dr", site.address(), key);

            assertThat(rebuilt.findings(run)).isEmpty();
            assertThat(rebuilt.coverage().safe()).isTrue();
            NightlyBackupIT.assertSame(source, restored(rebuilt));
            Run next = rebuilt.complete();
            assertThat(rebuilt.count("select count(*) from transfer_unit where run_id = " + next.id()))
                    .isZero();
        }
    }

    @Test
    void aCatalogueFromTheBagAloneHasTheCodesAndNoNameJoinsThem() throws Exception {
        writeNames();
        night.register("E1", source);
        night.complete();
        try (Night rebuilt = Night.without(TestDatabase.fresh())) {
            Run run = rebuilt.get(Rebuild.class).run("dr", site.address(), null);

            assertThat(rebuilt.findings(run)).isEmpty();
            assertThat(rebuilt.coverage().safe()).isTrue();
            assertThat(rebuilt.experiment().names()).isEqualTo(SiteNames.LOST);
            assertThat(rebuilt.experiment().kind()).isEqualTo(SourceKind.NONE);
            assertThat(rebuilt.get(Projects.class).find("p").orElseThrow().coded())
                    .isTrue();
            Path restored = restored(rebuilt);
            assertThat(Snapshot.of(restored).keySet())
                    .isEqualTo(Snapshot.of(bag.resolve("data")).keySet());
            assertThatThrownBy(() -> rebuilt.register("E1", source))
                    .isInstanceOf(Refusal.class)
                    .hasMessageContaining("codes that nobody can resolve any more");
            rebuilt.run();
            assertThat(bag.resolve("bag-info.txt")).content().contains("\nDozo-Names: codes\n");
            assertThat(seen(root)).noneMatch(seen -> seen.contains(NAME));
        }
    }

    @Test
    void anExperimentWhoseRecordIsBrokenComesFromItsBagAndIsNotReadFromItsSource() throws Exception {
        writeNames();
        night.register("E1", source);
        night.complete();
        Path record = Trees.files(root.resolve(".dozo/catalogue/p/E1")).getFirst();
        Files.delete(record);
        Files.writeString(record, "broken");
        try (Night rebuilt = Night.without(TestDatabase.fresh())) {
            RecordKey key = new RecordKey(Files.readString(Night.KEYS.resolve("recovery-key")), Set.of());

            rebuilt.get(Rebuild.class).run("dr", site.address(), key);

            assertThat(rebuilt.coverage().safe()).isTrue();
            assertThat(rebuilt.experiment().names()).isEqualTo(SiteNames.LOST);
            rebuilt.run();
            assertThat(seen(root)).noneMatch(seen -> seen.contains(NAME));
        }
    }

    /** Returns the names and contents below a folder, with links' texts; records are encrypted. */
    private static List<String> seen(Path top) throws IOException {
        List<String> seen = new ArrayList<>();
        for (Path path : Trees.all(top)) {
            seen.add(path.toString());
            if (Files.isSymbolicLink(path)) {
                seen.add(Files.readSymbolicLink(path).toString());
            } else if (Files.isRegularFile(path)) {
                seen.add(new String(Files.readAllBytes(path), StandardCharsets.ISO_8859_1));
            }
        }
        return seen;
    }

    private Path restored(Night from) throws Exception {
        Experiment experiment = from.experiment();
        int last =
                from.get(Manifests.class).current(experiment.id()).orElseThrow().number();
        Path into = Files.createTempDirectory(folder, "restored").resolve("tree");
        from.restore(experiment, last, site.address(), into, OPTIONS);
        return into;
    }
}
