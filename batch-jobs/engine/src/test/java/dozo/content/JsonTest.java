package dozo.content;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_16LE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dozo.content.Verdict.State;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class JsonTest {

    private static final String SIDECAR = """
            {
              "RepetitionTime": 2.0,
              "SliceTiming": [0, -0.5, 1e3, 12.25E-2, 0.0e+1],
              "Site": "東京 \\"\\u6771\\\\", "é": "😀",
              "Flags": {"a": true, "b": [false, null, {}, []]}
            }
            """;

    private static Verdict judge(String json) {
        return judge(json.getBytes(UTF_8));
    }

    private static Verdict judge(byte[] json) {
        return Judged.of("a.json", json);
    }

    @Test
    void oneValueIsWhole() {
        assertThat(judge(SIDECAR)).isEqualTo(new Verdict(State.WHOLE, "JSON", ""));
        assertThat(judge("\uFEFF" + SIDECAR).state()).isEqualTo(State.WHOLE);
        assertThat(judge(" [NaN, Infinity, -Infinity]").state()).isEqualTo(State.WHOLE);
        assertThat(judge("[".repeat(9_000) + "]".repeat(9_000)).state()).isEqualTo(State.WHOLE);
    }

    @Test
    void aFileThatIsCutAnywhereIsBroken() {
        byte[] whole = SIDECAR.strip().getBytes(UTF_8);
        for (int length = 1; length < whole.length; length++) {
            assertThat(judge(Arrays.copyOf(whole, length)).state())
                    .as("of %d bytes", length)
                    .isEqualTo(State.BROKEN);
        }
        assertThat(judge(Arrays.copyOf(whole, 40)).why()).isEqualTo("it ends on line 3, in the middle of its value");
    }

    @Test
    void zerosInPlaceOfTextAreBroken() {
        byte[] whole = SIDECAR.strip().getBytes(UTF_8);
        for (int from = 2; from < whole.length; from++) {
            assertThat(judge(Mutations.zeroed(whole, from)).state()).isEqualTo(State.BROKEN);
        }
        assertThat(judge(Mutations.zeroed(whole, 40)).why()).isEqualTo("line 3 has zeros in place of text");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{} {}",
                "{}\0",
                "[1,]",
                "{\"a\":1,}",
                "{'a':1}",
                "// comment {",
                "[01]",
                "[1.]",
                "[+1]",
                "[-nan]",
                "[1.2.3]",
                "[1]]",
                "[1}",
                "{\"a\" 1}",
                "[tru]",
                "[\"\\x\"]",
                "[\"\\u12g4\"]",
                "[\"a\nb\"]"
            })
    void whatTheStandardForbidsAndProgramsWriteIsSuspect(String json) {
        assertThat(judge(json).state()).isEqualTo(json.startsWith("/") ? State.UNKNOWN : State.SUSPECT);
    }

    @Test
    void otherEncodingsAreSuspectOrUnknown() {
        assertThat(judge("{\"Name\": \"Müller\"}".getBytes(ISO_8859_1)).why())
                .isEqualTo("line 1 has characters that are not UTF-8");
        for (String wrong :
                new String[] {"\u00C0\u00AF", "\u00ED\u00A0\u0080", "\u00F4\u0090\u0080\u0080", "\u00E3\u0081"}) {
            assertThat(judge(("[\"" + wrong + "\"]").getBytes(ISO_8859_1)).state())
                    .isEqualTo(State.SUSPECT);
        }
        assertThat(judge(SIDECAR.getBytes(UTF_16LE)).state()).isEqualTo(State.UNKNOWN);
    }

    @Test
    void whatIsTooDeepIsUnknown() {
        assertThat(judge("[".repeat(20_000)).state()).isEqualTo(State.UNKNOWN);
    }

    @Test
    void otherNamesAndContentsAreUnknown() {
        assertThat(Judged.of("a.txt", SIDECAR.getBytes(UTF_8))).isEqualTo(Verdict.UNKNOWN);
        assertThat(judge("hello")).isEqualTo(Verdict.UNKNOWN);
    }

    @Test
    void anythingGetsAVerdict() {
        Mutations.fuzz(
                new Json(), "a.json", SIDECAR.getBytes(UTF_8), SIDECAR.repeat(9).getBytes(UTF_8));
    }

    @Test
    void realFilesAreWhole() throws Exception {
        for (var file : RealFiles.below("bids", ".json")) {
            assertThat(RealFiles.judge(file).state()).as("%s", file).isEqualTo(State.WHOLE);
        }
    }
}
