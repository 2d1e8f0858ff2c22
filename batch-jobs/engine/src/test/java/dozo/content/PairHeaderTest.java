package dozo.content;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.content.Verdict.State;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class PairHeaderTest {

    private static byte[] header(int bytes, ByteOrder order) {
        return ByteBuffer.allocate(bytes).order(order).putInt(bytes).array();
    }

    private static Verdict judge(byte[] content) {
        return Judged.of("a.hdr", content);
    }

    @Test
    void aHeaderOfFullLengthIsWholeInBothByteOrdersAndBrokenWhenCut() {
        for (ByteOrder order : new ByteOrder[] {ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN}) {
            byte[] analyze = header(348, order);
            assertThat(judge(analyze)).isEqualTo(new Verdict(State.WHOLE, "Analyze header", ""));
            assertThat(judge(Arrays.copyOf(analyze, 352)).state()).isEqualTo(State.WHOLE);
            assertThat(judge(header(540, order))).isEqualTo(new Verdict(State.WHOLE, "NIfTI-2 header", ""));
            Mutations.cut("a.hdr", analyze, 4, State.BROKEN::equals);
            Mutations.cut("a.hdr", header(540, order), 4, State.BROKEN::equals);
        }
        assertThat(judge(Arrays.copyOf(header(348, ByteOrder.BIG_ENDIAN), 100)).why())
                .isEqualTo("it should have 348 bytes or more, the file has 100");
    }

    @Test
    void theHeaderOfAPairIsNamedAsNifti() {
        byte[] content = header(348, ByteOrder.LITTLE_ENDIAN);
        System.arraycopy(new byte[] {'n', 'i', '1'}, 0, content, 344, 3);

        assertThat(judge(content).format()).isEqualTo("NIfTI-1 header");
    }

    @Test
    void otherFilesWithThisNameAreUnknown() {
        assertThat(judge(new byte[400])).isEqualTo(Verdict.UNKNOWN);
        assertThat(Judged.of("a.img", header(348, ByteOrder.BIG_ENDIAN))).isEqualTo(Verdict.UNKNOWN);
        assertThat(judge(new byte[] {1, 2})).isEqualTo(Verdict.UNKNOWN);
    }
}
