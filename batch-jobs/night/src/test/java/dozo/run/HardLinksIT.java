package dozo.run;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.copy.Trees;
import dozo.loopback.LoopbackSite;
import dozo.run.Runs.Run;
import dozo.run.Runs.RunState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A file with many names is sent and stored once, and has all its names at the site (ADR 0072). */
class HardLinksIT extends NightAtSite {

    private static final String[] SETTINGS = {"dozo.transfer.bundle-entries=4", "dozo.transfer.partitions=3"};

    HardLinksIT() {
        super(SETTINGS);
    }

    @Test
    void groupsAreStoredOnceInAndAcrossFoldersUnitsAndPartitions() throws Exception {
        for (int i = 0; i < 12; i++) {
            Night.write(source, Map.of("a/f" + i, "content " + i, "own" + i, "its own " + i));
            for (int j = 0; j < 5; j++) {
                link("b" + j + "/n" + i, "a/f" + i);
            }
        }
        writeLarge("large");
        link("b0/large", "large");
        link("z", "a/f0");
        night.register("E1", source);

        Run first = night.complete();

        for (int i = 0; i < 12; i++) {
            for (int j = 0; j < 5; j++) {
                assertOneFile("a/f" + i, "b" + j + "/n" + i);
            }
        }
        assertOneFile("large", "b0/large");
        assertOneFile("a/f0", "z");
        assertThat(contentBytesPlanned(first)).isEqualTo(bytesOfFiles(source));
        assertThat(wayIn()).isEqualTo(Map.of("link", 62L, "other", 31L));
        NightlyBackupIT.assertSame(source, bag.resolve("data"));
        NightlyBackupIT.assertChecks(bag);
        assertThat(root.resolve(".dozo/incoming")).isEmptyDirectory();

        Run second = night.complete();
        assertThat(night.count("select count(*) from transfer_unit where run_id = " + second.id()))
                .isZero();
        assertThat(night.scrub().state()).isEqualTo(RunState.COMPLETE);
    }

    @Test
    void aNewNameIsLinkedToTheStoredFileAlsoIfThatHadOnlyOne() throws Exception {
        Night.write(source, Map.of("group", "1", "single", "2"));
        link("second", "group");
        night.register("E1", source);
        night.complete();
        Object stored = inode("single");

        link("folder/third", "group");
        link("a name before the others", "single");
        Run second = night.complete();

        assertOneFile("group", "second");
        assertOneFile("group", "folder/third");
        assertOneFile("single", "a name before the others");
        assertThat(inode("single")).as("nothing was moved").isEqualTo(stored);
        assertThat(contentBytesPlanned(second)).isZero();
        assertThat(version(1, "single").getParent()).doesNotExist();
        assertThat(version(2, "single").getParent()).doesNotExist();
        NightlyBackupIT.assertChecks(bag);
    }

    @Test
    void changesOfAGroupReachNoEarlierVersion() throws Exception {
        Night.write(source, Map.of("a", "first"));
        List.of("b", "c", "d").forEach(name -> link(name, "a"));
        night.register("E1", source);
        night.complete();

        // d is replaced by a file of its own.
        Files.delete(source.resolve("d"));
        Night.write(source, Map.of("d", "first"));
        Files.setLastModifiedTime(source.resolve("d"), FileTime.fromMillis(1_000_000_000_000L));
        night.complete();
        assertOneFile("a", "b");
        assertThat(inode("d")).isNotEqualTo(inode("a"));
        assertThat(Trees.inode(version(2, "d"))).isEqualTo(inode("a"));

        // Only the mode changes, for all names, as they are one file.
        String before = mode(version(2, "d"));
        Files.setPosixFilePermissions(source.resolve("b"), PosixFilePermissions.fromString("r--r-----"));
        night.complete();
        assertOneFile("a", "b");
        assertOneFile("a", "c");
        assertThat(mode(bag.resolve("data/a"))).isEqualTo("r--r-----");
        assertThat(mode(version(2, "d"))).isEqualTo(before);

        // The content changes in place.
        Files.setPosixFilePermissions(source.resolve("b"), PosixFilePermissions.fromString("rw-r-----"));
        Files.writeString(source.resolve("b"), "second");
        night.complete();
        assertOneFile("a", "c");
        NightlyBackupIT.assertSame(source, bag.resolve("data"));
        for (Path version : List.of(version(2, "d"), version(3, "a"), version(4, "a"), version(4, "b"))) {
            assertThat(version).hasContent("first");
        }
        assertThat(mode(version(4, "a"))).isEqualTo("r--r-----");

        // One name is left, and its mode changes then.
        Files.delete(source.resolve("b"));
        Files.delete(source.resolve("c"));
        Files.setPosixFilePermissions(source.resolve("a"), PosixFilePermissions.fromString("r--------"));
        night.complete();
        assertThat(mode(bag.resolve("data/a"))).isEqualTo("r--------");
        assertThat(mode(bag.resolve("data/b"))).as("it stays as it was").isEqualTo("rw-r-----");
        NightlyBackupIT.assertChecks(bag);
    }

    @Test
    void aDamagedFileGetsNoFurtherNameAndAScrubFindsAllItsNames() throws Exception {
        Night.write(source, Map.of("a", "content"));
        link("b", "a");
        night.register("E1", source);
        night.complete();
        Trees.flip(bag.resolve("data/a"), 0);

        link("c", "a");
        link("d", "a");
        night.complete();
        assertThat(bag.resolve("data/c")).hasContent("content");
        assertOneFile("c", "d");
        assertThat(inode("c")).isNotEqualTo(inode("a"));

        night.scrub();
        assertThat(night.jdbc()
                        .sql(
                                "select convert_from(name, 'UTF8') from open_damage join entry using (experiment_id, entry_no)")
                        .query(String.class)
                        .set())
                .containsExactlyInAnyOrder("a", "b");
        night.complete();
        assertOneFile("c", "a");
        assertOneFile("c", "b");
        NightlyBackupIT.assertSame(source, bag.resolve("data"));
        assertThat(night.count("select count(*) from open_damage")).isZero();
        assertThat(night.coverage().safe()).isTrue();
    }

    @Test
    void aSiteWithoutHardLinksStoresEachNameAsAFile() throws Exception {
        Path other = Files.createDirectory(folder.resolve("other"));
        try (LoopbackSite linkless = LoopbackSite.openSsh(
                        folder.resolve("linkless"), other, 0, "ForceCommand internal-sftp -P hardlink");
                Night nights = Night.on(linkless.address(), SETTINGS)) {
            Night.write(source, Map.of("a", "1", "own", "2"));
            List.of("b", "c", "d", "e", "f", "g").forEach(name -> link(name, "a"));
            writeLarge("large");
            link("large 2", "large");
            nights.register("E1", source);

            nights.complete();

            NightlyBackupIT.assertSame(source, other.resolve("p/E1/data"));
            NightlyBackupIT.assertChecks(other.resolve("p/E1"));
            assertThat(Trees.inode(other.resolve("p/E1/data/b")))
                    .isNotEqualTo(Trees.inode(other.resolve("p/E1/data/a")));
            assertThat(nights.count("select count(*) from receipt where way_in = 'link'"))
                    .isZero();
            assertThat(nights.coverage().safe()).isTrue();
        }
    }

    @Test
    void aRunThatIsKilledWhileItLinksContinuesAndStillStoresEachFileOnce() throws Exception {
        int files = 10;
        for (int i = 0; i < files; i++) {
            Night.write(source, Map.of("f" + i, "content " + i));
            for (int j = 0; j < 30; j++) {
                link("n" + j + "/" + i, "f" + i);
            }
        }
        night.register("E1", source);
        for (int kill = 1; kill <= 2; kill++) {
            long target = linksDone() + 15;
            NightProcess.start(256, folder.resolve("child.log"), site.address(), database, SETTINGS)
                    .killWhen(() -> linksDone() >= target);
        }
        night.goOn();
        Set<Object> inodes = new HashSet<>();
        for (int i = 0; i < files; i++) {
            for (int j = 0; j < 30; j++) {
                assertOneFile("f" + i, "n" + j + "/" + i);
            }
            inodes.add(inode("f" + i));
        }
        assertThat(inodes).hasSize(files);
        NightlyBackupIT.assertSame(source, bag.resolve("data"));
        NightlyBackupIT.assertChecks(bag);
        assertThat(version(1, "f0").getParent()).doesNotExist();
    }

    private long linksDone() {
        return night.count("select count(*) from transfer_unit where kind = 'LINKS' and state = 'VERIFIED'");
    }

    private void link(String name, String existing) {
        try {
            Files.createDirectories(source.resolve(name).getParent());
            Files.createLink(source.resolve(name), source.resolve(existing));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private void writeLarge(String name) throws IOException {
        Files.write(source.resolve(name), Trees.random(3_000_000));
    }

    private Path version(int manifest, String name) {
        return root.resolve(".dozo/versions/p/E1/" + manifest + "/data/" + name);
    }

    private void assertOneFile(String name, String other) throws IOException {
        assertThat(inode(other)).as("%s is %s", other, name).isEqualTo(inode(name));
    }

    private Object inode(String name) throws IOException {
        return Trees.inode(bag.resolve("data").resolve(name));
    }

    private static String mode(Path file) throws IOException {
        return PosixFilePermissions.toString(Files.getPosixFilePermissions(file));
    }

    /** The bytes of all files, each once. */
    private static long bytesOfFiles(Path folder) throws IOException {
        Set<Object> counted = new HashSet<>();
        long bytes = 0;
        for (Path path : Trees.all(folder)) {
            bytes += Files.isRegularFile(path) && counted.add(Trees.inode(path)) ? Files.size(path) : 0;
        }
        return bytes;
    }

    private long contentBytesPlanned(Run run) {
        return night.count("select coalesce(sum(length_bytes), 0) from transfer_unit where run_id = " + run.id());
    }

    /** Returns how many files have receipts for links, and for content. */
    private Map<String, Long> wayIn() {
        return Map.of(
                "link",
                night.count("select coalesce(sum(cardinality(entry_nos)), 0) from receipt where way_in = 'link'"),
                "other",
                night.count("select coalesce(sum(cardinality(entry_nos)), 0) from receipt where way_in <> 'link'"));
    }
}
