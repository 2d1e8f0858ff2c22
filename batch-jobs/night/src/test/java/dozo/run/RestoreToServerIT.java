package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import com.zaxxer.hikari.HikariDataSource;
import dozo.copy.Copy.Finding;
import dozo.copy.Copy.Options;
import dozo.copy.Copy.Progress;
import dozo.copy.RestoreToServer;
import dozo.copy.Trees;
import dozo.db.Program;
import dozo.db.TestDatabase;
import dozo.file.FilePath;
import dozo.file.PathPattern;
import dozo.file.Problem;
import dozo.file.Selection;
import dozo.loopback.LoopbackSite;
import dozo.manifest.Manifests;
import dozo.remote.ChildProcess;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.SiteAddress;
import dozo.remote.Tmpfs;
import dozo.restore.Inventories;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A manifest is restored from the site into a folder of an SFTP server that is no site. */
class RestoreToServerIT extends NightAtSite {

    private static final Options OPTIONS = new Options(2, 0, false);

    /** So slow that it is killed in the middle. */
    private static final Options SLOW = new Options(2, 20_000_000, false);

    private final List<Finding> findings = new ArrayList<>();
    private LoopbackSite server;

    /** The server's folder that is filled. */
    private Path target;

    @BeforeEach
    void openServer() throws IOException {
        night.register("E1", source);
        Path there = Files.createDirectory(folder.resolve("server"));
        target = there.resolve("target");
        server = LoopbackSite.openSsh(folder.resolve("sshd2"), there, 0, "ForceCommand internal-sftp");
    }

    @AfterEach
    void closeServer() {
        server.close();
    }

    @Test
    void everyManifestIsRestoredAsTheSourceWas() throws Exception {
        Night.write(source, Map.of("a", "1", "changed", "before", "folder/b/c", "2", "empty", "", "new\nline", "n"));
        Files.writeString(Trees.named(source, "脳.dat", "windows-31j"), "sjis");
        Files.createDirectories(source.resolve("no/files"));
        Files.createSymbolicLink(source.resolve("link"), Path.of("folder/b"));
        Files.write(source.resolve("large"), Trees.random(70 << 20));
        Files.setPosixFilePermissions(source.resolve("a"), PosixFilePermissions.fromString("r-xr--r--"));
        Files.setLastModifiedTime(source.resolve("folder/b/c"), FileTime.fromMillis(1_234_567_000));
        Files.setLastModifiedTime(source.resolve("folder"), FileTime.fromMillis(1_000_000_000_000L));
        night.complete();
        Path before = folder.resolve("before");
        Program.succeed("cp", "-a", source.toString(), before.toString());
        Night.write(source, Map.of("changed", "after"));
        Files.delete(source.resolve("a"));
        complete(Map.of("a/is", "a folder now"));

        Progress first = restore(1, target, Selection.ALL);
        Progress second = restore(2, target.resolveSibling("second"), Selection.ALL);

        assertThat(findings).isEmpty();
        assertThat(first.complete()).isTrue();
        assertThat(second.complete()).isTrue();
        NightlyBackupIT.assertSame(before, target);
        NightlyBackupIT.assertSame(source, target.resolveSibling("second"));
        assertThat(Files.getPosixFilePermissions(target.resolve("a")))
                .isEqualTo(PosixFilePermissions.fromString("r-xr--r--"));
        assertThat(Files.getLastModifiedTime(target.resolve("folder/b/c")).toMillis())
                .isEqualTo(1_234_567_000);
        assertThat(Files.getLastModifiedTime(target.resolve("folder")).toMillis())
                .isEqualTo(1_000_000_000_000L);
        assertThat(Files.exists(target.resolve(".dozo-incoming"))).isFalse();
        assertThatThrownBy(() -> restore(1, target, Selection.ALL))
                .as("it is finished")
                .isInstanceOf(IOException.class)
                .hasMessageContaining("is not empty; choose an empty or new folder");
    }

    @Test
    void onlyWhatIsSelectedIsRestoredAndADryRunOnlyCounts() throws Exception {
        complete(Map.of("anat/a.nii", "1", "anat/a.json", "22", "func/b.nii", "333"));
        Selection json = new Selection(List.of(FilePath.of("nothing")), List.of(PathPattern.of("*.json".getBytes())));

        Progress dry = restore(1, target, json, new Options(2, 0, true));
        assertThat(target).doesNotExist();
        assertThat(dry.bytes()).isEqualTo(2);
        restore(1, target, json);

        assertThat(target.resolve("anat/a.json")).hasContent("22");
        assertThat(target.resolve("anat/a.nii")).doesNotExist();
        assertThat(target.resolve("func")).doesNotExist();
        assertThat(findings)
                .extracting(finding -> finding.path().toString(), Finding::problem)
                .containsExactly(tuple("nothing", Problem.NO_MATCH));
        assertThatThrownBy(() -> restore(
                        1, target.resolveSibling("x"), new Selection(List.of(FilePath.of("nothing")), List.of())))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("has nothing with this path");
    }

    @Test
    void aDamagedCopyIsAFindingAndTheSameRestoreFinishesWhenItIsRepaired() throws Exception {
        complete(Map.of("damaged", "22", "gone", "333", "fine", "4", "in/deep", "5"));
        Path data = bag.resolve("data");
        Files.writeString(data.resolve("damaged"), "xx");
        Files.move(data.resolve("gone"), folder.resolve("aside"));

        Progress progress = restore(1, target, Selection.ALL);

        assertThat(progress.complete()).isFalse();
        assertThat(findings)
                .extracting(finding -> finding.path().toString(), Finding::problem)
                .containsExactlyInAnyOrder(tuple("damaged", Problem.SOURCE_DIFFERS), tuple("gone", Problem.VANISHED));
        assertThat(target.resolve("damaged")).doesNotExist();
        assertThat(target.resolve("fine")).hasContent("4");
        Object inode = Trees.inode(target.resolve("fine"));
        Files.writeString(data.resolve("damaged"), "22");
        Files.move(folder.resolve("aside"), data.resolve("gone"));
        Files.writeString(target.resolve("in/deep"), "theirs");
        findings.clear();

        restore(1, target, Selection.ALL);

        assertThat(findings)
                .extracting(finding -> finding.path().toString(), Finding::problem)
                .containsExactly(tuple("in/deep", Problem.SITE_REFUSED));
        assertThat(target.resolve("in/deep")).as("it is not overwritten").hasContent("theirs");
        Files.delete(target.resolve("in/deep"));
        findings.clear();
        Progress end = restore(1, target, Selection.ALL);

        assertThat(findings).isEmpty();
        assertThat(end.complete()).isTrue();
        assertThat(end.bytesMoved()).as("only the missing file was sent").isEqualTo(1);
        assertThat(Trees.inode(target.resolve("fine"))).isEqualTo(inode);
        NightlyBackupIT.assertSame(source, target);
        assertThat(target.resolve(".dozo-incoming")).doesNotExist();
    }

    @Test
    void aTargetThatContainsSomethingElseOrIsFullOrWrongIsRefused() throws Exception {
        Files.write(source.resolve("a"), Trees.random(20 << 20));
        night.complete();
        Night.write(target, Map.of("theirs", "x"));
        assertThatThrownBy(() -> restore(1, target, Selection.ALL)).hasMessageContaining("is not empty");
        assertThat(target.resolve(".dozo-incoming")).doesNotExist();
        assertThatThrownBy(() -> restore(1, target.resolve("no/parent"), Selection.ALL))
                .isInstanceOfSatisfying(
                        RemoteException.class, e -> assertThat(e.reason()).isEqualTo(Reason.NO_SUCH_FILE));
        assertThatThrownBy(() -> restore(1, target.resolve("theirs"), Selection.ALL))
                .isInstanceOf(IOException.class);
        assertThat(target.resolve("theirs")).hasContent("x");
        Path small = target.resolveSibling("small");
        try (Tmpfs disk = new Tmpfs(small, "size=4m")) {
            assertThatThrownBy(() -> restore(1, small, Selection.ALL))
                    .isInstanceOfSatisfying(
                            RemoteException.class, e -> assertThat(e.reason()).isEqualTo(Reason.FULL));
            disk.remount("ro");
            assertThatThrownBy(() -> restore(1, small, Selection.ALL)).isInstanceOf(RemoteException.class);
            disk.remount("rw,size=64m");
            assertThat(restore(1, small, Selection.ALL).complete()).isTrue();
            assertThat(small.resolve("a")).hasBinaryContent(Trees.random(20 << 20));
        }
    }

    @Test
    void whatTheServerDoesNotKeepIsCounted() throws Exception {
        Night.write(source, Map.of("one", "1", "program", "2", "closed", "3"));
        Files.createLink(source.resolve("two"), source.resolve("one"));
        Files.setAttribute(source.resolve("program"), "unix:mode", 04755);
        Files.setPosixFilePermissions(source.resolve("closed"), PosixFilePermissions.fromString("-w-------"));
        night.complete();

        Progress progress = restore(1, target, Selection.ALL);

        assertThat(progress.complete()).isTrue();
        assertThat(target.resolve("two")).hasContent("1");
        assertThat(Files.getAttribute(target.resolve("program"), "unix:mode")).isEqualTo(0100755);
        assertThat(findings).extracting(Finding::problem).containsOnly(Problem.NOT_SET);
        assertThat(findings)
                .extracting(Finding::message)
                .anyMatch(message -> message.startsWith("2 names of hard links"))
                .anyMatch(message -> message.startsWith("2 folders or files have another mode"))
                .hasSize(2);
    }

    @Test
    void aSiteThatIsAwayEndsTheRestoreAndIsNoFindingOfEachFile() throws Exception {
        complete(Map.of("a", "1"));
        site.close();

        assertThatThrownBy(() -> restore(1, target, Selection.ALL)).isInstanceOf(RemoteException.class);

        assertThat(findings).isEmpty();
        assertThat(target).doesNotExist();
    }

    @Test
    void aKilledRestoreIsFinishedByTheSameCommand() throws Exception {
        for (int i = 0; i < 1_000; i++) {
            Night.write(source, Map.of("many/" + i % 50 + "/" + i, "x".repeat(20_000) + i));
        }
        Files.write(source.resolve("large"), Trees.random(60 << 20));
        night.complete();
        SiteAddress to = server.address().withRoot(target.toString());
        String[] arguments = Stream.concat(Stream.of(TestDatabase.words(database)), ChildProcess.words(to).stream())
                .toArray(String[]::new);
        new ChildProcess(RestoreToServerIT.class, 256, folder.resolve("child.log"), site.address(), arguments)
                .killWhen(() -> files(target.resolve("many")) > 100);
        assertThat(target.resolve("large")).doesNotExist();
        Path standing = first(target.resolve("many"));
        Object inode = Trees.inode(standing);

        Progress end = restore(1, target, Selection.ALL);

        assertThat(findings).isEmpty();
        assertThat(end.complete()).isTrue();
        assertThat(Trees.inode(standing)).as("what was there already stayed").isEqualTo(inode);
        assertThat(end.bytesMoved()).isLessThan(end.bytes());
        NightlyBackupIT.assertSame(source, target);
        assertThat(target.resolve(".dozo-incoming")).doesNotExist();
    }

    /** Restores in a process of its own. */
    static void main(String[] all) throws Exception {
        String[] arguments = ChildProcess.arguments(all);
        HikariDataSource database = TestDatabase.of(arguments);
        SiteAddress to = ChildProcess.site(Arrays.copyOfRange(arguments, 3, arguments.length));
        try (Night night = new Night(database, ChildProcess.site(all));
                RestoreToServer restore = restoring(night, 1, Selection.ALL, ChildProcess.site(all), to, SLOW)) {
            restore.run(finding -> {});
        }
    }

    private Progress restore(int manifest, Path into, Selection selection) throws Exception {
        return restore(manifest, into, selection, OPTIONS);
    }

    private Progress restore(int manifest, Path into, Selection selection, Options options) throws Exception {
        try (RestoreToServer restore = restoring(
                night, manifest, selection, site.address(), server.address().withRoot(into.toString()), options)) {
            return restore.run(findings::add);
        }
    }

    private static RestoreToServer restoring(
            Night night, int manifest, Selection selection, SiteAddress from, SiteAddress to, Options options) {
        return new RestoreToServer(
                night.get(Inventories.class)
                        .of(night.get(Manifests.class).find(1, manifest).orElseThrow(), 1),
                "p/E1",
                manifest,
                selection,
                from,
                "dr",
                to,
                options);
    }

    private static long files(Path top) throws IOException {
        if (!Files.exists(top)) {
            return 0;
        }
        try (Stream<Path> all = Files.find(top, 9, (path, facts) -> facts.isRegularFile())) {
            return all.count();
        } catch (java.io.UncheckedIOException renamedMeanwhile) {
            return 0;
        }
    }

    private static Path first(Path top) throws IOException {
        try (Stream<Path> all = Files.find(top, 9, (path, facts) -> facts.isRegularFile())) {
            return all.findFirst().orElseThrow();
        }
    }
}
