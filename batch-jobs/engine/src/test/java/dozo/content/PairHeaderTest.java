package dozo.content;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;

import dozo.content.Verdict.State;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.List;
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

    /** 10 × 20 × 30 voxels of 16 bits, from an offset on. */
    private static byte[] images(int headerBytes, ByteOrder order, String magic, int offset) {
        ByteBuffer header = ByteBuffer.wrap(header(headerBytes, order)).order(order);
        boolean first = headerBytes == 348;
        int[] dimensions = {3, 10, 20, 30};
        for (int i = 0; i < dimensions.length; i++) {
            if (first) {
                header.putShort(40 + 2 * i, (short) dimensions[i]);
            } else {
                header.putLong(16 + 8 * i, dimensions[i]);
            }
        }
        header.putShort(first ? 70 : 12, (short) 4).putShort(first ? 72 : 14, (short) 16);
        if (first) {
            header.putFloat(108, offset);
        } else {
            header.putLong(168, offset);
        }
        return header.put(first ? 344 : 4, magic.getBytes(US_ASCII)).array();
    }

    private static Relation relation(String name, byte[] content) {
        Inspection inspection = new Inspection(name, content.length);
        inspection.take(ByteBuffer.wrap(content));
        assertThat(inspection.verdict().state()).isEqualTo(State.WHOLE);
        return inspection.relation().orElse(null);
    }

    @Test
    void itSaysHowManyBytesOfImagesThereAre() {
        for (ByteOrder order : new ByteOrder[] {ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN}) {
            assertThat(relation("A.hdr", images(348, order, "ni1", 0)))
                    .isEqualTo(new Companions(List.of("A.img", "A.img.gz"), 0, 12_000, 0, State.BROKEN));
            assertThat(relation("a.b.HDR", images(540, order, "ni2", 16)))
                    .isEqualTo(new Companions(List.of("a.b.IMG", "a.b.IMG.gz"), 0, 12_016, 0, State.BROKEN));
            assertThat(relation("a.hdr", images(348, order, "", 0)))
                    .isEqualTo(new Companions(List.of("a.img", "a.img.gz"), 0, 12_000, 0, State.SUSPECT));
            assertThat(relation("a.hdr", header(348, order))).isNull();
            assertThat(relation("\uFFFD.hdr", images(348, order, "ni1", 0))).isNull();
        }
    }

    @Test
    void otherFilesWithThisNameAreUnknown() {
        assertThat(judge(new byte[400])).isEqualTo(Verdict.UNKNOWN);
        assertThat(Judged.of("a.img", header(348, ByteOrder.BIG_ENDIAN))).isEqualTo(Verdict.UNKNOWN);
        assertThat(judge(new byte[] {1, 2})).isEqualTo(Verdict.UNKNOWN);
    }
}
