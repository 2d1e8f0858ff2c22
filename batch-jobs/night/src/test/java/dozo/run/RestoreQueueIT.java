package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;

import dozo.copy.Trees;
import dozo.file.FilePath;
import dozo.file.PathPattern;
import dozo.file.Problem;
import dozo.file.Selection;
import dozo.ledger.Ledger;
import dozo.manifest.Manifests;
import dozo.manifest.Manifests.Manifest;
import dozo.registry.Projects;
import dozo.registry.Refusal;
import dozo.registry.RestorePlaces;
import dozo.registry.Sites;
import dozo.remote.ChildProcess;
import dozo.remote.SilentRelay;
import dozo.remote.Tmpfs;
import dozo.restore.KeptRestore;
import dozo.restore.RestoreQueue;
import dozo.restore.Restores;
import dozo.restore.Restores.RestoreFinding;
import dozo.restore.Restores.RestoreState;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The service restores only into folders that an administrator allowed, and finishes what a dead process began. */
class RestoreQueueIT extends NightAtSite {

    private static final Duration LIMIT = Duration.ofMinutes(5);

    private Path allowed = Path.of("");
    private Path outside = Path.of("");

    @BeforeEach
    void open() throws IOException {
        allowed = Files.createDirectory(folder.resolve("allowed"));
        outside = Files.createDirectory(folder.resolve("outside"));
        night.register("E1", source);
        night.get(RestorePlaces.class).setRoots("p", List.of(allowed), "admin");
    }

    @Test
    void aManifestComesBackAsTheSourceWasAndTheLedgerSaysWhoAskedForItAndHowItEnded() throws Exception {
        Night.write(source, Map.of("f", "1", "deep/er/g", "2", "empty", ""));
        Path raw = Trees.named(source, "脳画像 表.dat", "windows-31j");
        Files.writeString(raw, "shift-jis");
        Files.createSymbolicLink(source.resolve("link"), Path.of("/nowhere"));
        Files.createLink(source.resolve("hard"), source.resolve("f"));
        Files.write(source.resolve("large"), new byte[5 << 20]);
        night.complete();
        long before = night.get(Ledger.class).last();

        KeptRestore ended = ended(request(allowed.resolve("new")));

        assertThat(ended.message()).isEmpty();
        assertThat(ended.state()).isEqualTo(RestoreState.COMPLETE);
        assertThat(ended.entriesVerified()).isEqualTo(ended.entries()).isPositive();
        assertThat(ended.bytesVerified()).isEqualTo(ended.bytes());
        assertThat(ended.startedAt()).isNotNull();
        NightlyBackupIT.assertSame(source, allowed.resolve("new"));
        assertThat(night.get(Ledger.class).after(before, 10))
                .extracting(row -> row.actor(), row -> row.action(), row -> row.subject())
                .containsExactly(
                        tuple("lab", "restore.requested", "p/E1"), tuple(Ledger.SYSTEM, "restore.ended", "p/E1"));
        assertThat(night.get(Ledger.class).after(before, 10))
                .allSatisfy(row -> assertThat(row.detail()).contains("\"manifest\": \"1\"", "\"folder\": ", "bytes"))
                .noneSatisfy(row -> assertThat(row.detail()).contains("allowed"));
    }

    @Test
    void aFolderComesBackAloneBelowItsOwnPath() throws Exception {
        Night.write(source, Map.of("a0", "1", "a/b/c", "2", "a/b/d/e", "3", "a/b0", "4", "a/b-x/f", "5", "z/y", "6"));
        Files.createSymbolicLink(source.resolve("a/b/link"), Path.of("c"));
        Files.createLink(source.resolve("a/b/hard"), source.resolve("z/y"));
        night.complete();
        Path target = allowed.resolve("part");

        KeptRestore ended = ended(request(target, Selection.of(FilePath.of("a/b"))));

        assertThat(ended.state()).as(ended.message()).isEqualTo(RestoreState.COMPLETE);
        assertThat(ended.selection()).isEqualTo(Selection.of(FilePath.of("a/b")));
        assertThat(ended.entries()).isEqualTo(7).isEqualTo(ended.entriesVerified());
        NightlyBackupIT.assertSame(source.resolve("a/b"), target.resolve("a/b"));
        assertThat(Trees.names(target)).containsExactly("a");
        assertThat(Trees.names(target.resolve("a"))).containsExactly("b");
        assertThat(Files.getLastModifiedTime(target.resolve("a")))
                .isEqualTo(Files.getLastModifiedTime(source.resolve("a")));

        assertThat(ended(request(allowed.resolve("one"), Selection.of(FilePath.of("a/b0"))))
                        .state())
                .isEqualTo(RestoreState.COMPLETE);
        assertThat(allowed.resolve("one/a/b0")).hasContent("4");
        assertThat(Trees.names(allowed.resolve("one/a"))).containsExactly("b0");

        assertThatThrownBy(() -> request(allowed.resolve("never"), Selection.of(FilePath.of("a/nothing"))))
                .hasMessage("p/E1 has nothing with this path in the requested state");
        assertThat(allowed.resolve("never")).doesNotExist();
    }

    @Test
    void severalPathsAndPatternsComeBackAndWhatMatchesNothingIsAFinding() throws Exception {
        Night.write(
                source, Map.of("a/1.nii", "1", "a/1.json", "2", "b/deep/2.nii", "3", "b/deep/x", "4", "c/d/e", "5"));
        Night.write(source, Map.of("top", "6", "other/f", "7"));
        Files.createDirectories(source.resolve("b/empty.nii/in"));
        night.complete();
        Path target = allowed.resolve("selected");
        Selection selection = selection(List.of("c", "top", "gone"), List.of("*.nii", "*.none"));

        KeptRestore ended = ended(request(target, selection));

        assertThat(ended.state()).as(ended.message()).isEqualTo(RestoreState.FINDINGS);
        assertThat(ended.selection()).as("kept with the job").isEqualTo(selection);
        assertThat(ended.entriesVerified()).isEqualTo(ended.entries()).isEqualTo(11);
        assertThat(night.get(Restores.class).findings(ended.id(), 0, 10))
                .extracting(RestoreFinding::path, RestoreFinding::reason, RestoreFinding::message)
                .containsExactly(
                        tuple("gone", Problem.NO_MATCH, "gone: p/E1#1 has nothing with this path"),
                        tuple("", Problem.NO_MATCH, "pattern \"*.none\": nothing in p/E1#1 matches"));
        assertThat(Trees.names(target)).containsExactlyInAnyOrder("a", "b", "c", "top");
        assertThat(Trees.names(target.resolve("a"))).containsExactly("1.nii");
        assertThat(Trees.names(target.resolve("b"))).containsExactlyInAnyOrder("deep", "empty.nii");
        assertThat(Trees.names(target.resolve("b/deep"))).containsExactly("2.nii");
        assertThat(target.resolve("b/empty.nii/in"))
                .as("in a folder that matches")
                .isDirectory();
        assertThat(target.resolve("c/d/e")).hasContent("5");

        KeptRestore nothing = ended(request(allowed.resolve("none"), selection(List.of(), List.of("*.none"))));
        assertThat(nothing.state()).isEqualTo(RestoreState.FAILED);
        assertThat(nothing.message()).isEqualTo("p/E1#1 has nothing with this path, or that matches this pattern");
        assertThat(Trees.names(allowed.resolve("none"))).isEmpty();
        assertThatThrownBy(() -> request(allowed.resolve("never"), selection(List.of("x", "y"), List.of())))
                .hasMessage("p/E1 has nothing with this path in the requested state");
    }

    private static Selection selection(List<String> paths, List<String> patterns) {
        return new Selection(
                paths.stream().map(FilePath::of).toList(),
                patterns.stream()
                        .map(text -> PathPattern.of(text.getBytes(StandardCharsets.UTF_8)))
                        .toList());
    }

    @Test
    void aFolderThatIsNotBelowAnAllowedOneIsRefused() throws Exception {
        complete(Map.of("f", "1"));
        Files.createSymbolicLink(allowed.resolve("out"), outside);
        Files.createSymbolicLink(allowed.resolve("dangling"), outside.resolve("nothing"));
        Files.createDirectory(folder.resolve("allowed2"));
        Files.writeString(allowed.resolve("file"), "mine");
        Night.write(allowed.resolve("full"), Map.of("f", "mine"));
        Path theirs = Files.createDirectory(allowed.resolve("theirs"));
        if (Files.getAttribute(theirs, "unix:uid").equals(0)) {
            // Only root may give a folder away; without that, it is refused because of its content.
            Files.setAttribute(theirs, "unix:uid", 1);
        } else {
            Files.createFile(theirs.resolve("file"));
        }

        for (Path refused : List.of(
                theirs,
                outside,
                outside.resolve("new"),
                allowed,
                allowed.resolve("."),
                folder,
                Path.of("/"),
                Path.of("relative"),
                folder.resolve("allowed2/new"),
                allowed.resolve("../outside/new"),
                allowed.resolve("out"),
                allowed.resolve("out/new"),
                allowed.resolve("dangling"),
                allowed.resolve("nothing/new"),
                allowed.resolve("file"),
                allowed.resolve("file/new"),
                allowed.resolve("full"),
                source,
                source.resolve("new"))) {
            assertThatThrownBy(() -> request(refused)).as(refused.toString()).isInstanceOf(Refusal.class);
        }
        assertThat(night.count("select count(*) from restore")).isZero();
        assertThat(Trees.names(outside)).isEmpty();
        assertThat(Trees.names(source)).containsExactly("f");
        assertThat(allowed.resolve("full/f")).hasContent("mine");

        night.get(RestorePlaces.class).setRoots("p", List.of(), "admin");
        assertThatThrownBy(() -> request(allowed.resolve("new")))
                .hasMessage("project p has no restore folder yet; ask an administrator");
    }

    @Test
    void foldersForRestoresAndSourcesDoNotOverlap() throws Exception {
        RestorePlaces places = night.get(RestorePlaces.class);
        Projects projects = night.get(Projects.class);
        Path roots = Files.createDirectories(folder.resolve("roots/in/side"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), source);
        projects.create("q", "", "test");
        projects.setRoots("q", List.of(folder.resolve("roots/in")), "admin");

        for (Path refused : List.of(source, folder, link, roots, roots.getParent(), folder.resolve("roots"))) {
            assertThatThrownBy(() -> places.setRoots("p", List.of(allowed, refused), "admin"))
                    .as(refused.toString())
                    .hasMessageContaining("overlaps with a source");
        }
        Path back = Files.createSymbolicLink(folder.resolve("back"), allowed);
        for (Path refused : List.of(allowed, folder, back, Files.createDirectory(allowed.resolve("below")))) {
            assertThatThrownBy(() -> projects.setRoots("q", List.of(refused), "admin"))
                    .as(refused.toString())
                    .hasMessageContaining("overlaps with a restore folder");
        }
        assertThat(projects.find("p").orElseThrow().restoreRoots()).containsExactly(allowed);
    }

    @Test
    void whatChangedBetweenTheRequestAndTheFirstByteIsSeen() throws Exception {
        complete(Map.of("f", "1"));
        Path lab = Files.createDirectory(allowed.resolve("lab"));
        Path visit = Files.createDirectory(allowed.resolve("visit"));
        RestoreQueue queue = night.get(RestoreQueue.class);
        queue.stop();
        long swapped = request(lab.resolve("new"));
        long registered = request(visit.resolve("new"));
        long emptied = request(allowed.resolve("empty"));
        Files.delete(lab);
        Files.createSymbolicLink(lab, outside);
        night.register("E2", visit);
        Night.write(allowed.resolve("empty"), Map.of("theirs", "theirs"));
        queue.start();

        assertThat(ended(swapped).state()).isEqualTo(RestoreState.FAILED);
        assertThat(ended(registered).state()).isEqualTo(RestoreState.FAILED);
        assertThat(ended(registered).message()).contains("overlaps with a source");
        assertThat(ended(emptied).state()).isEqualTo(RestoreState.FAILED);
        assertThat(ended(emptied).message()).contains("is not empty");
        assertThat(Trees.names(outside)).isEmpty();
        assertThat(Trees.names(visit)).isEmpty();
        assertThat(Trees.names(allowed.resolve("empty"))).containsExactly("theirs");
    }

    @Test
    void aFolderThatIsMovedWhileItIsFilledIsFilledWhereItIs() throws Exception {
        Night.writeMany(source, 10);
        night.complete();
        Path lab = Files.createDirectory(allowed.resolve("lab"));
        // While the site is suspended, nothing arrives before the folder is moved.
        signalSite("STOP");
        long id;
        try {
            id = request(lab.resolve("new"));
            Night.until(() -> Files.exists(lab.resolve("new/.dozo-incoming")));
            Files.move(lab, allowed.resolve("moved"));
            Files.createSymbolicLink(lab, outside);
        } finally {
            signalSite("CONT");
        }

        assertThat(ended(id).state()).isEqualTo(RestoreState.COMPLETE);
        assertThat(Trees.names(outside)).isEmpty();
        NightlyBackupIT.assertSame(source, allowed.resolve("moved/new"));
    }

    @Test
    void whatCannotBeHadIsListedAndTheSameRestoreFinishesTheRest() throws Exception {
        complete(Map.of("f", "1", "g", "2"));
        Path copy = root.resolve("p/E1/data/f");
        Files.move(copy, folder.resolve("away"));

        KeptRestore first = ended(request(allowed.resolve("new")));

        assertThat(first.state()).isEqualTo(RestoreState.FINDINGS);
        assertThat(first.findings()).isEqualTo(1);
        assertThat(night.get(Restores.class).findings(first.id(), 0, 10))
                .singleElement()
                .satisfies(finding -> {
                    assertThat(finding.path()).isEqualTo("f");
                    assertThat(finding.reason()).isEqualTo(Problem.VANISHED);
                });
        Files.move(folder.resolve("away"), copy);
        assertThat(ended(request(allowed.resolve("new"))).state()).isEqualTo(RestoreState.COMPLETE);
        NightlyBackupIT.assertSame(source, allowed.resolve("new"));
        assertThatThrownBy(() -> request(allowed.resolve("new"))).hasMessageContaining("is not empty");
    }

    @Test
    void oneThatWaitsOrRunsIsStoppedAndKeepsItsFolderFromOthers() throws Exception {
        Night.writeMany(source, 10);
        night.complete();
        RestoreQueue queue = night.get(RestoreQueue.class);
        // While the site is suspended, the restore cannot end, however fast or slow the machine is.
        signalSite("STOP");
        long running;
        long waiting;
        try {
            running = request(allowed.resolve("first"));
            awaitState(running, RestoreState.RUNNING);
            waiting = request(allowed.resolve("second"));
            assertThatThrownBy(() -> request(allowed.resolve("second")))
                    .isInstanceOfSatisfying(
                            Refusal.class,
                            refusal -> assertThat(refusal.isConflict()).isTrue());

            queue.stop(waiting, "lab");
            queue.stop(running, "lab");
        } finally {
            signalSite("CONT");
        }

        assertThat(ended(waiting).state()).isEqualTo(RestoreState.STOPPED);
        assertThat(ended(running).state()).isEqualTo(RestoreState.STOPPED);
        assertThat(allowed.resolve("second")).doesNotExist();
        assertThatThrownBy(() -> queue.stop(running, "lab")).hasMessage("restore %d has ended".formatted(running));
        assertThat(ended(request(allowed.resolve("first"))).state()).isEqualTo(RestoreState.COMPLETE);
        NightlyBackupIT.assertSame(source, allowed.resolve("first"));
    }

    @Test
    void oneThatIsOverIsNotStoppedAndShowsAllThatItFetchedUntilItsResultIsRecorded() throws Exception {
        complete(Map.of("a", "1", "b", "22"));
        signalSite("STOP");
        long id = request(allowed.resolve("new"));
        awaitState(id, RestoreState.RUNNING);
        night.whileHolding("lock table restore in share mode", () -> {
            signalSite("CONT");
            night.awaitHeldUp("relation = 'restore'::regclass");

            assertThat(now(id).state()).isEqualTo(RestoreState.RUNNING);
            assertThat(now(id).entriesVerified()).isPositive();
            assertThatThrownBy(() -> night.get(RestoreQueue.class).stop(id, "lab"))
                    .hasMessage("restore %d has ended".formatted(id));
        });
        assertThat(ended(id).state()).isEqualTo(RestoreState.COMPLETE);
        assertThat(night.count("select count(*) from ledger where action = 'restore.stopping'"))
                .isZero();
    }

    @Test
    void aSiteThatIsNotThereIsAFailureAndNoMore() throws Exception {
        complete(Map.of("f", "1"));
        site.close();

        KeptRestore failed = ended(request(allowed.resolve("new")));

        assertThat(failed.state()).isEqualTo(RestoreState.FAILED);
        assertThat(failed.message()).isNotEmpty();
    }

    @Test
    void oneWhoseSiteIsLostWaitsForItAndGoesOn() throws Exception {
        try (SilentRelay relay = new SilentRelay(site.address())) {
            long id = requestAndLoseSite(relay);

            relay.resetAfter(() -> 0);

            KeptRestore ended = ended(id);
            assertThat(ended.state()).as(ended.message()).isEqualTo(RestoreState.COMPLETE);
            assertThat(ended.message()).isEmpty();
            NightlyBackupIT.assertSame(source, allowed.resolve("new"));
        }
    }

    @Test
    void oneThatWaitsForItsSiteCanBeStopped() throws Exception {
        try (SilentRelay relay = new SilentRelay(site.address())) {
            long id = requestAndLoseSite(relay);

            night.get(RestoreQueue.class).stop(id, "lab");

            assertThat(ended(id).state()).isEqualTo(RestoreState.STOPPED);
        }
    }

    /** Requests a restore over the relay, on which no login succeeds any more from the middle on. */
    private long requestAndLoseSite(SilentRelay relay) throws Exception {
        Files.write(source.resolve("large"), Trees.random(32 << 20));
        night.complete();
        night.get(Sites.class).save("dr", relay.address(), "test");
        relay.resetAfter(() -> relay.resets() == 0 ? 200 : 2);
        long id = request(allowed.resolve("new"));
        Awaitility.await()
                .atMost(LIMIT)
                .until(
                        () -> now(id),
                        now -> !now.state().goesOn() || now.message().startsWith("the site was lost at 20"));
        assertThat(now(id).state()).as(now(id).message()).isEqualTo(RestoreState.RUNNING);
        return id;
    }

    @Test
    void aFullDiskIsAFailureThatNamesTheFolderAndTheSameRestoreFinishesTheRest() throws Exception {
        Files.write(source.resolve("small"), new byte[] {1});
        Files.write(source.resolve("large"), Trees.random(8 << 20));
        night.complete();
        Path disk = allowed.resolve("disk");
        Path target = disk.resolve("new");
        try (Tmpfs small = new Tmpfs(disk, "size=4m")) {
            KeptRestore full = ended(request(target));

            assertThat(full.state()).isEqualTo(RestoreState.FAILED);
            assertThat(full.message())
                    .isEqualTo(
                            "cannot write in %s: No space left on device; free some space there, then run again",
                            target);
            assertThat(target.resolve("large")).doesNotExist();
            small.remount("size=64m");
            assertThat(ended(request(target)).state()).isEqualTo(RestoreState.COMPLETE);
            NightlyBackupIT.assertSame(source, target);
            assertThat(Trees.names(target)).containsExactlyInAnyOrder("small", "large");
        }
    }

    @Test
    void aDatabaseThatFailsIsTheReasonAndTheSameRestoreFinishesTheRest() throws Exception {
        complete(Map.of("f", "1"));
        night.update("alter view claimed_entry rename to elsewhere");

        KeptRestore failed = ended(request(allowed.resolve("new")));

        assertThat(failed.state()).isEqualTo(RestoreState.FAILED);
        assertThat(failed.message())
                .startsWith("the database failed: ERROR: relation \"claimed_entry\" does not exist")
                .endsWith("; the same restore into the same folder fetches the rest");
        night.update("alter view elsewhere rename to claimed_entry");
        assertThat(ended(request(allowed.resolve("new"))).state()).isEqualTo(RestoreState.COMPLETE);
    }

    @Test
    void oneThatIsKilledIsFinishedByTheNextProcess() throws Exception {
        Night.writeMany(source, 2_000);
        night.complete();
        night.get(RestoreQueue.class).stop();
        long id = request(allowed.resolve("new"));
        night.close();
        Path target = allowed.resolve("new");
        RestoreProcess.start(folder.resolve("child.log"), site.address(), database)
                .killWhen(() -> Files.exists(target) && Trees.names(target).size() > 10);
        night = new Night(database, site.address());

        KeptRestore ended = ended(id);

        assertThat(ended.message()).isEmpty();
        assertThat(ended.state()).isEqualTo(RestoreState.COMPLETE);
        NightlyBackupIT.assertSame(source, target);
        assertThat(night.count("select count(*) from ledger where action = 'restore.ended'"))
                .isEqualTo(1);
    }

    static void awaitNone(Night night) {
        Night.until(() -> night.count("select count(*) from restore where ended_at is null") == 0);
    }

    private long request(Path target) {
        return request(target, Selection.ALL);
    }

    private long request(Path target, Selection selection) {
        return night.get(RestoreQueue.class)
                .request(night.experiment(), manifest(), selection, night.site(), target, "lab")
                .id();
    }

    private Manifest manifest() {
        return night.get(Manifests.class).find(1, 1).orElseThrow();
    }

    private KeptRestore now(long id) {
        return night.get(Restores.class).find(night.experiment(), id).orElseThrow();
    }

    private KeptRestore ended(long id) {
        return Awaitility.await()
                .atMost(LIMIT)
                .until(() -> now(id), kept -> !kept.state().goesOn());
    }

    private void awaitState(long id, RestoreState state) {
        Night.until(() -> now(id).state() == state);
    }

    /** Signals all processes of the test's sshd. */
    static void signalSite(String name) throws Exception {
        for (ProcessHandle process : ProcessHandle.current()
                .descendants()
                .filter(each -> each.info().command().orElse("").contains("sshd"))
                .toList()) {
            try {
                ChildProcess.signal(process, name);
            } catch (IllegalStateException e) {
                // The process of a connection that was just closed may have ended meanwhile.
                assertThat(process.isAlive()).as(e.getMessage()).isFalse();
            }
        }
    }
}
