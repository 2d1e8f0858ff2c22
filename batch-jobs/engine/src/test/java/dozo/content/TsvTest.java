package dozo.content;

import static java.nio.charset.StandardCharsets.UTF_16;
import static java.nio.charset.StandardCharsets.UTF_16BE;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dozo.content.Verdict.State;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class TsvTest {

    private static final String EVENTS = "onset\tduration\ttrial_type\n" + "1.5\t2.0\tface\n".repeat(50);

    private static Verdict judge(String table) {
        return judge(table.getBytes(UTF_8));
    }

    private static Verdict judge(byte[] table) {
        return Judged.of("sub-01_events.tsv", table);
    }

    @Test
    void aTableIsWholeWithAndWithoutLastLineEnd() {
        assertThat(judge(EVENTS)).isEqualTo(new Verdict(State.WHOLE, "TSV", ""));
        assertThat(judge(EVENTS.strip()).state()).isEqualTo(State.WHOLE);
        assertThat(judge(EVENTS.replace("\n", "\r\n") + "\r\n\r\n").state()).isEqualTo(State.WHOLE);
        assertThat(judge("participant_id\nsub-01\n").state()).isEqualTo(State.WHOLE);
        assertThat(judge("a\t\n\tb\n").state()).isEqualTo(State.WHOLE);
    }

    @Test
    void linesOfDifferentLengthsAreSuspect() {
        assertThat(judge(EVENTS + "1.5\t2").why()).isEqualTo("line 52 has 2 columns, the first one has 3");
        assertThat(judge(EVENTS + "1.5\t2\t3\t4\n" + EVENTS).state()).isEqualTo(State.SUSPECT);
    }

    @Test
    void zerosInPlaceOfTextAreBroken() {
        byte[] whole = EVENTS.getBytes(UTF_8);
        for (int from = 0; from < whole.length - 1; from++) {
            // Only one zero at the start could be UTF-16.
            State wanted = from == 1 ? State.UNKNOWN : State.BROKEN;
            assertThat(judge(Mutations.zeroed(whole, from)).state())
                    .as("from %d", from)
                    .isEqualTo(wanted);
        }
        assertThat(judge(Mutations.zeroed(whole, 100)).why()).isEqualTo("line 7 has zeros in place of text");
        assertThat(judge(Mutations.zeroed(whole, whole.length - 1)).why()).isEqualTo("its last byte is zero");
    }

    @Test
    void utf16AndNoBytesAreUnknown() {
        assertThat(judge(EVENTS.getBytes(UTF_16))).isEqualTo(Verdict.UNKNOWN);
        assertThat(judge(EVENTS.getBytes(UTF_16BE))).isEqualTo(Verdict.UNKNOWN);
        assertThat(judge(new byte[0])).isEqualTo(Verdict.UNKNOWN);
    }

    @Test
    void placeholdersOfATableAreUnknown() {
        assertThat(judge("version https://git-lfs.github.com/spec/v1\noid sha256:00\n"))
                .isEqualTo(Verdict.UNKNOWN);
        assertThat(judge("/annex/objects/MD5E-s1--00.tsv\n")).isEqualTo(Verdict.UNKNOWN);
        assertThat(judge("<!DOCTYPE html>\n")).isEqualTo(Verdict.UNKNOWN);
    }

    @Test
    void aCutIsAtMostSuspect() {
        byte[] whole = EVENTS.getBytes(UTF_8);
        for (int length = 1; length < whole.length; length++) {
            assertThat(judge(Arrays.copyOf(whole, length)).state()).isIn(State.SUSPECT, State.WHOLE);
        }
    }

    @Test
    void anythingGetsAVerdict() {
        Mutations.fuzz(new Tsv(), "a.tsv", EVENTS.getBytes(UTF_8));
    }

    @Test
    void realFilesAreWhole() throws Exception {
        for (var file : RealFiles.below("bids", ".tsv")) {
            assertThat(RealFiles.judge(file).state()).as("%s", file).isEqualTo(State.WHOLE);
        }
    }
}
