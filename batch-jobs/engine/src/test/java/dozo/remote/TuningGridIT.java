package dozo.remote;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.loopback.LoopbackSite;
import dozo.remote.TuningGrid.Cell;
import dozo.remote.TuningGrid.Times;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Lanes and channels are measured with temporary files only, and the fewest that are fast are chosen. */
@Timeout(300)
class TuningGridIT {

    private static final Times SHORT = new Times(Duration.ofMillis(1), Duration.ofMillis(20), Duration.ofMinutes(5));

    @TempDir
    Path temp;

    @Test
    void allAreMeasuredWhileMoreAreFaster() throws Exception {
        List<Cell> cells = TuningGrid.<RuntimeException>cells((lanes, channels) -> OptionalDouble.of(lanes * channels));

        assertThat(cells).hasSize(15);
        assertThat(TuningGrid.best(cells)).isEqualTo(new Cell(16, 4, 64));
    }

    @Test
    void whatCannotBeFasterIsLeftOut() throws Exception {
        // A link that four windows fill.
        List<Cell> cells = TuningGrid.<RuntimeException>cells(
                (lanes, channels) -> OptionalDouble.of(Math.min(4.1, lanes * channels)));

        assertThat(cells)
                .containsExactly(
                        new Cell(1, 1, 1),
                        new Cell(1, 2, 2),
                        new Cell(1, 4, 4),
                        new Cell(2, 1, 2),
                        new Cell(2, 2, 4),
                        new Cell(2, 4, 4.1));
        assertThat(TuningGrid.best(cells)).as("within 5 % of 4.1, the fewest").isEqualTo(new Cell(1, 4, 4));
    }

    @Test
    void whatASiteDoesNotAllowIsLeftOut() throws Exception {
        List<Cell> cells = TuningGrid.<RuntimeException>cells(
                (lanes, channels) -> channels > 1 || lanes > 4 ? OptionalDouble.empty() : OptionalDouble.of(lanes));

        assertThat(cells).containsExactly(new Cell(1, 1, 1), new Cell(2, 1, 2), new Cell(4, 1, 4));
        assertThat(TuningGrid.<RuntimeException>cells((_, _) -> OptionalDouble.empty()))
                .isEmpty();
    }

    @Test
    void onlyTemporaryFilesAreWrittenAndNothingIsLeft() throws Exception {
        try (LoopbackSite site = site()) {
            Path root = Path.of(site.address().root());
            AtomicLong passed = new AtomicLong();
            AtomicInteger files = new AtomicInteger();

            List<Cell> cells = TuningGrid.measure(
                    site.address(),
                    WriteCheck.NONE,
                    SHORT,
                    bytes -> {
                        passed.addAndGet(bytes);
                        files.addAndGet((int) filesOutsideOfTemporary(root));
                    },
                    () -> true);

            assertThat(cells).isNotEmpty().first().satisfies(first -> {
                assertThat(first.lanes()).isOne();
                assertThat(first.channels()).isOne();
            });
            assertThat(passed.get()).as("counted against the limit").isPositive();
            assertThat(files).hasValue(0);
            assertNothingIsLeft(root);
        }
    }

    @Test
    void aHardenedSiteAllowsIt() throws Exception {
        Path root = Files.createDirectory(temp.resolve("root")).toRealPath();
        try (LoopbackSite site = GuardedSite.start(temp.resolve("state"), root, GuardedSite.script())) {
            assertThat(TuningGrid.measure(site.address(), WriteCheck.NONE, SHORT, _ -> {}, () -> true))
                    .isNotEmpty();
            assertNothingIsLeft(root);
        }
    }

    @Test
    void atASiteWithFewChannelsOnlyThoseAreMeasured() throws Exception {
        try (LoopbackSite site = site("MaxSessions 1")) {
            assertThat(TuningGrid.measure(site.address(), WriteCheck.NONE, SHORT, _ -> {}, () -> true))
                    .isNotEmpty()
                    .allSatisfy(cell -> assertThat(cell.channels()).isOne());
        }
    }

    @Test
    void afterAFailureNothingIsLeft() throws Exception {
        try (LoopbackSite site = site()) {
            assertThatThrownBy(() -> TuningGrid.measure(
                            site.address(),
                            WriteCheck.NONE,
                            SHORT,
                            _ -> {
                                throw new IllegalStateException("a failure");
                            },
                            () -> true))
                    .isInstanceOf(RemoteException.class)
                    .hasMessageContaining("could not be sent");
            assertNothingIsLeft(Path.of(site.address().root()));
        }
    }

    @Test
    void itEndsWhenItMust() throws Exception {
        try (LoopbackSite site = site()) {
            assertThat(TuningGrid.measure(site.address(), WriteCheck.NONE, SHORT, _ -> {}, () -> false))
                    .isEmpty();
            Times over = new Times(Duration.ofMillis(1), Duration.ofMillis(1), Duration.ZERO);
            assertThat(TuningGrid.measure(site.address(), WriteCheck.NONE, over, _ -> {}, () -> true))
                    .isEmpty();
            assertNothingIsLeft(Path.of(site.address().root()));
        }
    }

    private LoopbackSite site(String... configLines) throws IOException {
        return LoopbackSite.openSsh(temp.resolve("state"), temp.resolve("root"), 0, configLines);
    }

    private static long filesOutsideOfTemporary(Path root) {
        try (Stream<Path> all = Files.walk(root)) {
            return all.filter(Files::isRegularFile)
                    .filter(file -> !file.startsWith(root.resolve(".dozo/incoming")))
                    .count();
        } catch (IOException | java.io.UncheckedIOException removedMeanwhile) {
            return 0;
        }
    }

    private static void assertNothingIsLeft(Path root) throws IOException {
        try (Stream<Path> all = Files.walk(root)) {
            assertThat(all.filter(path -> !path.equals(root)
                            && !path.equals(root.resolve(".dozo"))
                            && !path.equals(root.resolve(".dozo/incoming"))))
                    .isEmpty();
        }
    }
}
