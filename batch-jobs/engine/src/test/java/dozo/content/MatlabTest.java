package dozo.content;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;

import dozo.content.Verdict.State;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Random;
import java.util.zip.Deflater;
import org.junit.jupiter.api.Test;

class MatlabTest {

    private static final int MATRIX = 14;
    private static final int COMPRESSED = 15;

    private static byte[] header(ByteOrder order) {
        return ByteBuffer.allocate(128)
                .order(order)
                .put("MATLAB 5.0 MAT-file".getBytes(ISO_8859_1))
                .putShort(124, (short) 0x0100)
                .putShort(126, (short) 0x4D49)
                .array();
    }

    private static byte[] element(ByteOrder order, int type, byte[] data) {
        return ByteBuffer.allocate(8 + data.length)
                .order(order)
                .putInt(type)
                .putInt(data.length)
                .put(data)
                .array();
    }

    private static byte[] noise(int bytes) {
        byte[] noise = new byte[bytes];
        new Random(bytes).nextBytes(noise);
        return noise;
    }

    /** Returns elements that unpack to so many megabytes of zeros each. */
    static byte[] zeros(int elements, int megabytes) {
        byte[] element = element(ByteOrder.LITTLE_ENDIAN, COMPRESSED, packed(new byte[megabytes * 1_000_000]));
        byte[][] parts = new byte[1 + elements][];
        Arrays.fill(parts, element);
        parts[0] = header(ByteOrder.LITTLE_ENDIAN);
        return joined(parts);
    }

    private static byte[] packed(byte[] data) {
        Deflater deflater = new Deflater();
        deflater.setInput(data);
        deflater.finish();
        byte[] packed = new byte[data.length + 100];
        int length = deflater.deflate(packed);
        deflater.end();
        return Arrays.copyOf(packed, length);
    }

    private static byte[] joined(byte[]... parts) {
        ByteBuffer all = ByteBuffer.allocate(
                Arrays.stream(parts).mapToInt(part -> part.length).sum());
        Arrays.stream(parts).forEach(all::put);
        return all.array();
    }

    private static byte[] plain(ByteOrder order) {
        return joined(header(order), element(order, MATRIX, noise(400)), element(order, MATRIX, noise(80)));
    }

    private static byte[] compressed() {
        ByteOrder order = ByteOrder.LITTLE_ENDIAN;
        return joined(
                header(order),
                element(order, COMPRESSED, packed(noise(501))),
                element(order, COMPRESSED, packed(new byte[100_000])),
                element(order, MATRIX, noise(80)));
    }

    private static Verdict judge(byte[] content) {
        return Judged.of("a.mat", content);
    }

    @Test
    void elementsUpToTheEndAreWholeInBothByteOrders() {
        assertThat(judge(plain(ByteOrder.LITTLE_ENDIAN))).isEqualTo(new Verdict(State.WHOLE, "MATLAB 5", ""));
        assertThat(judge(plain(ByteOrder.BIG_ENDIAN)).state()).isEqualTo(State.WHOLE);
        assertThat(judge(compressed()).state()).isEqualTo(State.WHOLE);
    }

    @Test
    void aCutWithinAnElementIsBroken() {
        // Between two elements a cut is invisible, and within the tag of one it is suspect: 8 cuts for each but the
        // first.
        assertThat(cutsNotSeen(plain(ByteOrder.LITTLE_ENDIAN))).isEqualTo(8);
        assertThat(cutsNotSeen(compressed())).isEqualTo(2 * 8);
        assertThat(judge(Arrays.copyOf(plain(ByteOrder.BIG_ENDIAN), 300)).why())
                .isEqualTo("it ends after 300 bytes, in the middle of element 1");
        assertThat(judge(Arrays.copyOf(plain(ByteOrder.BIG_ENDIAN), 540)).why())
                .isEqualTo("4 spare bytes follow element 1");
    }

    private static int cutsNotSeen(byte[] whole) {
        int cuts = 0;
        for (int length = 137; length < whole.length; length++) {
            cuts += judge(Arrays.copyOf(whole, length)).state() == State.BROKEN ? 0 : 1;
        }
        return cuts;
    }

    @Test
    void aChangedByteOfCompressedDataIsBroken() {
        byte[] whole = compressed();
        int first = 136;
        for (int at = first; at < first + 500; at++) {
            assertThat(judge(Mutations.flipped(whole, at)).state())
                    .as("byte %d", at)
                    .isEqualTo(State.BROKEN);
        }
        assertThat(judge(Mutations.flipped(whole, 300)).why()).isEqualTo("the compressed data of element 1 is damaged");
    }

    @Test
    void zerosAndSenselessTypesInPlaceOfAnElementAreBroken() {
        byte[] whole = plain(ByteOrder.LITTLE_ENDIAN);
        assertThat(judge(Mutations.zeroed(whole, 300)).why()).isEqualTo("it has zeros in place of element 2");
        whole[536] = 100;
        assertThat(judge(whole).why()).isEqualTo("the header of element 2 is damaged");
        whole[536] = MATRIX;
        whole[538] = 9;
        assertThat(judge(whole).why()).isEqualTo("the header of element 2 is damaged");
    }

    @Test
    void smallElementsAreInTheirTag() {
        byte[] small = {2, 0, 3, 0, 1, 2, 3, 0};
        assertThat(judge(joined(plain(ByteOrder.LITTLE_ENDIAN), small)).state()).isEqualTo(State.WHOLE);
    }

    @Test
    void whatFollowsAnOddLengthIsUnknown() {
        ByteOrder order = ByteOrder.LITTLE_ENDIAN;
        byte[] odd = joined(header(order), element(order, MATRIX, noise(81)));
        assertThat(judge(odd).state()).isEqualTo(State.WHOLE);
        assertThat(judge(joined(odd, element(order, MATRIX, noise(80)))).state())
                .isEqualTo(State.UNKNOWN);
    }

    @Test
    void aHeaderAloneIsSuspect() {
        assertThat(judge(header(ByteOrder.LITTLE_ENDIAN)).state()).isEqualTo(State.SUSPECT);
    }

    @Test
    void anythingGetsAVerdict() {
        Mutations.fuzz(
                new Matlab(), "a.mat", plain(ByteOrder.LITTLE_ENDIAN), plain(ByteOrder.BIG_ENDIAN), compressed());
    }
}
