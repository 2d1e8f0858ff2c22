package dozo.send;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dozo.copy.Trees;
import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.file.SiteNames;
import dozo.loopback.LoopbackSite;
import dozo.remote.Lanes;
import dozo.remote.SiteCheck;
import dozo.remote.SlowMount;
import dozo.send.Outcome.Failed;
import dozo.send.Outcome.Verified;
import dozo.source.DirectoryTree;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A source on a slow or dead file server (ADR 0047). */
@Timeout(300)
class SlowSourceIT {

    private static final Duration DELAY = Duration.ofMillis(5);

    private static final Duration LIMIT = Duration.ofMinutes(2);

    @TempDir
    Path folder;

    Path files;
    Path nfs;
    Path root;

    @BeforeEach
    void makeFolders() throws Exception {
        // Whether sources are fast is known of all below the folder two above: here, of this test's only.
        Path centre = Files.createDirectory(folder.resolve("centre"));
        files = Files.createDirectory(centre.resolve("files"));
        nfs = Files.createDirectory(centre.resolve("nfs"));
        root = Files.createDirectory(folder.resolve("dr"));
    }

    @Test
    void aSourceThatTakesItsTimeIsReadByManyAtOnce() throws Exception {
        List<Entry> entries = files(200, 10_000);
        Entry large = file(201, 3_000_001);

        try (SlowMount mount = new SlowMount(files, nfs, DELAY);
                LoopbackSite site = site();
                Sender sender = sender(site)) {
            List<Outcome> outcomes = new ArrayList<>(sender.send(route("E1"), new Unit.Bundle(entries)));
            outcomes.addAll(sender.send(route("E1"), new Unit.Large(large)));

            assertThat(outcomes).hasSize(201).allMatch(Verified.class::isInstance);
            assertThat(mount.most()).isEqualTo(SourceThreads.AT_ONCE_MAX);
            await().atMost(LIMIT).until(() -> mount.open() == 0);
        }
        for (int n = 1; n <= 201; n++) {
            assertThat(Files.mismatch(files.resolve("f" + n), root.resolve("p/E1/data/f" + n)))
                    .isEqualTo(-1);
        }
    }

    @Test
    void whoeverWaitsForASourceKeepsNoRoomOnAChannelFromOthers() throws Exception {
        List<Entry> entries = files(120, SourceBuffers.BYTES + 10_000);
        // Nothing is read ahead.
        List<ByteBuffer> taken =
                Stream.generate(SourceBuffers::take).takeWhile(Objects::nonNull).toList();

        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                SlowMount mount = new SlowMount(files, nfs, Duration.ZERO);
                LoopbackSite site = site();
                Sender sender = sender(site)) {
            mount.hangLater();
            Future<List<Outcome>> sent = threads.submit(() -> sender.send(route("E1"), new Unit.Bundle(entries)));

            // Two channels have sixteen blocks.
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(mount.hanging()).isEqualTo(SourceThreads.AT_ONCE_MAX));
            mount.comeBack();
            assertThat(sent.get()).hasSize(120).allMatch(Verified.class::isInstance);
        } finally {
            taken.forEach(SourceBuffers::giveBack);
        }
    }

    /**
     * Waits until as many requests hang as are allowed. The kernel asks its server once if the archive and then SFTP
     * look up the same name.
     */
    private static void awaitAllThreads(SlowMount mount) {
        await().atMost(LIMIT).until(() -> mount.hanging() >= SourceThreads.AT_ONCE_MAX - TarStream.OPENING_MAX);
    }

    @Test
    void aSourceThatHangsHoldsNobodyElseAndCanBeLeft() throws Exception {
        List<Entry> entries = files(100, 10_000);
        Entry large = file(101, 3_000_001);

        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                SlowMount mount = new SlowMount(files, nfs, Duration.ZERO);
                LoopbackSite site = site()) {
            Sender hanging = sender(site);
            mount.hang();
            List<Future<List<Outcome>>> stuck = List.of(
                    threads.submit(() -> hanging.send(route("E1"), new Unit.Large(large))),
                    threads.submit(() -> hanging.send(route("E1"), new Unit.Bundle(entries))));
            // The large file takes one of the threads that may wait for a source.
            awaitAllThreads(mount);

            Route other = Route.backup(SourceFolder.of(files), "p/E2", 1, SiteNames.KEPT);
            try (Sender sender = sender(site)) {
                assertThat(sender.send(other, new Unit.Bundle(entries))).allMatch(Verified.class::isInstance);
                assertThat(sender.send(other, new Unit.Large(large))).allMatch(Verified.class::isInstance);
            }

            stuck.forEach(each -> assertThat(each).isNotDone());
            await().atMost(LIMIT).until(() -> hanging.load().reading() == entries.size() + 1);
            threads.shutdownNow();
            threads.close();
            hanging.close();
            assertThat(mount.hanging()).as("not answered yet").isPositive();

            mount.comeBack();
            await().atMost(LIMIT).until(() -> mount.open() == 0);
        }
    }

    @Test
    void aSourceThatHangsIsGivenUpAndAskedByFewUntilItAnswers() throws Exception {
        List<Entry> entries = files(300, SourceBuffers.BYTES + 10_000);

        try (SlowMount mount = new SlowMount(files, nfs, Duration.ZERO);
                LoopbackSite site = site();
                Sender sender = sender(site, Duration.ofSeconds(1))) {
            mount.dieLater();
            List<Outcome> outcomes = sender.send(route("E1"), new Unit.Bundle(entries));

            assertThat(outcomes)
                    .hasSize(300)
                    .allSatisfy(outcome -> assertThat(outcome).isInstanceOfSatisfying(Failed.class, failed -> {
                        assertThat(failed.problem()).isEqualTo(Problem.UNREADABLE);
                        assertThat(failed.ofSource()).isTrue();
                        assertThat(failed.message()).contains("has not answered for");
                    }));
            assertThat(root.resolve("p/E1/data"))
                    .satisfiesAnyOf(
                            none -> assertThat(none).doesNotExist(),
                            empty -> assertThat(empty).isEmptyDirectory());
            assertThat(mount.hanging()).isBetween(1, SourceThreads.AT_ONCE_MAX);
            assertThat(sender.send(route("E1"), new Unit.Bundle(entries))).allMatch(Failed.class::isInstance);
            assertThat(mount.hanging()).isBetween(1, SourceThreads.AT_ONCE_MAX);

            mount.comeBack();
            await().atMost(LIMIT).until(() -> mount.open() == 0);
            assertThat(sender.send(route("E1"), new Unit.Bundle(entries))).allMatch(Verified.class::isInstance);
        }
    }

    /** Only a busy machine is a reason why the archive's own thread is not the one that hangs; then it is tried again. */
    @Test
    void aSourceThatHangsAfterItWasFastEndsTheArchiveAndNoFileIsLost() throws Exception {
        Path shown = Files.createDirectory(folder.resolve("shown"));
        List<Entry> entries = files(300, 1_000);
        Path sub = Files.createDirectory(files.resolve("sub"));
        Files.write(shown.resolve("f"), new byte[10_000]);

        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                SlowMount mount = new SlowMount(shown, sub, Duration.ZERO);
                LoopbackSite site = site();
                Sender sender = sender(site, Duration.ofMinutes(10))) {
            entries.add(
                    new Entry(301, FilePath.between(files, sub.resolve("f")), DirectoryTree.facts(sub.resolve("f"))));
            boolean hung = false;
            for (int i = 1; i <= 20 && !hung; i++) {
                Route route = Route.backup(SourceFolder.of(files), "p/E" + i, 1, SiteNames.KEPT);
                mount.hang();
                Future<List<Outcome>> sent = threads.submit(() -> sender.send(route, new Unit.Bundle(entries)));
                await().atMost(LIMIT).until(() -> mount.hanging() > 0);
                hung = isArchiveOpening();
                if (hung) {
                    // The archive's thread, and the one that sends the file by SFTP.
                    await().atMost(LIMIT).until(() -> sender.load().reading() == 2);
                }
                mount.comeBack();

                assertThat(sent.get()).hasSize(301).allMatch(Verified.class::isInstance);
            }
            assertThat(hung).as("the archive's thread was in the kernel").isTrue();
            await().atMost(LIMIT).until(() -> mount.open() == 0);
        }
    }

    private static boolean isArchiveOpening() {
        return Thread.getAllStackTraces().entrySet().stream()
                .filter(each -> each.getKey().getName().equals("archive"))
                .flatMap(each -> Arrays.stream(each.getValue()))
                .anyMatch(frame -> frame.getClassName().equals("dozo.source.OpenFile"));
    }

    @Test
    void aFileThatHangsWhereOthersAreReadIsGivenUpAlone() throws Exception {
        Entry hung = file(1, SourceBuffers.BYTES + 10_000);
        Entry other = file(2, 10_000);

        try (SlowMount mount = new SlowMount(files, nfs, Duration.ZERO);
                SourceFile source = open(nfs, hung, Duration.ofSeconds(1))) {
            mount.hangLater();
            FutureTask<Digest> reading =
                    new FutureTask<>(() -> digest(source, hung.facts().sizeBytes()));
            Thread.ofVirtual().start(reading);
            while (!reading.isDone()) {
                open(nfs, other).close();
            }

            assertThatThrownBy(reading::get)
                    .hasCauseInstanceOf(SourceProblem.class)
                    .hasMessageContaining(
                            "f1: cannot be read: no answer for 1 s, although other files of the source can be read");
            open(nfs, other).close();
            mount.comeBack();
        }
    }

    @Test
    void whoeverWaitsForASourceLeavesTheSiteToOthers() throws Exception {
        List<Entry> entries = files(1_000, 10_000);

        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                SlowMount mount = new SlowMount(files, nfs, Duration.ZERO);
                LoopbackSite site = site();
                Sender sender = sender(site, Duration.ofMinutes(10))) {
            mount.hang();
            Future<List<Outcome>> stuck = threads.submit(() -> sender.send(route("E1"), new Unit.Bundle(entries)));
            awaitAllThreads(mount);

            Route other = Route.backup(SourceFolder.of(files), "p/E2", 1, SiteNames.KEPT);
            Future<List<Outcome>> sent = threads.submit(() -> sender.send(other, new Unit.Bundle(entries)));
            await().atMost(LIMIT).until(sent::isDone);
            assertThat(sent.get()).allMatch(Verified.class::isInstance);
            assertThat(stuck).isNotDone();

            mount.comeBack();
            assertThat(stuck.get()).hasSize(1_000).allMatch(Verified.class::isInstance);
        }
    }

    @Test
    void anEngineThatIsAskedToLeavesASourceThatHangsAndSaysNothingOfIt() throws Exception {
        Entry entry = file(1, 10_000);

        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                SlowMount mount = new SlowMount(files, nfs, Duration.ZERO);
                LoopbackSite site = site();
                Sender sender = sender(site, Duration.ofMinutes(10))) {
            mount.hang();
            Future<List<Outcome>> stuck =
                    threads.submit(() -> sender.send(route("E1"), new Unit.Bundle(List.of(entry))));
            await().atMost(LIMIT).until(() -> mount.hanging() > 0);

            sender.leaveSources();

            assertThatThrownBy(stuck::get).hasCauseInstanceOf(InterruptedException.class);
            mount.comeBack();
        }
    }

    @Test
    void whatIsReadAfterNobodyWaitsAnyMoreIsWrittenNowhere() throws Exception {
        int length = 3 * SourceBuffers.BYTES;
        Entry entry = file(1, length);
        byte[] mark = new byte[SourceBuffers.BYTES];
        Arrays.fill(mark, (byte) 7);

        try (SlowMount mount = new SlowMount(files, nfs, Duration.ZERO)) {
            SourceFile source = open(nfs, entry);
            mount.hang();
            byte[] room = new byte[SourceBuffers.BYTES];
            CountDownLatch closed = new CountDownLatch(1);
            FutureTask<Void> reading = new FutureTask<>(() -> {
                try (source) {
                    source.read(ByteBuffer.wrap(room), SourceBuffers.BYTES);
                } finally {
                    closed.countDown();
                }
                return null;
            });
            Thread reader = Thread.ofVirtual().start(reading);
            await().atMost(LIMIT).until(() -> mount.hanging() > 0);

            reader.interrupt();
            assertThatThrownBy(reading::get)
                    .isInstanceOf(ExecutionException.class)
                    .hasCauseInstanceOf(InterruptedException.class);
            closed.await();
            assertThat(mount.open()).as("the file that is still read").isPositive();
            // The buffer has another owner now.
            System.arraycopy(mark, 0, room, 0, room.length);

            mount.comeBack();
            await().atMost(LIMIT).until(() -> mount.open() == 0);
            assertThat(room).isEqualTo(mark);
        }
    }

    @Test
    void whatChangesWhileItIsReadIsNotTakenForWhole() throws Exception {
        Entry entry = file(1, 3 * SourceBuffers.BYTES);

        try (SourceFile source = open(files, entry)) {
            Files.write(files.resolve("f1"), new byte[2 * SourceBuffers.BYTES]);

            assertThatThrownBy(() -> digest(source, 3 * SourceBuffers.BYTES))
                    .isInstanceOf(SourceProblem.class)
                    .hasMessageContaining("changed while it was read");
        }
    }

    @Test
    void moreFilesThanThereIsRoomToReadAheadAreRead() throws Exception {
        Entry entry = file(1, SourceBuffers.BYTES + 1);
        List<SourceFile> open = new ArrayList<>();
        try {
            for (int i = 0; i < 100; i++) {
                open.add(open(files, entry));
            }
            byte[] content = Files.readAllBytes(files.resolve("f1"));
            for (SourceFile source : open) {
                ByteBuffer read = ByteBuffer.allocate(content.length);
                source.read(read, 0);
                source.checkUnchanged();
                assertThat(read.array()).isEqualTo(content);
                assertThat(digest(source, content.length)).isEqualTo(Digest.ofContent(content));
            }
        } finally {
            open.forEach(SourceFile::close);
        }
    }

    private List<Entry> files(int count, int length) throws Exception {
        List<Entry> entries = new ArrayList<>();
        for (int n = 1; n <= count; n++) {
            entries.add(file(n, length));
        }
        return entries;
    }

    private Entry file(int number, int length) throws Exception {
        Path file = Files.write(files.resolve("f" + number), Trees.random(length, number));
        return new Entry(number, FilePath.between(files, file), DirectoryTree.facts(file));
    }

    private static SourceFile open(Path root, Entry entry) throws Exception {
        return open(root, entry, Duration.ofMinutes(10));
    }

    private static SourceFile open(Path root, Entry entry, Duration patience) throws Exception {
        return SourceFile.open(
                SourceFolder.of(root),
                entry,
                new Gauges().reading,
                new SourcePatience(patience, new SourceYielding(_ -> {})),
                null);
    }

    private Route route(String experiment) {
        return Route.backup(SourceFolder.of(nfs), "p/" + experiment, 1, SiteNames.KEPT);
    }

    private LoopbackSite site() throws Exception {
        return LoopbackSite.openSsh(folder.resolve("sshd"), root, 0);
    }

    private static Sender sender(LoopbackSite site, Duration patience) throws Exception {
        // One channel allows fewer open files than one unit may have.
        Lanes lanes = Lanes.to(site.address(), 1);
        return new Sender(
                lanes, KnownSite.of(SiteCheck.of(lanes.next())), new Throttle(0), 0, patience, false, _ -> {});
    }

    private static Sender sender(LoopbackSite site) throws Exception {
        Lanes lanes = Lanes.to(site.address(), 2);
        return new Sender(lanes, KnownSite.of(SiteCheck.of(lanes.next())), new Throttle(0));
    }

    private static Digest digest(SourceFile source, long sizeBytes) throws SourceProblem, InterruptedException {
        MessageDigest digest = Digest.algorithm();
        source.read(0, sizeBytes, digest::update);
        source.checkUnchanged();
        return Digest.of(digest.digest());
    }
}
