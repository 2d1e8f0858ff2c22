package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dozo.copy.Copy.Finding;
import dozo.copy.Copy.Options;
import dozo.copy.Copy.Progress;
import dozo.copy.Restore;
import dozo.copy.Trees;
import dozo.file.Attributes;
import dozo.file.Attributes.Attribute;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Tmpfs;
import dozo.source.DirectoryTree;
import dozo.source.ExtendedAttributes;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

/** What a restore leaves in its folder: nothing of others is touched, and nobody gets rights by it. */
class RestoreFolderIT extends RestoredNight {

    /** {@code u::rwx,u:1000:rw-,g::r-x,m::rwx,o::r-x} in the form of the kernel. */
    private static final byte[] ACL = HexFormat.of()
            .parseHex("0200000001000700ffffffff02000600e803000004000500ffffffff10000700ffffffff20000500ffffffff");

    /** {@code cap_net_raw=ep} in the form of the kernel. */
    private static final byte[] CAPABILITY = HexFormat.of().parseHex("0100000200200000000000000000000000000000");

    @Test
    void specialBitsComeBackUnlessTheyGiveAwayRights() throws Exception {
        Night.write(source, Map.of("shared/f", "1", "program", "2", "sticky/f", "3"));
        Files.setAttribute(source.resolve("shared"), "unix:mode", 02775);
        Files.setAttribute(source.resolve("sticky"), "unix:mode", 01777);
        Files.setAttribute(source.resolve("program"), "unix:mode", 06755);
        night();

        assertThat(restore(1).complete()).isTrue();

        assertThat(Files.getAttribute(restored(1).resolve("shared"), "unix:mode"))
                .isEqualTo(Files.getAttribute(source.resolve("shared"), "unix:mode"));
        assertThat(Files.getAttribute(restored(1).resolve("sticky"), "unix:mode"))
                .isEqualTo(Files.getAttribute(source.resolve("sticky"), "unix:mode"));
        assertThat(Files.getAttribute(restored(1).resolve("program"), "unix:mode"))
                .as("it belongs to another user now")
                .isEqualTo(0100755);
        assertThat(findings).singleElement().satisfies(finding -> {
            assertThat(finding.problem()).isEqualTo(Problem.NOT_SET);
            assertThat(finding.message()).contains("on 1 files");
        });
    }

    @Test
    void withOwnersARestoreThatWasCutOffTakesBackItsFoldersAndGivesThemAwayAtTheEnd() throws Exception {
        assumeTrue(System.getProperty("user.name").equals("root"), "only root can change owners");
        Night.write(source, Map.of("shared/deep/program", "1", "shared/missing", "2", "g", "3"));
        for (String name : List.of("shared", "shared/deep", "shared/deep/program", "shared/missing")) {
            Files.setAttribute(source.resolve(name), "unix:uid", 1_234);
            Files.setAttribute(source.resolve(name), "unix:gid", 1_235);
        }
        Files.setAttribute(source.resolve("shared/deep/program"), "unix:mode", 06755);
        ExtendedAttributes.set(source.resolve("shared"), new Attribute(Attributes.DEFAULT_ACL, ACL));
        ExtendedAttributes.set(source.resolve("shared/deep/program"), new Attribute(Attributes.ACL, ACL));
        night();
        Path copy = root.resolve("p/E1/data/shared/missing");
        Files.move(copy, folder.resolve("away"));
        try (Restore restore = restoring(1, OPTIONS.withOwners())) {
            assertThat(restore.run(findings::add).complete()).isFalse();
        }
        assertThat(Files.getAttribute(restored(1).resolve("shared"), "unix:uid"))
                .isEqualTo(1_234);
        Files.move(folder.resolve("away"), copy);
        findings.clear();

        try (Restore restore = restoring(1, OPTIONS.withOwners())) {
            assertThat(restore.run(findings::add).complete()).isTrue();
        }

        assertThat(findings).isEmpty();
        assertThat(Snapshot.withRights(restored(1))).isEqualTo(Snapshot.withRights(source));
    }

    @Test
    void withoutOwnersNothingComesBackThatGivesTheRightsOfTheRestoringUser() throws Exception {
        assumeTrue(System.getProperty("user.name").equals("root"), "only root can change owners");
        Night.write(source, Map.of("program", "1"));
        Path program = source.resolve("program");
        Attribute acl = new Attribute(Attributes.ACL, ACL);
        Attribute comment = new Attribute("user.comment", new byte[] {1});
        ExtendedAttributes.set(program, new Attribute("security.capability", CAPABILITY));
        ExtendedAttributes.set(program, acl);
        ExtendedAttributes.set(program, comment);
        night();

        assertThat(restore(1).complete()).isTrue();

        assertThat(ExtendedAttributes.of(restored(1).resolve("program")).all()).containsExactly(acl, comment);
        assertThat(findings).singleElement().satisfies(finding -> {
            assertThat(finding.problem()).isEqualTo(Problem.NOT_SET);
            assertThat(finding.message()).contains("capabilities").contains("on 1 entries");
        });
    }

    @Test
    void aProcessThatMustNotChangeOwnersListsWhatItCouldNotSet() throws Exception {
        night(Map.of("program", "1"));

        assertThat(RestoreWithoutRights.run(site.address(), "1", new Attribute(Attributes.ACL, ACL), restored(1)))
                .satisfiesExactly(
                        owners -> assertThat(owners).contains("owner and group could not be set on 1 entries"),
                        privileged -> assertThat(privileged).contains("setuid or setgid was not set on 1 files"),
                        root -> assertThat(root).contains("trusted attributes were not set on 1 entries"));

        assertThat(ExtendedAttributes.of(restored(1).resolve("program")).all())
                .extracting(Attribute::name)
                .containsExactly(Attributes.ACL, "user.comment");
        assertThat(DirectoryTree.facts(restored(1).resolve("program")).mode()).isEqualTo(0755);
    }

    @Test
    void rootGivesNothingAwayInAFolderOfAnotherUser() throws Exception {
        assumeTrue(System.getProperty("user.name").equals("root"), "only root can change owners");
        night(Map.of("f", "1"));
        Files.setAttribute(Files.createDirectory(restored(1)), "unix:uid", 1_234);

        try (Restore restore = restoring(1, OPTIONS.withOwners())) {
            assertThatThrownBy(() -> restore.run(findings::add)).hasMessageContaining("belongs to another user");
        }

        assertThat(restore(1).complete()).as("without owners").isTrue();
    }

    @Test
    void whatIsTooLongToComeBackIsAFindingAndNothingOfTheRestoreStays() throws Exception {
        Path deep = Files.createDirectories(source.resolve(("d".repeat(150) + "/").repeat(24)));
        Files.writeString(deep.resolve("f"), "too deep");
        night(Map.of("fine", "1"));
        Path target = Files.createDirectories(folder.resolve(("t".repeat(200) + "/").repeat(3)));

        try (Restore restore = restoring(1, target, OPTIONS)) {
            assertThat(restore.run(findings::add).complete()).isFalse();
        }

        assertThat(findings).extracting(Finding::problem).containsOnly(Problem.DESTINATION_REFUSED);
        assertThat(findings).extracting(Finding::path).contains(FilePath.between(source, deep.resolve("f")));
        assertThat(target.resolve("fine")).hasContent("1");
        assertThat(target).isDirectoryNotContaining("glob:**/.dozo-incoming*");
    }

    @Test
    void aRestoreThatWasKilledJustAfterItsEndIsVerifiedByTheSameRestore() throws Exception {
        Night.write(source, Map.of("d/f", "1", "g", "22"));
        Files.createSymbolicLink(source.resolve("link"), Path.of("g"));
        night();
        restore(1);

        try (Restore again = restoring(1, OPTIONS)) {
            Progress end = again.run(findings::add);
            assertThat(end.complete()).isTrue();
            assertThat(end.bytesMoved()).isZero();
        }
        assertThat(findings).isEmpty();
        assertThat(restored(1)).isDirectoryNotContaining("glob:**/.dozo-incoming*");

        Files.move(restored(1).resolve("d/f"), folder.resolve("taken away"));
        try (Restore again = restoring(1, OPTIONS)) {
            assertThatThrownBy(() -> again.run(findings::add)).hasMessageContaining("is not empty");
        }
        Files.move(folder.resolve("taken away"), restored(1).resolve("d/f"));

        FileTime time = Files.getLastModifiedTime(restored(1).resolve("g"));
        Files.writeString(restored(1).resolve("g"), "2x");
        Files.setLastModifiedTime(restored(1).resolve("g"), time);
        try (Restore again = restoring(1, OPTIONS)) {
            assertThat(again.run(findings::add).complete()).isFalse();
        }
        assertThat(findings).extracting(Finding::problem).containsOnly(Problem.DESTINATION_REFUSED);
        assertThat(restored(1).resolve("g")).as("nothing is overwritten").hasContent("2x");
    }

    @Test
    void aFolderWithSomethingElseInItIsLeftAlone() throws Exception {
        night(Map.of("f", "1"));
        Night.write(restored(1), Map.of("theirs", "x"));

        assertThatThrownBy(() -> restore(1)).isInstanceOf(IOException.class).hasMessageContaining("is not empty");
        assertThat(restored(1)).isDirectoryContaining("glob:**/theirs").isDirectoryNotContaining("glob:**/f");
    }

    @Test
    void whatSomebodyPutIntoAnUnfinishedRestoreIsNeitherOverwrittenNorFollowed() throws Exception {
        Night.write(source, Map.of("damaged", "1", "mine", "2", "sub/f", "3", "sub/deep/g", "4", "linked", "5"));
        Files.createSymbolicLink(source.resolve("l"), Path.of("a"));
        night();
        Files.writeString(root.resolve("p/E1/data/damaged"), "x");
        restore(1);
        findings.clear();
        Path outside = Files.createDirectory(folder.resolve("outside"));
        Files.writeString(outside.resolve("victim"), "untouched");
        Files.writeString(restored(1).resolve("mine"), "theirs");
        Trees.delete(restored(1).resolve("sub"));
        Files.createSymbolicLink(restored(1).resolve("sub"), outside);
        Files.delete(restored(1).resolve("linked"));
        Files.createSymbolicLink(restored(1).resolve("linked"), outside.resolve("victim"));
        Files.delete(restored(1).resolve("l"));
        Files.writeString(restored(1).resolve("l"), "theirs");

        restore(1);

        assertThat(findings)
                .extracting(finding -> finding.path().toString())
                .containsOnly("damaged", "mine", "sub", "sub/f", "sub/deep", "sub/deep/g", "linked", "l");
        assertThat(restored(1).resolve("mine")).hasContent("theirs");
        assertThat(restored(1).resolve("l")).hasContent("theirs");
        assertThat(outside).isDirectoryContaining("glob:**/victim");
        assertThat(outside.resolve("victim")).hasContent("untouched");
        assertThat(Trees.in(outside)).hasSize(1);
    }

    @Test
    void aRestoreThatWasCutOffFinishesTheRest() throws Exception {
        for (int i = 0; i < 40; i++) {
            Files.write(
                    Files.createDirectories(source.resolve("d" + i % 4)).resolve("f" + i), Trees.random(100_000 + i));
        }
        night();
        Map<Path, Object> before = new HashMap<>();
        // All files would take 40 s; the first ones get their names after 2 s.
        try (Restore slow = restoring(1, new Options(1, 100_000, false))) {
            Thread thread = Thread.ofVirtual().start(() -> {
                try {
                    slow.run(findings::add);
                } catch (IOException | InterruptedException | RuntimeException cutOff) {
                    // Intended.
                }
            });
            Night.until(() -> slow.progress().entriesVerified() > 0);
            thread.interrupt();
            thread.join();
        }
        Trees.all(restored(1)).stream()
                .filter(path -> path.getFileName().toString().matches("f\\d+"))
                .forEach(path -> before.put(path, Trees.inode(path)));
        assertThat(before).hasSizeBetween(1, 39);
        findings.clear();

        assertRestores(1);
        assertThat(before)
                .allSatisfy((path, inode) -> assertThat(Trees.inode(path)).isEqualTo(inode));
    }

    @Test
    void aDiskThatBecomesFullEndsTheRestoreAndTheSameOneFinishesTheRestOnceThereIsRoom() throws Exception {
        for (int i = 0; i < 60; i++) {
            Files.write(Files.createDirectories(source.resolve("d" + i)).resolve("f"), Trees.random(100_000 + i));
        }
        Files.write(source.resolve("large"), Trees.random(20 << 20));
        Files.createSymbolicLink(source.resolve("link"), Path.of("large"));
        night();
        try (Tmpfs disk = new Tmpfs(restored(1), "size=64m,nr_inodes=30")) {
            assertFull();
            disk.remount("size=4m,nr_inodes=1000");
            assertFull();
            disk.remount("size=16m");
            assertFull();
            disk.remount("size=64m");

            assertRestores(1);
            assertThat(restored(1).resolve(".dozo-incoming")).doesNotExist();
        }
    }

    /** The restore of manifest 1 fails because the disk is full, and no file has a name that is not the source's. */
    private void assertFull() throws IOException {
        assertThatThrownBy(() -> restore(1))
                .isInstanceOf(IOException.class)
                .hasMessage(
                        "cannot write in %s: No space left on device; free some space there, then run again",
                        restored(1));
        assertThat(findings).isEmpty();
        assertThat(Trees.all(restored(1)).stream()
                        .filter(path -> Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS))
                        .map(restored(1)::relativize)
                        .filter(path -> !path.startsWith(".dozo-incoming")))
                .allSatisfy(path -> assertThat(restored(1).resolve(path)).hasSameBinaryContentAs(source.resolve(path)));
    }

    @Test
    void aSecondRestoreIntoAFolderIsRefusedAndTheFirstIsNotDisturbed() throws Exception {
        Night.writeMany(source, 10);
        night();
        night(Map.of("later", "2"));
        try (Restore first = restoring(1, OPTIONS)) {
            FutureTask<Progress> running = new FutureTask<>(() -> first.run(findings::add));
            // While the site is suspended, it cannot end, however fast or slow the machine is.
            RestoreQueueIT.signalSite("STOP");
            try {
                Thread.ofVirtual().start(running);
                Night.until(() -> Files.exists(restored(1)));
                for (int manifest = 1; manifest <= 2; manifest++) {
                    try (Restore second = restoring(manifest, restored(1), OPTIONS)) {
                        assertThatThrownBy(() -> second.run(findings::add))
                                .isInstanceOf(IOException.class)
                                .hasMessage(
                                        "another restore writes to %s; wait until it has ended, or stop it",
                                        restored(1));
                    }
                }
            } finally {
                RestoreQueueIT.signalSite("CONT");
            }

            assertThat(running.get().complete()).isTrue();
        }
        assertThat(findings).isEmpty();
        assertThat(Snapshot.of(restored(1))).isEqualTo(kept.getFirst());
        try (Restore second = restoring(2, restored(1), OPTIONS)) {
            assertThatThrownBy(() -> second.run(findings::add)).hasMessageContaining("is not empty");
        }
    }
}
