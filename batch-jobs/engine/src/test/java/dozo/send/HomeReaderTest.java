package dozo.send;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.copy.Trees;
import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.send.HomeReader.Seen;
import dozo.source.OpenFile;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
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
        try (OpenFile open = OpenFile.open(root, NAME)) {
            entry = new Entry(1, NAME, open.factsWhenOpened());
        }
    }

    private Seen read(BooleanSupplier ends) throws InterruptedException {
        return new HomeReader(new Throttle(0), 0, Duration.ofMinutes(1), true, ends)
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
        Thread[] watched = new Thread[1];

        // The small file has been read when the reader asks whether to end.
        Seen seen = read(() -> {
            if (watched[0] == null && Thread.currentThread().isVirtual()) {
                watched[0] = Thread.currentThread();
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
    void whenTheRunEndsNothingIsKnown() {
        assertThatThrownBy(() -> read(() -> true)).isInstanceOf(InterruptedException.class);
    }
}
