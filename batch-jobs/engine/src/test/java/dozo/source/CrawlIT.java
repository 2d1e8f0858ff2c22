package dozo.source;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.AccessDeniedException;
import java.nio.file.DirectoryStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A crawl reports every entry once, or the reason why not, whatever happens to the tree meanwhile. */
class CrawlIT {

    private static final int LIMIT_SECONDS = 60;

    @TempDir
    Path folder;

    private Path root;
    private final Told told = new Told();

    @BeforeEach
    void makeRoot() throws IOException {
        root = Files.createDirectory(folder.resolve("source"));
    }

    @Test
    void itTellsTheSameAsAWalkByJava() throws Exception {
        fill(root);

        new Crawl(root).into(told);

        assertThat(told.entries).isEqualTo(walkByJava(root));
        assertThat(told.problems).isEmpty();
    }

    @Test
    void everyFolderIsToldToItsEndAlsoAnEmptyOne() throws Exception {
        Files.createDirectories(root.resolve("a/b/empty"));
        Files.createFile(root.resolve("a/file"));

        new Crawl(root).into(told);

        assertThat(told.ended)
                .containsExactly(FilePath.ROOT, FilePath.of("a"), FilePath.of("a/b"), FilePath.of("a/b/empty"))
                .isEqualTo(told.begun);
        assertThat(told.entries.keySet())
                .containsExactly(FilePath.of("a"), FilePath.of("a/b"), FilePath.of("a/b/empty"), FilePath.of("a/file"));
    }

    @Test
    void aFileWithOtherNamesIsToldWithItsGroupAndAFileAloneWithNone() throws Exception {
        Files.writeString(root.resolve("one"), "12345");
        Files.createLink(root.resolve("other"), root.resolve("one"));
        Files.createFile(root.resolve("alone"));
        Files.createDirectories(root.resolve("folder/below"));

        new Crawl(root).into(told);

        Object inode = Files.getAttribute(root.resolve("one"), "unix:ino");
        assertThat(told.of("one").hardLink())
                .isEqualTo(inode)
                .isEqualTo(told.of("other").hardLink());
        assertThat(told.of("one").sizeBytes()).isEqualTo(5);
        assertThat(told.of("alone").hardLink()).isNull();
        assertThat(told.of("folder").hardLink()).isNull();
    }

    @Test
    void aLinkIsToldWithItsBytesAndNeverFollowed() throws Exception {
        Files.createDirectory(folder.resolve("outside"));
        Files.createFile(folder.resolve("outside/secret"));
        Files.createSymbolicLink(root.resolve("out"), folder.resolve("outside"));
        Files.createSymbolicLink(root.resolve("dangling"), Path.of("../.git/annex/objects/no such thing"));
        Files.createSymbolicLink(root.resolve("itself"), Path.of("."));

        new Crawl(root).into(told);

        assertThat(told.entries.keySet())
                .containsExactly(FilePath.of("dangling"), FilePath.of("itself"), FilePath.of("out"));
        assertThat(new String(told.of("dangling").linkTarget(), StandardCharsets.UTF_8))
                .isEqualTo("../.git/annex/objects/no such thing");
        assertThat(told.of("dangling").sizeBytes()).isZero();
    }

    @Test
    void noLinkOnTheWayToTheRootIsFollowed() throws Exception {
        Files.createFile(root.resolve("file"));
        Path link = Files.createSymbolicLink(folder.resolve("link"), root);
        Path above = Files.createSymbolicLink(folder.resolve("above"), folder.toRealPath());

        assertThatThrownBy(() -> new Crawl(link).into(told)).isInstanceOf(NotDirectoryException.class);
        assertThatThrownBy(() -> new Crawl(above.resolve(root.getFileName())).into(told))
                .isInstanceOf(NotDirectoryException.class);
        new Crawl(link.toRealPath()).into(told);

        assertThat(told.entries.keySet()).containsExactly(FilePath.of("file"));
    }

    @Test
    void timesBefore1970AndFarAheadAreToldToTheNanosecond() throws Exception {
        Instant before = Instant.parse("1931-05-06T07:08:09.123456789Z");
        Instant ahead = Instant.parse("2261-12-31T23:59:59.999999999Z");
        // NB: Java cannot set a time before 1970 with a fraction.
        execute("touch", "-d", before.toString(), root.resolve("before").toString());
        execute("touch", "-d", ahead.toString(), root.resolve("ahead").toString());

        new Crawl(root).into(told);

        assertThat(told.of("before").modifiedNanos())
                .isEqualTo(Times.nanos(before.getEpochSecond(), before.getNano()))
                .isNegative();
        assertThat(told.of("ahead").modifiedNanos()).isEqualTo(Times.nanos(ahead.getEpochSecond(), ahead.getNano()));
    }

    @Test
    void aFolderOfThirtyThousandFilesComesWhole() throws Exception {
        for (int i = 0; i < 30_000; i++) {
            Files.createFile(root.resolve("image-" + i));
        }

        new Crawl(root).into(told);

        assertThat(told.entries).hasSize(30_000);
        assertThat(told.ended).containsExactly(FilePath.ROOT);
    }

    @Test
    void aPathMayBeLongerThanTheKernelTakesAtOnce() throws Exception {
        String name = "n".repeat(255);
        try {
            execute("python3", "-c", """
                    import os, sys
                    at = os.open(sys.argv[1], os.O_RDONLY)
                    for _ in range(20):
                        os.mkdir(sys.argv[2], dir_fd=at)
                        at = os.open(sys.argv[2], os.O_RDONLY, dir_fd=at)
                    os.close(os.open('file', os.O_CREAT, dir_fd=at))
                    """, root.toString(), name);

            new Crawl(root).into(told);
        } finally {
            execute("rm", "-rf", root.resolve(name).toString());
        }

        FilePath deepest = FilePath.of((name + "/").repeat(20) + "file");
        assertThat(deepest.bytes().length).isGreaterThan(5000);
        assertThat(told.entries).hasSize(21).containsKey(deepest);
        assertThat(told.problems).isEmpty();
    }

    @Test
    void severalFoldersAreReadAtOnce() throws Exception {
        Files.createDirectory(root.resolve("a"));
        Files.createDirectory(root.resolve("b"));
        CyclicBarrier both = new CyclicBarrier(2);
        Told meeting = new Told() {
            @Override
            public Listing folder(FilePath path) throws IOException, InterruptedException {
                if (!path.isRoot()) {
                    meet(both);
                }
                return super.folder(path);
            }
        };

        new Crawl(root, 2).into(meeting);

        assertThat(meeting.ended).hasSize(3);
    }

    @Test
    void aDeviceOrFifoIsAProblem() throws Exception {
        execute("mkfifo", root.resolve("pipe").toString());

        new Crawl(root).into(told);

        assertThat(told.entries).isEmpty();
        assertThat(told.problems).singleElement().asString().startsWith("SPECIAL pipe: ");
        assertThat(told.ended).containsExactly(FilePath.ROOT);
    }

    @Test
    void aFolderMountedIntoItselfIsAProblemAndNotFollowed() throws Exception {
        Path inside = Files.createDirectories(root.resolve("a/b"));
        Files.createFile(root.resolve("file"));
        assumeTrue(tryTo("mount", "--bind", root.toString(), inside.toString()) == 0, "only root can mount");
        try {
            new Crawl(root).into(told);
        } finally {
            execute("umount", "-l", inside.toString());
        }

        assertThat(told.problems).singleElement().asString().startsWith("CYCLE a/b: ");
        assertThat(told.entries.keySet()).containsExactly(FilePath.of("a"), FilePath.of("a/b"), FilePath.of("file"));
    }

    @Test
    void whatAnotherFileSystemHoldsBelowTheRootIsTold() throws Exception {
        Path inside = Files.createDirectory(root.resolve("mounted"));
        assumeTrue(tryTo("mount", "-t", "tmpfs", "tmpfs", inside.toString()) == 0, "only root can mount");
        try {
            Files.createDirectory(inside.resolve("folder"));
            Files.createFile(inside.resolve("folder/file"));
            new Crawl(root).into(told);
        } finally {
            execute("umount", "-l", inside.toString());
        }

        assertThat(told.entries).hasSize(3).containsKey(FilePath.of("mounted/folder/file"));
    }

    @Test
    void aFolderThatIsGoneBeforeItIsReadLeavesNoProblem() throws Exception {
        Files.createDirectory(root.resolve("gone"));

        Told deleting = meanwhile(path -> Files.delete(root.resolve("gone")));
        new Crawl(root).into(deleting);

        assertThat(deleting.problems).isEmpty();
        assertThat(deleting.begun).containsExactly(FilePath.ROOT);
    }

    @Test
    void aFolderThatIsRemovedWhileItIsReadHoldsNothing() throws Exception {
        Files.createDirectory(root.resolve("gone"));
        Told deleting = new Told() {
            @Override
            public Listing folder(FilePath path) throws IOException, InterruptedException {
                if (!path.isRoot()) {
                    Files.delete(root.resolve("gone"));
                }
                return super.folder(path);
            }
        };

        new Crawl(root).into(deleting);

        assertThat(deleting.problems).isEmpty();
        assertThat(deleting.ended).contains(FilePath.of("gone"));
    }

    @Test
    void aFileThatIsGoneBeforeItIsLookedAtLeavesNoProblem() throws Exception {
        Files.createFile(root.resolve("a"));
        Files.createFile(root.resolve("b"));

        Told deleting = meanwhile(path -> Files.delete(root.resolve(path.equals(FilePath.of("a")) ? "b" : "a")));
        new Crawl(root).into(deleting);

        assertThat(deleting.problems).isEmpty();
        assertThat(deleting.entries).hasSize(1);
        assertThat(deleting.ended).containsExactly(FilePath.ROOT);
    }

    @Test
    void aLinkPutInAFoldersPlaceIsNotFollowed() throws Exception {
        Files.createDirectory(folder.resolve("outside"));
        Files.createFile(folder.resolve("outside/secret"));
        Files.createDirectory(root.resolve("swapped"));

        Told swapping = meanwhile(path -> {
            Files.delete(root.resolve("swapped"));
            Files.createSymbolicLink(root.resolve("swapped"), folder.resolve("outside"));
        });
        new Crawl(root).into(swapping);

        assertThat(swapping.entries.keySet()).containsExactly(FilePath.of("swapped"));
        assertThat(swapping.problems)
                .singleElement()
                .asString()
                .startsWith("UNREADABLE swapped: ")
                .contains("no longer a folder");
    }

    @Test
    void whatWeMayNotReadIsAProblemAndTheRestComes() throws Exception {
        Files.createDirectories(root.resolve("locked/below"));
        Files.createDirectories(root.resolve("blind"));
        Files.createFile(root.resolve("blind/file"));
        Files.createFile(root.resolve("file"));
        Files.setPosixFilePermissions(root.resolve("locked"), PosixFilePermissions.fromString("---------"));
        // Its names can be read, but not what they name.
        Files.setPosixFilePermissions(root.resolve("blind"), PosixFilePermissions.fromString("r--------"));

        CrawlProcess.Ended ended = CrawlProcess.withoutRootsRights(root);

        assertThat(ended.lines())
                .containsExactlyInAnyOrder(
                        "entry blind",
                        "entry file",
                        "entry locked",
                        "end ",
                        "end blind",
                        "UNREADABLE locked: folder cannot be read: permission denied; let the service's user read it",
                        "UNREADABLE blind/file: cannot be read: permission denied");
        assertThat(ended.exitCode()).isZero();
    }

    @Test
    void aRootThatWeMayNotReadFailsTheWalk() throws Exception {
        Files.setPosixFilePermissions(root, PosixFilePermissions.fromString("---------"));

        CrawlProcess.Ended ended = CrawlProcess.withoutRootsRights(root);

        assertThat(ended.lines()).containsExactly(AccessDeniedException.class.getName() + ": " + root);
    }

    @Test
    void aMachineWithoutRoomForAnotherOpenFolderFailsTheWalkInsteadOfLeavingFoldersOut() throws Exception {
        Files.createDirectory(root.resolve("folder"));

        CrawlProcess.Ended ended = CrawlProcess.withFilesUsedUp(root);

        assertThat(ended.lines())
                .last()
                .asString()
                .isEqualTo(FileSystemException.class.getName() + ": folder: too many open files");
    }

    @Test
    void aRootThatIsNotThereOrNoFolderFailsTheWalk() throws Exception {
        Path file = Files.createFile(folder.resolve("file"));

        assertThatThrownBy(() -> new Crawl(folder.resolve("missing")).into(told))
                .isInstanceOf(NoSuchFileException.class);
        assertThatThrownBy(() -> new Crawl(file).into(told)).isInstanceOf(NotDirectoryException.class);
        assertThat(told.begun).isEmpty();
    }

    @Test
    void aFailureOfTheListingsStopsAllAndReachesTheCaller() throws Exception {
        fill(root);
        for (int i = 0; i < 50; i++) {
            Files.createFile(Files.createDirectory(root.resolve("f" + i)).resolve("file"));
        }
        IOException lost = new IOException("the database is lost");

        for (Told failing : new Told[] {
            failingIn("folder", lost), failingIn("entry", lost), failingIn("end", lost), failingIn("problem", lost)
        }) {
            assertThatThrownBy(() -> new Crawl(root, 4).into(failing)).isSameAs(lost);
        }
        assertThatThrownBy(() -> new Crawl(root, 4).into(meanwhile(path -> {
                    throw new IllegalStateException("a defect");
                })))
                .isInstanceOf(IllegalStateException.class);
        assertNothingIsLeft();
    }

    @Test
    void interruptionStopsAllThreadsAlsoThoseThatWait() throws Exception {
        for (int i = 0; i < 50; i++) {
            Files.createFile(Files.createDirectory(root.resolve("f" + i)).resolve("file"));
        }
        CountDownLatch arrived = new CountDownLatch(2);
        CountDownLatch never = new CountDownLatch(1);
        Told waiting = new Told() {
            @Override
            void told(FilePath path, Facts facts) throws InterruptedException {
                if (facts.kind() == EntryKind.FILE) {
                    arrived.countDown();
                    never.await();
                }
            }
        };
        FutureTask<Void> crawl = new FutureTask<>(() -> {
            new Crawl(root, 2).into(waiting);
            return null;
        });
        Thread thread = Thread.ofPlatform().start(crawl);
        assertThat(arrived.await(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();

        thread.interrupt();

        assertThatThrownBy(() -> crawl.get(LIMIT_SECONDS, TimeUnit.SECONDS))
                .isInstanceOf(ExecutionException.class)
                .hasCauseInstanceOf(InterruptedException.class);
        assertNothingIsLeft();
    }

    @Test
    void afterAWalkNothingIsOpen() throws Exception {
        fill(root);

        new Crawl(root, 3).into(told);

        assertNothingIsLeft();
    }

    /** Creates names of all kinds, links, hard links, modes, times. */
    private static void fill(Path root) throws IOException {
        byte[][] names = {
            "plain".getBytes(StandardCharsets.UTF_8),
            {(byte) 0x8e, 'a', (byte) 0x83, (byte) 0x5c},
            {'n', '\n', 27, 'x'},
            {(byte) 0xff, (byte) 0xfe},
            "x".repeat(255).getBytes(StandardCharsets.UTF_8),
            "1234567".getBytes(StandardCharsets.UTF_8),
            "12345678".getBytes(StandardCharsets.UTF_8),
            "..x".getBytes(StandardCharsets.UTF_8),
            ".".repeat(3).getBytes(StandardCharsets.UTF_8),
            {'-'},
        };
        int size = 0;
        for (byte[] name : names) {
            Path folder = Files.createDirectory(FilePath.ROOT.resolve(name).under(root));
            for (byte[] inner : names) {
                Path file = FilePath.ROOT.resolve(inner).under(folder);
                Files.write(file, new byte[size++]);
                Files.setLastModifiedTime(
                        file, FileTime.from(Instant.ofEpochSecond(size * 10_000_000L - 300_000_000L, size)));
            }
            Files.createSymbolicLink(folder.resolve("link"), Path.of("/no/where/日本"));
            Files.createLink(
                    folder.resolve("hard"), FilePath.ROOT.resolve(names[0]).under(folder));
        }
        Files.setPosixFilePermissions(root.resolve("plain/-"), PosixFilePermissions.fromString("r-x--x-wx"));
        Files.setAttribute(root.resolve("plain/plain"), "unix:mode", 06755);
    }

    private static Map<FilePath, Facts> walkByJava(Path root) throws IOException {
        Map<FilePath, Facts> found = JavaWalk.of(root);
        found.remove(FilePath.ROOT);
        return found;
    }

    private interface Deed {
        void run(FilePath path) throws IOException;
    }

    private static Told meanwhile(Deed deed) {
        return new Told() {
            @Override
            void told(FilePath path, Facts facts) throws IOException {
                deed.run(path);
            }
        };
    }

    /** Fails when {@code method} is called; a fifo makes sure that each of them is. */
    private Told failingIn(String method, IOException failure) throws Exception {
        if (Files.notExists(root.resolve("pipe"), LinkOption.NOFOLLOW_LINKS)) {
            execute("mkfifo", root.resolve("pipe").toString());
        }
        return new Told() {
            @Override
            public Listing folder(FilePath path) throws IOException, InterruptedException {
                failIf("folder");
                Listing listing = super.folder(path);
                return new Listing() {
                    @Override
                    public void entry(byte[] name, Facts facts) throws IOException, InterruptedException {
                        failIf("entry");
                        listing.entry(name, facts);
                    }

                    @Override
                    public void end() throws IOException, InterruptedException {
                        failIf("end");
                        listing.end();
                    }
                };
            }

            @Override
            public void problem(FilePath path, Problem problem, String message) throws IOException {
                failIf("problem");
                super.problem(path, problem, message);
            }

            private void failIf(String where) throws IOException {
                if (where.equals(method)) {
                    throw failure;
                }
            }
        };
    }

    private static void meet(CyclicBarrier barrier) throws IOException, InterruptedException {
        try {
            barrier.await(LIMIT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            throw e;
        } catch (Exception e) {
            throw (IOException) new InterruptedIOException("nobody else came").initCause(e);
        }
    }

    private void assertNothingIsLeft() throws IOException, InterruptedException {
        try (DirectoryStream<Path> open = Files.newDirectoryStream(Path.of("/proc/self/fd"))) {
            for (Path one : open) {
                try {
                    assertThat(Files.readSymbolicLink(one).toString()).doesNotStartWith(root.toString());
                } catch (NoSuchFileException closedMeanwhile) {
                    // It belongs to another thread.
                }
            }
        }
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            // A pool counts as terminated a moment before its last thread has ended.
            if (thread.getName().startsWith("crawl-")) {
                assertThat(thread.join(Duration.ofSeconds(LIMIT_SECONDS)))
                        .as(thread.getName())
                        .isTrue();
            }
        }
    }

    private static void execute(String... command) throws Exception {
        assertThat(tryTo(command)).as(String.join(" ", command)).isZero();
    }

    private static int tryTo(String... command) throws Exception {
        return new ProcessBuilder(command).inheritIO().start().waitFor();
    }
}
