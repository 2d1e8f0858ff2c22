package dozo.source;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.file.FilePath;
import dozo.source.Waiting.Folder;
import dozo.source.Waiting.Names;
import dozo.source.Waiting.Opened;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Folders wait, deepest first, with little memory, until the last one is read. */
class WaitingTest {

    private final Waiting waiting = new Waiting(() -> {});

    @Test
    void theFolderFoundLastIsTakenFirst() throws Exception {
        assertThat(take()).isEqualTo(FilePath.ROOT);
        waiting.read(names("", "a", "b"));
        assertThat(take()).isEqualTo(FilePath.of("b"));
        waiting.read(names("b", "x", "y"));
        assertThat(take()).isEqualTo(FilePath.of("b/y"));
        waiting.read(Names.none());
        assertThat(take()).isEqualTo(FilePath.of("b/x"));
        waiting.read(Names.none());
        assertThat(take()).isEqualTo(FilePath.of("a"));
        waiting.read(Names.none());
        assertThat(waiting.take()).isNull();
    }

    @Test
    void whoFindsNothingWaitsForWhatOthersMayFind() throws Exception {
        waiting.take();
        FutureTask<FilePath> other = new FutureTask<>(this::take);
        Thread thread = Thread.ofPlatform().start(other);
        while (thread.getState() != Thread.State.WAITING) {
            Thread.onSpinWait();
        }

        waiting.read(names("", "late"));

        assertThat(other.get(60, TimeUnit.SECONDS)).isEqualTo(FilePath.of("late"));
    }

    @Test
    void aMillionFoldersInOneWaitInTwentyBytesEach() {
        Names names = new Names(FilePath.of("a/folder"), null);
        for (int i = 0; i < 1_000_000; i++) {
            names.add("subject-%011d".formatted(i).getBytes(StandardCharsets.US_ASCII));
        }

        assertThat(names.lengthBytes()).isEqualTo(20_000_000);
        assertThat(names.takeLast().path()).isEqualTo(FilePath.of("a/folder/subject-00000999999"));
        assertThat(names.takeLast().path()).isEqualTo(FilePath.of("a/folder/subject-00000999998"));
    }

    @Test
    void aFolderIsACycleWhereItIsOneOfThoseItLiesIn() {
        Opened root = new Opened(null, 1, 10);
        Opened child = new Opened(root, 1, 11);

        assertThat(new Opened(child, 1, 10).isCycle()).isTrue();
        assertThat(new Opened(child, 1, 11).isCycle()).isTrue();
        assertThat(new Opened(child, 2, 10).isCycle()).isFalse();
        assertThat(child.isCycle()).isFalse();
    }

    private FilePath take() throws InterruptedException {
        Folder folder = waiting.take();
        assertThat(folder).isNotNull();
        return folder.path();
    }

    private static Names names(String folder, String... names) {
        Names found = new Names(FilePath.of(folder), null);
        for (String name : names) {
            found.add(name.getBytes(StandardCharsets.UTF_8));
        }
        return found;
    }
}
