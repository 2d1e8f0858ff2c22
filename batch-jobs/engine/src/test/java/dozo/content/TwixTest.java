package dozo.content;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.content.Verdict.State;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class TwixTest {

    private static final int FIRST_AT = 10_240;
    private static final int HEADER_BYTES = 1_000;
    private static final int READOUT_BYTES = 192 + 2 * (32 + 8 * 20);
    private static final int END_BYTES = 352;
    private static final int MEASURED_BYTES = HEADER_BYTES + 3 * READOUT_BYTES + 224 + END_BYTES;

    /** Returns a file of software VD with so many measurements of 3 readouts, synchronisation data and an end mark. */
    private static byte[] multi(int count) {
        int stride = (MEASURED_BYTES + 511) / 512 * 512;
        ByteBuffer file = ByteBuffer.allocate(FIRST_AT + count * stride).order(ByteOrder.LITTLE_ENDIAN);
        file.putInt(0).putInt(count);
        for (int i = 0; i < count; i++) {
            file.putInt(300 + i).putInt(400 + i).putLong(FIRST_AT + i * stride).putLong(MEASURED_BYTES);
            file.put(file.position(), "patient".getBytes(StandardCharsets.US_ASCII));
            file.position(8 + (i + 1) * 152);
        }
        for (int i = 0; i < count; i++) {
            measurement(file.position(FIRST_AT + i * stride));
        }
        return file.array();
    }

    private static void measurement(ByteBuffer file) {
        int start = file.position();
        file.putInt(HEADER_BYTES).putInt(6).put("Config\0".getBytes(StandardCharsets.US_ASCII));
        file.position(start + HEADER_BYTES);
        for (int i = 0; i < 3; i++) {
            block(file, READOUT_BYTES, 8, 20, 2);
        }
        block(file, 224, 1 << 5, 0, 0);
        block(file, END_BYTES, 1, 0, 0);
    }

    private static void block(ByteBuffer file, int bytes, long mask, int samples, int channels) {
        int start = file.position();
        file.putInt(start, bytes | 0x8000_0000).putLong(start + 40, mask);
        file.putShort(start + 48, (short) samples).putShort(start + 50, (short) channels);
        file.position(start + bytes);
    }

    /** Returns a file of software VB. */
    private static byte[] single() {
        int header = 11_000;
        int readout = 2 * (128 + 8 * 20);
        ByteBuffer file = ByteBuffer.allocate(header + 3 * readout + END_BYTES).order(ByteOrder.LITTLE_ENDIAN);
        file.putInt(header).putInt(4).put("Config\0".getBytes(StandardCharsets.US_ASCII));
        for (int i = 0; i <= 3; i++) {
            int start = header + i * readout;
            file.putInt(start, i < 3 ? readout : END_BYTES).putLong(start + 20, i < 3 ? 8 : 1);
            file.putShort(start + 28, (short) 20).putShort(start + 30, (short) 2);
        }
        return file.array();
    }

    private static Verdict judge(byte[] content) {
        return Judged.of("meas_MID00360.dat", content);
    }

    private static ByteBuffer in(byte[] content) {
        return ByteBuffer.wrap(content).order(ByteOrder.LITTLE_ENDIAN);
    }

    @Test
    void measurementsWithTheirEndMarksAreWhole() {
        assertThat(judge(single())).isEqualTo(new Verdict(State.WHOLE, "Siemens TWIX", ""));
        assertThat(judge(multi(1)).state()).isEqualTo(State.WHOLE);
        assertThat(judge(multi(3)).state()).isEqualTo(State.WHOLE);
        assertThat(judge(Arrays.copyOf(multi(3), 50_000)).state()).isEqualTo(State.WHOLE);
    }

    @Test
    void onlyNamesOfRawDataAreKnown() {
        assertThat(Judged.of("a.bin", multi(1))).isEqualTo(Verdict.UNKNOWN);
        assertThat(judge(new byte[20_000])).isEqualTo(Verdict.UNKNOWN);
    }

    @Test
    void aFileThatIsCutAnywhereIsBrokenByItsTable() {
        byte[] whole = multi(2);
        byte[] upToTheEndMark = Arrays.copyOf(whole, FIRST_AT + (whole.length - FIRST_AT) / 2 + MEASURED_BYTES);

        Mutations.cut("a.dat", upToTheEndMark, FIRST_AT - 100, State.BROKEN::equals);
        assertThat(judge(Arrays.copyOf(whole, 12_000)).why())
                .isEqualTo("its table says %,d bytes, the file has 12,000".formatted(upToTheEndMark.length));
    }

    @Test
    void aFileOfOneMeasurementIsBrokenInTheMiddleOfABlockAndSuspectBetweenBlocks() {
        byte[] whole = single();

        Mutations.cut("a.dat", Arrays.copyOf(whole, 11_000), 200, State.BROKEN::equals);
        Mutations.cut("a.dat", whole, 11_000, state -> state == State.BROKEN || state == State.SUSPECT);
        assertThat(judge(Arrays.copyOf(whole, 11_300))).satisfies(verdict -> {
            assertThat(verdict.state()).isEqualTo(State.BROKEN);
            assertThat(verdict.why()).isEqualTo("it ends in the middle of measurement 1 of 1");
        });
        assertThat(judge(Arrays.copyOf(whole, 11_000 + 576)).state()).isEqualTo(State.SUSPECT);
    }

    @Test
    void zerosWhereTheTableSaysDataAreBroken() {
        assertThat(judge(Mutations.zeroed(multi(2), FIRST_AT + HEADER_BYTES + READOUT_BYTES + 100)))
                .isEqualTo(new Verdict(
                        State.BROKEN,
                        "Siemens TWIX",
                        "measurement 1 of 2 is damaged before byte %,d"
                                .formatted(FIRST_AT + HEADER_BYTES + 2 * READOUT_BYTES + 52)));
        assertThat(judge(Mutations.zeroed(single(), 11_000 + 576)).state()).isEqualTo(State.SUSPECT);
    }

    @Test
    void aMeasurementWithoutEndMarkIsSuspect() {
        byte[] content = multi(2);
        int mark = FIRST_AT + MEASURED_BYTES - END_BYTES;
        in(content).putLong(8 + 16, MEASURED_BYTES - END_BYTES);
        Arrays.fill(content, mark, mark + END_BYTES, (byte) 0);

        assertThat(judge(content).state()).isEqualTo(State.SUSPECT);
        assertThat(judge(content).why()).startsWith("measurement 1 of 2 has no end mark");
    }

    @Test
    void packedReadoutsMayHaveAnotherLength() {
        byte[] content = multi(1);
        in(content).putInt(FIRST_AT + HEADER_BYTES, 3 * READOUT_BYTES);

        assertThat(judge(content).state()).isEqualTo(State.WHOLE);
    }

    @Test
    void aDamagedHeaderOfABlockLeadsNowhere() {
        byte[] content = multi(2);
        in(content).putShort(FIRST_AT + HEADER_BYTES + 48, (short) 30_000);
        assertThat(judge(content).state()).isEqualTo(State.BROKEN);

        in(content).putShort(FIRST_AT + HEADER_BYTES + 48, (short) 21);
        assertThat(judge(content).state()).isEqualTo(State.BROKEN);
    }

    @Test
    void noChangedByteEndsACheck() {
        Mutations.fuzz(new Twix(), "a.dat", multi(2), FIRST_AT);
        Mutations.fuzz(new Twix(), "a.dat", single(), 11_000);
    }
}
