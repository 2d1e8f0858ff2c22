package dozo.content;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.content.Verdict.State;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class CompanionsTest {

    private static final Verdict WHOLE = new Verdict(State.WHOLE, "a header", "");

    private static final Companions IMAGES = new Companions(List.of("a.img", "a.img.gz"), 0, 1_200, 0, State.BROKEN);

    private static final Companions TRIALS =
            new Companions(List.of("a.meg4", "a.1_meg4"), 8, 1_200, 400, State.SUSPECT);

    private static Verdict judge(Companions those, Map<String, Long> sizes) {
        return those.judge(WHOLE, sizes);
    }

    @Test
    void allOfTheDataIsWhole() {
        assertThat(judge(IMAGES, Map.of("a.img", 1_200L))).isEqualTo(WHOLE);
        assertThat(judge(IMAGES, Map.of("a.img", 9_999L))).isEqualTo(WHOLE);
        assertThat(judge(TRIALS, Map.of("a.meg4", 808L, "a.1_meg4", 408L))).isEqualTo(WHOLE);
    }

    @Test
    void lessIsBroken() {
        assertThat(judge(IMAGES, Map.of("a.img", 1_199L)))
                .isEqualTo(new Verdict(State.BROKEN, "a header", "it says 1,200 bytes of data, a.img has 1,199"));
        assertThat(judge(TRIALS, Map.of("a.meg4", 1_000L)).state()).isEqualTo(State.BROKEN);
        assertThat(judge(TRIALS, Map.of("a.meg4", 5L, "a.1_meg4", 411L)).state())
                .isEqualTo(State.BROKEN);
    }

    @Test
    void aRecordingThatWasStoppedHasWholeTrials() {
        assertThat(judge(TRIALS, Map.of("a.meg4", 408L)))
                .isEqualTo(new Verdict(State.SUSPECT, "a header", "it says 1,200 bytes of data, a.meg4 has 400"));
    }

    @Test
    void withoutTheDataItIsWhatItsFormatSays() {
        assertThat(judge(IMAGES, Map.of())).isEqualTo(new Verdict(State.BROKEN, "a header", "a.img is missing"));
        assertThat(judge(TRIALS, Map.of()).state()).isEqualTo(State.SUSPECT);
    }

    @Test
    void aNextPartIsThereOrNot() {
        Companions part = new Companions(List.of("a-1.fif", "a-1.fif.gz"), 0, 0, 0, State.SUSPECT);

        assertThat(judge(part, Map.of("a-1.fif", 7L))).isEqualTo(WHOLE);
        assertThat(judge(part, Map.of("a-1.fif.gz", 7L))).isEqualTo(WHOLE);
        assertThat(judge(part, Map.of())).isEqualTo(new Verdict(State.SUSPECT, "a header", "a-1.fif is missing"));
    }

    @Test
    void theEndingSaysWhatMayBelongToAHeader() {
        assertThat(List.of("a.meg4", "a.1_MEG4", "a.img", "a.img.gz", "a-1.FIF", "a-1.fif.gz"))
                .allMatch(Companions::mayBe);
        assertThat(List.of("a.dcm", "a.gz", "a.fif.zip", "img")).noneMatch(Companions::mayBe);
    }

    @Test
    void nothingIsSaidOfWhatNobodyKnows() {
        assertThat(judge(IMAGES, Map.of("a.img.gz", 7L))).isEqualTo(WHOLE);
        assertThat(judge(IMAGES, Map.of("a.img", Companions.NO_FILE))).isEqualTo(WHOLE);
        assertThat(IMAGES.judge(Verdict.UNKNOWN, Map.of())).isEqualTo(Verdict.UNKNOWN);
    }
}
