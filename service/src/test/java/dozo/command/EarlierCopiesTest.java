package dozo.command;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.copy.Copy;
import dozo.plan.Measurement;
import dozo.plan.Work;
import dozo.remote.SiteAddress;
import dozo.remote.Way;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The durations of earlier copies are kept, within bounds, and never a reason to fail. */
class EarlierCopiesTest {

    private static final String WAY = "0123456789abcdef";
    private static final Work WORK = new Work(1_000_000, 7);

    @TempDir
    Path folder;

    @Test
    void theLatestOfTheSameWayAreReturned() {
        EarlierCopies earlier = EarlierCopies.in(folder.resolve("new"));
        for (int i = 0; i < EarlierCopies.KEPT_MAX + 5; i++) {
            earlier.add(WAY, WORK, 10.5 + i);
            earlier.add("fedcba9876543210", WORK, 3);
        }

        List<Measurement> found = EarlierCopies.in(folder.resolve("new")).of(WAY);

        assertThat(found).hasSize(EarlierCopies.KEPT_MAX);
        assertThat(found.getFirst()).isEqualTo(new Measurement(WORK, 1, 15.5));
        assertThat(found.getLast()).isEqualTo(new Measurement(WORK, 1, 34.5));
        assertThat(earlier.of("0000000000000000")).isEmpty();
    }

    @Test
    void shortAndEmptyCopiesAreNotKept() {
        EarlierCopies earlier = new EarlierCopies(folder, Duration.ofSeconds(2));

        earlier.add(WAY, WORK, 1.9);
        earlier.add(WAY, new Work(0, 7), 100);

        assertThat(earlier.of(WAY)).isEmpty();
        assertThat(folder).isEmptyDirectory();
    }

    @Test
    void theFileDoesNotGrow() throws IOException {
        EarlierCopies earlier = EarlierCopies.in(folder);
        for (int i = 0; i < EarlierCopies.LINES_MAX + 10; i++) {
            earlier.add(WAY, WORK, 10 + i);
        }

        assertThat(Files.readAllLines(folder.resolve("earlier-copies"))).hasSize(EarlierCopies.LINES_MAX / 2 + 10);
        assertThat(earlier.of(WAY).getLast().seconds()).isEqualTo(10 + EarlierCopies.LINES_MAX + 9);
    }

    @Test
    void foreignLinesAreIgnored() throws IOException {
        EarlierCopies earlier = EarlierCopies.in(folder);
        earlier.add(WAY, WORK, 10);
        Files.write(
                folder.resolve("earlier-copies"),
                new byte[] {'\n', (byte) 0xFF, '\n', '0', ' ', '1', '\n'},
                StandardOpenOption.APPEND);
        earlier.add(WAY, WORK, 20);

        assertThat(earlier.of(WAY)).extracting(Measurement::seconds).containsExactly(10.0, 20.0);
    }

    @Test
    void aFolderThatCannotBeUsedIsAsIfThereWereNone() throws IOException {
        EarlierCopies noFolder = EarlierCopies.in(Files.writeString(folder.resolve("file"), ""));
        Files.createDirectory(folder.resolve("earlier-copies"));
        EarlierCopies noFile = EarlierCopies.in(folder);

        noFolder.add(WAY, WORK, 10);
        noFile.add(WAY, WORK, 10);

        assertThat(noFolder.of(WAY)).isEmpty();
        assertThat(noFile.of(WAY)).isEmpty();
    }

    @Test
    void onlyTheSameWayOfCopyingIsComparable() {
        SiteAddress site = new SiteAddress("dr", 22, "backup", "/", Path.of("key"), "ssh-ed25519 AAAA");
        Copy.Options options = new Copy.Options(0, 0, false, false);
        String way = EarlierCopies.way(site, "to", options);

        assertThat(EarlierCopies.way(site, "to", new Copy.Options(0, 1_000, true, false)))
                .as("a dry run with a limit asks about it")
                .isEqualTo(way);
        assertThat(EarlierCopies.way(
                        site.by(new Way(Optional.empty(), 0, Optional.of(Path.of("agent.7")), Optional.empty())),
                        "to",
                        options))
                .as("an agent's socket has another name in each session")
                .isEqualTo(way);
        assertThat(List.of(
                        EarlierCopies.way(site, "from", options),
                        EarlierCopies.way(site, "to", new Copy.Options(2, 0, false, false)),
                        EarlierCopies.way(site, "to", new Copy.Options(0, 0, false, true)),
                        EarlierCopies.way(site.by(new Way(Optional.empty(), 10)), "to", options),
                        EarlierCopies.way(site.behind(site), "to", options),
                        EarlierCopies.way(
                                new SiteAddress("dr", 2222, "backup", "/", Path.of("key"), "ssh-ed25519 AAAA"),
                                "to",
                                options)))
                .doesNotHaveDuplicates()
                .doesNotContain(way);
    }
}
