package dozo.content;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.content.Verdict.State;
import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class MghTest {

    private static final int HEADER_BYTES = 284;

    private static ByteBuffer volume(int type, int voxelBytes) {
        ByteBuffer file = ByteBuffer.allocate(HEADER_BYTES + 4 * 3 * 2 * 5 * voxelBytes);
        return file.putInt(0, 1)
                .putInt(4, 4)
                .putInt(8, 3)
                .putInt(12, 2)
                .putInt(16, 5)
                .putInt(20, type);
    }

    private static Verdict judge(ByteBuffer content) {
        return Judged.of("a.mgh", content.array());
    }

    @ParameterizedTest
    @CsvSource({"0, 1", "1, 4", "3, 4", "4, 2", "10, 2"})
    void volumesOfFullLengthAreWholeAndShorterOnesBroken(int type, int voxelBytes) {
        byte[] whole = volume(type, voxelBytes).array();

        assertThat(Judged.of("a.mgh", whole)).isEqualTo(new Verdict(State.WHOLE, "FreeSurfer MGH", ""));
        assertThat(Judged.of("a.mgh", Arrays.copyOf(whole, whole.length + 1_000))
                        .state())
                .isEqualTo(State.WHOLE);
        Mutations.cut("a.mgh", whole, 24, State.BROKEN::equals);
        assertThat(Judged.of("a.mgh", Arrays.copyOf(whole, 300)).why())
                .isEqualTo("its header says %,d bytes, the file has 300".formatted(whole.length));
    }

    @Test
    void theVersionMayKeepWhatTheVolumeIsFor() {
        assertThat(judge(volume(0, 1).putInt(0, 0x0301)).state()).isEqualTo(State.WHOLE);
        assertThat(judge(volume(0, 1).putInt(0, 2))).isEqualTo(Verdict.UNKNOWN);
    }

    @Test
    void onlyUsualNamesAreKnown() {
        assertThat(Judged.of("a.bin", volume(0, 1).array())).isEqualTo(Verdict.UNKNOWN);
    }

    @Test
    void otherTypesAndNoVoxelsAreUnknownAndTooManyBroken() {
        assertThat(judge(volume(6, 1)).state()).isEqualTo(State.UNKNOWN);
        assertThat(judge(volume(0, 1).putInt(8, 0)).state()).isEqualTo(State.UNKNOWN);
        int most = Integer.MAX_VALUE;
        assertThat(judge(volume(0, 1).putInt(4, most).putInt(8, most).putInt(12, most))
                        .why())
                .isEqualTo("its dimensions are impossible");
    }

    @Test
    void aVolumeInGzipIsCheckedToo() throws Exception {
        byte[] whole = volume(4, 2).array();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(whole, 0, whole.length - 1);
        }

        assertThat(Judged.of("a.mgz", out.toByteArray()))
                .isEqualTo(new Verdict(
                        State.BROKEN,
                        "FreeSurfer MGH in gzip",
                        "its header says %,d bytes, the file has %,d".formatted(whole.length, whole.length - 1)));
    }

    @Test
    void noChangedByteEndsACheck() {
        Mutations.fuzz(new Mgh(), "a.mgh", volume(4, 2).array(), 4);
    }

    @Test
    void realVolumesAreWhole() throws Exception {
        for (Path file : RealFiles.below("nifti/nibabel", ".mgz")) {
            assertThat(Judged.of("a.mgz", Files.readAllBytes(file)))
                    .as("%s", file)
                    .isEqualTo(new Verdict(State.WHOLE, "FreeSurfer MGH in gzip", ""));
        }
    }
}
