package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dozo.copy.Trees;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.file.Selection;
import dozo.ledger.Ledger;
import dozo.manifest.Manifests;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.RestorePlaces;
import dozo.remote.Tmpfs;
import dozo.restore.KeptRestore;
import dozo.restore.RestoreQueue;
import dozo.restore.Restores;
import dozo.restore.Restores.RestoreFinding;
import dozo.restore.Restores.RestoreState;
import dozo.run.Runs.Run;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** An experiment comes back into its own source: what is equal stays untouched, and what differs is put aside, never lost. */
class RestoreInPlaceIT extends NightAtSite {

    private static final Duration LIMIT = Duration.ofMinutes(5);

    private Path allowed = Path.of("");

    @BeforeEach
    void open() throws IOException {
        allowed = Files.createDirectory(folder.resolve("allowed"));
        night.register("E1", source);
        night.get(RestorePlaces.class).setRoots("p", List.of(allowed), "admin");
    }

    @Test
    void whatDiffersIsPutAsideAndWhatIsEqualStaysUntouched() throws Exception {
        Night.write(source, Map.of("equal", "1", "rotten", "2", "edited", "3", "gone", "4", "dir/deep/in", "5"));
        Night.write(source, Map.of("waslink", "6", "wasfolder", "7", "folder/in", "8", "lost/in", "9", "first", "10"));
        Path raw = Trees.named(source, "脳 image", "windows-31j");
        Files.writeString(raw, "shift-jis");
        Files.createSymbolicLink(source.resolve("link"), Path.of("/nowhere"));
        Files.createSymbolicLink(source.resolve("dir/same"), Path.of("deep"));
        Files.createLink(source.resolve("second"), source.resolve("first"));
        Files.setPosixFilePermissions(source.resolve("lost"), PosixFilePermissions.fromString("rwx--x---"));
        if (Files.getAttribute(source, "unix:uid").equals(0)) {
            // Only root may give a file away.
            for (String given : List.of("rotten", "lost")) {
                Files.setAttribute(source.resolve(given), "unix:uid", 1_234);
            }
        }
        night.complete();
        Map<FilePath, String> sealed = Snapshot.withRights(source);
        Object equal = Trees.inode(source.resolve("equal"));
        Object same = Trees.inode(source.resolve("dir/same"));
        Path outside = Files.createDirectory(folder.resolve("outside"));
        Trees.flip(source.resolve("rotten"), 0);
        Trees.flip(source.resolve("first"), 0);
        FileTime time = Files.getLastModifiedTime(raw);
        Files.writeString(raw, "Shift-jis");
        Files.setLastModifiedTime(raw, time);
        Files.writeString(source.resolve("edited"), "of today");
        Files.delete(source.resolve("gone"));
        exchange("waslink", path -> Files.createSymbolicLink(path, outside));
        exchange(
                "wasfolder",
                path -> Files.writeString(Files.createDirectory(path).resolve("theirs"), "theirs"));
        exchange("folder", path -> Files.createSymbolicLink(path, outside));
        exchange("lost", path -> {});
        exchange("link", path -> Files.createSymbolicLink(path, Path.of("/elsewhere")));
        Files.writeString(source.resolve("added"), "theirs");

        KeptRestore ended = ended(request(Selection.ALL));

        assertThat(night.get(Restores.class).findings(ended.id(), 0, 10)).isEmpty();
        assertThat(ended.state()).as(ended.message()).isEqualTo(RestoreState.COMPLETE);
        assertThat(ended.inPlace()).isTrue();
        assertThat(ended.folder()).isEqualTo(source.toString());
        assertThat(ended.entriesVerified()).isEqualTo(ended.entries()).isPositive();
        assertThat(source.resolve("added")).hasContent("theirs");
        Files.delete(source.resolve("added"));
        assertThat(Snapshot.withRights(source)).isEqualTo(sealed);
        assertThat(Trees.inode(source.resolve("equal"))).isEqualTo(equal);
        assertThat(Trees.inode(source.resolve("dir/same"))).isEqualTo(same);
        assertThat(Trees.inode(source.resolve("second"))).isEqualTo(Trees.inode(source.resolve("first")));
        Path aside = aside(ended);
        assertThat(aside.getParent().getParent()).isEqualTo(allowed);
        assertThat(aside.resolve("edited")).hasContent("of today");
        assertThat(aside.resolve("wasfolder/theirs")).hasContent("theirs");
        assertThat(Files.readSymbolicLink(aside.resolve("waslink"))).isEqualTo(outside);
        assertThat(Files.readSymbolicLink(aside.resolve("folder"))).isEqualTo(outside);
        assertThat(Files.readSymbolicLink(aside.resolve("link"))).hasToString("/elsewhere");
        assertThat(Trees.names(aside))
                .hasSize(9)
                .contains("rotten", "first", "second")
                .doesNotContain("equal", "gone");
        assertThat(Trees.names(aside.getParent())).containsExactly("put-aside");
        assertThat(Files.getPosixFilePermissions(aside.getParent()))
                .as("only for the service's user")
                .isEqualTo(PosixFilePermissions.fromString("rwx------"));
        assertThat(Trees.names(outside)).isEmpty();

        KeptRestore again = ended(request(Selection.ALL));
        assertThat(again.state()).isEqualTo(RestoreState.COMPLETE);
        assertThat(again.aside()).as("nothing differs any more").isNull();
        assertThat(Trees.names(allowed)).hasSize(1);
    }

    private interface Change {
        void of(Path path) throws IOException;
    }

    /** Removes what has a name, and makes something else of it. */
    private void exchange(String name, Change change) throws IOException {
        Trees.delete(source.resolve(name));
        change.of(source.resolve(name));
    }

    @Test
    void aSourceThatIsLostOrEmptyComesBackWhole() throws Exception {
        Night.write(source, Map.of("a", "1", "b/c", "2"));
        night.complete();
        Map<FilePath, String> sealed = Snapshot.of(source);
        Files.move(source, folder.resolve("moved"));

        KeptRestore lost = ended(request(Selection.ALL));

        assertThat(lost.state()).as(lost.message()).isEqualTo(RestoreState.COMPLETE);
        assertThat(lost.aside()).isNull();
        assertThat(Snapshot.of(source)).isEqualTo(sealed);
        Trees.delete(source.resolve("b"));
        Files.delete(source.resolve("a"));
        assertThat(ended(request(Selection.of(FilePath.of("b")))).state()).isEqualTo(RestoreState.COMPLETE);
        assertThat(Trees.names(source)).containsExactly("b");
        assertThat(ended(request(Selection.ALL)).state()).isEqualTo(RestoreState.COMPLETE);
        assertThat(Snapshot.of(source)).isEqualTo(sealed);
    }

    @Test
    void whatHasRottedIsCuredAndTheNextNightAndHomeScrubFindNothing() throws Exception {
        Night.write(source, Map.of("dir/a", "content", "b", "other"));
        night.complete();
        Trees.flip(source.resolve("dir/a"), 0);
        Run scrub = homeScrub();
        night.assertOnly(scrub, Problem.ROTTEN_AT_HOME, "dozo restore p/E1 --path FILE --in-place");
        String looked = "select max(manifest_no) || ' ' || (select max(entry_no) from entry) from manifest";
        List<String> before = night.texts(looked);
        long row = night.get(Ledger.class).last();

        KeptRestore ended = ended(request(Selection.of(FilePath.of("dir/a"))));

        assertThat(ended.state()).as(ended.message()).isEqualTo(RestoreState.COMPLETE);
        assertThat(source.resolve("dir/a")).hasContent("content");
        assertThat(aside(ended).resolve("dir/a")).hasContent("Content");
        assertThat(night.get(Ledger.class).after(row, 10))
                .extracting(each -> each.actor(), each -> each.action(), each -> each.subject())
                .containsExactly(
                        tuple("lab", "restore.requested", "p/E1"), tuple(Ledger.SYSTEM, "restore.ended", "p/E1"));
        assertThat(night.get(Ledger.class).after(row, 10))
                .allSatisfy(each -> assertThat(each.detail()).contains("\"in_place\": \"true\""));
        night.complete();
        assertThat(night.texts(looked)).as("nothing has changed").isEqualTo(before);
        night.assertComplete(homeScrub());
        assertThat(night.findings(scrub)).noneMatch(finding -> finding.open());
    }

    private Run homeScrub() {
        Run run = night.await(night.operations()
                .startScrub(new ScrubRequest(true, null, Duration.ofDays(1), true, 0, null, true), "test"));
        night.awaitIdle();
        return run;
    }

    @Test
    void withoutAVerifiedCopyWhatIsAtHomeStays() throws Exception {
        Night.write(source, Map.of("a", "content", "b", "other"));
        night.complete();
        Trees.flip(source.resolve("a"), 0);
        Trees.flip(bag.resolve("data/a"), 1);
        Trees.flip(source.resolve("b"), 0);

        KeptRestore ended = ended(request(Selection.of(FilePath.of("a"))));

        assertThat(ended.state()).isEqualTo(RestoreState.FINDINGS);
        assertThat(night.get(Restores.class).findings(ended.id(), 0, 10))
                .extracting(RestoreFinding::path, RestoreFinding::reason)
                .containsExactly(tuple("a", Problem.MISMATCHED));
        assertThat(ended.aside()).isNull();
        assertThat(source.resolve("a")).hasContent("Content");
        assertThat(source.resolve("b")).as("not selected").hasContent("Other");
        assertThat(Trees.names(allowed)).isEmpty();
    }

    @Test
    void whereNothingCanBePutAsideNothingIsRestored() throws Exception {
        Night.write(source, Map.of("a", "1"));
        night.complete();
        assertThatThrownBy(() -> request(Selection.of(FilePath.of("never"))))
                .hasMessage("p/E1 has nothing with this path in the requested state");
        night.get(RestorePlaces.class).setRoots("p", List.of(), "admin");
        assertThatThrownBy(() -> request(Selection.ALL))
                .hasMessageContaining("has no restore folder on the same file system");
        try (Tmpfs disk = new Tmpfs(folder.resolve("disk"), "size=1m")) {
            night.get(RestorePlaces.class).setRoots("p", List.of(folder.resolve("disk")), "admin");
            assertThatThrownBy(() -> request(Selection.ALL))
                    .hasMessageContaining("has no restore folder on the same file system");
        }
        night.update("update experiment set source_root = '%s/never/E1'::bytea".formatted(folder));
        assertThatThrownBy(() -> request(Selection.ALL)).hasMessageContaining("do not answer or do not exist");
        assertThat(Trees.names(source)).containsExactly("a");
        assertThat(night.count("select count(*) from restore")).isZero();
    }

    @Test
    void aSourceThatTheServiceMayOnlyReadIsRefusedAndSoIsOneOfAnExperimentWithoutSource() throws Exception {
        Files.writeString(source.resolve("a"), "1");
        Path disk = folder.resolve("disk");
        try (Tmpfs small = new Tmpfs(disk, "size=4m")) {
            Path readOnly = Files.createDirectory(disk.resolve("E2"));
            Files.writeString(readOnly.resolve("a"), "1");
            night.register("E2", readOnly);
            night.complete();
            small.remount("ro");

            assertThatThrownBy(() -> request("E2", Selection.ALL))
                    .hasMessageContaining("the service may not write into " + readOnly);
            small.remount("rw");
        }
        night.update("update experiment set source_kind = 'none' where code = 'E2'");
        assertThatThrownBy(() -> request("E2", Selection.ALL)).hasMessageContaining("the source of p/E2 is unknown");
    }

    @Test
    void whatIsOnAnotherFileSystemInTheSourceStays() throws Exception {
        Night.write(source, Map.of("a", "1", "empty/.keep", ""));
        Path mount = source.resolve("mount");
        try (Tmpfs disk = new Tmpfs(mount, "size=1m")) {
            Files.writeString(mount.resolve("a"), "content");
            night.complete();
            Trees.flip(mount.resolve("a"), 0);

            KeptRestore ended = ended(request(Selection.ALL));

            assertThat(ended.state()).isEqualTo(RestoreState.FINDINGS);
            assertThat(night.get(Restores.class).findings(ended.id(), 0, 10))
                    .singleElement()
                    .satisfies(finding -> assertThat(finding.message())
                            .isEqualTo("mount/a: cannot be created here: another file system is mounted there"));
            assertThat(mount.resolve("a")).hasContent("Content");
            assertThat(Trees.names(mount)).containsExactly("a");
        }
    }

    @Test
    void whatChangedBetweenTheRequestAndTheFirstByteIsSeen() throws Exception {
        Night.write(source, Map.of("a", "Q"));
        night.complete();
        Trees.flip(source.resolve("a"), 0);
        RestoreQueue queue = night.get(RestoreQueue.class);
        queue.stop();
        long waiting = request(Selection.ALL);
        assertThatThrownBy(() -> request(Selection.ALL))
                .hasMessageContaining("restore %d writes to".formatted(waiting));
        queue.stop(waiting, "lab");
        assertThat(now(waiting).aside()).isNull();
        long occupied = request(Selection.ALL);
        Path aside = Files.createFile(aside(now(occupied)).getParent());
        queue.start();
        assertThat(ended(occupied).state()).isEqualTo(RestoreState.FAILED);
        Files.delete(aside);
        queue.stop();
        long moved = request(Selection.ALL);
        night.update("update experiment set source_root = '%s/elsewhere'::bytea".formatted(folder));
        queue.start();
        assertThat(ended(moved).message()).isEqualTo("%s is no longer the source of p/E1", source);
        night.update("update experiment set source_root = '%s'::bytea".formatted(source));
        queue.stop();
        long theirs = request(Selection.ALL);
        Path given = Files.createDirectory(aside(now(theirs)).getParent());
        if (Files.getAttribute(given, "unix:uid").equals(0)) {
            Files.setAttribute(given, "unix:uid", 1);
            queue.start();
            assertThat(ended(theirs).message()).isEqualTo("%s does not belong to the service's user", given);
        }
        assertThat(Trees.names(source)).containsExactly("a");
        assertThat(source.resolve("a")).hasContent("q");
    }

    @Test
    void oneThatIsKilledLosesNothingAndIsFinishedByTheNextProcess() throws Exception {
        int files = 3_000;
        Night.writeMany(source, files);
        night.complete();
        Map<FilePath, String> sealed = Snapshot.of(source);
        for (int i = 0; i < files; i++) {
            Trees.flip(source.resolve("file" + i), 0);
        }
        night.get(RestoreQueue.class).stop();
        long id = request(Selection.ALL);
        Path aside = aside(now(id));
        night.close();

        RestoreProcess.start(folder.resolve("child.log"), site.address(), database)
                .killWhen(() -> Files.exists(aside) && Trees.names(aside).size() > 10);

        assertThat(Trees.names(aside).size()).as("killed before its end").isLessThan(files);
        for (int i = 0; i < files; i++) {
            Path standing = source.resolve("file" + i);
            Path put = aside.resolve("file" + i);
            boolean isAside = Files.exists(put, LinkOption.NOFOLLOW_LINKS);
            assertThat(isAside ? put : standing).hasContent("Content of " + i);
            if (isAside && Files.exists(standing)) {
                assertThat(standing).hasContent("content of " + i);
            }
        }
        night = new Night(database, site.address());
        KeptRestore ended = ended(id);
        assertThat(ended.state()).as(ended.message()).isEqualTo(RestoreState.COMPLETE);
        assertThat(Snapshot.of(source)).isEqualTo(sealed);
        for (int i = 0; i < files; i++) {
            assertThat(aside.resolve("file" + i)).hasContent("Content of " + i);
        }
        assertThat(Trees.names(aside.getParent())).containsExactly("put-aside");
    }

    private static Path aside(KeptRestore restore) {
        return Path.of(Objects.requireNonNull(restore.aside())).resolve("put-aside");
    }

    private long request(Selection selection) {
        return request("E1", selection);
    }

    private long request(String code, Selection selection) {
        Experiment experiment = night.get(Experiments.class).find("p", code).orElseThrow();
        return night.get(RestoreQueue.class)
                .requestInPlace(
                        experiment,
                        night.get(Manifests.class).find(experiment.id(), 1).orElseThrow(),
                        selection,
                        night.site(),
                        "lab")
                .id();
    }

    private KeptRestore now(long id) {
        return night.get(Restores.class).find(night.experiment(), id).orElseThrow();
    }

    private KeptRestore ended(long id) {
        return Awaitility.await()
                .atMost(LIMIT)
                .until(() -> now(id), kept -> !kept.state().goesOn());
    }
}
