package dozo.copy;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dozo.copy.Copy.Finding;
import dozo.copy.Copy.Options;
import dozo.copy.Copy.Progress;
import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.loopback.LoopbackSite;
import dozo.remote.ChildProcess;
import dozo.remote.Lanes;
import dozo.remote.LyingTools;
import dozo.remote.Patience;
import dozo.remote.RemoteDigest;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.SilentRelay;
import dozo.remote.SiteAddress;
import dozo.remote.SiteCheck;
import dozo.remote.TestLanes;
import dozo.remote.Tmpfs;
import dozo.send.FaultySite;
import dozo.send.Throttle;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Faults during a copy: every entry is verified in the end or a finding, and no final name ever has wrong bytes. Takes
 * over a minute, because dead links and servers are detected by real heartbeats.
 */
@Timeout(300)
class CopyFaultsIT extends CopyTest {

    private static final FilePath TO = FilePath.of("to");
    private static final long LARGE = 65L << 20;

    Path source;
    int served;

    @BeforeEach
    void makeSource() throws Exception {
        source = Files.createDirectory(folder.resolve("source"));
    }

    @Test
    void aByteFlippedOnItsWayToTheDiskIsCaughtAndSentAgain() throws Exception {
        Files.writeString(source.resolve("small"), "small");
        Trees.write(source.resolve("large"), LARGE);
        Set<String> flipped = new HashSet<>();
        try (FaultySite site =
                FaultySite.flipping(folder.resolve("sshd"), root, 2, name -> isTemporary(name) && flipped.add(name))) {
            assertComplete(copy(site.address(), 1));
            assertThat(site.hits()).isEqualTo(2);
        }
    }

    @Test
    void aDiskThatAlwaysLiesGetsNoFinalName() throws Exception {
        Files.writeString(source.resolve("small"), "small");
        Trees.write(source.resolve("large"), LARGE);
        try (FaultySite site = FaultySite.flipping(folder.resolve("sshd"), root, 1_000, CopyFaultsIT::isTemporary)) {
            assertThat(run(copy(site.address(), 1)).complete()).isFalse();
            assertThat(site.hits()).isEqualTo(6);
        }
        assertFindings("small MISMATCHED", "large MISMATCHED");
        assertThat(root.resolve("to")).isEmptyDirectory();
    }

    @Test
    void aSiteThatFillsUpEndsTheCopyAndNamesNothingUnproven() throws Exception {
        for (int i = 0; i < 300; i++) {
            Trees.write(source.resolve("file" + i), 100_000 + i);
        }
        Files.createDirectories(root.resolve("to"));
        try (Tmpfs small = new Tmpfs(root.resolve("to"), "size=8m");
                LoopbackSite site = openSsh()) {
            CopyToSite copy = copy(site.address(), 2);
            RemoteException failed = catchThrowableOfType(RemoteException.class, () -> run(copy));
            assertThat(failed.reason()).isEqualTo(Reason.FULL);
            assertThat(failed.getMessage()).contains("full; free some space there");
            assertNothingWrong();
            small.remount("ro");
            CopyToSite again = copy(site.address(), 2);
            assertThat(catchThrowableOfType(RemoteException.class, () -> run(again))
                            .reason())
                    .isEqualTo(Reason.READ_ONLY);
        }
    }

    @Test
    void whatTheSiteRefusesIsAFindingAndTheRestIsCopied() throws Exception {
        for (String name : List.of("denied/file", "denied/other", "fine/file")) {
            Files.createDirectories(source.resolve(name).getParent());
            Files.writeString(source.resolve(name), name);
        }
        AtomicInteger denied = new AtomicInteger();
        try (FaultySite site = FaultySite.hooked(folder.resolve("sshd"), root, file -> {}, name -> {
            if (name.toString().contains("/denied/")) {
                denied.incrementAndGet();
                throw new AccessDeniedException(name.toString());
            }
        })) {
            assertThat(run(copy(site.address(), 1)).complete()).isFalse();
        }
        assertThat(denied).hasPositiveValue();
        assertFindings("denied/file SITE_REFUSED", "denied/other SITE_REFUSED");
        assertThat(findings).allSatisfy(finding -> assertThat(finding.message()).contains("permission denied"));
        assertThat(root.resolve("to/fine/file")).hasContent("fine/file");
        assertThat(root.resolve("to/denied")).isEmptyDirectory();
    }

    @Test
    void aPathTooLongForTheSiteIsAFinding() throws Exception {
        Files.writeString(source.resolve("fine"), "fine");
        Path deep = source;
        while (deep.toString().length() < 3_800) {
            deep = Files.createDirectory(deep.resolve("d".repeat(100)));
        }
        Path file = Files.writeString(deep.resolve("f".repeat(50)), "too deep");
        FilePath far = FilePath.of("t".repeat(250));
        try (LoopbackSite site = openSsh()) {
            Files.createDirectory(far.under(root));
            run(new CopyToSite(site.address(), List.of(source), far.resolve("to"), false, lanes(2)));
        }
        assertThat(findings).extracting(Finding::problem).containsOnly(Problem.SITE_REFUSED);
        assertThat(findings)
                .extracting(Finding::path)
                .contains(FilePath.between(source, file))
                .doesNotHaveDuplicates();
        assertThat(findings).allSatisfy(finding -> assertThat(finding.message()).contains("name may be too long"));
        assertThat(far.under(root).resolve("to/fine")).hasContent("fine");
    }

    @Test
    void aFolderThatIsAFileAtTheSiteIsAFindingWithAllInIt() throws Exception {
        Files.createDirectory(source.resolve("folder"));
        Files.writeString(source.resolve("folder/file"), "x");
        Files.writeString(source.resolve("fine"), "fine");
        Files.createDirectory(root.resolve("to"));
        Files.writeString(root.resolve("to/folder"), "somebody's");
        try (LoopbackSite site = openSsh()) {
            run(copy(site.address(), 2));
        }
        assertFindings("folder SITE_REFUSED", "folder/file SITE_REFUSED");
        assertThat(root.resolve("to/folder")).hasContent("somebody's");
        assertThat(root.resolve("to/fine")).hasContent("fine");
    }

    @Test
    void aSiteWhoseCommandsNeverAnswerGetsEverythingOnce() throws Exception {
        for (int i = 0; i < 20; i++) {
            Trees.write(source.resolve("file" + i), 100_000 + i);
        }
        Trees.write(source.resolve("large"), LARGE);
        try (LoopbackSite site = new LyingTools(folder).serve(root, "echo Menu; exec sleep 600")) {
            CopyToSite there = copy(site.address(), 1);
            Progress progress = run(there);

            assertComplete(progress);
            assertThat(progress.bytesMoved()).isEqualTo(progress.bytes());

            Path back = folder.resolve("back");
            CopyFromSite here = new CopyFromSite(site.address(), List.of(TO), back, false, lanes(1));
            assertThat(run(here).complete()).isTrue();
            Trees.assertSame(source, back);
        }
    }

    @Test
    void aDigestCommandThatHangsDuringAFetchIsReplacedByReadingBack() throws Exception {
        Path file = Files.writeString(root.resolve("file"), "content");
        LyingTools tools = new LyingTools(folder);
        tools.are("real \"$@\"");
        try (LoopbackSite site = tools.serve(root);
                Lanes lanes = Lanes.to(site.address(), 1)) {
            RemoteDigest digest = SiteCheck.of(lanes.next()).digest();
            assertThat(digest.method()).startsWith("exec ");
            tools.are("exec sleep 60");

            SiteFiles files = new SiteFiles(lanes, digest.with(new Patience(Duration.ofMillis(300))), new Throttle(0));

            assertThat(files.digests(List.of(FilePath.of("file")), 7))
                    .isEqualTo(Map.of(FilePath.of("file"), Digest.ofContent(Files.readAllBytes(file))));
        }
    }

    @Test
    void sitesThatAllowLittleAreServedWithIt() throws Exception {
        // Several bundles at once, so that several commands are wanted at once.
        for (int i = 0; i < 2_100; i++) {
            Files.createFile(source.resolve("file" + i));
        }
        Trees.write(source.resolve("large"), LARGE);
        Function<SiteAddress, Lanes> fourChannels = address -> Lanes.to(address, 2, 4);
        servedWithIt("ForceCommand internal-sftp", Lanes::tuned);
        servedWithIt("MaxStartups 2:100:2", Lanes::tuned);
        servedWithIt("MaxSessions 1", fourChannels);
        servedWithIt("MaxSessions 2", Lanes::tuned);
        servedWithIt("MaxSessions 2", fourChannels);
    }

    private void servedWithIt(String line, Function<SiteAddress, Lanes> lanes) throws Exception {
        try (LoopbackSite site = openSsh(line)) {
            CopyToSite copy = new CopyToSite(
                    site.address(), List.of(source), FilePath.of("to" + ++served), false, lanes(0), lanes);
            assertThat(run(copy).complete()).as(line).isTrue();
        }
        assertThat(findings).as(line).isEmpty();
        Trees.assertSame(source, root.resolve("to" + served));
    }

    @Test
    void aLanesServerThatIsKilledIsMadeUpForByTheOthers() throws Exception {
        makeManyAndLarge();
        try (LoopbackSite site = openSsh()) {
            CopyToSite copy = slowCopy(site.address(), address -> Lanes.to(address, 3));
            CompletableFuture<Progress> running = start(copy);
            awaitMiddle(running);
            ProcessHandle victim = connections().findFirst().orElseThrow();
            assertThat(victim.destroyForcibly()).isTrue();
            assertThat(running).isNotDone();

            assertComplete(running.get(5, TimeUnit.MINUTES));
            assertThat(victim.isAlive()).isFalse();
        }
    }

    @Test
    void aLinkThatGoesSilentIsNoticedAndMadeUpFor() throws Exception {
        makeManyAndLarge();
        try (LoopbackSite site = openSsh();
                SilentRelay relay = new SilentRelay(site.address())) {
            CompletableFuture<Progress> running = start(slowCopy(relay.address(), address -> Lanes.to(address, 2)));
            awaitMiddle(running);
            relay.dropWhatIsConnected();
            long before = System.nanoTime();
            assertThat(running).isNotDone();

            assertComplete(running.get(5, TimeUnit.MINUTES));
            System.out.printf("went on after %d s of silence%n", (System.nanoTime() - before) / 1_000_000_000);
        }
    }

    @Test
    void aServerThatFreezesIsLeftForOthersThatAnswer() throws Exception {
        makeManyAndLarge();
        try (LoopbackSite site = openSsh()) {
            CompletableFuture<Progress> running =
                    start(slowCopy(site.address(), address -> TestLanes.impatient(address, 3, Duration.ofSeconds(2))));
            awaitMiddle(running);
            // The process that serves files, not the one that holds the connection: that still answers heartbeats.
            ProcessHandle frozen = connections()
                    .flatMap(ProcessHandle::children)
                    .filter(child -> child.info().command().orElse("").endsWith("sshd"))
                    .max(Comparator.comparing(ProcessHandle::pid))
                    .orElseThrow();
            ChildProcess.signal(frozen, "STOP");
            assertThat(running).isNotDone();
            try {
                assertComplete(running.get(5, TimeUnit.MINUTES));
            } finally {
                ChildProcess.signal(frozen, "CONT");
            }
        }
    }

    @Test
    void aSourceThatChangesWhileItIsReadIsSentAsItIsThenOrAFinding() throws Exception {
        Path file = source.resolve("file");
        Path other = folder.resolve("other");
        AtomicReference<Deed> deed = new AtomicReference<>(() -> {});
        Set<String> fired = new HashSet<>();
        try (FaultySite site = FaultySite.hooked(
                folder.resolve("sshd"),
                root,
                made -> {
                    if (isTemporary(made.getFileName().toString())) {
                        fired.add(made.getFileName().toString());
                        deed.get().act();
                    }
                },
                name -> {})) {
            for (Deed once : List.<Deed>of(
                    () -> Files.move(Trees.write(other, 300_000), file, StandardCopyOption.ATOMIC_MOVE),
                    () -> Files.move(Trees.write(other, 333_333), file, StandardCopyOption.ATOMIC_MOVE),
                    () -> Files.write(file, new byte[500_000], StandardOpenOption.APPEND),
                    () -> Files.write(file, new byte[1_000]),
                    () -> Files.write(file, new byte[300_000]))) {
                Trees.write(file, 300_001);
                deed.set(() -> {
                    deed.set(() -> {});
                    once.act();
                });
                fired.clear();
                assertThat(run(copy(site.address(), 1)).complete()).isTrue();
                assertThat(fired).as("sent as it was, and as it is").hasSize(2);
                Trees.assertSame(file, root.resolve("to/file"));
            }

            Trees.write(file, 300_001);
            Files.delete(root.resolve("to/file"));
            deed.set(() -> Files.write(file, new byte[10], StandardOpenOption.APPEND));
            run(copy(site.address(), 1));
            deed.set(() -> Files.deleteIfExists(file));
            run(copy(site.address(), 1));
        }
        assertThat(findings).extracting(Finding::problem).containsExactly(Problem.CHANGED, Problem.VANISHED);
        assertThat(root.resolve("to")).isEmptyDirectory();
    }

    @Test
    void twoCopiesToTheSamePlaceLeaveEachOthersFilesAlone() throws Exception {
        List<CompletableFuture<Progress>> running = new ArrayList<>();
        try (LoopbackSite site = openSsh()) {
            Files.createDirectory(root.resolve("to"));
            for (String name : List.of("one", "two", "three")) {
                Path each = Files.createDirectory(source.resolve(name));
                for (int i = 0; i < 300; i++) {
                    Files.writeString(each.resolve("file" + i), name + i);
                }
                Trees.write(each.resolve("large"), LARGE);
                running.add(start(new CopyToSite(site.address(), List.of(each), TO, true, lanes(1))));
            }
            for (CompletableFuture<Progress> each : running) {
                assertThat(each.get(60, TimeUnit.SECONDS).complete()).isTrue();
            }
        }
        assertThat(findings).isEmpty();
        for (String name : List.of("one", "two", "three")) {
            Trees.assertSame(source.resolve(name), root.resolve("to").resolve(name));
        }
        assertThat(root.resolve("to/.dozo-incoming")).doesNotExist();
    }

    @Test
    void aSmallFileInANewFolderCostsFiveRequestsAndASyncWhereThereIsNoCommandForIt() throws Exception {
        Files.createDirectory(source.resolve("folder"));
        Map<String, Integer> few = requestsFor(10);
        Map<String, Integer> more = requestsFor(20);

        more.replaceAll((name, count) -> count - few.getOrDefault(name, 0));
        more.values().removeIf(count -> count == 0);
        // In each copy either the sender or the site check creates the temporary folder and looks at it: which one is
        // chance.
        // Each request for a new folder has one for its facts behind it.
        Integer folders = more.remove("SSH_FXP_MKDIR");
        assertThat(more.remove("SSH_FXP_LSTAT") - (folders == null ? 0 : folders))
                .isBetween(8, 12);
        // This site proves by an extension of its own, which asks what kind of thing a name is first.
        assertThat(more)
                .containsExactlyInAnyOrderEntriesOf(Map.of(
                        "SSH_FXP_OPEN", 10,
                        "SSH_FXP_WRITE", 10,
                        "SSH_FXP_FSETSTAT", 10,
                        "fsync@openssh.com", 10,
                        "SSH_FXP_CLOSE", 10,
                        "posix-rename@openssh.com", 10,
                        "check-file-name", 10,
                        "SSH_FXP_EXTENDED", 3 * 10));
    }

    @Test
    void aSmallHeapIsEnough() throws Exception {
        Trees.hole(source.resolve("large"), 300L << 20);
        Trees.hole(source.resolve("larger"), 301L << 20);
        for (int i = 0; i < 3_000; i++) {
            Files.writeString(
                    Files.createDirectories(source.resolve("folder" + i % 7)).resolve("file" + i), "content " + i);
        }
        try (LoopbackSite site = openSsh();
                ChildProcess child = CopyProcess.start(64, folder.resolve("child.log"), site.address(), source, 0)) {
            child.assertEndsWell(Duration.ofSeconds(100));
        }
        Trees.assertSame(source, root.resolve("to"));
    }

    /** A change of the source. */
    private interface Deed {
        void act() throws IOException;
    }

    private Map<String, Integer> requestsFor(int files) throws Exception {
        for (int i = 0; i < files; i++) {
            Files.writeString(source.resolve("folder/file" + i), "content " + i);
        }
        try (FaultySite site = FaultySite.hooked(folder.resolve("sshd"), root, file -> {}, name -> {})) {
            assertThat(run(new CopyToSite(site.address(), List.of(source), FilePath.of("to" + files), false, lanes(1)))
                            .complete())
                    .isTrue();
            return site.requests();
        }
    }

    private void makeManyAndLarge() throws IOException {
        Trees.write(source.resolve("large"), 80 << 20);
        for (int i = 0; i < 1_500; i++) {
            Trees.write(
                    Files.createDirectories(source.resolve("folder" + i % 7)).resolve("file" + i), 20_000 + i);
        }
    }

    private CopyToSite slowCopy(SiteAddress site, Function<SiteAddress, Lanes> lanes) {
        return new CopyToSite(site, List.of(source), TO, false, new Options(0, 25 << 20, false), lanes);
    }

    /** Waits until a part of the large file has arrived, and files of a bundle that are not yet renamed. */
    private void awaitMiddle(CompletableFuture<Progress> running) {
        Awaitility.await()
                .atMost(Duration.ofMinutes(5))
                .pollInterval(Duration.ofMillis(5))
                .until(() -> running.isDone() || temporaries() > 20);
        assertThat(running).isNotDone();
    }

    private long temporaries() throws IOException {
        try (Stream<Path> files = Files.walk(root.resolve("to/.dozo-incoming"))) {
            List<Path> there = files.filter(
                            file -> isTemporary(file.getFileName().toString()))
                    .toList();
            return there.stream().anyMatch(file -> file.toFile().length() > (1 << 20)) ? there.size() : 0;
        } catch (IOException | UncheckedIOException changesUnderIt) {
            return 0;
        }
    }

    /** Returns those processes of this test's sshd that hold a connection. */
    private static Stream<ProcessHandle> connections() {
        return ProcessHandle.current().children().flatMap(ProcessHandle::children);
    }

    private static boolean isTemporary(String name) {
        return name.matches("[0-9a-f]{32}");
    }

    private CopyToSite copy(SiteAddress site, int lanes) {
        return new CopyToSite(site, List.of(source), TO, false, lanes(lanes));
    }

    private CompletableFuture<Progress> start(CopyToSite copy) {
        CompletableFuture<Progress> running = new CompletableFuture<>();
        Thread.ofVirtual().start(() -> {
            try {
                running.complete(run(copy));
            } catch (Exception | Error e) {
                running.completeExceptionally(e);
            }
        });
        return running;
    }

    private void assertComplete(CopyToSite copy) throws Exception {
        assertComplete(run(copy));
    }

    private void assertComplete(Progress progress) throws Exception {
        assertThat(findings).isEmpty();
        assertThat(progress.complete()).isTrue();
        Trees.assertSame(source, root.resolve("to"));
    }

    /** Checks that every file with a final name equals the source. */
    private void assertNothingWrong() throws IOException {
        try (Stream<Path> names = Files.list(root.resolve("to"))) {
            for (Path file : (Iterable<Path>) names::iterator) {
                if (Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
                    assertThat(Files.mismatch(file, source.resolve(file.getFileName())))
                            .isEqualTo(-1);
                }
            }
        }
    }
}
