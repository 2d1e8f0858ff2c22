package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dozo.collect.OriginKind;
import dozo.collect.Origins;
import dozo.collect.Terms;
import dozo.db.Program;
import dozo.db.TestDatabase;
import dozo.file.Selection;
import dozo.ledger.Ledger;
import dozo.loopback.LoopbackSite;
import dozo.manifest.Manifests;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Projects;
import dozo.restore.ArchiveRestore.Counts;
import dozo.restore.KeptRestore;
import dozo.restore.RestoreQueue;
import dozo.restore.Restores;
import dozo.restore.Restores.RestoreState;
import dozo.restore.Target;
import dozo.source.flywheel.CollectedTree;
import dozo.source.flywheel.Emulator;
import dozo.source.flywheel.Hierarchy;
import dozo.source.flywheel.Hierarchy.Kind;
import dozo.source.flywheel.WritableFlywheel;
import dozo.source.flywheel.WritableFlywheel.Fate;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.node.ObjectNode;

/**
 * What Flywheel's own client has put into an emulated Flywheel, and is at a real sshd, comes back into an empty one, where
 * the same client finds it.
 */
class RestoreToFlywheelIT {

    private static final int FILES = 9;
    private static final String RELEASE = "23.0.0";

    @TempDir
    Path folder;

    private WritableFlywheel flywheel;
    private LoopbackSite site;
    private HikariDataSource database;
    private Night night;

    private void open(boolean signs) throws Exception {
        flywheel = new WritableFlywheel(1);
        flywheel.signs = signs;
        flywheel.parts = signs ? 2 : 1;
        var _ = sdk("fill");
        CollectedTree.ofSession(flywheel.content, folder.resolve("session"));
        CollectedTree.ofProject(flywheel.content, folder.resolve("project"));
        site = LoopbackSite.openSsh(folder.resolve("sshd"), Files.createDirectory(folder.resolve("dr")), 0);
        database = TestDatabase.fresh();
        night = night();
        night.register("E1", folder.resolve("session"));
        night.register("E2", folder.resolve("project"));
        night.complete();
    }

    private Night night() throws IOException {
        return new Night(database, site.address(), OwnModules.ORIGINS, "dozo.collect.first-wait=1ms");
    }

    /** Replaces the Flywheel by an empty one at another address. */
    private void wipe() throws IOException {
        boolean signs = flywheel.signs;
        flywheel.close();
        flywheel = new WritableFlywheel(2);
        flywheel.signs = signs;
        flywheel.parts = signs ? 2 : 1;
        register();
    }

    private void register() throws IOException {
        Path key = Files.writeString(folder.resolve("key"), flywheel.key());
        night.get(Origins.class)
                .save(
                        "fw",
                        new Terms(
                                OriginKind.FLYWHEEL,
                                URI.create(flywheel.address()),
                                key,
                                List.of("127.0.0.1"),
                                Files.createDirectories(folder.resolve("spool")),
                                null,
                                Map.of(),
                                false,
                                false),
                        "test");
    }

    @AfterEach
    void close() {
        if (night != null) {
            night.close();
            site.close();
        }
        flywheel.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theOfficialClientFindsEverythingAgainInAnEmptyFlywheel(boolean signs) throws Exception {
        open(signs);
        String before = sdk("read");
        wipe();
        long last = night.get(Ledger.class).last();

        KeptRestore session = ended(request("E1"));
        KeptRestore project = ended(request("E2"));

        assertThat(session.state()).as(reasons(session)).isEqualTo(RestoreState.COMPLETE);
        assertThat(project.state()).as(reasons(project)).isEqualTo(RestoreState.COMPLETE);
        assertThat(session.counts()).isEqualTo(new Counts(1, 2, FILES, 0, 0, 0));
        assertThat(sdk("read")).isEqualTo(before).contains("sha384", "EchoTime", "final");
        assertThat(flywheel.storageHeaders).hasSize(signs ? 13 : 0).allMatch(each -> each.equals("none none"));
        assertThat(night.get(Ledger.class).after(last, 10))
                .extracting(row -> row.action())
                .containsExactly("restore.requested", "restore.ended", "restore.requested", "restore.ended");

        flywheel.writes.clear();
        assertThat(ended(request("E1")).counts()).isEqualTo(new Counts(1, 2, 0, FILES, 0, 0));
        assertThat(ended(request("E2")).state()).isEqualTo(RestoreState.COMPLETE);
        assertThat(flywheel.writes).as("asked twice").isEmpty();
    }

    @Test
    void whatNightsHaveCollectedComesBackIntoAnotherFlywheel() throws Exception {
        Path spool = Files.createDirectories(folder.resolve("old"));
        site = LoopbackSite.openSsh(folder.resolve("sshd"), Files.createDirectory(folder.resolve("dr")), 0);
        database = TestDatabase.fresh();
        night = night();
        night.get(Projects.class).create("p", "", "test");
        try (Emulator old = new Emulator(Hierarchy.small())) {
            Path key = Files.writeString(folder.resolve("old-key"), old.key());
            Map<String, String> projects = Map.of(Hierarchy.id(Kind.PROJECT, 0), "p");
            Terms terms = new Terms(
                    OriginKind.FLYWHEEL,
                    URI.create("http://localhost:" + old.port()),
                    key,
                    List.of(),
                    spool,
                    null,
                    projects,
                    true,
                    true);
            night.get(Origins.class).save("old", terms, "test");
            night.complete();
        }
        flywheel = new WritableFlywheel(2);
        register();
        List<String> codes = night.jdbc()
                .sql("select code from experiment order by code")
                .query(String.class)
                .list();
        assertThat(codes).as("four sessions and their project").hasSize(5);

        for (String code : codes) {
            KeptRestore restored = ended(request(code));
            assertThat(restored.state()).as("%s: %s", code, reasons(restored)).isEqualTo(RestoreState.COMPLETE);
        }

        assertThat(of("session"))
                .extracting(each -> each.path("label").asString())
                .hasSize(4)
                .doesNotHaveDuplicates();
        assertThat(of("project"))
                .singleElement()
                .satisfies(each -> assertThat(each.path("label").asString()).isEqualTo("Study 0"));
        assertThat(flywheel.content.everything().stream()
                        .flatMap(each -> each.path("files").valueStream())
                        .map(file -> file.path("hash").asString()))
                .containsExactlyInAnyOrderElementsOf(hashes(spool));
        collectAgain();
        assertThat(night.jdbc()
                        .sql("select dismissed_reason from arrival join origin using (origin_id) where name = 'fw'")
                        .query(String.class)
                        .list())
                .hasSize(5)
                .containsOnly("restored from an experiment that is here already");
        assertThat(night.jdbc()
                        .sql("select code from experiment order by code")
                        .query(String.class)
                        .list())
                .as("no second experiment")
                .isEqualTo(codes);
    }

    /** Lets a night collect from the new Flywheel, and no more from the old one. */
    private void collectAgain() throws Exception {
        night.jdbc().sql("update origin set active = name = 'fw'").update();
        night.get(Origins.class)
                .save(
                        "fw",
                        new Terms(
                                OriginKind.FLYWHEEL,
                                URI.create(flywheel.address()),
                                folder.resolve("key"),
                                List.of("127.0.0.1"),
                                folder.resolve("spool"),
                                "p",
                                Map.of(),
                                true,
                                true),
                        "test");
        night.complete();
    }

    private List<ObjectNode> of(String kind) {
        return flywheel.content.everything().stream()
                .filter(each -> each.path("container_type").asString().equals(kind))
                .toList();
    }

    /** Returns the hashes, as Flywheel has them, of all files that were delivered. */
    private static List<String> hashes(Path spool) throws Exception {
        MessageDigest digest = MessageDigest.getInstance("SHA-384");
        List<String> hashes = new ArrayList<>();
        try (Stream<Path> all = Files.walk(spool)) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                boolean isData = spool.relativize(file).getName(1).toString().equals("tree");
                if (isData && !file.endsWith("flywheel.json")) {
                    byte[] hash = digest.digest(Files.readAllBytes(file));
                    hashes.add("v0-sha384-" + HexFormat.of().formatHex(hash));
                }
            }
        }
        return hashes;
    }

    @Test
    void aServiceThatIsKilledAtRandomWritesContinuesAndNothingIsThereTwice() throws Exception {
        open(false);
        List<String> before = CollectedTree.shown(flywheel.content);
        wipe();
        night.get(RestoreQueue.class).stop();
        KeptRestore session = request("E1");
        KeptRestore project = request("E2");
        night.close();
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int kill = 0; kill < 3; kill++) {
            int hangs = flywheel.writes.size() + 1 + random.nextInt(8);
            flywheel.fate = request -> flywheel.writes.size() >= hangs ? Fate.HANGING : Fate.DONE;
            ArchiveRestoreProcess.start(folder.resolve("child.log"), site.address(), database)
                    .killWhen(() -> flywheel.writes.size() >= hangs);
        }
        flywheel.fate = request -> Fate.DONE;

        night = night();
        KeptRestore restored = ended(session);
        assertThat(restored.state()).as("seed %d: %s", seed, reasons(restored)).isEqualTo(RestoreState.COMPLETE);
        assertThat(ended(project).state()).as("seed " + seed).isEqualTo(RestoreState.COMPLETE);
        assertThat(CollectedTree.shown(flywheel.content)).as("seed " + seed).isEqualTo(before);
    }

    @Test
    void aKeyThatCannotBeUsedIsRefusedAtOnceAndOneThatMayNotWriteEndsTheRestore() throws Exception {
        open(false);
        register();
        Files.writeString(folder.resolve("key"), "no key");

        assertThatThrownBy(() -> request("E1")).hasMessageContaining("cannot be used");
        wipe();
        flywheel.fate = request -> Fate.DENIED;
        KeptRestore denied = ended(request("E1"));
        assertThat(denied.state()).isEqualTo(RestoreState.FAILED);
        assertThat(denied.message()).contains("does not let this API key write");
    }

    private String sdk(String what) throws Exception {
        Path script = folder.resolve("flywheel_back.py");
        try (InputStream in = RestoreToFlywheelIT.class.getResourceAsStream("/flywheel_back.py")) {
            Files.write(script, in.readAllBytes());
        }
        return Program.python(
                        "flywheel-sdk-" + RELEASE,
                        Map.of("FLYWHEEL_SDK_TOTAL_RETRIES", "0", "PYTHONWARNINGS", "ignore"),
                        "flywheel-sdk==" + RELEASE,
                        script.toString(),
                        what,
                        flywheel.key())
                .succeeded();
    }

    private KeptRestore request(String code) {
        Experiment experiment = night.get(Experiments.class).find("p", code).orElseThrow();
        return night.get(RestoreQueue.class)
                .request(
                        experiment,
                        night.get(Manifests.class).all(experiment.id()).getFirst(),
                        Selection.ALL,
                        night.site(),
                        new Target.Archive("fw", false),
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
