package dozo.ui;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.file.FilePath;
import dozo.plan.Work;
import dozo.restore.KeptRestore;
import dozo.restore.Restores.RestoreState;
import dozo.ui.RestorePage.Pace;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** How far a restore is, and how long it still takes. */
class RestorePaceTest {

    private static final Instant BEGUN = Instant.parse("2026-11-29T10:00:00Z");
    private static final Instant NOW = BEGUN.plusSeconds(100);

    @Test
    void halfOfItsEntriesAndBytesTookAsLongAsTheRest() {
        assertThat(Pace.of(restore(BEGUN, 50, 1_000), new Work(2_000, 100), NOW))
                .isEqualTo(new Pace(50, 10.0, 100.0));
    }

    @Test
    void manySmallFilesCountAsMuchAsALargeOne() {
        assertThat(Pace.of(restore(BEGUN, 0, 2_000), new Work(2_000, 100), NOW)).isEqualTo(new Pace(50, 20.0, 100.0));
    }

    @Test
    void nothingYetMeansThatTheTimeIsUnknown() {
        assertThat(Pace.of(restore(BEGUN, 0, 0), new Work(2_000, 100), NOW)).isEqualTo(new Pace(0, 0, null));
        assertThat(Pace.of(restore(null, 0, 0), new Work(2_000, 100), NOW)).isEqualTo(new Pace(0, 0, null));
    }

    @Test
    void ofASelectionOnlyTheRateIsKnown() {
        assertThat(Pace.of(restore(BEGUN, 50, 1_000), null, NOW)).isEqualTo(new Pace(null, 10.0, null));
    }

    @Test
    void nothingButFoldersHasNoBytes() {
        assertThat(Pace.of(restore(BEGUN, 100, 0), new Work(0, 100), NOW)).isEqualTo(new Pace(100, 0, 0.0));
    }

    @Test
    void aLinkRepeatsOnlyWhatAFormCanSay() {
        assertThat(RestorePage.isLinkable(part("a/脳.dcm".getBytes(StandardCharsets.UTF_8))))
                .isTrue();
        assertThat(RestorePage.isLinkable(part("脳".getBytes(Charset.forName("windows-31j")))))
                .isFalse();
        assertThat(RestorePage.isLinkable(part(" ".getBytes(StandardCharsets.UTF_8))))
                .isFalse();
        assertThat(RestorePage.isLinkable(part("a/".repeat(1_000).concat("b").getBytes(StandardCharsets.UTF_8))))
                .isFalse();
    }

    private static KeptRestore part(byte[] path) {
        byte[] folder = "/r".getBytes(StandardCharsets.UTF_8);
        return new KeptRestore(
                1,
                "P/E",
                "P",
                1,
                BEGUN,
                "",
                path,
                List.of(FilePath.render(path)),
                List.of(path),
                List.of(),
                List.of(),
                "dr",
                "/r",
                folder,
                false,
                null,
                null,
                null,
                false,
                null,
                false,
                RestoreState.STOPPED,
                "lab",
                BEGUN,
                BEGUN,
                BEGUN,
                0,
                0,
                0,
                0,
                0,
                "",
                null,
                null);
    }

    private static KeptRestore restore(@Nullable Instant begun, long entries, long bytes) {
        byte[] none = new byte[0];
        return new KeptRestore(
                1,
                "P/E",
                "P",
                1,
                BEGUN,
                "",
                none,
                List.of(),
                List.of(),
                List.of(),
                List.of(),
                "dr",
                "/r",
                none,
                false,
                null,
                null,
                null,
                false,
                null,
                false,
                RestoreState.RUNNING,
                "lab",
                BEGUN,
                begun,
                null,
                entries,
                bytes,
                entries,
                bytes,
                0,
                "",
                null,
                null);
    }
}
