package dozo.send;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.copy.Trees;
import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.file.SiteNames;
import dozo.loopback.LoopbackSite;
import dozo.remote.Lanes;
import dozo.remote.LyingTools;
import dozo.remote.Patience;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.SiteCheck;
import dozo.remote.Tmpfs;
import dozo.send.Outcome.Failed;
import dozo.send.Outcome.Verified;
import dozo.source.DirectoryTree;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Files sent as archives to a real tar behind a real sshd: whatever happens to an archive, they are verified or a
 * finding (ADR 0059).
 */
@Timeout(300)
class TarStreamIT {

    private static final int FILES = 40;
    private static final int UNITS = 8;

    @TempDir
    Path folder;

    Path source;
    Path root;
    Route route;
    LyingTools tools;

    @BeforeEach
    void makeFolders() throws Exception {
        source = Files.createDirectory(folder.resolve("source"));
        root = Files.createDirectory(folder.resolve("dr"));
        route = Route.backup(SourceFolder.of(source), "p/E1", 1, SiteNames.KEPT);
        tools = new LyingTools(folder);
        tools.tarDoes("real \"$@\"", "real \"$@\"");
    }

    @Test
    void filesOfAllSizesGoInOneArchive() throws Exception {
        List<Entry> entries = files();

        try (LoopbackSite site = tools.serve(root);
                Sender sender = sender(site)) {
            assertAllVerified(sender.send(route, new Unit.Bundle(entries)));

            assertThat(tools.archives()).isEqualTo(1);
            assertThat(sender.bytesMoved())
                    .isEqualTo(entries.stream()
                            .mapToLong(entry -> entry.facts().sizeBytes())
                            .sum());
        }
    }

    @Test
    void whatIsWrongWithOneFileIsItsOwnFindingAndTheRestIsInTheArchive() throws Exception {
        List<Entry> entries = files();
        Files.delete(source.resolve("f1"));
        Files.writeString(source.resolve("f2"), "another content");
        Files.setLastModifiedTime(source.resolve("f3"), FileTime.fromMillis(1));

        try (LoopbackSite site = tools.serve(root);
                Sender sender = sender(site)) {
            List<Outcome> outcomes = sender.send(route, new Unit.Bundle(entries));

            assertThat(outcomes.subList(0, 3))
                    .extracting(outcome -> ((Failed) outcome).problem())
                    .containsExactly(Problem.VANISHED, Problem.CHANGED, Problem.CHANGED);
            assertAllVerified(outcomes.subList(3, FILES));
            assertThat(tools.archives()).isEqualTo(1);
        }
    }

    /** The file is larger than the read-ahead, and is truncated beyond that while it is sent. */
    @Test
    void aFileThatIsCutOffWhileItIsSentSpoilsNoOther() throws Exception {
        List<Entry> entries = new ArrayList<>(files());
        Path shrinking = source.resolve("shrinking");
        Files.write(shrinking, new byte[64 << 20]);
        entries.add(entry(FILES + 1, "shrinking"));

        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                LoopbackSite site = tools.serve(root)) {
            Lanes lanes = Lanes.to(site.address(), 1);
            try (Sender sender = new Sender(lanes, KnownSite.of(SiteCheck.of(lanes.next())), new Throttle(4 << 20))) {
                Future<List<Outcome>> sent = threads.submit(() -> sender.send(route, new Unit.Bundle(entries)));
                long small = entries.stream()
                        .limit(FILES)
                        .mapToLong(entry -> entry.facts().sizeBytes())
                        .sum();
                Awaitility.await().atMost(Duration.ofMinutes(5)).until(() -> sender.bytesMoved() > small + (1 << 20));
                Files.write(shrinking, new byte[100]);

                List<Outcome> outcomes = sent.get();
                assertAllVerified(outcomes.subList(0, FILES));
                assertThat(outcomes.getLast())
                        .isInstanceOfSatisfying(
                                Failed.class,
                                failed -> assertThat(failed.problem()).isEqualTo(Problem.CHANGED));
                assertThat(root.resolve("p/E1/data/shrinking")).doesNotExist();
            }
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                // dies, at once, in between or at its end
                "exit 1",
                "head -c 300000 > /dev/null; kill -9 $$",
                "head -c 300000 | real \"$@\"",
                "real \"$@\"; exit 2",
                "echo 'tar: 7: Cannot write: No space left on device' >&2; cat > /dev/null; exit 2",
                "exec sleep 1000",
                // reports success
                "exit 0",
                "cat > /dev/null",
                "real \"$@\"; for f in tar-*/*; do truncate -s 10 $f; done",
                "real \"$@\"; rm tar-*/1*",
                "real \"$@\"; for f in tar-*/*; do rm $f; ln -s /etc/passwd $f; done",
                "real \"$@\"; for f in tar-*/*; do cat $f > x; rm $f; mkdir $f; done; rm x",
                // prints a lot
                "yes noise | head -c 5000000; yes noise | head -c 5000000 >&2; real \"$@\"",
            })
    void whateverTarDoesAllFilesAreProvenAndNothingElseIsNamed(String manner) throws Exception {
        tools.tarDoes("real \"$@\"", manner);
        List<Entry> entries = files();

        try (LoopbackSite site = tools.serve(root);
                Sender sender = sender(site)) {
            assertAllVerified(sender.send(route, new Unit.Bundle(entries)));

            assertThat(tools.archives()).as("archives that tar was given").isPositive();
            assertThat(root.resolve("p/E1/data")).isDirectoryNotContaining("glob:**/x");
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "real \"$@\"",
                "exit 1",
                "head -c 300000 | real \"$@\"",
                "real \"$@\"; for f in */*/tar-*/*; do truncate -s 10 $f; done",
                "real \"$@\"; rm -r */F3/tar-*",
            })
    void smallUnitsShareArchivesAndEachIsProven(String manner) throws Exception {
        List<Entry> all = files();
        List<Entry> entries = all.subList(0, FILES / 2);
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
                LoopbackSite site = tools.serve(root);
                Sender sender = sender(site, _ -> {})) {
            assertAllVerified(sender.send(route, new Unit.Bundle(all)));
            tools.tarDoes("real \"$@\"", manner);
            // A busy machine's source may not be fast at once.
            long archives = UNITS;
            for (int round = 0; archives >= UNITS; round++) {
                long before = tools.archives();
                List<Future<List<Outcome>>> sent = new ArrayList<>();
                for (int i = 0; i < UNITS; i++) {
                    Route to = Route.backup(SourceFolder.of(source), "p%d/F%d".formatted(round, i), 1, SiteNames.KEPT);
                    sent.add(threads.submit(() -> sender.send(to, new Unit.Bundle(entries))));
                }
                for (int i = 0; i < UNITS; i++) {
                    assertAllVerified(sent.get(i).get(), root.resolve("p%d/F%d/data".formatted(round, i)));
                }
                archives = tools.archives() - before;
            }
            assertThat(tools.archives()).as("archives that tar was given").isGreaterThan(1);
        }
    }

    @Test
    void archivesThatBreakAgainAndAgainAreSentNoMore() throws Exception {
        tools.tarDoes("real \"$@\"", "echo no space >&2; exit 1");
        List<Entry> entries = files();
        List<String> givenUp = new CopyOnWriteArrayList<>();

        try (LoopbackSite site = tools.serve(root);
                Sender sender = sender(site, givenUp::add)) {
            for (int i = 1; i <= 6; i++) {
                Route to = Route.backup(SourceFolder.of(source), "p/E" + i, 1, SiteNames.KEPT);
                assertThat(sender.send(to, new Unit.Bundle(entries))).allMatch(Verified.class::isInstance);
            }
            assertThat(tools.archives()).isEqualTo(3);
            assertThat(givenUp)
                    .singleElement()
                    .asString()
                    .startsWith("3 archives in a row failed, and files are sent by SFTP only: ");
        }
    }

    @Test
    void aSiteWithoutRoomForOneMoreCommandIsSentToBySftp() throws Exception {
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("sshd"), root, 0, "MaxSessions 2");
                Lanes lanes = Lanes.to(site.address(), 2);
                Sender sender = new Sender(lanes, KnownSite.of(SiteCheck.of(lanes.next())), new Throttle(0))) {
            assertAllVerified(sender.send(route, new Unit.Bundle(files())));
        }
    }

    @Test
    void aSiteThatFillsUpSaysSo() throws Exception {
        List<Entry> entries = files();
        try (Tmpfs _ = new Tmpfs(root, "size=2m");
                LoopbackSite site = tools.serve(root);
                Sender sender = sender(site)) {
            assertThatThrownBy(() -> sender.send(route, new Unit.Bundle(entries)))
                    .isInstanceOfSatisfying(
                            RemoteException.class, e -> assertThat(e.reason()).isEqualTo(Reason.FULL));
            assertThat(tools.archives()).isPositive();
        }
    }

    @Test
    void whoeverIsStoppedLeavesTheLaneToOthers() throws Exception {
        tools.tarDoes("real \"$@\"", "sleep 2; real \"$@\"");
        List<Entry> entries = files();
        try (LoopbackSite site = tools.serve(root);
                Sender sender = sender(site)) {
            Thread stopped = Thread.ofVirtual().start(() -> {
                try {
                    sender.send(
                            Route.backup(SourceFolder.of(source), "p/E2", 1, SiteNames.KEPT), new Unit.Bundle(entries));
                } catch (RemoteException | InterruptedException e) {
                    // As intended.
                }
            });
            Awaitility.await().atMost(Duration.ofMinutes(5)).until(() -> tools.archives() > 0);
            stopped.interrupt();
            stopped.join();

            assertAllVerified(sender.send(route, new Unit.Bundle(entries)));
            assertThat(sender.lanes()).isEqualTo(2);
        }
    }

    private void assertAllVerified(List<Outcome> outcomes) throws Exception {
        assertAllVerified(outcomes, root.resolve("p/E1/data"));
    }

    private void assertAllVerified(List<Outcome> outcomes, Path data) throws Exception {
        assertThat(outcomes).isNotEmpty().allMatch(Verified.class::isInstance);
        for (Outcome outcome : outcomes) {
            FilePath path = outcome.entry().path();
            Path there = path.under(data);
            assertThat(Files.mismatch(path.under(source), there))
                    .as(path.toString())
                    .isEqualTo(-1);
            SiteFacts meant = SiteFacts.of(outcome.entry());
            assertThat(DirectoryTree.facts(there).mode()).as(path.toString()).isEqualTo(meant.mode());
            assertThat(Files.getLastModifiedTime(there).toMillis() / 1_000).isEqualTo(meant.modifiedSeconds());
        }
    }

    private List<Entry> files() throws Exception {
        List<Entry> entries = new ArrayList<>();
        for (int i = 1; i <= FILES; i++) {
            byte[] content = Trees.random(i == FILES ? 0 : i == FILES - 1 ? 3_000_001 : i * 511, i);
            Files.write(source.resolve("f" + i), content);
            entries.add(entry(i, "f" + i));
        }
        return entries;
    }

    private Entry entry(int number, String name) throws Exception {
        return new Entry(number, FilePath.of(name), DirectoryTree.facts(source.resolve(name)));
    }

    private static Sender sender(LoopbackSite site) throws Exception {
        return sender(site, why -> assertThat(why).as("archives given up").isNull());
    }

    private static Sender sender(LoopbackSite site, Consumer<String> archivesGivenUp) throws Exception {
        Lanes lanes = Lanes.to(site.address(), 2);
        SiteCheck check = SiteCheck.of(lanes.next());
        assertThat(check.unpacksTar()).as("tar, when it was looked at").isTrue();
        KnownSite known = KnownSite.of(check, new Patience(Duration.ofSeconds(5)));
        return new Sender(lanes, known, new Throttle(0), 0, Duration.ofMinutes(10), false, archivesGivenUp);
    }
}
