package dozo.content;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.content.Verdict.State;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ZerosTest {

    @ParameterizedTest
    @ValueSource(
            strings = {
                "a.dcm",
                "a.edf",
                "a_raw.fif",
                "a.nii.gz",
                "a.JSON",
                "a.meg4",
                "a.mgz",
                "a.nii",
                "a.PAR",
                "a.res4"
            })
    void zerosUnderAKnownNameAreBroken(String name) {
        assertThat(Judged.of(name, new byte[1]).state()).isEqualTo(State.BROKEN);
        assertThat(Judged.of(name, new byte[1_981]).state()).isEqualTo(State.BROKEN);
        byte[] later = new byte[20_000];
        later[Beginning.BYTES] = '}';
        assertThat(Judged.of(name, later).why()).isEqualTo("its first 4,096 bytes are zeros");
    }

    @Test
    void theVerdictNamesTheFormatThatTheNameSays() {
        assertThat(Judged.of("a.json", new byte[100]))
                .isEqualTo(new Verdict(State.BROKEN, "JSON", "its first 100 bytes are zeros"));
    }

    @Test
    void packedZerosAreBrokenByTheNameOfTheirContent() throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
            gzip.write(new byte[10_000]);
        }
        assertThat(Judged.of("a.nii.gz", packed.toByteArray()).state()).isEqualTo(State.BROKEN);
        assertThat(Judged.of("a.bin.gz", packed.toByteArray()).state()).isEqualTo(State.WHOLE);
    }

    @Test
    void otherNamesEmptyFilesAndOtherBytesAreUnknown() {
        byte[] other = new byte[5_000];
        other[Beginning.BYTES - 1] = 1;

        assertThat(Judged.of("a.dat", new byte[5_000])).isEqualTo(Verdict.UNKNOWN);
        assertThat(Judged.of("a.nii", new byte[0])).isEqualTo(Verdict.UNKNOWN);
        assertThat(Judged.of("a.nii", other)).isEqualTo(Verdict.UNKNOWN);
    }
}
