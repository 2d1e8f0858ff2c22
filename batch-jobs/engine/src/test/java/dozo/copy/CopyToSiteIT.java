package dozo.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.copy.Copy.Options;
import dozo.copy.Copy.Progress;
import dozo.file.FilePath;
import dozo.loopback.LoopbackSite;
import dozo.remote.ChildProcess;
import dozo.remote.SlowMount;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.Charset;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Copies to a real sshd: the copy equals the source byte for byte, and existing files are not sent again. */
@Timeout(300)
class CopyToSiteIT extends CopyTest {

    private static final long HOLE_BYTES = 20 << 20;

    /** As much of a large file is kept as one. */
    private static final long RANGE_BYTES = 64 << 20;

    private static final FilePath TO = FilePath.of("to");

    Path source;
    LoopbackSite site;

    @BeforeEach
    void start() throws Exception {
        source = Files.createDirectory(folder.resolve("source"));
        site = openSsh();
    }

    @AfterEach
    void stop() {
        site.close();
    }

    @Test
    void aSlowSourceIsAskedForManyThingsAtOnce() throws Exception {
        Path source = Files.createDirectory(folder.resolve("slow source"));
        for (int i = 0; i < 60; i++) {
            Trees.write(
                    Files.createDirectories(source.resolve("folder" + i % 12)).resolve("file" + i), 10);
        }
        Path mounted = Files.createDirectory(folder.resolve("mounted"));
        try (LoopbackSite site = openSsh();
                SlowMount mount = new SlowMount(source, mounted, Duration.ofMillis(20))) {
            Options dryRun = new Options(1, 0, true);
            Progress end = run(new CopyToSite(site.address(), List.of(mounted), FilePath.of("to"), false, dryRun));

            assertThat(end.entries()).isEqualTo(73);
            assertThat(mount.most()).isGreaterThan(1);
        }
        assertThat(findings).isEmpty();
    }

    @Test
    void aTreeArrivesAsItIsAndIsProvenAgainWithoutMovingAByte() throws Exception {
        makeOddTree();

        Progress first = copy();
        assertThat(findings).isEmpty();
        assertThat(first.complete()).isTrue();
        assertThat(first.entriesVerified()).isEqualTo(Trees.facts(source).size());
        assertThat(first.bytesVerified()).isEqualTo(first.bytes());
        assertThat(first.lanes()).as("at its end").isPositive();
        assertThat(first.bytesMoved()).as("all but the hole").isEqualTo(first.bytes() - HOLE_BYTES);
        Trees.assertSame(source, root.resolve("to"));
        Map<Path, Object> inodes = inodes();

        Progress second = copy();
        assertThat(findings).isEmpty();
        assertThat(second.bytesMoved()).isZero();
        assertThat(second.bytesVerified()).isEqualTo(first.bytes());
        assertThat(second.complete()).isTrue();
        assertThat(inodes()).isEqualTo(inodes);
        Trees.assertSame(source, root.resolve("to"));
        assertThat(root.resolve("to/.dozo-incoming")).doesNotExist();
    }

    @Test
    void aServerWithoutAnyExtensionGetsEverythingButWhatItCannotReplace() throws Exception {
        makeOddTree();
        Files.createSymbolicLink(source.resolve("link that changes"), Path.of("touched"));
        Files.writeString(source.resolve("file that changes"), "before");
        Path touched = Files.writeString(source.resolve("touched"), "same");
        site.close();
        site = openSsh("ForceCommand internal-sftp -P posix-rename,hardlink,fsync,statvfs,limits,copy-data,lsetstat");

        Progress first = copy();

        assertThat(findings).isEmpty();
        assertThat(first.complete()).isTrue();
        Trees.assertSame(source, root.resolve("to"));

        Files.delete(source.resolve("link that changes"));
        Files.createSymbolicLink(source.resolve("link that changes"), Path.of("new file"));
        Files.writeString(source.resolve("file that changes"), "after it");
        Files.writeString(source.resolve("new file"), "new");
        Files.setLastModifiedTime(touched, LONG_AGO);
        copy();

        assertFindings("file that changes SITE_REFUSED", "link that changes SITE_REFUSED");
        assertThat(findings)
                .allSatisfy(finding -> assertThat(finding.message())
                        .contains("the site cannot replace a file atomically; remove " + finding.path()));
        assertThat(root.resolve("to/file that changes")).hasContent("before");
        assertThat(root.resolve("to/new file")).hasContent("new");
        assertThat(Files.getLastModifiedTime(root.resolve("to/touched"))).isEqualTo(LONG_AGO);
    }

    @Test
    void bothWaysInGiveTheSameTree() throws Exception {
        makeOddTree();
        for (boolean sftpAlone : List.of(true, false)) {
            FilePath to = FilePath.of(sftpAlone ? "by sftp" : "in archives");
            Options options = new Options(2, 0, false, sftpAlone);

            assertThat(run(new CopyToSite(site.address(), List.of(source), to, false, options))
                            .complete())
                    .isTrue();
        }
        assertThat(findings).isEmpty();
        Trees.assertSame(source, root.resolve("by sftp"));
        assertThat(Trees.facts(root.resolve("in archives"))).isEqualTo(Trees.facts(root.resolve("by sftp")));
        Trees.assertSame(source, root.resolve("in archives"));
    }

    @Test
    void whatIsCalledLikeTheCopysOwnFolderArrives() throws Exception {
        Files.writeString(source.resolve(".dozo-incoming"), "a file");
        Files.writeString(
                Files.createDirectory(source.resolve(".dozo-incoming-1")).resolve("f"), "in a folder");

        assertThat(copy().complete()).isTrue();

        assertThat(findings).isEmpty();
        Trees.assertSame(source, root.resolve("to"));
        Path file = source.resolve(".dozo-incoming");
        assertThat(run(new CopyToSite(site.address(), List.of(file), FilePath.of("in"), true, lanes(1)))
                        .complete())
                .isTrue();
        assertThat(root.resolve("in/.dozo-incoming")).hasContent("a file");
        FilePath named = FilePath.of("in/.dozo-incoming-1");
        assertThat(run(new CopyToSite(site.address(), List.of(file), named, false, lanes(1)))
                        .complete())
                .isTrue();
        assertThat(root.resolve("in")).isDirectoryNotContaining("glob:**/.dozo-incoming-2");
    }

    @Test
    void whatIsNotTheSameAtTheSiteIsReplacedWhateverItsSizeAndTime() throws Exception {
        for (String name : List.of("same", "changed", "liar", "mode", "link")) {
            Path file = source.resolve(name);
            if (name.equals("link")) {
                Files.createSymbolicLink(file, Path.of("same"));
            } else {
                Files.setLastModifiedTime(Files.writeString(file, "content of " + name), LONG_AGO);
            }
        }
        Trees.write(source.resolve("large liar"), 70 << 20);
        copy();
        Map<Path, Object> before = inodes();
        Files.writeString(source.resolve("changed"), "another content");
        Files.setPosixFilePermissions(source.resolve("mode"), PosixFilePermissions.fromString("rwxr-x---"));
        Files.delete(source.resolve("link"));
        Files.createSymbolicLink(source.resolve("link"), Path.of("changed"));
        Trees.flip(root.resolve("to/liar"), 3);
        Trees.flip(root.resolve("to/large liar"), 69 << 20);

        Progress again = copy();

        assertThat(findings).isEmpty();
        assertThat(again.complete()).isTrue();
        assertThat(again.bytesMoved())
                .as("of the large file what follows the last range of 4 MiB")
                .isEqualTo("another content".length() + "content of liar".length() + (2L << 20));
        Trees.assertSame(source, root.resolve("to"));
        Map<Path, Object> after = inodes();
        assertThat(after.entrySet().stream()
                        .filter(entry -> entry.getValue().equals(before.get(entry.getKey())))
                        .map(entry -> entry.getKey().getFileName().toString()))
                .containsExactlyInAnyOrder("same", "mode");
    }

    @Test
    void aFileGetsANewNameAndSourcesGoIntoAFolder() throws Exception {
        Path one = Files.writeString(source.resolve("one"), "one");
        Path two = Files.createDirectories(source.resolve("two"));
        Files.writeString(two.resolve("three"), "three");
        Files.setLastModifiedTime(two, LONG_AGO);
        Files.createDirectory(root.resolve("there"));

        run(new CopyToSite(site.address(), List.of(one), FilePath.of("there/new name"), false, lanes(0)));
        run(new CopyToSite(site.address(), List.of(one, two), FilePath.of("there"), true, lanes(1)));

        assertThat(findings).isEmpty();
        Trees.assertSame(one, root.resolve("there/new name"));
        Trees.assertSame(one, root.resolve("there/one"));
        Trees.assertSame(two, root.resolve("there/two"));
        try (Stream<Path> names = Files.list(root.resolve("there"))) {
            assertThat(names.map(path -> path.getFileName().toString()))
                    .containsExactlyInAnyOrder("new name", "one", "two");
        }
    }

    @Test
    void aDryRunCountsAndChangesNothing() throws Exception {
        Files.writeString(source.resolve("one"), "one");

        Progress counted = run(new CopyToSite(site.address(), List.of(source), TO, false, new Options(0, 0, true)));

        assertThat(counted.entries()).isEqualTo(2);
        assertThat(counted.bytes()).isEqualTo(3);
        assertThat(root).isEmptyDirectory();
    }

    /** A second copy at the same time is refused until the first is dead: the lock ends with the process. */
    @Test
    void killedInTheMiddleItGoesOnWhereItWas() throws Exception {
        int size = 300 << 20;
        Trees.write(source.resolve("large"), size);
        for (int i = 0; i < 1_500; i++) {
            Files.writeString(
                    Files.createDirectories(source.resolve("folder" + i % 7)).resolve("file" + i), "content " + i);
        }
        Path log = folder.resolve("child.log");
        try (ChildProcess child = CopyProcess.start(256, log, site.address(), source, 150 << 20)) {
            Awaitility.await()
                    .atMost(Duration.ofMinutes(5))
                    .pollInterval(Duration.ofMillis(5))
                    .until(() -> !child.isAlive() || (arrivedOfLarge() > RANGE_BYTES && !inodes().isEmpty()));
            child.assertAlive();
            assertThatThrownBy(this::copy).isInstanceOf(IOException.class).hasMessageContaining("already running");
            child.assertAlive();
        }
        assertThat(root.resolve("to/large")).doesNotExist();
        Map<Path, Object> standing = inodes();
        assertThat(standing).isNotEmpty();

        Progress rest = copy();

        assertThat(findings).isEmpty();
        assertThat(rest.complete()).isTrue();
        assertThat(rest.bytesMoved()).isLessThanOrEqualTo(rest.bytes() - RANGE_BYTES);
        Trees.assertSame(source, root.resolve("to"));
        assertThat(inodes()).containsAllEntriesOf(standing);
        System.out.printf(
                "killed with %d files named; %d of %d bytes sent again%n",
                standing.size(), rest.bytesMoved(), rest.bytes());
    }

    private Progress copy() throws Exception {
        return run(new CopyToSite(site.address(), List.of(source), TO, false, lanes(0)));
    }

    /** Returns how many bytes of the large file are at the site without a gap: one channel may be behind the others. */
    private long arrivedOfLarge() throws Exception {
        try (Stream<Path> files = Files.walk(root.resolve("to/.dozo-incoming"))) {
            Path large = source.resolve("large");
            Path temporary = files.max(
                            Comparator.comparingLong(file -> file.toFile().length()))
                    .orElseThrow();
            long gap = Files.mismatch(large, temporary);
            return gap < 0 ? Files.size(large) : gap;
        } catch (IOException | UncheckedIOException changesUnderIt) {
            return 0;
        }
    }

    /** Returns the files with final names. */
    private Map<Path, Object> inodes() throws Exception {
        Map<Path, Object> inodes = new HashMap<>();
        try (Stream<Path> files = Files.walk(root.resolve("to"))) {
            for (Path file : (Iterable<Path>) files::iterator) {
                if (!file.toString().contains(".dozo-incoming")
                        && Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                    inodes.put(file, Trees.inode(file));
                }
            }
        } catch (UncheckedIOException changesUnderIt) {
            inodes.clear();
        }
        return inodes;
    }

    private void makeOddTree() throws Exception {
        ByteArrayOutputStream everyByte = new ByteArrayOutputStream();
        for (int b = 1; b < 256; b++) {
            if (b != '/') {
                everyByte.write(b);
            }
        }
        byte[] all = everyByte.toByteArray();
        FilePath odd = FilePath.ROOT.resolve(Arrays.copyOf(all, 127));
        FilePath odder = FilePath.ROOT.resolve(Arrays.copyOfRange(all, 127, 254));
        FilePath japanese = FilePath.ROOT.resolve("実験室".getBytes(Charset.forName("windows-31j")));
        Files.createDirectory(japanese.under(source));
        for (FilePath name : List.of(
                odd,
                odder,
                japanese.resolve("データ".getBytes(Charset.forName("EUC-JP"))),
                FilePath.of("new\nline"),
                FilePath.of("back\\slash"),
                FilePath.of("-n"),
                FilePath.of(" "),
                FilePath.of("…".repeat(85)))) {
            Files.write(name.under(source), name.bytes());
        }
        Files.createDirectories(source.resolve("empty/folder/in/folder"));
        Files.createFile(source.resolve("empty file"));
        Files.createSymbolicLink(source.resolve("link"), Path.of("-n"));
        Files.createSymbolicLink(source.resolve("dangling"), Path.of("/nowhere/at all"));
        Files.createSymbolicLink(source.resolve("to folder"), Path.of("empty"));
        Files.createSymbolicLink(source.resolve("odd link"), odd.under(Path.of("/")));
        Files.createLink(source.resolve("hard link"), source.resolve("-n"));
        try (FileChannel sparse = FileChannel.open(
                source.resolve("sparse"),
                StandardOpenOption.CREATE_NEW,
                StandardOpenOption.WRITE,
                StandardOpenOption.SPARSE)) {
            sparse.write(ByteBuffer.wrap(new byte[] {1}), HOLE_BYTES);
        }
        Trees.write(source.resolve("large"), 150 << 20);
        Trees.write(source.resolve("empty/two blocks and one"), (256 << 10) + 1);
        Files.setPosixFilePermissions(source.resolve("-n"), PosixFilePermissions.fromString("r-x--x--x"));
        Files.setPosixFilePermissions(source.resolve("large"), PosixFilePermissions.fromString("rw-rw-rw-"));
        Files.setPosixFilePermissions(source.resolve("empty/folder"), PosixFilePermissions.fromString("rwxrwx--x"));
        for (String old : List.of("large", "-n", "empty file", "empty/folder/in", "empty/folder", "empty", "")) {
            Files.setLastModifiedTime(source.resolve(old), LONG_AGO);
        }
    }
}
