package dozo.picture;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The picture of a NIfTI file is the middle slice of its first volume, the front of the head at the top. */
class NiftiPictureTest {

    private static final int SIGNED_16 = 4;

    /** Returns the header of an image whose data begin at once. */
    static ByteBuffer header(int version, ByteOrder order, int dataBytes, int type, long... dimensions) {
        int bytes = version == 1 ? 348 : 540;
        ByteBuffer image =
                ByteBuffer.allocate(bytes + 4 + dataBytes).order(order).putInt(0, bytes);
        for (int i = 0; i < dimensions.length; i++) {
            if (version == 1) {
                image.putShort(40 + 2 * i, (short) dimensions[i]);
            } else {
                image.putLong(16 + 8 * i, dimensions[i]);
            }
        }
        if (version == 1) {
            image.putShort(70, (short) type).putFloat(108, bytes + 4);
            image.put(344, new byte[] {'n', '+', '1', 0});
        } else {
            image.put(4, new byte[] {'n', '+', '2', 0, 13, 10, 26, 10});
            image.putShort(12, (short) type).putLong(168, bytes + 4);
        }
        return image.position(bytes + 4);
    }

    /** Returns three slices of 2 × 2 points in two volumes, of which the second slice counts. */
    static byte[] image(int version, ByteOrder order) {
        ByteBuffer image = header(version, order, 2 * 2 * 2 * 3 * 2, SIGNED_16, 4, 2, 2, 3, 2);
        for (int value : new int[] {7, 7, 7, 7, -1, 0, 1, 2}) {
            image.putShort((short) value);
        }
        return image.array();
    }

    static byte[] gzip(byte[] content) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
            gzip.write(content);
        } catch (IOException e) {
            throw new AssertionError(e);
        }
        return out.toByteArray();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void theMiddleSliceIsDrawnInBothByteOrdersAndInGzip(int version) {
        for (ByteOrder order : new ByteOrder[] {ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN}) {
            byte[] image = image(version, order);

            assertThat(Drawn.of(image)).isEqualTo("[[170, 255], [0, 85]]");
            assertThat(Drawn.of(gzip(image))).isEqualTo("[[170, 255], [0, 85]]");
        }
    }

    @ParameterizedTest
    @CsvSource({"2, 1", "4, 2", "8, 4", "16, 4", "64, 8", "256, 1", "512, 2", "768, 4"})
    void everyTypeOfNumberIsDrawn(int type, int bytes) {
        ByteBuffer image = header(1, ByteOrder.LITTLE_ENDIAN, 3 * bytes, type, 2, 3, 1);
        for (int i = 0; i < 3; i++) {
            switch (type) {
                case 16 -> image.putFloat(10f * i);
                case 64 -> image.putDouble(10.0 * i);
                default -> {
                    byte[] number = new byte[bytes];
                    number[0] = (byte) (10 * i);
                    image.put(number);
                }
            }
        }

        assertThat(Drawn.of(image.array())).isEqualTo("[[0, 127, 255]]");
    }

    @Test
    void undefinedValuesAreBlackAndNoMeasure() {
        ByteBuffer image = header(1, ByteOrder.LITTLE_ENDIAN, 16, 16, 2, 4, 1)
                .putFloat(Float.NaN)
                .putFloat(Float.POSITIVE_INFINITY)
                .putFloat(1)
                .putFloat(2);

        assertThat(Drawn.of(image.array())).isEqualTo("[[0, 0, 0, 255]]");
    }

    @Test
    void aLargeSliceIsShownSmaller() throws NoPicture {
        byte[] image = header(1, ByteOrder.LITTLE_ENDIAN, 4_096 * 2_000, 2, 2, 4_096, 2_000)
                .array();

        BufferedImage picture = DrawingProcess.draw(image, 0, false);

        assertThat(picture.getWidth()).isEqualTo(1_024);
        assertThat(picture.getHeight()).isEqualTo(500);
    }

    @ParameterizedTest
    @CsvSource(textBlock = """
            128,  2, 2,    2,    1,       NOT_GREY
            4,    1, 2,    2,    1,       DAMAGED
            4,    2, 0,    2,    1,       NO_IMAGE
            4,    2, -2,   2,    1,       NO_IMAGE
            4,    3, 2,    2,    0,       DAMAGED
            4,    2, 4097, 2,    1,       TOO_LARGE
            64,   2, 4096, 4096, 1,       TOO_LARGE
            4,    3, 2,    2,    1048577, DAMAGED
            4,    3, 2,    2,    1000000, DAMAGED
            """)
    void whatIsNotDrawnHasAReason(int type, long count, long width, long height, long slices, String why) {
        byte[] image = header(2, ByteOrder.LITTLE_ENDIAN, 100, type, count, width, height, slices)
                .array();

        assertThat(Drawn.of(image)).isEqualTo(why);
    }

    @Test
    void anImpossibleOffsetIsDamagedAndOneInsideTheHeaderIsNotMeant() {
        for (float offset : new float[] {Float.NaN, -1, Float.POSITIVE_INFINITY, 4e9f}) {
            ByteBuffer image =
                    ByteBuffer.wrap(image(1, ByteOrder.LITTLE_ENDIAN)).order(ByteOrder.LITTLE_ENDIAN);
            assertThat(Drawn.of(image.putFloat(108, offset).array())).isEqualTo("DAMAGED");
        }
        ByteBuffer image = ByteBuffer.wrap(image(1, ByteOrder.LITTLE_ENDIAN)).order(ByteOrder.LITTLE_ENDIAN);
        assertThat(Drawn.of(image.putFloat(108, 0).array())).startsWith("[[170");
    }

    @Test
    void aFileThatIsCutHasNoPictureAtAnyLength() {
        byte[] whole = image(1, ByteOrder.LITTLE_ENDIAN);
        // The last slice of the first volume and the second volume are not read.
        for (int length = 0; length < 352 + 16; length++) {
            assertThat(Drawn.of(Arrays.copyOf(whole, length))).isIn("UNKNOWN_FORMAT", "DAMAGED");
        }
        byte[] packed = gzip(whole);
        for (int length = 0; length < packed.length - 40; length++) {
            assertThat(Drawn.of(Arrays.copyOf(packed, length)))
                    .isIn("UNKNOWN_FORMAT", "DAMAGED", "[[170, 255], [0, 85]]");
        }
    }
}
