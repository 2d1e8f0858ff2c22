package dozo.content;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.content.Verdict.State;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class NiftiTest {

    /** Returns an image of 4 × 3 × 2 × 5 voxels of 16 bits. */
    static byte[] image() {
        return image(1, ByteOrder.LITTLE_ENDIAN);
    }

    private static byte[] image(int version, ByteOrder order) {
        int header = version == 1 ? 348 : 540;
        ByteBuffer image = ByteBuffer.allocate(header + 4 + 2 * 120).order(order);
        image.putInt(0, header);
        int[] dimensions = {4, 4, 3, 2, 5};
        if (version == 1) {
            for (int i = 0; i < 5; i++) {
                image.putShort(40 + 2 * i, (short) dimensions[i]);
            }
            image.putShort(70, (short) 4).putShort(72, (short) 16).putFloat(108, 352);
            image.put(344, new byte[] {'n', '+', '1', 0});
        } else {
            for (int i = 0; i < 5; i++) {
                image.putLong(16 + 8 * i, dimensions[i]);
            }
            image.put(4, new byte[] {'n', '+', '2', 0, 13, 10, 26, 10});
            image.putShort(12, (short) 4).putShort(14, (short) 16).putLong(168, 544);
        }
        return image.array();
    }

    private static Verdict judge(byte[] content) {
        return Judged.of("a.nii", content);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void anImageOfFullLengthIsWholeInBothByteOrders(int version) {
        for (ByteOrder order : new ByteOrder[] {ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN}) {
            byte[] image = image(version, order);

            assertThat(judge(image)).isEqualTo(new Verdict(State.WHOLE, "NIfTI-" + version, ""));
            assertThat(judge(Arrays.copyOf(image, image.length + 100)).state()).isEqualTo(State.WHOLE);
            Verdict cut = judge(Arrays.copyOf(image, image.length - 5));
            assertThat(cut.state()).isEqualTo(State.BROKEN);
            assertThat(cut.why())
                    .isEqualTo("its header says %,d bytes, the file has %,d".formatted(image.length, image.length - 5));
        }
    }

    @Test
    void aHeaderAloneAndFourBytesTooFewAreSuspect() {
        byte[] image = image();

        assertThat(judge(Arrays.copyOf(image, 352)).state()).isEqualTo(State.SUSPECT);
        assertThat(judge(Arrays.copyOf(image, image.length - 4)).state()).isEqualTo(State.SUSPECT);
    }

    @Test
    void aHeaderThatLeavesTheLengthOpenIsUnknown() {
        ByteBuffer image = ByteBuffer.wrap(image()).order(ByteOrder.LITTLE_ENDIAN);
        image.putShort(42, (short) 0);
        assertThat(judge(image.array()).state()).isEqualTo(State.UNKNOWN);

        image.putShort(42, (short) 4).putShort(72, (short) 8);
        assertThat(judge(image.array()).state()).isEqualTo(State.UNKNOWN);

        image.putShort(72, (short) 16).putShort(40, (short) 9);
        assertThat(judge(image.array()).state()).isEqualTo(State.UNKNOWN);

        image.putShort(40, (short) 4).putFloat(108, Float.NaN);
        assertThat(judge(image.array()).state()).isEqualTo(State.UNKNOWN);
    }

    @Test
    void verticesMayBeMoreThanSixteenBitsCanCount() {
        ByteBuffer image = ByteBuffer.wrap(image()).order(ByteOrder.LITTLE_ENDIAN);
        image.putShort(42, (short) -1).putInt(144, 4);

        assertThat(judge(image.array()).state()).isEqualTo(State.WHOLE);
        image.putInt(144, 5);
        assertThat(judge(image.array()).state()).isEqualTo(State.BROKEN);
    }

    @Test
    void dimensionsThatOverflowAreBroken() {
        ByteBuffer image = ByteBuffer.wrap(image(2, ByteOrder.LITTLE_ENDIAN)).order(ByteOrder.LITTLE_ENDIAN);
        image.putLong(24, Long.MAX_VALUE / 2);

        assertThat(judge(image.array()).why()).isEqualTo("its dimensions are impossible");
    }

    @Test
    void aTransferAsTextIsBroken() {
        byte[] image = image(2, ByteOrder.LITTLE_ENDIAN);
        image[9] = 13;

        assertThat(judge(image).why()).contains("transferred as text");
    }
}
