package dozo.send;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dozo.copy.Trees;
import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.file.SiteNames;
import dozo.loopback.LoopbackSite;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.SiteCheck;
import dozo.remote.SlowMount;
import dozo.send.Outcome.Verified;
import dozo.send.SourceYielding.Pass;
import dozo.source.DirectoryTree;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** An engine that yields has fewer requests open while a file server or a site is slow, and as many as before afterwards. */
@Timeout(300)
class YieldingIT {

    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final Duration USUAL = Duration.ofMillis(20);

    @TempDir
    Path folder;

    @Test
    void fewerRequestsAreOpenWhileTheFileServerIsSlowAndAsManyAgainAfterwards() throws Exception {
        Path files = Files.createDirectory(folder.resolve("files"));
        Path nfs = Files.createDirectory(folder.resolve("nfs"));
        Path root = Files.createDirectory(folder.resolve("dr"));
        List<Entry> entries = files(files, 200);
        List<String> changes = new CopyOnWriteArrayList<>();
        Throttle throttle = new Throttle(0, changes::add);
        throttle.yielding(true);
        AtomicBoolean enough = new AtomicBoolean();

        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                SlowMount mount = new SlowMount(files, nfs, USUAL);
                LoopbackSite site = LoopbackSite.openSsh(folder.resolve("sshd"), root, 0);
                Sender sender = sender(site, throttle)) {
            Future<Boolean> sent = threads.submit(() -> {
                for (int i = 0; !enough.get(); i++) {
                    Route route = Route.backup(SourceFolder.of(nfs), "p/E" + i, 1, SiteNames.KEPT);
                    assertThat(sender.send(route, new Unit.Bundle(entries))).allMatch(Verified.class::isInstance);
                }
                return true;
            });
            await().atMost(LIMIT).until(() -> sent.isDone() || number(throttle, nfs) > 12);

            mount.delay(USUAL.multipliedBy(10));
            await().atMost(LIMIT).until(() -> sent.isDone() || number(throttle, nfs) <= 1);
            await().atMost(LIMIT).until(() -> sent.isDone() || sender.load().yielding() > 0);
            await().atMost(LIMIT).until(() -> mount.mostNow() <= 2);

            mount.delay(USUAL);
            await().atMost(LIMIT).until(() -> sent.isDone() || number(throttle, nfs) > 12);
            await().atMost(LIMIT).until(() -> sent.isDone() || mount.mostNow() > 4);
            assertThat(sent).isNotDone();
            enough.set(true);
            throttle.yielding(false);
            assertThat(sent.get()).isTrue();
            assertThat(throttle.sources().numbers()).isEmpty();
        }
        assertThat(changes).anyMatch(line -> line.startsWith("source " + nfs) && line.contains("requests at once"));
    }

    private static double number(Throttle throttle, Path place) {
        return throttle.sources().numbers().entrySet().stream()
                .filter(each -> each.getKey().startsWith(place.toString()))
                .mapToDouble(each -> each.getValue())
                .findFirst()
                .orElse(0);
    }

    @Test
    void theRateToASiteFallsWhileItsAnswersAreSlowAndRisesAgain() throws Exception {
        List<String> changes = new CopyOnWriteArrayList<>();
        AtomicReference<Duration> delay = new AtomicReference<>(Duration.ofMillis(10));
        AtomicBoolean lost = new AtomicBoolean();
        AtomicInteger gone = new AtomicInteger(3);
        AtomicBoolean enough = new AtomicBoolean();
        SiteYielding site = new SiteYielding(changes::add, () -> {
            LockSupport.parkNanos(delay.get().toNanos());
            if (lost.getAndSet(false)) {
                throw new RemoteException(Reason.LOST, "the connection was lost");
            }
            return gone.decrementAndGet() < 0;
        });

        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            site.observe();
            Future<Boolean> sending = threads.submit(() -> {
                while (!enough.get()) {
                    site.pass(1 << 20);
                    // A link that is never the limit.
                    LockSupport.parkNanos(1_000_000);
                }
                return true;
            });
            await().atMost(LIMIT).until(() -> site.bytesPerSecond() > 8e6);
            delay.set(Duration.ofMillis(400));
            await().atMost(LIMIT).until(() -> site.bytesPerSecond() < 1e6 && site.waiting() == 1);
            lost.set(true);
            delay.set(Duration.ofMillis(10));
            await().atMost(LIMIT).until(() -> site.bytesPerSecond() > 8e6);
            assertThat(lost.get()).isFalse();
            await().atMost(LIMIT).until(() -> !changes.isEmpty());
            enough.set(true);
            site.end();
            assertThat(sending.get()).isTrue();
        }
        assertThat(changes).anyMatch(line -> line.startsWith("site: ") && line.contains("/s instead of"));
    }

    @Test
    void aThrottleThatYieldsNoMoreLimitsNothing() throws Exception {
        Throttle throttle = new Throttle(0);
        throttle.yielding(true);
        throttle.yielding(true);
        FutureTask<Boolean> passing = new FutureTask<>(() -> {
            throttle.pass(1 << 30);
            return true;
        });
        Thread.ofVirtual().start(passing);
        await().atMost(LIMIT).until(() -> throttle.yieldingNow() == 1);
        assertThat(throttle.waiting()).isZero();

        throttle.yielding(false);
        assertThat(passing.get()).isTrue();
        assertThat(throttle.yieldingNow()).isZero();
        throttle.pass(1 << 30);
    }

    @Test
    void whoWaitsForAFileServerCanBeInterruptedOrLeaveAndNothingIsLost() throws Exception {
        SourceYielding sources = new SourceYielding(_ -> {});
        SourcePatience patience = new SourcePatience(LIMIT, sources);
        assertThat(sources.enter(() -> "nfs", patience)).as("not in force").isNull();
        sources.inForce(true);
        Pass first = sources.enter(() -> "nfs", patience);
        assertThat(first).isNotNull();
        assertThat(sources.enter(() -> "other", patience))
                .as("another file server")
                .isNotNull();
        assertThat(sources.enter(() -> "third", patience)).as("one more").isNotNull();

        FutureTask<@Nullable Pass> interrupted = new FutureTask<>(() -> sources.enter(() -> "nfs", patience));
        Thread waiting = Thread.ofVirtual().start(interrupted);
        await().atMost(LIMIT).until(() -> sources.waiting() == 1);
        waiting.interrupt();
        assertThatThrownBy(interrupted::get).hasCauseInstanceOf(InterruptedException.class);

        AtomicReference<String> place = new AtomicReference<>("nfs");
        FutureTask<@Nullable Pass> moved = new FutureTask<>(() -> sources.enter(place::get, patience));
        Thread.ofVirtual().start(moved);
        await().atMost(LIMIT).until(() -> sources.waiting() == 1);
        place.set("fourth");
        assertThat(moved.get()).as("its file server became known").isNotNull();

        FutureTask<@Nullable Pass> next = new FutureTask<>(() -> sources.enter(() -> "nfs", patience));
        Thread.ofVirtual().start(next);
        await().atMost(LIMIT).until(() -> sources.waiting() == 1);
        first.end();
        first.end();
        first.answered(0, 1);
        assertThat(next.get()).isNotNull();

        FutureTask<@Nullable Pass> left = new FutureTask<>(() -> sources.enter(() -> "nfs", patience));
        Thread.ofVirtual().start(left);
        await().atMost(LIMIT).until(() -> sources.waiting() == 1);
        patience.leave();
        assertThat(left.get()).isNull();
        assertThat(sources.waiting()).isZero();
    }

    @Test
    void aFileServerNeverGetsMoreRequestsThanAsked() throws Exception {
        SourceYielding sources = SourceYielding.atMost(0.25);
        SourcePatience patience = new SourcePatience(LIMIT, sources);
        Pass first = sources.enter(() -> "nfs", patience);
        FutureTask<@Nullable Pass> second = new FutureTask<>(() -> sources.enter(() -> "nfs", patience));
        Thread.ofVirtual().start(second);
        await().atMost(LIMIT).until(() -> sources.waiting() == 1);
        long answered = System.nanoTime();

        requireNonNull(first).answered(0, TimeUnit.MILLISECONDS.toNanos(100));

        assertThat(second.get()).isNotNull();
        assertThat(Duration.ofNanos(System.nanoTime() - answered)).isGreaterThanOrEqualTo(Duration.ofMillis(300));
        assertThat(sources.numbers()).containsExactly(Map.entry("nfs", 0.25));
    }

    private static Sender sender(LoopbackSite site, Throttle throttle) throws Exception {
        Lanes lanes = Lanes.to(site.address(), 2);
        return new Sender(lanes, KnownSite.of(SiteCheck.of(lanes.next())).bySftpAlone(), throttle);
    }

    private static List<Entry> files(Path files, int count) throws Exception {
        List<Entry> entries = new ArrayList<>();
        for (int n = 1; n <= count; n++) {
            Path file = Files.write(files.resolve("f" + n), Trees.random(1_000, n));
            entries.add(new Entry(n, FilePath.between(files, file), DirectoryTree.facts(file)));
        }
        return entries;
    }
}
