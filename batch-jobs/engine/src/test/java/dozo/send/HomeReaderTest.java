package dozo.send;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.copy.Trees;
import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.loopback.LoopbackSite;
import dozo.remote.Lanes;
import dozo.remote.Patience;
import dozo.send.HomeReader.ByteRange;
import dozo.send.HomeReader.Seen;
import dozo.source.OpenFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a home scrub says of one file; the rest is tested with whole scrubs. */
class HomeReaderTest {

    private static final FilePath NAME = FilePath.of("a");

    @TempDir
    Path root;

    private Path file;
    private Entry entry;
    private Digest sealed;

    @BeforeEach
    void seal() throws IOException {
        file = Files.writeString(root.resolve("a"), "content");
        sealed = Digest.ofContent(Files.readAllBytes(file));
        entry = entry(NAME);
    }

    private Seen read(BooleanSupplier ends) throws InterruptedException {
        return new HomeReader(0, 1, Duration.ofMinutes(1), true, ends)
                .read(root, true, List.of(entry), Map.of(1, sealed))
                .iterator()
                .next();
    }

    private void flip() {
        try {
            Trees.flip(file, 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Test
    void bytesThatDifferInOneReadingOnlyAreUnknown() throws Exception {
        flip();
        AtomicInteger asked = new AtomicInteger();

        // The reader asks whether to end twice before it reads the small file, and then after that.
        Seen seen = read(() -> {
            if (Thread.currentThread().isVirtual() && asked.incrementAndGet() == 3) {
                flip();
            }
            return false;
        });

        assertThat(seen).isInstanceOfSatisfying(Seen.Unknown.class, unknown -> {
            assertThat(unknown.message()).contains("a: two readings gave different bytes", sealed.toString());
            assertThat(unknown.ofSource()).isFalse();
        });
    }

    @Test
    void whatIsSomethingElseNowIsLeftToTheNight() throws Exception {
        Files.delete(file);
        assertThat(read(() -> false)).isInstanceOf(Seen.Edited.class);
        Files.createDirectory(file);
        assertThat(read(() -> false)).isInstanceOf(Seen.Edited.class);
    }

    @Test
    void whereAFileDiffersIsUnknownWithoutDigestsOfItsPartsOrWithoutTheFile(@TempDir Path there) throws Exception {
        byte[] content = new byte[(1 << 20) + 1];
        Path large = Files.write(root.resolve("large"), content);
        Path stored = Files.createDirectory(there.resolve("dr"));
        Files.write(stored.resolve("large"), content);
        Files.writeString(stored.resolve("a"), "Content");
        HomeReader reader = new HomeReader(0, 1, Duration.ofMinutes(1), true, () -> false);
        try (LoopbackSite site = LoopbackSite.openSsh(there.resolve("state"), stored, 0, "ForceCommand internal-sftp");
                Lanes lanes = Lanes.to(site.address(), 1)) {
            SiteReader reads = SiteReader.readOnly(lanes, Patience.USUAL);

            assertThat(reader.differences(root, true, entry, reads, copy(entry)))
                    .containsExactly(new ByteRange(0, 6));
            Entry largeEntry = entry(FilePath.of("large"));
            Trees.flip(large, 0);
            assertThat(reader.differences(root, true, largeEntry, reads, copy(largeEntry)))
                    .as("this site digests nothing")
                    .isEmpty();
            Files.delete(file);
            assertThat(reader.differences(root, true, entry, reads, copy(entry)))
                    .isEmpty();
        }
    }

    private Entry entry(FilePath path) throws IOException {
        try (OpenFile open = OpenFile.open(root, path)) {
            return new Entry(1, path, open.factsWhenOpened());
        }
    }

    private SiteCopy copy(Entry of) {
        return new SiteCopy(
                1, EntryKind.FILE, of.path(), of.path(), sealed, of.facts().sizeBytes(), true);
    }

    @Test
    void whenTheRunEndsNothingIsKnown() {
        assertThatThrownBy(() -> read(() -> true)).isInstanceOf(InterruptedException.class);
    }
}
