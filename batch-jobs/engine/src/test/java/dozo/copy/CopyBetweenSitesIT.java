package dozo.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dozo.copy.Copy.Options;
import dozo.copy.Copy.Progress;
import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.loopback.FoldingSite;
import dozo.loopback.LoopbackSite;
import dozo.remote.ChildProcess;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.SilentRelay;
import dozo.remote.SiteAddress;
import dozo.remote.Tmpfs;
import dozo.send.FaultySite;
import dozo.send.Route;
import dozo.send.SourceFolder;
import dozo.source.DirectoryTree;
import java.io.IOException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.sshd.sftp.server.FileHandle;
import org.apache.sshd.sftp.server.SftpFileSystemAccessor;
import org.apache.sshd.sftp.server.SftpSubsystemFactory;
import org.apache.sshd.sftp.server.SftpSubsystemProxy;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A copy from one site to another: verified at both, restartable, and nothing is written at the first. */
@Timeout(300)
class CopyBetweenSitesIT extends CopyTest {

    private static final FilePath SOURCE = FilePath.of("source");
    private static final FilePath TO = FilePath.of("to");
    private static final long LARGE_BYTES = 150_000_000;
    private static final long RANGE_BYTES = 64 << 20;

    private Path origin;
    private Path source;

    @BeforeEach
    void makeSource() throws IOException {
        origin = Files.createDirectory(folder.resolve("origin"));
        source = Files.createDirectory(origin.resolve("source"));
    }

    @Test
    void aTreeArrivesAsItIs() throws Exception {
        makeReadableTree(LARGE_BYTES);
        try (LoopbackSite from = origin();
                LoopbackSite to = openSsh()) {
            Progress end = copy(from, to);

            assertThat(findings).isEmpty();
            assertThat(end.complete()).isTrue();
            assertThat(end.bytesMoved()).isEqualTo(end.bytes()).isEqualTo(end.bytesVerified());
        }
        Trees.assertSame(source, root.resolve("to"));
        assertThat(root.resolve("to/.dozo-incoming")).doesNotExist();
        assertThat(origin).isDirectoryNotContaining("glob:**/.dozo*");
    }

    @Test
    void theSameAgainReadsNothingAndMendsWhatIsMissing() throws Exception {
        for (int i = 0; i < 40; i++) {
            Trees.write(source.resolve("file" + i), 1_000 + i);
        }
        try (FaultySite from = FaultySite.hooked(folder.resolve("from"), origin, file -> {}, name -> {});
                LoopbackSite to = openSsh()) {
            assertThat(copy(from.address(), to.address()).complete()).isTrue();
            int read = from.requests().get("SSH_FXP_READ");

            Progress again = copy(from.address(), to.address());

            assertThat(again.complete()).isTrue();
            assertThat(again.bytesMoved()).isZero();
            assertThat(from.requests().get("SSH_FXP_READ")).isEqualTo(read);

            Files.delete(root.resolve("to/file7"));
            Trees.flip(root.resolve("to/file8"), 500);
            assertThat(copy(from.address(), to.address()).bytesMoved()).isEqualTo(1_007 + 1_008);
        }
        assertThat(findings).isEmpty();
        Trees.assertSame(source, root.resolve("to"));
    }

    /** The first range is at the target, the second wrong, and the rest was not begun. */
    @Test
    void aLargeFileGoesOnWithTheRangesThatAreThere() throws Exception {
        Path large = Trees.write(source.resolve("large"), LARGE_BYTES);
        try (LoopbackSite from = origin();
                LoopbackSite to = openSsh();
                SilentRelay relay = new SilentRelay(from.address())) {
            CopyBetweenSites copy = copyOf(relay.address(), to.address(), lanes(2));
            FilePath incoming = Incoming.name(copy.key(), _ -> false);
            Route route = new Route(SourceFolder.of(source), FilePath.ROOT, FilePath.ROOT, incoming, Optional.empty());
            Files.setLastModifiedTime(large, LONG_AGO);
            Path left = route.temporaryName(new Entry(1, FilePath.of("large"), DirectoryTree.facts(large)))
                    .under(root.resolve("to"));
            Files.createDirectories(left.getParent());
            byte[] content = Files.readAllBytes(large);
            Arrays.fill(content, (int) RANGE_BYTES, (int) RANGE_BYTES + 10, (byte) 0);
            Files.write(left, Arrays.copyOf(content, (int) (2 * RANGE_BYTES)));

            Progress end = run(copy);

            assertThat(findings).isEmpty();
            assertThat(end.complete()).isTrue();
            assertThat(end.bytesMoved()).isEqualTo(LARGE_BYTES - RANGE_BYTES);
        }
        Trees.assertSame(source, root.resolve("to"));
    }

    @Test
    void aKilledCopyIsFinishedByTheSameAgain() throws Exception {
        Trees.write(source.resolve("large"), LARGE_BYTES);
        for (int i = 0; i < 300; i++) {
            Trees.write(source.resolve("file" + i), 10_000 + i);
        }
        try (LoopbackSite from = origin();
                LoopbackSite to = openSsh()) {
            try (ChildProcess child = child(from, to, 256, 40 << 20)) {
                child.awaitInWork(() -> Files.exists(root.resolve("to/file299")));
                assertThatThrownBy(() -> copy(from, to))
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("already running");
                child.assertAlive();
            }
            assertThat(root.resolve("to/.dozo-incoming")).exists();
            assertThat(root.resolve("to/large")).doesNotExist();

            Progress rest = copy(from, to);

            assertThat(findings).isEmpty();
            assertThat(rest.complete()).isTrue();
            assertThat(rest.bytesMoved()).isLessThanOrEqualTo(LARGE_BYTES);
        }
        Trees.assertSame(source, root.resolve("to"));
        assertThat(root.resolve("to/.dozo-incoming")).doesNotExist();
    }

    @Test
    void theMemoryOfACopyIsEnough() throws Exception {
        Trees.write(source.resolve("large"), LARGE_BYTES);
        Trees.write(source.resolve("larger"), LARGE_BYTES + 1);
        Trees.hole(source.resolve("hole"), 300 << 20);
        for (int i = 0; i < 2_000; i++) {
            Trees.write(source.resolve("file" + i), 20_000 + i);
        }
        try (LoopbackSite from = origin();
                LoopbackSite to = openSsh();
                ChildProcess child = child(from, to, 160, 0)) {
            child.assertEndsWell(Duration.ofSeconds(200));
        }
        Trees.assertSame(source, root.resolve("to"));
        assertThat(Trees.room(root.resolve("to/hole"))).isLessThan(1 << 20);
    }

    @Test
    void sitesWithoutCommandsAreProvenByReadingBack() throws Exception {
        makeReadableTree(1);
        try (LoopbackSite from = origin("ForceCommand internal-sftp");
                LoopbackSite to = openSsh("ForceCommand internal-sftp")) {
            assertThat(copy(from, to).complete()).isTrue();
        }
        assertThat(findings).isEmpty();
        Trees.assertSame(source, root.resolve("to"));
    }

    @Test
    void sourcesBecomeTheDestinationOrGoIntoIt() throws Exception {
        Files.setLastModifiedTime(Files.writeString(source.resolve("a"), "hello"), LONG_AGO);
        Files.createSymbolicLink(origin.resolve("link"), Path.of("nowhere"));
        FilePath a = FilePath.of("source/a");
        FilePath link = FilePath.of("link");
        try (LoopbackSite from = origin();
                LoopbackSite to = openSsh()) {
            for (List<FilePath> sources : List.of(List.of(a), List.of(link))) {
                FilePath name =
                        FilePath.of("as-" + FilePath.render(sources.getFirst().name()));
                assertThat(run(new CopyBetweenSites(from.address(), sources, to.address(), name, false, lanes(1)))
                                .complete())
                        .isTrue();
            }
            assertThat(run(new CopyBetweenSites(
                                    from.address(), List.of(a, link, SOURCE), to.address(), TO, true, lanes(1)))
                            .complete())
                    .isTrue();
        }
        assertThat(findings).isEmpty();
        assertThat(root.resolve("as-a")).hasContent("hello");
        assertThat(Files.getLastModifiedTime(root.resolve("as-a"))).isEqualTo(LONG_AGO);
        assertThat(Files.readSymbolicLink(root.resolve("as-link"))).isEqualTo(Path.of("nowhere"));
        assertThat(Trees.names(root.resolve("to"))).containsExactly("a", "link", "source");
        assertThat(root.resolve("to/source/a")).hasContent("hello");
        assertThat(Trees.names(root)).containsExactly("as-a", "as-link", "to");
    }

    @Test
    void whatCannotBeCopiedIsAFindingAndADryRunOnlyLooks() throws Exception {
        Trees.fifo(source.resolve("pipe"));
        Files.writeString(source.resolve("a"), "hello");
        Files.createDirectories(source.resolve(".dozo-incoming/0123456789abcdef"));
        try (LoopbackSite from = origin();
                LoopbackSite to = openSsh()) {
            Progress dry = run(copyOf(from.address(), to.address(), new Options(1, 0, true)));

            assertThat(dry.counted()).isTrue();
            assertThat(dry.entries()).isEqualTo(4);
            assertThat(dry.bytes()).isEqualTo(5);
            assertThat(root).isEmptyDirectory();
            assertFindings("pipe SPECIAL", ".dozo-incoming SPECIAL");

            findings.clear();
            assertThat(copy(from, to).complete()).isFalse();
        }
        assertFindings("pipe SPECIAL", ".dozo-incoming SPECIAL");
        assertThat(Trees.names(root.resolve("to"))).containsExactly("a");
    }

    @Test
    void aSourceThatIsNotThereEndsItBeforeAnythingIsCreated() throws Exception {
        try (LoopbackSite from = origin();
                LoopbackSite to = openSsh()) {
            CopyBetweenSites copy = new CopyBetweenSites(
                    from.address(), List.of(FilePath.of("none")), to.address(), TO, false, lanes(1));
            assertThat(catchThrowableOfType(RemoteException.class, () -> run(copy))
                            .reason())
                    .isEqualTo(Reason.NO_SUCH_FILE);
        }
        assertThat(root).isEmptyDirectory();
        assertThatThrownBy(() -> new CopyBetweenSites(
                        new SiteAddress("h", 1, "u", "/", origin, "ssh-ed25519 AAAA"),
                        List.of(SOURCE, TO),
                        new SiteAddress("h", 1, "u", "/", origin, "ssh-ed25519 AAAA"),
                        TO,
                        false,
                        lanes(1)))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void whatTheSourceRefusesIsAFindingAndTheRestIsCopied() throws Exception {
        Files.writeString(source.resolve("denied"), "denied");
        Files.writeString(source.resolve("fine"), "fine");
        Files.createSymbolicLink(source.resolve("link"), Path.of("fine"));
        try (LoopbackSite from = hooked(file -> {
                    if (file.endsWith("denied") || file.endsWith("link")) {
                        throw new AccessDeniedException(file.toString());
                    }
                });
                LoopbackSite to = openSsh()) {
            assertThat(copy(from, to).complete()).isFalse();
        }
        assertFindings("denied UNREADABLE", "link UNREADABLE");
        assertThat(Trees.names(root.resolve("to"))).containsExactly("fine");
    }

    @Test
    void aFileThatChangesWhileItIsReadIsCopiedAsItIsThenOrAFinding() throws Exception {
        Path file = source.resolve("file");
        AtomicReference<Deed> deed = new AtomicReference<>(() -> {});
        try (LoopbackSite from = hooked(opened -> deed.get().act());
                LoopbackSite to = openSsh()) {
            for (Deed once : List.<Deed>of(
                    () -> Files.write(file, new byte[500_000], StandardOpenOption.APPEND),
                    () -> Files.write(file, new byte[1_000]),
                    () -> Files.write(file, new byte[600_000]))) {
                Trees.write(file, 600_001);
                Files.setLastModifiedTime(file, LONG_AGO);
                deed.set(() -> {
                    deed.set(() -> {});
                    once.act();
                });

                assertThat(copy(from, to).complete()).isTrue();

                assertThat(findings).isEmpty();
                Trees.assertSame(file, root.resolve("to/file"));
            }
            Files.delete(root.resolve("to/file"));
            deed.set(() -> Files.write(file, new byte[10], StandardOpenOption.APPEND));
            assertThat(copy(from, to).complete()).isFalse();
            deed.set(() -> Files.deleteIfExists(file));
            assertThat(copy(from, to).complete()).isFalse();
        }
        assertFindings("file CHANGED", "file VANISHED");
        assertThat(root.resolve("to")).isEmptyDirectory();
    }

    @ParameterizedTest
    @ValueSource(longs = {7, 66 << 20})
    void whatHasAnotherDigestAtTheSourceGetsNoName(long bytes) throws Exception {
        Trees.write(source.resolve("lying"), bytes);
        copyLying(100, OTHER_DIGEST);
        assertFindings("lying MISMATCHED");
        assertThat(findings.getFirst().message()).contains("checksum mismatch: ", "%064d".formatted(0));
        assertThat(root.resolve("to")).isEmptyDirectory();

        findings.clear();
        copyLying(100, "continue");
        assertFindings("lying UNPROVEN");
        assertThat(root.resolve("to")).isEmptyDirectory();
    }

    @Test
    void oneOldAnswerIsMended() throws Exception {
        Trees.write(source.resolve("lying"), 7);
        copyLying(1, OTHER_DIGEST);
        assertThat(findings).isEmpty();
        assertThat(folder.resolve("lies")).isEmptyDirectory();
        Trees.assertSame(source, root.resolve("to"));
    }

    private void copyLying(int times, String manner) throws Exception {
        try (LoopbackSite from = origin("ForceCommand " + lyingCommands(times, manner));
                LoopbackSite to = openSsh()) {
            copy(from, to);
        }
    }

    /** Of the source's connections, or the target's. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void cutConnectionsAreMadeUpFor(boolean atSource) throws Exception {
        Trees.write(source.resolve("large"), LARGE_BYTES);
        for (int i = 0; i < 100; i++) {
            Trees.write(source.resolve("file" + i), 300_000 + i);
        }
        try (LoopbackSite from = origin();
                LoopbackSite to = openSsh();
                SilentRelay relay = new SilentRelay((atSource ? from : to).address())) {
            int[] resets = {0};
            relay.resetAfter(() -> resets[0]++ == 0 ? 700 : 0);
            Progress end = run(copyOf(
                    atSource ? relay.address() : from.address(), atSource ? to.address() : relay.address(), lanes(3)));

            assertThat(relay.resets()).isEqualTo(1);
            assertThat(findings).isEmpty();
            assertThat(end.complete()).isTrue();
        }
        Trees.assertSame(source, root.resolve("to"));
    }

    @Test
    void aSourceThatGoesAwayEndsItAndTheSameAgainFinishesIt() throws Exception {
        for (int i = 0; i < 50; i++) {
            Trees.write(source.resolve("file" + i), 10_000 + i);
        }
        Trees.write(source.resolve("large"), LARGE_BYTES);
        LoopbackSite first = origin();
        int port = first.address().port();
        AtomicReference<LoopbackSite> from = new AtomicReference<>(first);
        try (FaultySite to =
                FaultySite.hooked(folder.resolve("to"), root, file -> from.get().close(), name -> {})) {
            RemoteException away =
                    catchThrowableOfType(RemoteException.class, () -> copy(first.address(), to.address()));
            assertThat(away.reason()).isIn(Reason.LOST, Reason.UNREACHABLE);
            assertThat(root.resolve("to/large")).doesNotExist();
        }
        try (LoopbackSite again = LoopbackSite.openSsh(folder.resolve("from"), origin, port);
                LoopbackSite to = openSsh()) {
            assertThat(copy(again, to).complete()).isTrue();
        }
        assertThat(findings).isEmpty();
        Trees.assertSame(source, root.resolve("to"));
    }

    @Test
    void aTargetThatGoesAwayOrFillsUpEndsItAndNamesNothingUnproven() throws Exception {
        for (int i = 0; i < 100; i++) {
            Trees.write(source.resolve("file" + i), 100_000 + i);
        }
        LoopbackSite target = openSsh();
        try (LoopbackSite from = hooked(file -> target.close())) {
            assertThat(catchThrowableOfType(RemoteException.class, () -> copy(from, target))
                            .reason())
                    .isIn(Reason.LOST, Reason.UNREACHABLE);
        }
        try (LoopbackSite from = origin();
                Tmpfs small = new Tmpfs(root.resolve("to"), "size=4m");
                LoopbackSite to = openSsh()) {
            RemoteException full = catchThrowableOfType(RemoteException.class, () -> copy(from, to));
            assertThat(full.reason()).isEqualTo(Reason.FULL);
            assertThat(full.getMessage()).contains("full; free some space there");
            small.remount("size=40m");
            assertThat(copy(from, to).complete()).isTrue();
            Trees.assertSame(source, root.resolve("to"));
        }
    }

    @Test
    void ofNamesThatAreOneAtTheTargetOneArrives() throws Exception {
        Files.writeString(source.resolve("SCAN.dat"), "large");
        Files.writeString(source.resolve("scan.dat"), "small");
        Files.writeString(source.resolve("other"), "other");
        try (LoopbackSite from = origin();
                LoopbackSite to = FoldingSite.start(folder.resolve("to"), root)) {
            assertThat(copy(from, to).complete()).isFalse();
        }
        assertThat(findings)
                .singleElement()
                .satisfies(finding -> assertThat(finding.path().toString()).isEqualToIgnoringCase("scan.dat"));
        assertThat(Trees.names(root.resolve("to"))).hasSize(2).contains("other");
    }

    /** Creates a tree whose modes a site keeps. */
    private void makeReadableTree(long largeBytes) throws IOException {
        makeTree(source, largeBytes);
        Files.setPosixFilePermissions(source.resolve("sub"), PosixFilePermissions.fromString("rwxr-x---"));
    }

    private LoopbackSite origin(String... configLines) throws IOException {
        return LoopbackSite.openSsh(folder.resolve("from"), origin, 0, configLines);
    }

    private Progress copy(LoopbackSite from, LoopbackSite to) throws IOException, InterruptedException {
        return copy(from.address(), to.address());
    }

    private Progress copy(SiteAddress from, SiteAddress to) throws IOException, InterruptedException {
        return run(copyOf(from, to, lanes(2)));
    }

    private static CopyBetweenSites copyOf(SiteAddress from, SiteAddress to, Options options) {
        return new CopyBetweenSites(from, List.of(SOURCE), to, TO, false, options);
    }

    private ChildProcess child(LoopbackSite from, LoopbackSite to, int heapMegabytes, long limit) throws IOException {
        List<String> words = new ArrayList<>(ChildProcess.words(to.address()));
        words.add(String.valueOf(limit));
        return new ChildProcess(
                CopyBetweenSitesIT.class,
                heapMegabytes,
                folder.resolve("child.log"),
                from.address(),
                words.toArray(String[]::new));
    }

    static void main(String[] all) throws Exception {
        String[] target = ChildProcess.arguments(all);
        Options options = new Options(0, Long.parseLong(target[target.length - 1]), false);
        boolean complete;
        try (Copy copy = copyOf(ChildProcess.site(all), ChildProcess.site(target), options)) {
            complete = copy.run(System.out::println).complete();
        }
        System.exit(complete ? 0 : 1);
    }

    /** A change of the source. */
    private interface Deed {
        void act() throws IOException;
    }

    private interface Opening {
        void of(Path file) throws IOException;
    }

    /** Starts a source that calls this before it opens a file of the source or reads a link; its exceptions are faults. */
    private LoopbackSite hooked(Opening hook) throws IOException {
        SftpSubsystemFactory sftp = new SftpSubsystemFactory();
        sftp.setFileSystemAccessor(new SftpFileSystemAccessor() {
            @Override
            public SeekableByteChannel openFile(
                    SftpSubsystemProxy subsystem,
                    FileHandle handle,
                    Path file,
                    String name,
                    Set<? extends OpenOption> options,
                    FileAttribute<?>... attributes)
                    throws IOException {
                hook.of(file);
                return SftpFileSystemAccessor.super.openFile(subsystem, handle, file, name, options, attributes);
            }

            @Override
            public String resolveLinkTarget(SftpSubsystemProxy subsystem, Path link) throws IOException {
                hook.of(link);
                return SftpFileSystemAccessor.super.resolveLinkTarget(subsystem, link);
            }
        });
        return LoopbackSite.embedded(folder.resolve("from"), origin, 0, sftp);
    }
}
