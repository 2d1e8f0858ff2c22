package dozo.content;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dozo.content.Verdict.State;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class EdfTest {

    private static final int HEADER_BYTES = 3 * 256;
    private static final int RECORDS = 5;

    /** Returns a recording of 5 records with 10 and 20 samples. */
    private static byte[] recording(boolean bdf, String records) {
        byte[] file = new byte[HEADER_BYTES + RECORDS * 30 * (bdf ? 3 : 2)];
        Arrays.fill(file, 0, HEADER_BYTES, (byte) ' ');
        put(file, 0, bdf ? "\u00FFBIOSEMI" : "0");
        put(file, 168, "30.11.2607.38.44768");
        put(file, 236, records);
        put(file, 252, "2");
        put(file, 256 + 216 * 2, "10");
        put(file, 256 + 216 * 2 + 8, "20");
        return file;
    }

    private static byte[] edf() {
        return recording(false, "5");
    }

    private static void put(byte[] file, int at, String text) {
        byte[] latin = text.getBytes(ISO_8859_1);
        System.arraycopy(latin, 0, file, at, latin.length);
    }

    private static byte[] with(int at, String text) {
        byte[] file = edf();
        put(file, at, text);
        return file;
    }

    private static Verdict judge(byte[] content) {
        return Judged.of("a.edf", content);
    }

    @Test
    void allRecordsThatTheHeaderSaysAreWhole() {
        assertThat(judge(edf())).isEqualTo(new Verdict(State.WHOLE, "EDF", ""));
        assertThat(Judged.of("a.rec", edf()).state()).isEqualTo(State.WHOLE);
        assertThat(Judged.of("a", recording(true, "5"))).isEqualTo(new Verdict(State.WHOLE, "BDF", ""));
    }

    @Test
    void numbersMayEndWithZerosInPlaceOfSpaces() {
        assertThat(judge(with(184, "768\0\0\0\0\0")).state()).isEqualTo(State.WHOLE);
    }

    @Test
    void aCutInTheHeaderOrARecordIsBrokenAndBetweenRecordsSuspect() {
        byte[] whole = edf();
        Mutations.cut("a.edf", Arrays.copyOf(whole, HEADER_BYTES), 8, State.BROKEN::equals);
        for (int length = HEADER_BYTES; length < whole.length; length++) {
            assertThat(judge(Arrays.copyOf(whole, length)).state())
                    .isEqualTo((length - HEADER_BYTES) % 60 == 0 ? State.SUSPECT : State.BROKEN);
        }
        assertThat(judge(Arrays.copyOf(whole, HEADER_BYTES + 100)).why())
                .isEqualTo("it ends in the middle of record 2 of 5");
        assertThat(judge(Arrays.copyOf(whole, HEADER_BYTES + 120)).why())
                .isEqualTo("its header says 5 records, the file has 2");
    }

    @Test
    void moreRecordsAndAPartOfOneAreSuspect() {
        assertThat(judge(Arrays.copyOf(edf(), HEADER_BYTES + 360)).state()).isEqualTo(State.SUSPECT);
        assertThat(judge(Arrays.copyOf(edf(), HEADER_BYTES + 301)).state()).isEqualTo(State.SUSPECT);
    }

    @Test
    void aRecordingThatWasNotFinishedIsUnknown() {
        byte[] unfinished = recording(true, "-1");

        assertThat(judge(unfinished))
                .isEqualTo(new Verdict(
                        State.UNKNOWN,
                        "BDF",
                        "its recording was not finished, so its header has no number of records"));
        assertThat(judge(Arrays.copyOf(unfinished, unfinished.length - 1)).why())
                .isEqualTo("its recording was not finished; it ends in the middle of record 5");
        assertThat(judge(Arrays.copyOf(unfinished, unfinished.length - 1)).state())
                .isEqualTo(State.SUSPECT);
    }

    @Test
    void damagedNumbersInTheHeaderAreBroken() {
        assertThat(judge(with(236, "5x")).why())
                .isEqualTo("its header has no number where the number of records should be");
        assertThat(judge(with(256 + 216 * 2 + 8, "?")).why()).contains("samples of signal 2");
        assertThat(judge(with(252, "-2")).state()).isEqualTo(State.BROKEN);
        assertThat(judge(Mutations.zeroed(edf(), 600)).state()).isEqualTo(State.BROKEN);
        assertThat(judge(with(184, "1024")).state()).isEqualTo(State.SUSPECT);
        assertThat(judge(with(252, "9999")).state()).isEqualTo(State.SUSPECT);
    }

    @Test
    void textThatBeginsLikeARecordingIsNotOne() {
        byte[] table = "0       1       2\n".repeat(100).getBytes(ISO_8859_1);

        assertThat(Judged.of("a.txt", table)).isEqualTo(Verdict.UNKNOWN);
    }

    @Test
    void noChangedByteEndsACheck() {
        Mutations.fuzz(new Edf(), "a.edf", edf(), 8);
        Mutations.fuzz(new Edf(), "a.bdf", recording(true, "5"), 256);
    }
}
