package dozo.content;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.content.Verdict.State;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class KitTest {

    private static final int CHANNELS = 4;
    private static final int SYSTEM_AT = 512;
    private static final int CONDITION_AT = 900;
    private static final int DATA_AT = 960;

    private static byte[] recording(int kind, int... lengths) {
        boolean averages = kind == 2;
        int itemBytes = averages ? 8 : 2;
        int items = CHANNELS * (kind == 3 ? lengths[0] * lengths[3] : kind == 1 ? lengths[1] : lengths[0]);
        ByteBuffer file = ByteBuffer.allocate(DATA_AT + items * itemBytes).order(ByteOrder.LITTLE_ENDIAN);
        entry(file, 0, 0, 16, 32);
        entry(file, 1, SYSTEM_AT, 300, 1);
        entry(file, 8, CONDITION_AT, 40, 1);
        entry(file, averages ? 10 : 9, DATA_AT, itemBytes, items);
        entry(file, 13, 123_456, 600, 0);
        file.putInt(SYSTEM_AT, 2).putInt(SYSTEM_AT + 268, CHANNELS);
        file.putInt(CONDITION_AT, kind).putDouble(CONDITION_AT + 4, 1_000);
        for (int i = 0; i < lengths.length; i++) {
            file.putInt(CONDITION_AT + 12 + 4 * i, lengths[i]);
        }
        return file.array();
    }

    private static void entry(ByteBuffer file, int number, int... values) {
        file.putInt(16 * number, values[0]).putInt(16 * number + 4, values[1]);
        file.putInt(16 * number + 8, values[2]).putInt(16 * number + 12, values[2]);
    }

    private static byte[] continuous() {
        return recording(1, 200, 100);
    }

    private static Verdict judge(byte[] content) {
        return Judged.of("a.con", content);
    }

    @Test
    void recordingsOfAllKindsAreWholeAndBrokenWhenCutAnywhere() {
        for (byte[] whole : new byte[][] {continuous(), recording(2, 50, 0, 9, 9), recording(3, 50, 0, 9, 2)}) {
            assertThat(judge(whole)).isEqualTo(new Verdict(State.WHOLE, "KIT", ""));
            assertThat(judge(Arrays.copyOf(whole, whole.length + 10)).state()).isEqualTo(State.WHOLE);
            Mutations.cut("a.con", whole, 48, State.BROKEN::equals);
        }
        assertThat(judge(Arrays.copyOf(continuous(), 1_000)).why())
                .isEqualTo("its directory says 1,760 bytes, the file has 1,000");
    }

    @Test
    void onlyTheSamplesThatWereAcquiredCount() {
        for (int part : new int[] {9, 10}) {
            byte[] content = part == 9 ? continuous() : recording(2, 50, 0, 9, 9);
            ByteBuffer file = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
            file.putInt(16 * part + 8, 1_000_000).putInt(16 * part + 12, 1_000_000);

            assertThat(judge(content).state()).as("part %d", part).isEqualTo(State.WHOLE);
        }
    }

    @Test
    void moreSamplesThanTheFileHasAreBroken() {
        byte[] content = continuous();
        ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN).putInt(CONDITION_AT + 16, 112);

        assertThat(judge(content).why()).isEqualTo("its directory says 1,856 bytes, the file has 1,760");
        ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN).putInt(CONDITION_AT + 16, Integer.MAX_VALUE);
        assertThat(judge(content).state()).isEqualTo(State.BROKEN);
    }

    @Test
    void aPartBehindTheEndIsBroken() {
        byte[] content = continuous();
        entry(ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN), 12, 5_000, 10, 2);

        assertThat(judge(content).state()).isEqualTo(State.BROKEN);
    }

    @Test
    void nobodyKnowsWithoutTheCountOfSamples() {
        byte[] content = continuous();
        ByteBuffer file = ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
        file.putInt(CONDITION_AT, 7);
        assertThat(judge(content).state()).isEqualTo(State.UNKNOWN);

        file.putInt(CONDITION_AT, 1).putInt(16 * 8, 0);
        assertThat(judge(content).state()).isEqualTo(State.UNKNOWN);

        file.putInt(16 * 8, CONDITION_AT).putInt(16 * 9, 0);
        assertThat(judge(content).state()).isEqualTo(State.UNKNOWN);
    }

    @Test
    void onlyUsualNamesAndADirectoryOfItselfAreKnown() {
        byte[] other = continuous();
        other[0] = 16;

        assertThat(Judged.of("a.bin", continuous())).isEqualTo(Verdict.UNKNOWN);
        assertThat(judge(other)).isEqualTo(Verdict.UNKNOWN);
        assertThat(Judged.of("MarkerFile.mrk", new byte[5_000])).isEqualTo(Verdict.UNKNOWN);
    }

    @Test
    void noChangedByteEndsACheck() {
        Mutations.fuzz(new Kit(), "a.con", continuous(), 512);
        Mutations.fuzz(new Kit(), "a.con", recording(2, 50, 0, 9, 9), 32);
    }

    @Test
    void realFilesAreWholeAndTheirCutsAreNot() throws Exception {
        for (Path file : RealFiles.below("meg/kit_mne_python", ".sqd")) {
            byte[] content = Files.readAllBytes(file);
            String name = file.getFileName().toString();
            assertThat(Judged.of(name, content).state()).as("%s", file).isEqualTo(State.WHOLE);

            for (int i = 1; i < 20; i++) {
                int length = (int) ((long) content.length * i / 20);
                assertThat(Judged.of(name, Arrays.copyOf(content, length)).state())
                        .as("%,d bytes of %s", length, file)
                        .isEqualTo(State.BROKEN);
            }
            assertThat(Judged.of(name, Arrays.copyOf(content, content.length - 1))
                            .state())
                    .isEqualTo(State.BROKEN);
        }
    }
}
