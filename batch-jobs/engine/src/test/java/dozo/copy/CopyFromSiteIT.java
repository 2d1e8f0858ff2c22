package dozo.copy;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.copy.Copy.Finding;
import dozo.copy.Copy.Options;
import dozo.copy.Copy.Progress;
import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.loopback.LoopbackSite;
import dozo.remote.Lanes;
import dozo.remote.RemoteDigest;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts;
import dozo.send.Throttle;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.sshd.sftp.server.SftpFileSystemAccessor;
import org.apache.sshd.sftp.server.SftpSubsystemFactory;
import org.apache.sshd.sftp.server.SftpSubsystemProxy;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A copy from a site contains what is there, verified, and nothing else is changed. */
class CopyFromSiteIT extends CopyTest {

    private static final Options TWO_LANES = lanes(2);
    private static final long LARGE_BYTES = 150_000_000;

    private Path source;
    private Path back;

    @BeforeEach
    void makeSource() throws IOException {
        source = Files.createDirectory(root.resolve("source"));
        back = folder.resolve("back");
    }

    @Test
    void aTreeComesBackAsItIs() throws Exception {
        makeTree(source, LARGE_BYTES);
        try (LoopbackSite site = openSsh()) {
            Progress end = copy(site, TWO_LANES);

            assertThat(findings).isEmpty();
            assertThat(end.complete()).isTrue();
            assertThat(end.bytesMoved()).isEqualTo(end.bytes()).isEqualTo(end.bytesVerified());
        }
        Trees.assertSame(source, back);
        assertThat(back.resolve(".dozo-incoming")).doesNotExist();
    }

    @Test
    void whatIsCalledLikeTheCopysOwnFolderComesBack() throws Exception {
        Files.writeString(source.resolve(".dozo-incoming"), "a file");
        Files.writeString(
                Files.createDirectory(source.resolve(".dozo-incoming-1")).resolve("f"), "in a folder");
        try (LoopbackSite site = openSsh()) {
            assertThat(copy(site, TWO_LANES).complete()).isTrue();
            assertThat(findings).isEmpty();
            Trees.assertSame(source, back);

            Path into = Files.createDirectory(folder.resolve("into"));
            FilePath file = FilePath.of("source/.dozo-incoming");
            assertThat(run(copyOf(site, file, into, true, TWO_LANES)).complete())
                    .isTrue();
            assertThat(into.resolve(".dozo-incoming")).hasContent("a file");
        }
    }

    @Test
    void whatAnUnfinishedCopyLeftIsAFinding() throws Exception {
        Files.writeString(
                Files.createDirectories(source.resolve(".dozo-incoming/0123456789abcdef"))
                        .resolve("half"),
                "half");
        Files.writeString(source.resolve("f"), "whole");
        try (LoopbackSite site = openSsh()) {
            assertThat(copy(site, TWO_LANES).complete()).isFalse();
        }
        assertThat(findings).singleElement().satisfies(finding -> {
            assertThat(finding.path()).isEqualTo(FilePath.of(".dozo-incoming"));
            assertThat(finding.message()).contains("unfinished copy");
        });
        assertThat(back.resolve("f")).hasContent("whole");
        assertThat(back.resolve(".dozo-incoming")).doesNotExist();
    }

    @Test
    void theSameAgainMovesNothingAndMendsWhatIsMissing() throws Exception {
        makeTree(source, LARGE_BYTES);
        try (LoopbackSite site = openSsh()) {
            copy(site, TWO_LANES);

            Progress again = copy(site, TWO_LANES);

            assertThat(again.complete()).isTrue();
            assertThat(again.bytesMoved()).isZero();

            Files.delete(back.resolve("sub/some"));
            Files.setLastModifiedTime(Files.writeString(back.resolve("one"), "?"), LONG_AGO);
            Progress mended = copy(site, TWO_LANES);

            assertThat(mended.complete()).isTrue();
            assertThat(mended.bytesMoved()).isEqualTo(3_000_001);
        }
        assertThat(findings).isEmpty();
        Trees.assertSame(source, back);
    }

    @Test
    void aLargeFileGoesOnWithTheRangesThatAreThere() throws Exception {
        Path large = large();
        try (LoopbackSite site = openSsh()) {
            copy(site, TWO_LANES);
            Progress none = copyAfterAKillIn(site, large);

            assertThat(none.complete()).isTrue();
            assertThat(none.bytesMoved()).isEqualTo(LARGE_BYTES - LargeFetch.RANGE_BYTES);
        }
        Trees.assertSame(source, back);
    }

    @Test
    void ofALargeFileThatChangedOnlyWhatChangedIsFetched() throws Exception {
        Path large = large();
        long range = LargeFetch.RANGE_BYTES;
        try (LoopbackSite site = openSsh()) {
            copy(site, TWO_LANES);
            long complete = LARGE_BYTES / range * range;
            byte[] more = new byte[5_000_000];
            try (FileChannel at = FileChannel.open(large, StandardOpenOption.WRITE)) {
                at.write(ByteBuffer.wrap("edited".getBytes(UTF_8)), 3 * range + 7);
                at.write(ByteBuffer.wrap(more), LARGE_BYTES);
            }
            Progress changed = copy(site, TWO_LANES);

            assertThat(changed.complete()).isTrue();
            assertThat(changed.bytesMoved()).isEqualTo(range + LARGE_BYTES + more.length - complete);
            Trees.assertSame(source, back);

            try (FileChannel at = FileChannel.open(large, StandardOpenOption.WRITE)) {
                at.truncate(4 * range + 5);
            }
            assertThat(copy(site, TWO_LANES).bytesMoved()).isEqualTo(5);
        }
        assertThat(findings).isEmpty();
        Trees.assertSame(source, back);
    }

    @Test
    void aLargeFileThatIsUnlikeTheEarlierOneIsFetchedWhole() throws Exception {
        Path large = large();
        try (LoopbackSite site = openSsh()) {
            copy(site, TWO_LANES);
            byte[] other = Files.readAllBytes(large);
            for (int i = 0; i < other.length; i += 1 << 20) {
                other[i]++;
            }
            Files.write(large, other);

            assertThat(copy(site, TWO_LANES).bytesMoved()).isEqualTo(LARGE_BYTES);
        }
        Trees.assertSame(source, back);
    }

    /** Copies after a simulated kill: the first range is here, the second wrong, and the third not begun. */
    private Progress copyAfterAKillIn(LoopbackSite site, Path large) throws Exception {
        Files.delete(back.resolve("large"));
        RemoteFacts facts = new RemoteFacts(
                RemoteFacts.Kind.FILE,
                LARGE_BYTES,
                0644,
                Files.getLastModifiedTime(large).toInstant().getEpochSecond(),
                0,
                0);
        FilePath name = FilePath.of("large");
        try (CopyFromSite copy = copyOf(site, FilePath.of("source"), back, false, TWO_LANES);
                LocalFile left = LocalTree.open(back, Incoming.name(copy.key(), top -> false))
                        .incoming()
                        .create(new Found(name, name, name, facts))) {
            byte[] content = Files.readAllBytes(large);
            int range = (int) LargeFetch.RANGE_BYTES;
            left.write(content, 0, range, 0);
            left.write(content, 0, range, range);
        }
        return copy(site, TWO_LANES);
    }

    @Test
    void anAccountWithoutCommandsIsProvenByReadingBack() throws Exception {
        makeTree(source, LARGE_BYTES);
        Files.delete(source.resolve("large"));
        try (LoopbackSite site = openSsh("ForceCommand internal-sftp");
                Lanes lanes = Lanes.to(site.address(), 1)) {
            assertThat(RemoteDigest.readOnly(lanes.next()).method()).isEqualTo("read-back");

            assertThat(copy(site, TWO_LANES).complete()).isTrue();
        }
        assertThat(findings).isEmpty();
        Trees.assertSame(source, back);
    }

    @Test
    void aServerWithCheckFileIsAskedByIt() throws Exception {
        Files.writeString(source.resolve("a"), "hello");
        Files.createFile(source.resolve("empty"));
        try (LoopbackSite site = LoopbackSite.embedded(folder.resolve("sshd"), root, 0);
                Lanes lanes = Lanes.to(site.address(), 1)) {
            assertThat(RemoteDigest.readOnly(lanes.next()).method()).isEqualTo("check-file");

            assertThat(copy(site, TWO_LANES).complete()).isTrue();
        }
        assertThat(back.resolve("a")).hasContent("hello");
    }

    @Test
    void whatHasAnotherDigestAtTheSiteIsFetchedAgainAndNeverNamed() throws Exception {
        Files.writeString(source.resolve("good"), "hello");
        Files.writeString(source.resolve("lying"), "1234567");
        try (LoopbackSite site = openSsh("ForceCommand " + lyingCommands(100, OTHER_DIGEST))) {
            Progress end = copy(site, TWO_LANES);

            assertThat(end.complete()).isFalse();
            assertThat(end.bytesMoved()).isEqualTo(5 + 3 * 7);
        }
        assertThat(findings).extracting(Finding::problem).containsExactly(Problem.MISMATCHED);
        assertThat(back).isDirectoryContaining("glob:**/good").isDirectoryNotContaining("glob:**/lying");
        assertThat(back.resolve(".dozo-incoming")).doesNotExist();
    }

    /** Linux reports sizes of 0 and of a page there. */
    @ParameterizedTest
    @ValueSource(strings = {"", "ForceCommand internal-sftp"})
    void aFileIsWhatReadingItGivesWhateverItsSizeIs(String config) throws Exception {
        List<Path> files = List.of(Path.of("/proc/sys/kernel/random/boot_id"), Path.of("/sys/kernel/mm/ksm/run"));
        assertThat(files).extracting(Files::size).containsExactly(0L, 4096L);
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("sshd"), Path.of("/"), 0, config)) {
            for (Path file : files) {
                Path copied = folder.resolve("copied");

                Progress end = run(copyOf(site, FilePath.between(Path.of("/"), file), copied, false, TWO_LANES));

                assertThat(findings).isEmpty();
                assertThat(end.complete()).isTrue();
                assertThat(copied).hasBinaryContent(Files.readAllBytes(file));
                assertThat(end.bytesVerified()).isEqualTo(end.bytes()).isEqualTo(Files.size(copied));
            }
        }
    }

    /** In ranges, by several channels. */
    @ParameterizedTest
    @ValueSource(longs = {1, 65 << 20, 70 << 20})
    void aLargeFileIsWhatReadingItGivesWhateverItsSizeIs(long bytes) throws Exception {
        byte[] content = Trees.random(66 << 20, bytes);
        Files.write(source.resolve("large"), content);
        try (LoopbackSite site = LoopbackSite.embedded(folder.resolve("sshd"), root, 0, sayingOf("large", bytes))) {
            Progress end = copy(site, TWO_LANES);

            if (end.complete()) {
                assertThat(findings).isEmpty();
                assertThat(back.resolve("large")).hasBinaryContent(content);
            } else {
                assertThat(findings).extracting(Finding::path).containsExactly(FilePath.of("large"));
                assertThat(back.resolve("large")).doesNotExist();
            }
        }
    }

    /** Returns an SFTP server that says a wrong size of files with this name. */
    private static SftpSubsystemFactory sayingOf(String name, long bytes) {
        SftpSubsystemFactory lying = new SftpSubsystemFactory();
        lying.setFileSystemAccessor(new SftpFileSystemAccessor() {
            @Override
            public Map<String, ?> readFileAttributes(
                    SftpSubsystemProxy subsystem, Path file, String view, LinkOption... options) throws IOException {
                Map<String, Object> facts =
                        new HashMap<>(SftpFileSystemAccessor.super.readFileAttributes(subsystem, file, view, options));
                facts.computeIfPresent("size", (_, real) -> file.endsWith(name) ? bytes : real);
                return facts;
            }
        });
        return lying;
    }

    @ParameterizedTest
    @ValueSource(longs = {-1, Long.MIN_VALUE, Long.MAX_VALUE, (16L << 40) + 1})
    void aSizeThatNoFileHasIsAFinding(long bytes) throws Exception {
        Files.writeString(source.resolve("huge"), "small");
        Files.writeString(source.resolve("other"), "other");
        try (LoopbackSite site = LoopbackSite.embedded(folder.resolve("sshd"), root, 0, sayingOf("huge", bytes))) {
            assertThat(copy(site, TWO_LANES).complete()).isFalse();
        }
        assertThat(findings).singleElement().satisfies(finding -> {
            assertThat(finding.path()).isEqualTo(FilePath.of("huge"));
            assertThat(finding.problem()).isEqualTo(Problem.UNREADABLE);
            assertThat(finding.message()).contains(Long.toUnsignedString(bytes));
        });
        assertThat(back.resolve("other")).hasContent("other");
        assertThat(back.resolve("huge")).doesNotExist();
    }

    @Test
    void oneWrongAnswerIsMended() throws Exception {
        Files.writeString(source.resolve("lying"), "1234567");
        try (LoopbackSite site = openSsh("ForceCommand " + lyingCommands(1, OTHER_DIGEST))) {
            Progress end = copy(site, TWO_LANES);

            assertThat(end.complete()).isTrue();
            assertThat(end.bytesMoved()).isEqualTo(2 * 7);
        }
        assertThat(findings).isEmpty();
        assertThat(back.resolve("lying")).hasContent("1234567");
    }

    @Test
    void theSameCopyIsRefusedWhileItIsRunning() throws Exception {
        Files.writeString(source.resolve("a"), "hello");
        try (LoopbackSite site = openSsh()) {
            try (CopyFromSite other = copyOf(site, FilePath.of("source"), back, false, TWO_LANES);
                    FileLock running = RunningCopies.lock(other.key())) {
                assertThatThrownBy(() -> copy(site, TWO_LANES))
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("already running");
                assertThat(running.isValid()).isTrue();
            }
            assertThat(back).doesNotExist();

            assertThat(copy(site, TWO_LANES).complete()).isTrue();
        }
    }

    @Test
    void nothingIsWrittenThroughALinkAtTheDestination() throws Exception {
        Files.createDirectories(source.resolve("sub/below"));
        Files.writeString(source.resolve("sub/below/file"), "hello");
        Files.writeString(source.resolve("name"), "hello");
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        Path victim = Files.writeString(folder.resolve("victim"), "untouched");
        Files.createDirectory(back);
        Files.createSymbolicLink(back.resolve("sub"), elsewhere);
        Files.createSymbolicLink(back.resolve("name"), victim);
        try (LoopbackSite site = openSsh()) {
            assertThat(copy(site, TWO_LANES).complete()).isFalse();
        }

        assertThat(elsewhere).isEmptyDirectory();
        assertThat(victim).hasContent("untouched");
        assertThat(back.resolve("name")).hasContent("hello").matches(Files::isRegularFile);
        assertThat(Files.isSymbolicLink(back.resolve("name"))).isFalse();
        assertThat(findings).extracting(Finding::problem).containsOnly(Problem.DESTINATION_REFUSED);
        assertThat(findings)
                .extracting(finding -> finding.path().toString())
                .containsExactlyInAnyOrder("sub", "sub/below", "sub/below/file");
    }

    @Test
    void aFileBecomesTheDestinationOrGoesIntoIt() throws Exception {
        Files.setLastModifiedTime(Files.writeString(source.resolve("a"), "hello"), LONG_AGO);
        Files.writeString(source.resolve("b"), "world");
        try (LoopbackSite site = openSsh()) {
            FilePath a = FilePath.of("source/a");
            assertThat(run(copyOf(site, a, back, false, TWO_LANES)).complete()).isTrue();
            Path into = folder.resolve("into");
            assertThat(run(copyOf(site, a, into, true, TWO_LANES)).complete()).isTrue();
            assertThat(run(copyOf(site, FilePath.of("source"), into, true, TWO_LANES))
                            .complete())
                    .isTrue();

            assertThat(back).hasContent("hello");
            assertThat(Files.getLastModifiedTime(back)).isEqualTo(LONG_AGO);
            assertThat(into.resolve("a")).hasContent("hello");
            assertThat(into.resolve("source/b")).hasContent("world");
        }
    }

    @Test
    void aSourceThatIsNotThereEndsIt() throws Exception {
        try (LoopbackSite site = openSsh()) {
            assertThatThrownBy(() -> run(copyOf(site, FilePath.of("none"), back, false, TWO_LANES)))
                    .isInstanceOfSatisfying(
                            RemoteException.class, e -> assertThat(e.reason()).isEqualTo(Reason.NO_SUCH_FILE));
        }
        assertThat(back).doesNotExist();
    }

    @Test
    void whatIsNoFileIsAFindingAndADryRunOnlyLooks() throws Exception {
        Trees.fifo(source.resolve("pipe"));
        Files.writeString(source.resolve("a"), "hello");
        try (LoopbackSite site = openSsh()) {
            Progress end = copy(site, new Options(1, 0, true));

            assertThat(end.counted()).isTrue();
            assertThat(end.entries()).isEqualTo(3);
            assertThat(end.bytes()).isEqualTo(5);
        }
        assertThat(findings).extracting(Finding::problem).containsExactly(Problem.SPECIAL);
        assertThat(back).doesNotExist();
    }

    @Test
    void aFileThatChangedSinceItWasFoundIsFetchedOnceMore() throws Exception {
        Path file = Files.writeString(source.resolve("a"), "as it is now");
        Files.setLastModifiedTime(file, LONG_AGO);
        try (LoopbackSite site = openSsh()) {
            Told told = fetchAsIfFoundBefore(site, () -> {});

            assertThat(told.verified).containsExactly("a");
            assertThat(told.failed).isEmpty();
            assertThat(told.moreBytes).isEqualTo(12 - 3);
        }
        assertThat(back.resolve("a")).hasContent("as it is now");
        assertThat(Files.getLastModifiedTime(back.resolve("a"))).isEqualTo(LONG_AGO);
    }

    @Test
    void aFileThatGoesOnChangingIsAFinding() throws Exception {
        Path file = Files.writeString(source.resolve("a"), "as it is now");
        try (LoopbackSite site = openSsh()) {
            Told told = fetchAsIfFoundBefore(site, () -> Files.writeString(file, "and again another"));

            assertThat(told.failed).containsExactly(Problem.CHANGED);
        }
        assertThat(back.resolve("a")).doesNotExist();
    }

    private interface Change {
        void make() throws IOException;
    }

    private static final class Told implements Fetch.Outcomes {

        final List<String> verified = new ArrayList<>();
        final List<Problem> failed = new ArrayList<>();
        final Change atFirstChange;
        long moreBytes;

        Told(Change atFirstChange) {
            this.atFirstChange = atFirstChange;
        }

        @Override
        public void verified(Found found) {
            verified.add(found.path().toString());
        }

        @Override
        public void proven(Found file, Digest digest) {
            // Asserted by the manifest of a copy.
        }

        @Override
        public void failed(Found found, Problem problem, String message) {
            failed.add(problem);
        }

        @Override
        public void resized(long bytes) {
            moreBytes += bytes;
            try {
                atFirstChange.make();
            } catch (IOException e) {
                throw new AssertionError(e);
            }
        }
    }

    /** Fetches source/a as if it had been found with three bytes. */
    private Told fetchAsIfFoundBefore(LoopbackSite site, Change atFirstChange) throws Exception {
        RemoteFacts before = new RemoteFacts(RemoteFacts.Kind.FILE, 3, 0644, 1, 0, 0);
        Told told = new Told(atFirstChange);
        try (Lanes lanes = Lanes.to(site.address(), 1)) {
            LocalTree local = LocalTree.open(back, Incoming.name("key", name -> false));
            SiteFiles files = new SiteFiles(lanes, RemoteDigest.readOnly(lanes.next()), new Throttle(0));
            FilePath a = FilePath.of("a");
            new Fetch(files, local, told).files(List.of(new Found(a, FilePath.of("source/a"), a, before)));
        }
        return told;
    }

    private Path large() throws IOException {
        return Trees.write(source.resolve("large"), LARGE_BYTES);
    }

    private static CopyFromSite copyOf(LoopbackSite site, FilePath source, Path to, boolean into, Options options) {
        return new CopyFromSite(site.address(), List.of(source), to, into, options);
    }

    private Progress copy(LoopbackSite site, Options options) throws IOException, InterruptedException {
        return run(copyOf(site, FilePath.of("source"), back, false, options));
    }
}
