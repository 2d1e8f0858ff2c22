package dozo.source.tree;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.source.tree.Completeness.Seen;
import dozo.source.tree.Completeness.Verdict;
import dozo.source.tree.Observed.Reason;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Verdicts on simulated folders at simulated times. */
class CompletenessTest {

    private static final Instant NOON = Instant.parse("2026-10-31T12:00:00Z");

    private final Map<String, Instant> files = new HashMap<>();
    private final Map<String, Contents.Image> images = new HashMap<>();
    private @Nullable Seen before;

    @Test
    void timeAloneIsEnoughOnlyWhereNoEvidenceIsAskedFor() {
        file("raw.dat", 0);

        assertThat(words(at(59, "quiet 1h"))).containsExactly("CHANGING");
        assertThat(at(60, "quiet 1h").isComplete()).isTrue();
        assertThat(words(at(600, "quiet 1h", "dicom"))).containsExactly("NO_EVIDENCE");
        assertThat(at(600, "quiet 1h", "alone 10h", "dicom").isComplete()).isTrue();
    }

    @Test
    void aMarkerIsWaitedForHoweverLongItTakesAndThenMissed() {
        file("a.dcm", 0);

        assertThat(words(at(3 * 1_440, "quiet 1h", "alone 2h", "marker .done"))).containsExactly("NO_MARKER");
        assertThat(at(6 * 1_440, "marker .done").wrong()).isFalse();
        assertThat(at(7 * 1_440, "marker .done").wrong()).isTrue();
        file(".done", 7 * 1_440);
        assertThat(at(7 * 1_440 + 60, "marker .done").isComplete()).isTrue();
    }

    @Test
    void aSeriesThatIsShortKeepsItFromBeingCompleteAndAMarkerMakesThatWrong() {
        image("s5/1", "5", 0, 3);
        image("s5/2", "5", 0, 3);

        Verdict arriving = at(120, "dicom", "marker done");
        assertThat(words(arriving)).containsExactly("SHORT_SERIES", "NO_MARKER");
        assertThat(arriving.wrong()).isFalse();

        file("done", 60);
        Verdict contradicted = at(120, "dicom", "marker done");
        assertThat(contradicted.wrong()).isTrue();
        assertThat(contradicted.reasons())
                .containsExactly(new Reason("SHORT_SERIES", "series 5", "2 of 3 images of acquisition 1 are here"));

        image("s5/3", "5", 100, 3);
        assertThat(at(160, "dicom", "marker done").isComplete()).isTrue();
    }

    @Test
    void wholeSeriesSayNothingOfThoseThatAreToComeUnlessTheirNumberIsKnown() {
        image("s1/1", "1", 0, 1);

        assertThat(words(at(600, "dicom"))).containsExactly("NO_EVIDENCE");
        assertThat(words(at(600, "dicom 2"))).containsExactly("FEW_SERIES");
        image("s2/1", "2", 600, 1);
        assertThat(at(700, "dicom 2").isComplete()).isTrue();
    }

    @Test
    void aSeriesThatDoesNotTellLeavesItToTime() {
        image("s1/1", "1", 0, 1);
        image("s2/1", "2", 0, 0);

        assertThat(words(at(600, "dicom 2"))).containsExactly("NO_EVIDENCE");
    }

    @Test
    void reconstructionsThatAreExpectedAreWaitedFor() {
        image("s1/1", "1", 0, 1);

        assertThat(words(at(47 * 60, "dicom 1", "expect 2 recon/*.nii"))).containsExactly("FEW");
        file("recon/a.nii", 48 * 60);
        file("recon/b.nii", 48 * 60);
        assertThat(at(49 * 60, "dicom 1", "expect 2 recon/*.nii").isComplete()).isTrue();
    }

    @ParameterizedTest
    @ValueSource(strings = {".a.dcm.Xy12Za", "a.dcm.part", "B.PARTIAL", "x.filepart"})
    void aTemporaryNameMeansThatSomethingIsBeingCopied(String name) {
        file(name, 0);
        file(".done", 0);

        assertThat(words(at(600, "marker .done"))).containsExactly("COPYING");
    }

    @ParameterizedTest
    @ValueSource(strings = {".profile", ".a.config", "a.partial.dcm", ".nfs000001"})
    void aNameThatIsNoneDoesNot(String name) {
        file(name, 0);

        assertThat(at(600, "quiet 1h").isComplete()).isTrue();
    }

    @Test
    void aServerWhoseClockIsAheadDelaysTheEndAndDoesNotPreventIt() {
        file("a", 10_000);

        Verdict first = at(0, "quiet 1h");
        assertThat(words(first)).containsExactly("CHANGING");
        before = first.seen();
        assertThat(words(at(30, "quiet 1h"))).containsExactly("CHANGING");
        assertThat(at(60, "quiet 1h").isComplete()).isTrue();
    }

    @Test
    void aChangeThatTheServersClockPutsLongAgoCountsFromWhenItWasSeen() {
        file("a", 0);
        before = at(600, "quiet 1h").seen();
        file("b", 0);

        assertThat(words(at(660, "quiet 1h"))).containsExactly("CHANGING");
    }

    @Test
    void anEmptyFolderIsNotComplete() {
        assertThat(words(at(600, "quiet 1h"))).contains("EMPTY");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "soon",
                "quiet",
                "quiet 1w",
                "alone 0h",
                "marker ",
                "marker /x",
                "marker ../x",
                "expect 0 a",
                "expect a",
                "dicom -1",
                "dicom 9999999",
                "alone 1m"
            })
    void aRuleThatIsNoneIsRefused(String text) {
        assertThatThrownBy(() -> Rules.of(List.of(text))).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void rulesAreWrittenAsTheyAreRead() {
        Rules rules = Rules.of(List.of("quiet 90m", "marker **/x?.end", "expect 3 a*", "dicom 4", "bids"));

        assertThat(Rules.of(rules.texts())).isEqualTo(rules);
        assertThat(Rules.of(Rules.USUAL.texts())).isEqualTo(Rules.USUAL);
    }

    private static List<String> words(Verdict verdict) {
        return verdict.reasons().stream().map(Reason::word).toList();
    }

    private static Instant minute(int minute) {
        return NOON.plus(Duration.ofMinutes(minute));
    }

    private void file(String path, int minute) {
        files.put(path, minute(minute));
    }

    private void image(String path, String series, int minute, int told) {
        file(path, minute);
        OptionalInt images = told == 0 ? OptionalInt.empty() : OptionalInt.of(told);
        this.images.put(path, new Contents.Image("1.2." + series, series, 1, 1, true, OptionalInt.empty(), images));
    }

    private Verdict at(int minute, String... rules) {
        Rules said = Rules.of(List.of(rules));
        Sighting sighting = new Sighting(said, minute(minute), new MadeUp());
        files.forEach((path, at) -> sighting.add(FilePath.of(path), facts(at)));
        try {
            return Completeness.judge(sighting.observed(), before, said, minute(minute));
        } catch (IOException e) {
            throw new AssertionError(e);
        }
    }

    private static Facts facts(Instant at) {
        long nanos = at.getEpochSecond() * 1_000_000_000;
        return new Facts(EntryKind.FILE, 1, nanos, nanos, 0644, null, null);
    }

    private final class MadeUp implements Contents {
        @Override
        public Optional<Image> image(FilePath file) {
            return Optional.ofNullable(images.get(file.toString()));
        }

        @Override
        public byte[] begin(FilePath file, int bytes) {
            return "".getBytes(StandardCharsets.UTF_8);
        }

        @Override
        public boolean leads(FilePath link) {
            return true;
        }

        @Override
        public List<String> above() {
            return List.of();
        }
    }
}
