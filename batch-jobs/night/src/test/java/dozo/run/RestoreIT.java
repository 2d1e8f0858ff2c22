package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.tuple;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dozo.copy.Copy.Finding;
import dozo.copy.Copy.Options;
import dozo.copy.Copy.Progress;
import dozo.copy.Restore;
import dozo.file.Attributes;
import dozo.file.Attributes.Attribute;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.file.Selection;
import dozo.manifest.Ingest;
import dozo.manifest.Known;
import dozo.manifest.Manifests;
import dozo.manifest.SourceLook;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Sites;
import dozo.remote.Tmpfs;
import dozo.restore.Inventories;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import dozo.source.DirectoryTree;
import dozo.source.ExtendedAttributes;
import dozo.transfer.TransferUnits;
import dozo.verify.Receipts;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.assertj.core.data.Percentage;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Any manifest is restored as its source was, whatever has happened to the copies since; missing files are reported by
 * name.
 */
class RestoreIT extends NightAtSite {

    private static final Options OPTIONS = new Options(2, 0, false);

    /** {@code u::rwx,u:1000:rw-,g::r-x,m::rwx,o::r-x} in the form of the kernel. */
    private static final byte[] ACL = HexFormat.of()
            .parseHex("0200000001000700ffffffff02000600e803000004000500ffffffff10000700ffffffff20000500ffffffff");

    /** {@code cap_net_raw=ep} in the form of the kernel. */
    private static final byte[] CAPABILITY = HexFormat.of().parseHex("0100000200200000000000000000000000000000");

    final List<Map<FilePath, String>> kept = new ArrayList<>();
    final List<Finding> findings = new ArrayList<>();

    @BeforeEach
    void open() throws IOException {
        night.register("E1", source);
    }

    @Test
    void everyManifestOfALongHistoryComesBackAsTheSourceWas() throws Exception {
        byte[] japanese = "脳画像 表.dat".getBytes(Charset.forName("windows-31j"));
        Path raw = FilePath.ROOT.resolve(japanese).under(source);
        Night.write(
                source,
                Map.of("same", "s", "changed", "1", "gone", "g", "x", "file", "y/in/side", "deep", "new\nline", "n"));
        Night.write(source, Map.of("before/a", "a", "before/b/c", "c", "x~2", "a name like ours"));
        Files.writeString(raw, "shift-jis");
        Files.createDirectories(source.resolve("empty/folder"));
        Files.createSymbolicLink(source.resolve("link"), Path.of("y/in/../in/side"));
        Files.createSymbolicLink(source.resolve("z"), Path.of("/nowhere"));
        Files.createLink(source.resolve("y/same too"), source.resolve("same"));
        Files.write(source.resolve("large"), random(5 << 20));
        Files.setLastModifiedTime(
                source.resolve("same"), FileTime.from(1_234_567_890_123_456_789L, TimeUnit.NANOSECONDS));
        Files.setPosixFilePermissions(source.resolve("gone"), PosixFilePermissions.fromString("r---w---x"));
        Files.setPosixFilePermissions(source.resolve("empty"), PosixFilePermissions.fromString("r-x------"));
        night();
        Night.write(source, Map.of("changed", "2", "new", "x", "y/in/side", "another"));
        Files.delete(source.resolve("gone"));
        Files.delete(source.resolve("x"));
        Files.writeString(raw, "euc-jp");
        Night.write(source, Map.of("x/now", "a folder"));
        night();
        Files.move(source.resolve("before"), source.resolve("after"));
        delete("y");
        Night.write(source, Map.of("y", "was a folder", "changed", "1"));
        delete("link");
        Night.write(source, Map.of("link", "was a link"));
        night();
        delete("x");
        delete("y");
        Files.createSymbolicLink(source.resolve("y"), Path.of("x"));
        delete("z");
        Night.write(source, Map.of("x", "file", "gone", "back again", "z/inside", "was a link"));
        night();
        delete("y");
        delete("changed");
        Night.write(source, Map.of("y/in/side", "deep", "changed/a", "3"));
        Files.setLastModifiedTime(source.resolve("same"), FileTime.fromMillis(1));
        night();
        delete("changed");
        Night.write(source, Map.of("changed", "1", "before/a", "a"));
        Files.write(source.resolve("large"), random(3 << 20));
        night();

        for (int manifest = 1; manifest <= 6; manifest++) {
            assertRestores(manifest);
        }
        assertThat(Files.isSameFile(restored(1).resolve("same"), restored(1).resolve("y/same too")))
                .isTrue();
    }

    @Test
    void aCopyThatADeadRunMovedUnderAnEarlierManifestIsFound() throws Exception {
        Night.write(source, Map.of("f", "first", "sub/g", "first too"));
        night();
        Night.write(source, Map.of("f", "second", "sub/g", "second"));
        // Killed after it had moved aside what it replaces, and before it named anything.
        ingest();
        keep();
        moveAway("f", 2);
        moveAway("sub/g", 2);
        Night.write(source, Map.of("f", "third", "sub/g", "third"));
        night();

        assertRestores(1);
        Restored second = restore(2);
        assertThat(findings)
                .as("what was in no run's hands but the dead one's was never proven")
                .extracting(Finding::path, Finding::problem)
                .containsExactly(
                        tuple(FilePath.of("f"), Problem.UNPROVEN), tuple(FilePath.of("sub/g"), Problem.UNPROVEN));
        assertThat(second.progress.complete()).isFalse();
        findings.clear();
        assertRestores(3);
    }

    @Test
    void aUnitThatWasPlannedUnderAnEarlierManifestMovesCopiesUnderTheOneItIsSentUnder() throws Exception {
        Night.write(source, Map.of("f", "first", "g", "first"));
        night();
        Run run = night.get(Runs.class)
                .open(
                        Runs.RunKind.NIGHTLY_BACKUP,
                        night.get(Sites.class).find("dr").orElseThrow(),
                        "test");
        Night.write(source, Map.of("f", "second"));
        NightFlow flow = night.get(NightFlows.class).of(run.id(), run.siteId());
        night.get(Looking.class).look(flow);
        keep();
        Night.write(source, Map.of("g", "second"));
        ingest();
        keep();
        night.get(Sending.class).send(flow, 0);
        night.get(Senders.class).close(run.id());
        night.get(NightFlows.class).close(run.id());
        night.get(Runs.class).close(run.id(), RunState.STOPPED, "");
        night.complete();

        assertThat(root.resolve(".dozo/versions/p/E1/3/data/f")).hasContent("first");
        for (int manifest = 1; manifest <= 3; manifest++) {
            assertRestores(manifest);
        }
    }

    /**
     * A killed run can leave a copy moved aside with nothing in its place, and soon no reason to send anything there.
     */
    @Test
    void whatARunThatDiedMovedAsideIsPutBackByTheNextNightWhenNothingTakesItsPlace() throws Exception {
        Night.write(source, Map.of("changed", "first", "dir/in/file", "in", "dir/other", "o", "same", "1"));
        Files.createSymbolicLink(source.resolve("dir/link"), Path.of("other"));
        night();
        delete("dir");
        Night.write(source, Map.of("changed", "second", "dir", "is a file"));
        sealAndDie();
        keep();
        moveAway("changed", 2);
        moveAway("dir", 2);
        delete("changed");
        delete("dir");
        keep();

        assertThat(night.findings(night.run())).isEmpty();

        Path data = root.resolve("p/E1/data");
        assertThat(data.resolve("changed")).hasContent("first");
        assertThat(data.resolve("dir/in/file")).hasContent("in");
        assertThat(data.resolve("dir/link")).isSymbolicLink();
        NightlyBackupIT.assertChecks(root.resolve("p/E1"));
        assertRestores(1);
        assertRestores(3);
        night.run();
        assertThat(night.count("select count(*) from ledger where action = 'experiment.settled'"))
                .as("nothing is settled for nothing")
                .isEqualTo(2);
    }

    @Test
    void whatHasTheNameMeanwhileKeepsIt() throws Exception {
        Night.write(source, Map.of("f", "first", "g", "g"));
        night();
        Night.write(source, Map.of("f", "second"));
        sealAndDie();
        keep();
        moveAway("f", 2);
        Night.write(root, Map.of("p/E1/data/f", "theirs"));
        delete("f");
        keep();

        night.run();

        assertThat(root.resolve("p/E1/data/f")).hasContent("theirs");
        assertThat(root.resolve(".dozo/versions/p/E1/2/data/f")).hasContent("first");
        assertRestores(1);
    }

    @Test
    void foreignFilesUnderFinalNamesAndAmongTheVersionsAreToldFromOurs() throws Exception {
        Night.write(root, Map.of("p/E1/data/f", "theirs", ".dozo/versions/p/E1/2/data/f", "theirs too"));
        Night.write(root, Map.of(".dozo/versions/p/E1/2/data/d/theirs", "in a folder of ours"));
        Night.write(source, Map.of("f", "first", "d/deep/g", "first"));
        night();
        Night.write(source, Map.of("f", "second"));
        delete("d");
        Night.write(source, Map.of("d", "a file now"));
        night();

        assertThat(root.resolve(".dozo/versions/p/E1/2/data/f~2")).hasContent("first");
        assertThat(root.resolve(".dozo/versions/p/E1/2/data/d~2/deep/g")).hasContent("first");
        assertRestores(1);
        assertRestores(2);
    }

    @Test
    void whatIsMissingOrDamagedIsToldByNameAndComesOnceItIsThereAgain() throws Exception {
        Night.write(
                source,
                Map.of("a", "1", "damaged", "22", "missing", "333", "short", "4444", "folder", "5", "b/c", "6"));
        night();
        Path data = root.resolve("p/E1/data");
        Files.writeString(data.resolve("damaged"), "xx");
        Files.move(data.resolve("missing"), folder.resolve("aside"));
        Files.writeString(data.resolve("short"), "44");
        Files.delete(data.resolve("folder"));
        Files.createDirectory(data.resolve("folder"));

        Restored restored = restore(1);

        assertThat(restored.progress.complete()).isFalse();
        assertThat(restored.progress.entries() - restored.progress.entriesVerified())
                .isEqualTo(4);
        assertThat(findings)
                .extracting(finding -> finding.path().toString(), Finding::problem)
                .containsExactlyInAnyOrder(
                        tuple("damaged", Problem.MISMATCHED),
                        tuple("missing", Problem.VANISHED),
                        tuple("short", Problem.MISMATCHED),
                        tuple("folder", Problem.UNREADABLE));
        assertThat(restored(1).resolve("b/c")).hasContent("6");
        assertThat(restored(1).resolve("damaged")).doesNotExist();
        Object inode = inode(restored(1).resolve("b/c"));

        Files.writeString(data.resolve("damaged"), "22");
        Files.move(folder.resolve("aside"), data.resolve("missing"));
        Files.writeString(data.resolve("short"), "4444");
        Files.delete(data.resolve("folder"));
        Files.writeString(data.resolve("folder"), "5");
        findings.clear();
        assertRestores(1);
        assertThat(inode(restored(1).resolve("b/c")))
                .as("what was there already stayed")
                .isEqualTo(inode);
    }

    @Test
    void whatIsCalledLikeTheRestoresOwnFolderComesBack() throws Exception {
        Night.write(source, Map.of(".dozo-incoming", "a file", ".dozo-incoming-1/x", "in a folder", "f", "1"));
        night();
        Path copy = root.resolve("p/E1/data/f");
        Files.writeString(copy, "x");
        assertThat(restore(1).progress.complete()).isFalse();
        findings.clear();
        Files.writeString(copy, "1");
        assertRestores(1);

        Files.delete(source.resolve(".dozo-incoming"));
        Night.write(source, Map.of(".dozo-incoming/f", "a folder now"));
        night();
        assertRestores(2);
    }

    @Test
    void aGroupOfHardLinksComesBackAsOneFileAlsoWhenItsFirstNameIsMissing() throws Exception {
        Night.write(source, Map.of("group", "one"));
        for (String name : List.of("h2", "h3", "h4")) {
            Files.createLink(source.resolve(name), source.resolve("group"));
        }
        night();
        Path data = root.resolve("p/E1/data");
        // In the name's place, because all names have one content at the site, too.
        Files.delete(data.resolve("group"));
        Files.writeString(data.resolve("group"), "damaged");

        restore(1);

        assertThat(findings).extracting(finding -> finding.path().toString()).containsExactly("group");
        assertThat(inode(restored(1).resolve("h3")))
                .isEqualTo(inode(restored(1).resolve("h2")))
                .isEqualTo(inode(restored(1).resolve("h4")));

        Files.writeString(data.resolve("group"), "one");
        findings.clear();
        restore(1);
        assertThat(restored(1).resolve("group")).hasContent("one");
        assertThat(findings).extracting(Finding::problem).containsOnly(Problem.NOT_SET);
    }

    @Test
    void specialBitsComeBackUnlessTheyGiveAwayRights() throws Exception {
        Night.write(source, Map.of("shared/f", "1", "program", "2", "sticky/f", "3"));
        Files.setAttribute(source.resolve("shared"), "unix:mode", 02775);
        Files.setAttribute(source.resolve("sticky"), "unix:mode", 01777);
        Files.setAttribute(source.resolve("program"), "unix:mode", 06755);
        night();

        assertThat(restore(1).progress.complete()).isTrue();

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

        assertThat(restore(1).progress.complete()).isTrue();

        assertThat(ExtendedAttributes.of(restored(1).resolve("program")).all()).containsExactly(acl, comment);
        assertThat(findings).singleElement().satisfies(finding -> {
            assertThat(finding.problem()).isEqualTo(Problem.NOT_SET);
            assertThat(finding.message()).contains("capabilities").contains("on 1 entries");
        });
    }

    @Test
    void aProcessThatMustNotChangeOwnersListsWhatItCouldNotSet() throws Exception {
        Night.write(source, Map.of("program", "1"));
        night();

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
        Night.write(source, Map.of("f", "1"));
        night();
        Files.setAttribute(Files.createDirectory(restored(1)), "unix:uid", 1_234);

        try (Restore restore = restoring(1, OPTIONS.withOwners())) {
            assertThatThrownBy(() -> restore.run(findings::add)).hasMessageContaining("belongs to another user");
        }

        assertThat(restore(1).progress.complete()).as("without owners").isTrue();
    }

    @Test
    void timesFarFromNowComeBackAndThoseNobodyCanStoreAreCounted() throws Exception {
        for (String time :
                List.of("1901-12-13T20:45:52.5Z", "1969-12-31T23:59:59.999999999Z", "2107-01-01T00:00:00Z")) {
            Path file = Files.writeString(source.resolve(time), time);
            Files.setLastModifiedTime(file, FileTime.from(Instant.parse(time)));
        }
        Path folder = Files.createDirectory(source.resolve("old"));
        Files.setLastModifiedTime(folder, FileTime.from(Instant.parse("1955-01-01T00:00:00Z")));
        night();
        assertRestores(1);

        Path far = Files.writeString(source.resolve("far"), "far");
        Files.setLastModifiedTime(far, FileTime.from(Instant.parse("2400-01-01T00:00:00Z")));
        night();

        assertThat(restore(2).progress.complete()).isTrue();
        assertThat(findings)
                .singleElement()
                .satisfies(finding -> assertThat(finding.message())
                        .isEqualTo("1 modification times are outside of what can be stored here"));
    }

    @Test
    void sparseFilesLieAtTheSiteAndComeBackWithTheirHoles() throws Exception {
        sparse("small", 1_500_000, 700_001);
        sparse("hole", 1_000_000);
        sparse("large", 64 << 20, 1, 30_000_003, 30_900_000);
        sparse("large hole", 64 << 20);
        night();

        assertThat(room(root.resolve("p/E1/data"))).isCloseTo(room(source), Percentage.withPercentage(1));
        NightlyBackupIT.assertChecks(root.resolve("p/E1"));
        assertRestores(1);
        assertThat(room(restored(1))).isCloseTo(room(source), Percentage.withPercentage(1));
    }

    /** Writes a file that is a hole, except for some bytes at each of these places. */
    private void sparse(String name, long bytes, long... islands) throws IOException {
        try (RandomAccessFile file = new RandomAccessFile(source.resolve(name).toString(), "rw")) {
            file.setLength(bytes);
            for (long island : islands) {
                byte[] content = new byte[100_000];
                new Random(island).nextBytes(content);
                file.seek(island);
                file.write(content);
            }
        }
    }

    /** Returns the disk space of all files of a folder. */
    private static long room(Path folder) throws Exception {
        Process du = new ProcessBuilder("du", "-s", "-B1", folder.toString()).start();
        String said = new String(du.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(du.waitFor()).isZero();
        return Long.parseLong(said.substring(0, said.indexOf('\t')));
    }

    @Test
    void whatIsTooLongToComeBackIsAFindingAndNothingOfTheRestoreStays() throws Exception {
        Path deep = Files.createDirectories(source.resolve(("d".repeat(150) + "/").repeat(24)));
        Files.writeString(deep.resolve("f"), "too deep");
        Night.write(source, Map.of("fine", "1"));
        night();
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

        try (Restore again = restoring(1, restored(1), OPTIONS)) {
            Progress end = again.run(findings::add);
            assertThat(end.complete()).isTrue();
            assertThat(end.bytesMoved()).isZero();
        }
        assertThat(findings).isEmpty();
        assertThat(restored(1)).isDirectoryNotContaining("glob:**/.dozo-incoming*");

        Files.move(restored(1).resolve("d/f"), folder.resolve("taken away"));
        try (Restore again = restoring(1, restored(1), OPTIONS)) {
            assertThatThrownBy(() -> again.run(findings::add)).hasMessageContaining("is not empty");
        }
        Files.move(folder.resolve("taken away"), restored(1).resolve("d/f"));

        FileTime time = Files.getLastModifiedTime(restored(1).resolve("g"));
        Files.writeString(restored(1).resolve("g"), "2x");
        Files.setLastModifiedTime(restored(1).resolve("g"), time);
        try (Restore again = restoring(1, restored(1), OPTIONS)) {
            assertThat(again.run(findings::add).complete()).isFalse();
        }
        assertThat(findings).extracting(Finding::problem).containsOnly(Problem.DESTINATION_REFUSED);
        assertThat(restored(1).resolve("g")).as("nothing is overwritten").hasContent("2x");
    }

    @Test
    void aFolderWithSomethingElseInItIsLeftAlone() throws Exception {
        Night.write(source, Map.of("f", "1"));
        night();
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
        delete(restored(1).resolve("sub"));
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
        try (Stream<Path> all = Files.list(outside)) {
            assertThat(all).hasSize(1);
        }
    }

    @Test
    void aRestoreThatWasCutOffFinishesTheRest() throws Exception {
        for (int i = 0; i < 40; i++) {
            Files.write(Files.createDirectories(source.resolve("d" + i % 4)).resolve("f" + i), random(100_000 + i));
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
            Awaitility.await()
                    .atMost(Duration.ofMinutes(5))
                    .until(() -> slow.progress().entriesVerified() > 0);
            thread.interrupt();
            thread.join();
        }
        try (Stream<Path> all = Files.walk(restored(1))) {
            all.filter(path -> path.getFileName().toString().matches("f\\d+"))
                    .forEach(path -> before.put(path, inode(path)));
        }
        assertThat(before).hasSizeBetween(1, 39);
        findings.clear();

        assertRestores(1);
        assertThat(before).allSatisfy((path, inode) -> assertThat(inode(path)).isEqualTo(inode));
    }

    @Test
    void aDiskThatBecomesFullEndsTheRestoreAndTheSameOneFinishesTheRestOnceThereIsRoom() throws Exception {
        for (int i = 0; i < 60; i++) {
            Files.write(Files.createDirectories(source.resolve("d" + i)).resolve("f"), random(100_000 + i));
        }
        Files.write(source.resolve("large"), random(20 << 20));
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
        try (Stream<Path> all = Files.walk(restored(1))) {
            assertThat(all.filter(path -> Files.isRegularFile(path, LinkOption.NOFOLLOW_LINKS))
                            .map(restored(1)::relativize)
                            .filter(path -> !path.startsWith(".dozo-incoming")))
                    .allSatisfy(
                            path -> assertThat(restored(1).resolve(path)).hasSameBinaryContentAs(source.resolve(path)));
        }
    }

    @Test
    void aSecondRestoreIntoAFolderIsRefusedAndTheFirstIsNotDisturbed() throws Exception {
        RestoreQueueIT.writeMany(source, 10);
        night();
        Night.write(source, Map.of("later", "2"));
        night();
        try (Restore first = restoring(1, OPTIONS)) {
            FutureTask<Progress> running = new FutureTask<>(() -> first.run(findings::add));
            // While the site is suspended, it cannot end, however fast or slow the machine is.
            RestoreQueueIT.signalSite("STOP");
            try {
                Thread.ofVirtual().start(running);
                Awaitility.await().atMost(Duration.ofMinutes(5)).until(() -> Files.exists(restored(1)));
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

    private record Restored(Progress progress) {}

    private void assertRestores(int manifest) throws Exception {
        Restored restored = restore(manifest);
        assertThat(findings).isEmpty();
        assertThat(restored.progress.complete()).isTrue();
        assertThat(Snapshot.of(restored(manifest))).as("manifest " + manifest).isEqualTo(kept.get(manifest - 1));
    }

    private Restored restore(int manifest) throws IOException, InterruptedException {
        try (Restore restore = restoring(manifest, OPTIONS)) {
            return new Restored(restore.run(findings::add));
        }
    }

    private Restore restoring(int manifest, Options options) {
        return restoring(manifest, restored(manifest), options);
    }

    private Restore restoring(int manifest, Path target, Options options) {
        return new Restore(
                night.get(Inventories.class)
                        .of(night.get(Manifests.class).find(1, manifest).orElseThrow(), 1),
                "p/E1",
                manifest,
                Selection.ALL,
                site.address(),
                target,
                options);
    }

    private Path restored(int manifest) {
        return folder.resolve("restored-" + manifest);
    }

    /** Runs a night, and keeps the content of the source at that time. */
    private void night() throws Exception {
        keep();
        Run run = night.run();
        assertThat(night.findings(run)).isEmpty();
        assertThat(run.state()).isEqualTo(RunState.COMPLETE);
        assertThat(night.count("select max(manifest_no) from manifest")).isEqualTo(kept.size());
        NightlyBackupIT.assertChecks(root.resolve("p/E1"));
    }

    private void keep() throws IOException {
        kept.add(Snapshot.of(source));
    }

    private void ingest() {
        Experiment experiment = night.get(Experiments.class).find(1).orElseThrow();
        seal(experiment, () -> night.get(Receipts.class).count(experiment.id()));
    }

    /** Seals, plans and claims what is new; then the run dies. */
    private void sealAndDie() throws Exception {
        Run run = night.get(Runs.class)
                .open(
                        Runs.RunKind.NIGHTLY_BACKUP,
                        night.get(Sites.class).find("dr").orElseThrow(),
                        "test");
        NightFlow flow = night.get(NightFlows.class).of(run.id(), run.siteId());
        night.get(Looking.class).look(flow);
        assertThat(night.get(TransferUnits.class).claim(run.id(), flow.worker(), 0, 100))
                .isNotEmpty();
        night.get(NightFlows.class).close(run.id());
        night.get(Runs.class).close(run.id(), RunState.FAILED, "killed");
    }

    private void seal(Experiment experiment, Runnable counting) {
        Ingest ingest = night.get(Ingest.class);
        Known known = ingest.known(new int[] {experiment.id()}).get(experiment.id());
        try (SourceLook look = ingest.look(experiment, known, new LongAdder())) {
            inTransaction(() -> {
                look.seal();
                counting.run();
            });
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private void inTransaction(Runnable work) {
        new TransactionTemplate(night.get(PlatformTransactionManager.class)).executeWithoutResult(status -> work.run());
    }

    private void moveAway(String name, int manifest) throws IOException {
        Path to = root.resolve(".dozo/versions/p/E1/" + manifest + "/data").resolve(name);
        Files.createDirectories(to.getParent());
        Files.move(root.resolve("p/E1/data").resolve(name), to);
    }

    private void delete(String name) throws IOException {
        delete(source.resolve(name));
    }

    private static void delete(Path path) throws IOException {
        if (Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
            try (Stream<Path> children = Files.list(path)) {
                for (Path child : children.toList()) {
                    delete(child);
                }
            }
        }
        Files.delete(path);
    }

    private static Object inode(Path path) {
        try {
            return Files.getAttribute(path, "unix:ino", LinkOption.NOFOLLOW_LINKS);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static byte[] random(int length) {
        byte[] bytes = new byte[length];
        new Random(length).nextBytes(bytes);
        return bytes;
    }
}
