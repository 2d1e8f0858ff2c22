package dozo.send;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.copy.Trees;
import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.file.SiteNames;
import dozo.loopback.LoopbackSite;
import dozo.remote.Lanes;
import dozo.remote.Lanes.LaneTraffic;
import dozo.remote.LyingTools;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.Sftp.Part;
import dozo.remote.SiteAddress;
import dozo.remote.SiteCheck;
import dozo.send.FaultySite.Hook;
import dozo.send.Outcome.Failed;
import dozo.send.Outcome.Verified;
import dozo.send.Sender.Placing;
import dozo.source.DirectoryTree;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The engine alone, without a database: with a real sshd, and with one whose disk is faulty. */
class SenderIT {

    @TempDir
    Path folder;

    Path source;
    Path root;
    Route route;

    @BeforeEach
    void makeFolders() throws Exception {
        source = Files.createDirectory(folder.resolve("source"));
        root = Files.createDirectory(folder.resolve("dr"));
        route = Route.backup(SourceFolder.of(source), "p/E1", 1, SiteNames.KEPT);
    }

    @Test
    void whatCannotBeReadAsTheManifestHasItFailsAloneAndLeavesNothing() throws Exception {
        Entry good = file(1, "good", "good");
        Entry changed = file(2, "changed", "before");
        Files.writeString(source.resolve("changed"), "after it was sealed");
        Entry vanished = file(3, "vanished", "x");
        Files.delete(source.resolve("vanished"));
        Entry touched = file(4, "touched", "same");
        Files.setLastModifiedTime(source.resolve("touched"), FileTime.fromMillis(1));
        Entry swapped = file(5, "swapped", "a file");
        Files.delete(source.resolve("swapped"));
        Files.createSymbolicLink(source.resolve("swapped"), Path.of("/etc/passwd"));

        try (LoopbackSite site = openSsh();
                Sender sender = sender(site.address())) {
            List<Outcome> outcomes =
                    sender.send(route, new Unit.Bundle(List.of(good, changed, vanished, touched, swapped)));

            assertThat(outcomes).extracting(Outcome::entry).containsExactly(good, changed, vanished, touched, swapped);
            assertThat(outcomes.getFirst()).isEqualTo(new Verified(good, Digest.ofContent("good".getBytes())));
            assertThat(outcomes.subList(1, 5))
                    .extracting(outcome -> ((Failed) outcome).problem())
                    .containsExactly(Problem.CHANGED, Problem.VANISHED, Problem.CHANGED, Problem.CHANGED);
        }
        assertThat(root.resolve("p/E1/data"))
                .isDirectoryContaining("glob:**/good")
                .isDirectoryNotContaining("glob:**/changed");
        assertThat(root.resolve(".dozo/incoming/p/E1")).isEmptyDirectory();
    }

    @Test
    void workOfAnEngineThatIsClosedIsLost() throws Exception {
        CountDownLatch under = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        List<Entry> bundle = List.of(file(1, "a", "1"), file(2, "b", "2"));
        Entry large = file(3, "large", "3");
        FaultySite.Hook heldUp = file -> {
            if (!file.toString().contains("/incoming/p/E1/")) {
                return;
            }
            under.countDown();
            try {
                closed.await();
            } catch (InterruptedException e) {
                throw new IOException(e);
            }
        };
        try (FaultySite site = FaultySite.hooked(folder.resolve("sshd"), root, heldUp, name -> {});
                ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            Sender sender = sender(site.address());
            List<Future<List<Outcome>>> running = List.of(
                    threads.submit(() -> sender.send(route, new Unit.Bundle(bundle))),
                    threads.submit(() -> sender.send(route, new Unit.Large(large))));
            under.await();
            sender.close();
            closed.countDown();

            running.forEach(each -> assertLost(each::get));
            assertLost(() -> sender.send(route, new Unit.Bundle(bundle)));
            assertLost(() -> sender.putAside(route, FilePath.of("bagit.txt")));
        }
    }

    private static void assertLost(ThrowableAssert.ThrowingCallable work) {
        assertThatThrownBy(work).satisfies(failure -> {
            Throwable why = failure instanceof ExecutionException wrapped ? wrapped.getCause() : failure;
            assertThat(why)
                    .isInstanceOfSatisfying(
                            RemoteException.class, e -> assertThat(e.reason()).isEqualTo(Reason.LOST));
        });
    }

    @Test
    void whatALinkOnTheWayToAFileLeadsToIsNotRead() throws Exception {
        Path elsewhere = Files.createDirectory(folder.resolve("elsewhere"));
        Files.createDirectory(source.resolve("sub"));
        Entry small = file(1, "sub/small", "the same size and time");
        Entry large = file(2, "sub/large", "the same size and time");
        for (String name : List.of("small", "large")) {
            Path secret = Files.writeString(elsewhere.resolve(name), "but of another's thing");
            Files.setLastModifiedTime(
                    secret, Files.getLastModifiedTime(source.resolve("sub").resolve(name)));
        }
        Files.move(source.resolve("sub"), folder.resolve("away"));
        Files.createSymbolicLink(source.resolve("sub"), elsewhere);

        try (LoopbackSite site = openSsh();
                Sender sender = sender(site.address())) {
            List<Outcome> outcomes = new ArrayList<>(sender.send(route, new Unit.Bundle(List.of(small))));
            outcomes.addAll(sender.send(route, new Unit.Large(large)));

            assertThat(outcomes)
                    .extracting(outcome -> ((Failed) outcome).problem())
                    .containsExactly(Problem.CHANGED, Problem.CHANGED);
        }
        assertThat(root.resolve("p")).doesNotExist();
    }

    @Test
    void aFileWeMayNotReadIsAnUnreadableFinding() throws Exception {
        // Write-only for everybody, including root: a file that every Linux has.
        Path writeOnly = Path.of("/proc/sys/net/ipv4/route");
        Entry entry = new Entry(1, FilePath.of("flush"), DirectoryTree.facts(writeOnly.resolve("flush")));

        try (LoopbackSite site = openSsh();
                Sender sender = sender(site.address())) {
            List<Outcome> outcomes = sender.send(
                    Route.backup(SourceFolder.of(writeOnly), "p/E1", 1, SiteNames.KEPT),
                    new Unit.Bundle(List.of(entry)));

            Failed failed = (Failed) outcomes.getFirst();
            assertThat(failed.problem()).isEqualTo(Problem.UNREADABLE);
            assertThat(failed.message()).contains("flush", "permission denied");
        }
    }

    @Test
    void aBitFlippedOnTheWayToDiskIsCaughtAndSentAgain() throws Exception {
        Entry one = file(1, "one", "one");
        Entry two = file(2, "two", "two");

        try (FaultySite site = FaultySite.flipping(folder.resolve("sshd"), root, 1, name -> name.equals("2"));
                Sender sender = sender(site.address())) {
            List<Outcome> outcomes = sender.send(route, new Unit.Bundle(List.of(one, two)));

            assertThat(site.hits()).isEqualTo(1);
            assertThat(outcomes).allMatch(Verified.class::isInstance);
        }
        assertThat(root.resolve("p/E1/data/two")).hasContent("two");
    }

    @Test
    void aDiskThatAlwaysLiesNeverGetsAFinalName() throws Exception {
        Entry one = file(1, "one", "one");

        try (FaultySite site = FaultySite.flipping(folder.resolve("sshd"), root, 1_000, name -> name.equals("1"));
                Sender sender = sender(site.address())) {
            Outcome outcome = sender.send(route, new Unit.Bundle(List.of(one))).getFirst();

            assertThat(site.hits()).isEqualTo(3);
            assertThat(outcome)
                    .isInstanceOfSatisfying(
                            Failed.class, failed -> assertThat(failed.problem()).isEqualTo(Problem.MISMATCHED));
        }
        assertThat(root.resolve("p/E1/data/one")).doesNotExist();
    }

    @Test
    void aLargeFileIsProvenAsAWholeAndOnlyThenNamed() throws Exception {
        byte[] content = Trees.random(300_000);
        Files.write(source.resolve("large"), content);
        Entry large = entry(7, "large");

        try (LoopbackSite site = openSsh();
                Sender sender = sender(site.address())) {
            assertThat(sender.send(route, new Unit.Large(large)))
                    .containsExactly(new Verified(large, Digest.ofContent(content)));
            long moved = sender.bytesMoved();
            assertThat(sender.send(route, new Unit.Large(large)))
                    .as("proven again after a crash between the rename and its record")
                    .containsExactly(new Verified(large, Digest.ofContent(content)));
            assertThat(sender.bytesMoved()).as("nothing is sent again").isEqualTo(moved);
        }
        assertThat(root.resolve("p/E1/data/large")).hasBinaryContent(content);
    }

    @Test
    void ofALargeFileOnlyRangesThatAreNotProvenAreSentAgain() throws Exception {
        int range = (int) LargeFile.RANGE_BYTES;
        byte[] content = Trees.random(3 * range + 1_000);
        Files.write(source.resolve("large"), content);
        Entry large = entry(8, "large");
        // The leftover of a killed run: the first range correct, the second with a hole, half of the third.
        byte[] left = Arrays.copyOf(content, 2 * range + range / 2);
        Arrays.fill(left, range + 5_000, range + 10_000, (byte) 0);
        Path incoming = Files.createDirectories(root.resolve(".dozo/incoming/p/E1"));
        Files.write(incoming.resolve("8"), left);

        try (LoopbackSite site = openSsh();
                Sender sender = sender(site.address())) {
            assertThat(sender.send(route, new Unit.Large(large)))
                    .containsExactly(new Verified(large, Digest.ofContent(content)));
            assertThat(sender.bytesMoved()).isEqualTo(2L * range + 1_000);
        }
        assertThat(Files.mismatch(source.resolve("large"), root.resolve("p/E1/data/large")))
                .isEqualTo(-1);
    }

    /** Appended to, and edited in two places. */
    @Test
    void ofAChangedLargeFileTheSiteCopiesWhatItHas() throws Exception {
        int range = (int) LargeFile.COMPARED_BYTES_MIN;
        byte[] before = Trees.random(9 * range + 1_000);
        byte[] now = Arrays.copyOf(before, 10 * range + 2_000);
        now[range + 5] ^= 1;
        now[5 * range] ^= 1;

        try (LoopbackSite site = openSsh();
                Sender sender = sender(site.address())) {
            sendLarge(sender, 1, before);
            long onTheWire = bytes(sender);
            long moved = sender.bytesMoved();
            assertThat(sendLarge(sender, 2, now)).isEqualTo(Digest.ofContent(now));
            assertThat(sender.bytesMoved() - moved).as("two ranges and the end").isEqualTo(2L * range + range + 2_000);
            assertThat(bytes(sender) - onTheWire).isLessThan((3L * range + 2_000) * 11 / 10);
            moved = sender.bytesMoved();
            assertThat(sendLarge(sender, 3, Arrays.copyOf(now, 2 * range)))
                    .as("shorter")
                    .isEqualTo(Digest.ofContent(Arrays.copyOf(now, 2 * range)));
            assertThat(sender.bytesMoved()).isEqualTo(moved);
            assertThat(sendLarge(sender, 4, Trees.random(2 * range))).isNotNull();
            assertThat(sender.bytesMoved() - moved).as("compressed anew").isEqualTo(2L * range);
        }
        assertThat(root.resolve(".dozo/incoming/p/E1")).isEmptyDirectory();
    }

    /** A night was killed while the site copied: both are used, what it left and the earlier version. */
    @Test
    void aKilledAttemptAndAnEarlierVersionAreUsedTogether() throws Exception {
        int range = (int) LargeFile.COMPARED_BYTES_MIN;
        byte[] before = Trees.random(6 * range);
        byte[] now = Arrays.copyOf(before, 8 * range);
        System.arraycopy(Trees.random(2 * range), 0, now, 6 * range, 2 * range);
        byte[] left = Arrays.copyOfRange(now, 0, 7 * range);
        Arrays.fill(left, 3 * range, 4 * range, (byte) 0);

        try (LoopbackSite site = openSsh();
                Sender sender = sender(site.address())) {
            sendLarge(sender, 1, before);
            long moved = sender.bytesMoved();
            Files.write(root.resolve(".dozo/incoming/p/E1/2"), left);
            assertThat(sendLarge(sender, 2, now)).isEqualTo(Digest.ofContent(now));
            assertThat(sender.bytesMoved() - moved).isEqualTo(range);
        }
    }

    /** It is sent, as to a site that cannot copy. */
    @Test
    void whatTheSiteDoesNotCopyIsSent() throws Exception {
        byte[] before = Trees.random(3 * (int) LargeFile.COMPARED_BYTES_MIN);
        byte[] now = before.clone();
        now[0] ^= 1;
        int refused = sendCopied(before, now, file -> {
            throw new AccessDeniedException(file.toString());
        });
        assertThat(refused).isPositive();
    }

    @Test
    void anEarlierVersionThatChangesWhileItIsCopiedIsNotTakenForTheFile() throws Exception {
        byte[] before = Trees.random(3 * (int) LargeFile.COMPARED_BYTES_MIN);
        byte[] now = before.clone();
        now[0] ^= 1;
        int changed = sendCopied(
                before,
                now,
                file -> Files.write(file, Trees.random(before.length), StandardOpenOption.TRUNCATE_EXISTING));
        assertThat(changed).isPositive();
    }

    /** Sends both versions, with a fault when the site begins to copy. Returns how often that was. */
    private int sendCopied(byte[] before, byte[] now, Hook fault) throws Exception {
        AtomicInteger faults = new AtomicInteger();
        Hook reading = file -> {
            if (file.endsWith("data/large") && Files.exists(root.resolve(".dozo/incoming/p/E1/2"))) {
                faults.incrementAndGet();
                fault.at(file);
            }
        };
        try (FaultySite site = FaultySite.reading(folder.resolve("sshd"), root, reading);
                Sender sender = sender(site.address())) {
            sendLarge(sender, 1, before);
            long moved = sender.bytesMoved();
            assertThat(sendLarge(sender, 2, now)).isEqualTo(Digest.ofContent(now));
            assertThat(sender.bytesMoved() - moved).isGreaterThanOrEqualTo(now.length);
        }
        return faults.get();
    }

    private Digest sendLarge(Sender sender, int number, byte[] content) throws Exception {
        Files.write(source.resolve("large"), content);
        Entry large = entry(number, "large");
        Verified verified = (Verified) sender.send(route, new Unit.Large(large)).getFirst();
        assertThat(Files.mismatch(source.resolve("large"), root.resolve("p/E1/data/large")))
                .isEqualTo(-1);
        return verified.digest();
    }

    @Test
    void aUnitSentTwiceIsHarmless() throws Exception {
        Entry one = file(1, "one", "one");
        Unit unit = new Unit.Bundle(
                List.of(one, link(2, "link", "one"), entry(3, Files.createDirectory(source.resolve("d")))));

        try (LoopbackSite site = openSsh();
                Sender sender = sender(site.address())) {
            assertThat(sender.send(route, unit)).allMatch(Verified.class::isInstance);
            assertThat(sender.send(route, unit)).allMatch(Verified.class::isInstance);
        }
        assertThat(root.resolve("p/E1/data/one")).hasContent("one");
        assertThat(root.resolve(".dozo/versions")).doesNotExist();
    }

    @Test
    void aLargeFileWhoseRenameWasNotAnsweredIsNotTakenForLost() throws Exception {
        byte[] content = Trees.random(70_000);
        Files.write(source.resolve("large"), content);
        Entry large = entry(9, "large");
        try (LoopbackSite site = openSsh()) {
            Lanes lanes = Lanes.to(site.address(), 1);
            SiteCheck check = SiteCheck.of(lanes.next());
            SiteTree bag = new SiteTree(KnownSite.of(check));
            Digest proven = Digest.ofContent(content);
            Files.createDirectories(root.resolve("p/E1/data"));
            Files.write(root.resolve("p/E1/data/large"), content);

            var _ = bag.publish(
                    lanes.next(),
                    route,
                    route.temporaryName(large),
                    route.finalName(large),
                    proven,
                    new SiteFacts(0640, 1_000_000_000),
                    false);
            lanes.close();
        }
        assertThat(root.resolve("p/E1/data/large")).hasBinaryContent(content);
        assertThat(Files.getLastModifiedTime(root.resolve("p/E1/data/large")).toInstant())
                .isEqualTo("2001-09-09T01:46:40Z");
    }

    @Test
    void whatADeadRunLeftUnderATemporaryNameIsNeverFollowedOrTrusted() throws Exception {
        Entry one = file(1, "one", "one");
        Entry two = file(2, "two", "two");
        Path victim = Files.writeString(folder.resolve("victim"), "untouched");
        Path incoming = Files.createDirectories(root.resolve(".dozo/incoming/p/E1"));
        Files.createSymbolicLink(incoming.resolve("1"), victim);
        Files.writeString(incoming.resolve("2"), "half a file of an earlier run that is longer than the new one");

        try (LoopbackSite site = openSsh();
                Sender sender = sender(site.address())) {
            assertThat(sender.send(route, new Unit.Bundle(List.of(one, two)))).allMatch(Verified.class::isInstance);
        }
        assertThat(victim).hasContent("untouched");
        assertThat(root.resolve("p/E1/data/one")).isRegularFile().hasContent("one");
        assertThat(root.resolve("p/E1/data/two")).hasContent("two");
    }

    @Test
    void aLinkUnderALargeFilesTemporaryNameIsNeverFollowed() throws Exception {
        byte[] content = Trees.random(300_000);
        Files.write(source.resolve("large"), content);
        Path victim = Files.write(folder.resolve("victim"), new byte[300_000]);
        Files.createSymbolicLink(
                Files.createDirectories(root.resolve(".dozo/incoming/p/E1")).resolve("1"), victim);

        try (LoopbackSite site = openSsh();
                Sender sender = sender(site.address())) {
            Entry large = entry(1, "large");
            assertThat(sender.send(route, new Unit.Large(large)))
                    .containsExactly(new Verified(large, Digest.ofContent(content)));
        }
        assertThat(victim).hasBinaryContent(new byte[300_000]);
        assertThat(root.resolve("p/E1/data/large")).isRegularFile().hasBinaryContent(content);
    }

    @Test
    void aLinkInTheWayOfAFolderIsNotWrittenThrough() throws Exception {
        Path outside = Files.createDirectory(folder.resolve("outside"));
        Files.createDirectories(root.resolve("p/E1/data"));
        Files.createSymbolicLink(root.resolve("p/E1/data/sub"), outside);
        Files.createDirectory(source.resolve("sub"));
        Files.writeString(source.resolve("sub/file"), "x");

        try (LoopbackSite site = openSsh();
                Sender sender = sender(site.address())) {
            assertThat(sender.send(route, new Unit.Bundle(List.of(entry(1, "sub/file")))))
                    .allMatch(Verified.class::isInstance);
        }
        assertThat(outside).isEmptyDirectory();
        assertThat(root.resolve("p/E1/data/sub/file")).hasContent("x");
        assertThat(root.resolve(".dozo/versions/p/E1/1/data/sub")).isSymbolicLink();
    }

    @Test
    void anAccountWithoutAShellIsProvenByReadingBack() throws Exception {
        Entry one = file(1, "one", "one");
        try (LoopbackSite site = LoopbackSite.openSsh(folder.resolve("sshd"), root, 0, "ForceCommand internal-sftp");
                Sender sender = sender(site.address())) {
            assertThat(sender.method()).isEqualTo("read-back");
            assertThat(sender.send(route, new Unit.Bundle(List.of(one)))).allMatch(Verified.class::isInstance);
        }
    }

    @Test
    void aCommandThatBeginsToLieGivesNothingAFinalName() throws Exception {
        LyingTools tools = new LyingTools(folder);
        for (String lie : List.of(":", "for f; do echo \"$(printf %064d 7)  $f\"; done")) {
            Entry one = file(1, "one", "one");
            Entry two = file(2, "two", "two");
            tools.are("real \"$@\"");
            try (LoopbackSite site = tools.serve(root);
                    Sender sender = sender(site.address())) {
                assertThat(sender.method()).startsWith("exec ");
                tools.are(lie);

                assertThat(sender.send(route, new Unit.Bundle(List.of(one, two))))
                        .extracting(outcome -> ((Failed) outcome).problem())
                        .containsOnly(lie.equals(":") ? Problem.UNPROVEN : Problem.MISMATCHED);
            }
            assertThat(root.resolve("p/E1/data/one")).doesNotExist();
        }
    }

    /** No request to a command can detect this: its digest is right, and the bytes change afterwards. */
    @Test
    void aSiteThatSpoilsWhatItHasProvenIsCaughtByReadingBackOnly() throws Exception {
        LyingTools tools = new LyingTools(folder);
        tools.are("real \"$@\"; case \"$1\" in *probe-*) ;; *) for f; do printf X > \"$f\"; done ;; esac");
        Entry one = file(1, "one", "one");
        try (LoopbackSite site = tools.serve(root)) {
            try (Sender wary = sender(site.address(), 1)) {
                assertThatThrownBy(() -> wary.send(route, new Unit.Bundle(List.of(one))))
                        .isInstanceOfSatisfying(
                                RemoteException.class,
                                e -> assertThat(e.reason()).isEqualTo(Reason.PROTOCOL))
                        .hasMessageContaining("but the bytes read back have");
                assertThat(root.resolve("p/E1/data/one")).doesNotExist();
            }
            try (Sender trusting = sender(site.address(), 0)) {
                assertThat(trusting.send(route, new Unit.Bundle(List.of(one)))).allMatch(Verified.class::isInstance);
            }
        }
    }

    @Test
    void readingBackWhatIsRightChangesNothing() throws Exception {
        Entry one = file(1, "one", "one");
        Entry empty = file(2, "empty", "");
        try (LoopbackSite site = openSsh();
                Sender sender = sender(site.address(), 1)) {
            assertThat(sender.send(route, new Unit.Bundle(List.of(one, empty)))).allMatch(Verified.class::isInstance);
        }
    }

    @Test
    void theSweepTakesLeftoversButNotFilesUnderWay() throws Exception {
        Path incoming = Files.createDirectories(root.resolve(".dozo/incoming/p/E1"));
        Files.writeString(incoming.resolve("1"), "dead");
        Files.writeString(incoming.resolve("2"), "under way");

        try (LoopbackSite site = openSsh();
                Sender sender = sender(site.address())) {
            sender.sweep(route, Set.of(2));
            assertThat(incoming).isDirectoryContaining("glob:**/2").isDirectoryNotContaining("glob:**/1");
            sender.sweep(route, Set.of());
            assertThat(incoming).doesNotExist();
        }
    }

    @Test
    void aSiteThatForbidsRemovingIsReportedOnce() throws Exception {
        for (String experiment : List.of("p/E1", "p/E2", "q/E1")) {
            Path incoming =
                    Files.createDirectories(root.resolve(".dozo/incoming").resolve(experiment));
            Files.writeString(incoming.resolve("1"), "dead");
            Files.writeString(incoming.resolve("2"), "dead, too");
        }

        try (LoopbackSite site =
                        LoopbackSite.openSsh(folder.resolve("sshd"), root, 0, "ForceCommand internal-sftp -P remove");
                Sender sender = sender(site.address())) {
            assertThat(sender.sweepAll(_ -> Optional.of(Set.of()), Instant.EPOCH))
                    .singleElement()
                    .asString()
                    .contains("permission denied")
                    .endsWith("; 2 more folders likewise");
        }
    }

    @Test
    void aServerThatDiesIsTheSitesFaultNotTheEntrys() throws Exception {
        Entry one = file(1, "one", "one");
        LoopbackSite site = openSsh();
        try (Sender sender = sender(site.address())) {
            site.close();
            assertThatThrownBy(() -> sender.send(route, new Unit.Bundle(List.of(one))))
                    .isInstanceOfSatisfying(
                            RemoteException.class, e -> assertThat(e.reason()).isIn(Reason.LOST, Reason.UNREACHABLE));
        }
    }

    @Test
    void whatTheEngineIsAtIsSeenWhileItIsAtIt() throws Exception {
        Entry small = file(1, "small", "x");
        Files.write(source.resolve("large"), Trees.random(150_000_000));
        Entry large = entry(2, "large");
        Set<String> seen = new TreeSet<>();

        try (LoopbackSite site = openSsh();
                Sender sender = sender(site.address());
                ExecutorService workers = Executors.newSingleThreadExecutor()) {
            Future<List<Outcome>> sent = workers.submit(() -> {
                List<Outcome> outcomes = new ArrayList<>(sender.send(route, new Unit.Large(large)));
                outcomes.addAll(sender.send(route, new Unit.Bundle(List.of(small))));
                return outcomes;
            });
            while (!sent.isDone()) {
                note(sender.load(), seen);
                Thread.onSpinWait();
            }

            assertThat(sent.get()).allMatch(Verified.class::isInstance);
            assertThat(seen).contains("sending", "reading", "digesting", "waiting", "proving", "naming");
            try (Stay _ = sender.recording(3)) {
                assertThat(sender.load().recording()).isEqualTo(3);
            }
            assertIdle(sender);
        }
    }

    /** Nothing is left under way; lanes stay open. */
    private static void assertIdle(Sender sender) {
        assertThat(sender.load())
                .usingRecursiveComparison()
                .ignoringFields("link")
                .isEqualTo(Load.NONE);
    }

    private static void note(Load load, Set<String> seen) {
        Map.of(
                        "sending", load.sending(),
                        "reading", load.reading(),
                        "digesting", load.digesting(),
                        "waiting", load.files() - load.reading() - load.digesting(),
                        "proving", load.proving(),
                        "naming", load.naming())
                .forEach((what, many) -> {
                    if (many > 0) {
                        seen.add(what);
                    }
                });
    }

    @Test
    void whatFailsLeavesNothingOfItselfBehind() throws Exception {
        Entry vanished = file(1, "vanished", "x");
        Files.delete(source.resolve("vanished"));
        Entry good = file(2, "good", "good");
        LoopbackSite site = openSsh();
        try (Sender sender = sender(site.address())) {
            sender.send(route, new Unit.Bundle(List.of(vanished)));
            sender.send(route, new Unit.Large(vanished));
            site.close();
            assertThatThrownBy(() -> sender.send(route, new Unit.Bundle(List.of(good))))
                    .isInstanceOf(RemoteException.class);
            assertThatThrownBy(() -> sender.send(route, new Unit.Large(good))).isInstanceOf(RemoteException.class);

            Awaitility.await().atMost(Duration.ofMinutes(5)).untilAsserted(() -> assertIdle(sender));
        }
    }

    @Test
    void everyLaneTellsWhatItHasMoved() throws Exception {
        Files.write(source.resolve("large"), Trees.random(30_000_000));
        Entry large = entry(1, "large");

        try (LoopbackSite site = openSsh();
                Sender sender = sender(site.address())) {
            sender.send(route, new Unit.Large(large));

            List<LaneTraffic> lanes = sender.laneTraffic();
            assertThat(lanes).extracting(LaneTraffic::lane).isSubsetOf(1, 2).doesNotHaveDuplicates();
            assertThat(lanes.stream().mapToLong(LaneTraffic::bytes).sum())
                    .as("content, and the requests around it")
                    .isBetween(sender.bytesMoved(), sender.bytesMoved() * 11 / 10);
        }
    }

    @Test
    void whatStandsOfAFileOfItsOwnIsCopiedAtTheSiteAndNotSent() throws Exception {
        byte[] first = Trees.random(3_000_000);
        byte[] second = join(first, 0, 1_000_000, 1_000_100, 3_000_000);
        try (LoopbackSite site = openSsh();
                Sender sender = sender(site.address())) {
            place(sender, first, List.of());
            long before = bytes(sender);

            place(sender, second, List.of(new Part(0, 0, 1_000_000), new Part(1_000_000, 1_000_100, 1_999_900)));

            assertThat(root.resolve("p/E1/list")).hasBinaryContent(second);
            assertThat(root.resolve(".dozo/versions/p/E1/1/list")).hasBinaryContent(first);
            assertThat(bytes(sender) - before).isLessThan(20_000);
        }
    }

    @Test
    void aFileOfItsOwnIsSentWholeWhereWhatStandsThereIsNotWhatItWasMadeOf() throws Exception {
        byte[] first = Trees.random(100_000);
        byte[] second = Trees.random(90_000);
        List<Part> wrong = List.of(new Part(10, 20, 50_000));
        try (LoopbackSite site = openSsh();
                Sender sender = sender(site.address())) {
            place(sender, first, wrong);
            assertThat(root.resolve("p/E1/list")).as("nothing stood there").hasBinaryContent(first);

            place(sender, second, wrong);
            assertThat(root.resolve("p/E1/list"))
                    .as("something else stood there")
                    .hasBinaryContent(second);

            Files.delete(root.resolve("p/E1/list"));
            Files.createDirectory(root.resolve("p/E1/list"));
            place(sender, first, wrong);
            assertThat(root.resolve("p/E1/list")).as("a folder stood there").hasBinaryContent(first);
        }
    }

    private void place(Sender sender, byte[] content, List<Part> standing) throws Exception {
        sender.place(
                List.of(new Placing(route, FilePath.of("list"), () -> new ByteArrayInputStream(content), standing)));
    }

    private static long bytes(Sender sender) {
        return sender.laneTraffic().stream().mapToLong(LaneTraffic::bytes).sum();
    }

    /** Joins parts of an array, each given by its begin and end. */
    private static byte[] join(byte[] content, int... places) {
        ByteArrayOutputStream joined = new ByteArrayOutputStream();
        for (int i = 0; i < places.length; i += 2) {
            joined.write(content, places[i], places[i + 1] - places[i]);
        }
        return joined.toByteArray();
    }

    private LoopbackSite openSsh() throws Exception {
        return LoopbackSite.openSsh(folder.resolve("sshd"), root, 0);
    }

    private static Sender sender(SiteAddress site) throws Exception {
        return sender(site, 0);
    }

    private static Sender sender(SiteAddress site, int readBackOneIn) throws Exception {
        Lanes lanes = Lanes.to(site, 2);
        SiteCheck check = SiteCheck.of(lanes.next());
        return new Sender(
                lanes, KnownSite.of(check), new Throttle(0), readBackOneIn, Duration.ofMinutes(10), false, _ -> {});
    }

    private Entry file(int number, String name, String content) throws Exception {
        Files.writeString(source.resolve(name), content);
        return entry(number, name);
    }

    private Entry link(int number, String name, String target) throws Exception {
        Files.createSymbolicLink(source.resolve(name), Path.of(target));
        return entry(number, name);
    }

    private Entry entry(int number, String name) throws Exception {
        return entry(number, source.resolve(name));
    }

    private Entry entry(int number, Path path) throws Exception {
        Facts facts = DirectoryTree.facts(path);
        assertThat(facts.kind()).isIn(EntryKind.FILE, EntryKind.DIRECTORY, EntryKind.LINK);
        return new Entry(number, FilePath.between(source, path), facts);
    }
}
