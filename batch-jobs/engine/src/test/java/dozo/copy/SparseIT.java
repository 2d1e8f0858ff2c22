package dozo.copy;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.copy.Copy.Progress;
import dozo.db.Program;
import dozo.file.Entry;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.loopback.LoopbackSite;
import dozo.remote.Lanes;
import dozo.remote.SiteAddress;
import dozo.send.FaultySite;
import dozo.send.Route;
import dozo.send.SourceFolder;
import dozo.source.DirectoryTree;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Optional;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Files that occupy little space at the source occupy little at the site, and after a copy back. */
@Timeout(900)
class SparseIT extends CopyTest {

    private static final long SMALL_BYTES = 20_000_000;
    private static final long LARGE_BYTES = (130 << 20) + 12_345;

    private Path source;
    private Path back;

    @BeforeEach
    void makeSource() throws IOException {
        source = Files.createDirectory(folder.resolve("source"));
        back = folder.resolve("back");
    }

    @Test
    void aSparseTreeGoesThereAndBackWithItsHoles() throws Exception {
        sparse("islands", SMALL_BYTES, 5_000, 1_000_001, 1_000_700, 7_777_777, SMALL_BYTES - 10);
        sparse("hole first", 100_000, 99_999);
        sparse("hole last", 3_000_000, 0);
        sparse("hole alone", SMALL_BYTES);
        sparse("tiny", 1);
        sparse("large", LARGE_BYTES, 3, 70_000_000, 70_200_000, 135_000_000);
        sparse("large, hole alone", LARGE_BYTES);
        sparse("large, hole first", LARGE_BYTES, LARGE_BYTES - 1);
        Files.write(source.resolve("dense"), new byte[300_000]);
        long room = Trees.room(source);
        try (LoopbackSite site = openSsh()) {
            Progress there = there(site);
            assertComplete(there);
            assertThat(there.bytesVerified()).isEqualTo(there.bytes());
            assertThat(there.bytesMoved()).as("no hole went over the wire").isLessThan(4_000_000);
            Trees.assertSame(source, root.resolve("to"));
            assertThat(Trees.room(root.resolve("to"))).isCloseTo(room, Percentage.withPercentage(1));

            Progress again = there(site);
            assertThat(again.bytesMoved()).isZero();
            assertComplete(again);

            Progress home = back(site);
            assertComplete(home);
        }
        Trees.assertSame(source, back);
        assertThat(Trees.room(back) - Trees.room(back.resolve("dense")))
                .as("a dense file of zeros comes back sparse")
                .isCloseTo(room - Trees.room(source.resolve("dense")), Percentage.withPercentage(1));
    }

    @Test
    void zerosAreWrittenOverWhatAnEarlierAttemptLeft() throws Exception {
        sparse("large", LARGE_BYTES, 3, 70_000_000, 135_000_000);
        Path file = source.resolve("large");
        try (LoopbackSite site = openSsh()) {
            there(site);
            Path whole = Files.move(root.resolve("to/large"), folder.resolve("whole"));
            killedAt(site, whole, 2 * 64 << 20);
            Progress resumed = there(site);
            assertComplete(resumed);
            assertThat(resumed.bytesMoved()).isLessThan(300_000);
            Trees.assertSame(source, root.resolve("to"));
            assertThat(Trees.room(root.resolve("to/large"))).isCloseTo(Trees.room(file), Percentage.withPercentage(1));

            Files.delete(root.resolve("to/large"));
            Path garbage = killedAt(site, whole, LARGE_BYTES - 5);
            try (FileChannel channel = FileChannel.open(garbage, StandardOpenOption.WRITE)) {
                write(channel, 100_000_000, 500_000);
                write(channel, 129 << 20, 500_000);
            }
            assertComplete(there(site));
            Trees.assertSame(source, root.resolve("to"));
            assertThat(Trees.room(root.resolve("to/large"))).isCloseTo(Trees.room(file), Percentage.withPercentage(1));
        }
    }

    @Test
    void zerosThatComeBackAreWrittenOverWhatAnEarlierAttemptLeft() throws Exception {
        sparse("large", LARGE_BYTES, 3, 70_000_000, 135_000_000);
        try (LoopbackSite site = openSsh()) {
            there(site);
            FilePath name = FilePath.of("large");
            try (CopyFromSite copy = copyBack(site.address());
                    Lanes lanes = Lanes.to(site.address(), 1);
                    LocalFile left = LocalTree.open(back, Incoming.name(copy.key(), top -> false))
                            .incoming()
                            .create(new Found(name, name, name, RemoteTree.look(lanes, FilePath.of("to/large"))))) {
                byte[] garbage = Trees.random(40_000_000);
                left.write(garbage, 0, garbage.length, 0);
                left.write(garbage, 0, garbage.length, 90_000_000);
            }
            assertComplete(back(site));
        }
        Trees.assertSame(source, back);
    }

    @Test
    void aSiteThatDoesNotLeaveHolesGetsTheZeros() throws Exception {
        sparse("small", SMALL_BYTES, 5_000);
        sparse("large", LARGE_BYTES, 3, 70_000_000);
        try (FaultySite site = FaultySite.hooked(folder.resolve("state"), root, file -> {}, name -> {})) {
            // This site does not extend files by their attributes.
            assertComplete(run(copyTo(site.address())));
        }
        Trees.assertSame(source, root.resolve("to"));
    }

    @Test
    void aSiteThatRefusesGapsGetsTheZeros() throws Exception {
        getsTheZeros((file, end, offset) -> {
            throw new IOException("no gaps");
        });
    }

    @Test
    void aSiteThatFillsGapsWithSomethingElseGetsTheZeros() throws Exception {
        getsTheZeros((file, end, offset) -> {
            try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
                write(channel, end, (int) (offset - end));
            }
        });
    }

    private void getsTheZeros(FaultySite.Gap gap) throws Exception {
        sparse("gap", SMALL_BYTES, 500_000, SMALL_BYTES - 300);
        try (FaultySite site = FaultySite.gapped(folder.resolve("state"), root, gap)) {
            assertComplete(run(copyTo(site.address())));
            assertThat(site.hits()).isPositive();
        }
        Trees.assertSame(source, root.resolve("to"));
    }

    private void assertComplete(Progress copy) {
        assertThat(findings).isEmpty();
        assertThat(copy.complete()).as("%s", copy).isTrue();
    }

    /** Simulates a kill of the large file's copy at this length: creates its leftover. */
    private Path killedAt(LoopbackSite site, Path whole, long bytes) throws Exception {
        FilePath incoming;
        try (CopyToSite copy = copyTo(site.address())) {
            incoming = Incoming.name(copy.key(), top -> false);
        }
        Route route = new Route(SourceFolder.of(source), FilePath.ROOT, FilePath.ROOT, incoming, Optional.empty());
        Facts facts = DirectoryTree.facts(source.resolve("large"));
        Path left =
                route.temporaryName(new Entry(1, FilePath.of("large"), facts)).under(root.resolve("to"));
        Files.createDirectories(left.getParent());
        Program.succeed("cp", "--sparse=always", whole.toString(), left.toString());
        try (FileChannel channel = FileChannel.open(left, StandardOpenOption.WRITE)) {
            channel.truncate(bytes);
        }
        return left;
    }

    /** Creates a sparse file with some bytes at each of these offsets. */
    private void sparse(String name, long bytes, long... islands) throws IOException {
        Path file = source.resolve(name);
        Trees.hole(file, bytes);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            for (long island : islands) {
                write(channel, island, (int) Math.min(100_300, bytes - island));
            }
        }
    }

    private static void write(FileChannel channel, long offset, int bytes) throws IOException {
        ByteBuffer left = ByteBuffer.wrap(Trees.random(bytes, offset));
        for (long at = offset; left.hasRemaining(); ) {
            at += channel.write(left, at);
        }
    }

    private Progress there(LoopbackSite site) throws IOException, InterruptedException {
        return run(copyTo(site.address()));
    }

    private Progress back(LoopbackSite site) throws IOException, InterruptedException {
        return run(copyBack(site.address()));
    }

    private CopyToSite copyTo(SiteAddress site) {
        return new CopyToSite(site, List.of(source), FilePath.of("to"), false, lanes(2));
    }

    private CopyFromSite copyBack(SiteAddress site) {
        return new CopyFromSite(site, List.of(FilePath.of("to")), back, false, lanes(2));
    }
}
