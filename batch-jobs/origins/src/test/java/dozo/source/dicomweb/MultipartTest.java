package dozo.source.dicomweb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.Trouble;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Every part is read unchanged, whatever it contains and however its bytes arrive; an answer that ends too early is an
 * error.
 */
class MultipartTest {

    private static final String TYPE = "multipart/related; type=\"application/dicom\"; boundary=b0-1";

    @Test
    void partsComeOutAsTheyWentIn() throws Exception {
        List<byte[]> parts = List.of(
                new byte[0],
                bytes("\r\n--b0-"),
                bytes("--b0-1\r\n"),
                bytes("\r\r\n\r\n--b0"),
                new Random(7)
                        .ints(200_000, 0, 256)
                        .collect(ByteArrayOutputStream::new, ByteArrayOutputStream::write, (a, b) -> {})
                        .toByteArray());

        for (int step : new int[] {1, 3, 70, 100_000}) {
            assertThat(read(TYPE, new ByteArrayInputStream(answer(parts)), step))
                    .usingRecursiveComparison()
                    .isEqualTo(parts);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Multipart/Related; boundary=\"b0-1\"",
                "multipart/related; boundary=b0-1; type=\"application/dicom\"",
                "multipart/related;boundary=b0-1"
            })
    void aBoundaryIsFoundHoweverItIsWritten(String type) throws Exception {
        assertThat(read(type, new ByteArrayInputStream(answer(List.of(bytes("x")))), 10))
                .hasSize(1);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "text/html",
                "multipart/related",
                "multipart/related; boundary=",
                "multipart/related; boundary=\"\""
            })
    void whatIsNotMultipartIsNotRead(String type) {
        assertThat(trouble(type, answer(List.of(bytes("x"))))).isEqualTo(Trouble.UNPARSED);
    }

    @Test
    void whatEndsBeforeItsLastBoundaryIsNotWhole() {
        byte[] whole = answer(List.of(bytes("some bytes"), bytes("more")));

        for (int length = 0; length < whole.length - 2; length++) {
            assertThat(trouble(TYPE, Arrays.copyOf(whole, length)))
                    .as("cut at %d", length)
                    .isEqualTo(Trouble.DROPPED);
        }
    }

    @Test
    void headersHaveAnEnd() {
        byte[] endless = bytes("--b0-1\r\n" + "X: y\r\n".repeat(10_000));

        assertThat(trouble(TYPE, endless)).isEqualTo(Trouble.UNPARSED);
    }

    private static Trouble trouble(String type, byte[] answer) {
        return catchThrowableOfType(DeliveryException.class, () -> read(type, new ByteArrayInputStream(answer), 100))
                .trouble();
    }

    private static List<byte[]> read(String type, InputStream in, int step) throws IOException {
        InputStream slow = new InputStream() {
            @Override
            public int read() throws IOException {
                return in.read();
            }

            @Override
            public int read(byte[] into, int at, int length) throws IOException {
                return in.read(into, at, Math.min(length, step));
            }
        };
        Multipart multipart = Multipart.of(type, slow);
        List<byte[]> parts = new ArrayList<>();
        while (multipart.next()) {
            ByteArrayOutputStream part = new ByteArrayOutputStream();
            byte[] buffer = new byte[step];
            for (int n = multipart.read(buffer); n >= 0; n = multipart.read(buffer)) {
                part.write(buffer, 0, n);
            }
            parts.add(part.toByteArray());
        }
        return parts;
    }

    private static byte[] answer(List<byte[]> parts) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        for (int i = 0; i < parts.size(); i++) {
            out.writeBytes(bytes((i == 0 ? "" : "\r\n") + "--b0-1\r\nContent-Type: application/dicom\r\nA: b\r\n\r\n"));
            out.writeBytes(parts.get(i));
        }
        out.writeBytes(bytes("\r\n--b0-1--\r\n"));
        return out.toByteArray();
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }
}
