package dozo.content;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.content.Verdict.State;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class CtfTest {

    private static final int DESCRIPTION_BYTES = 10;
    private static final int FILTERS_AT = 1_844 + DESCRIPTION_BYTES;
    private static final int COEFFICIENTS_AT = FILTERS_AT + 2 + 18 + 18 + 2 * 8 + 2 * 1_360;

    /** Returns a header with a description, 2 filters (none and 2 parameters), 2 channels and 1 coefficient. */
    private static byte[] header() {
        ByteBuffer file = ByteBuffer.allocate(COEFFICIENTS_AT + 2 + 1_992);
        file.put(0, new byte[] {'M', 'E', 'G', '4', '1', 'R', 'S', 0});
        file.putShort(1_292, (short) 2).putInt(1_836, DESCRIPTION_BYTES);
        file.putShort(FILTERS_AT, (short) 2).putShort(FILTERS_AT + 2 + 18 + 16, (short) 2);
        return file.putShort(COEFFICIENTS_AT, (short) 1).array();
    }

    private static byte[] data(String magic) {
        return Arrays.copyOf((magic + '\0').getBytes(StandardCharsets.US_ASCII), 8 + 4 * 300);
    }

    private static Verdict judge(byte[] content) {
        return Judged.of("a.res4", content);
    }

    @Test
    void aHeaderWithAllItsPartsIsWholeAndBrokenWhenCutAnywhere() {
        byte[] whole = header();

        assertThat(judge(whole)).isEqualTo(new Verdict(State.WHOLE, "CTF header (res4)", ""));
        assertThat(judge(Arrays.copyOf(whole, whole.length + 9)).state()).isEqualTo(State.WHOLE);
        Mutations.cut("a.res4", whole, 8, State.BROKEN::equals);
        assertThat(judge(Arrays.copyOf(whole, COEFFICIENTS_AT - 10)).why())
                .isEqualTo("it ends after %,d bytes, before the end of its channels; 12 bytes or more are missing"
                        .formatted(COEFFICIENTS_AT - 10));
    }

    @Test
    void theHeaderSaysHowManySamplesTheDataHas() {
        byte[] content = header();
        ByteBuffer.wrap(content).putInt(1_288, 300).putShort(1_312, (short) 5);

        assertThat(relation("a.b.res4", content))
                .contains(new Companions(
                        List.of("a.b.meg4", "a.b.1_meg4"), 8, 4 * 300 * 2 * 5, 4 * 300 * 2, State.SUSPECT));
        assertThat(relation("other", content)).isEmpty();
        assertThat(relation("a.res4", header())).isEmpty();
    }

    private static Optional<Relation> relation(String name, byte[] content) {
        Inspection inspection = new Inspection(name, content.length);
        inspection.take(ByteBuffer.wrap(content));
        inspection.verdict();
        return inspection.relation();
    }

    @Test
    void countsThatAreTooLargeOrNegativeAreBroken() {
        for (int place : new int[] {1_292, FILTERS_AT, COEFFICIENTS_AT}) {
            byte[] content = header();
            content[place] = 1;
            assertThat(judge(content).state()).as("at %d", place).isEqualTo(State.BROKEN);
            content[place] = -1;
            assertThat(judge(content).state()).as("at %d", place).isEqualTo(State.BROKEN);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"MEG41CP", "MEG42CP", "MEG4CPT"})
    void dataAreUnknownOrEndInTheMiddleOfASample(String magic) {
        byte[] content = data(magic);

        assertThat(Judged.of("a.meg4", content))
                .isEqualTo(new Verdict(
                        State.UNKNOWN, "CTF data (meg4)", "only the .res4 beside it says how long it should be"));
        assertThat(Judged.of("a.meg4", Arrays.copyOf(content, 8)).state()).isEqualTo(State.UNKNOWN);
        assertThat(Judged.of("a.meg4", Arrays.copyOf(content, 1_001)).why())
                .isEqualTo("it ends after 1,001 bytes, in the middle of a sample");
        assertThat(Judged.of("a.meg4", Arrays.copyOf(content, 1_004)).state()).isEqualTo(State.UNKNOWN);
    }

    @Test
    void noChangedByteEndsACheck() {
        Mutations.fuzz(new Ctf(), "a.res4", header(), 8);
        Mutations.fuzz(new Ctf(), "a.meg4", data("MEG41CP"), 8);
    }
}
