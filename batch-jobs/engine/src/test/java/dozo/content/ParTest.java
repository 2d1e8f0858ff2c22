package dozo.content;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dozo.content.Verdict.State;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class ParTest {

    private static final String PAR = """
            # === DATA DESCRIPTION FILE ======================================================
            #
            # Dataset name: A
            # === GENERAL INFORMATION ========================================================
            .    Max. number of slices/locations    :   40

            # === IMAGE INFORMATION ==========================================================
             1   1    1  1 0 2     0  16    62   64   64
             2   1    1  1 0 2     1  16    62   64   64

            # === END OF DATA DESCRIPTION FILE ===============================================
            """;

    private static Verdict judge(String par) {
        return Judged.of("a.PAR", par.getBytes(UTF_8));
    }

    @Test
    void aTableWithItsLastLineIsWholeEvenIfTheScanWasStopped() {
        assertThat(judge(PAR)).isEqualTo(new Verdict(State.WHOLE, "Philips PAR", ""));
        assertThat(judge(PAR.replace("\n", "\r\n")).state()).isEqualTo(State.WHOLE);
    }

    @Test
    void aFileThatIsCutBeforeItsLastLineIsBroken() {
        byte[] whole = PAR.getBytes(UTF_8);
        int last = PAR.indexOf("# === END OF DATA DESCRIPTION FILE") + "# === END OF DATA DESCRIPTION FILE".length();
        for (int length = 40; length < whole.length; length++) {
            assertThat(Judged.of("a.PAR", Arrays.copyOf(whole, length)).state())
                    .as("of %d bytes", length)
                    .isEqualTo(length < last ? State.BROKEN : State.WHOLE);
        }
        assertThat(judge(PAR.substring(0, PAR.indexOf("# === END"))).why())
                .isEqualTo("it ends on line 11, after the rows of 2 images, without its last line");
    }

    @Test
    void zerosInPlaceOfTextAreBroken() {
        byte[] whole = PAR.getBytes(UTF_8);
        assertThat(Judged.of("a.PAR", Mutations.zeroed(whole, 420)).why()).contains("zeros in place of text");
    }

    @Test
    void rowsOfDifferentLengthsAreSuspect() {
        assertThat(judge(PAR.replace(" 2   1    1", " 2   1")).why())
                .isEqualTo("the row of image 2 has 10 numbers, the first one has 11");
    }

    @Test
    void anythingGetsAVerdict() {
        Mutations.fuzz(new Par(), "a.PAR", PAR.getBytes(UTF_8));
    }

    @Test
    void realFilesAreWhole() throws Exception {
        for (var file : RealFiles.below("par_rec", ".PAR")) {
            assertThat(RealFiles.judge(file).state()).as("%s", file).isEqualTo(State.WHOLE);
        }
    }
}
