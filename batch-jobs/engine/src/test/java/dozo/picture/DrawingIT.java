package dozo.picture;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dozo.picture.NoPicture.Why;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A file is decoded in a process with nothing to lose, which cannot take more time, memory or output than it should. */
class DrawingIT {

    private static final Duration LIMIT = Duration.ofMinutes(5);

    /** Its first byte. */
    private static final int PNG = 0x89;

    private static byte[] png(byte[] content) throws Exception {
        try (Drawing drawing = Drawing.begin(0, content.length)) {
            drawing.content().write(content);
            return drawing.png();
        }
    }

    private static Why why(Drawing drawing, byte[] content) throws IOException {
        try (drawing) {
            drawing.content().write(content);
            return catchThrowableOfType(NoPicture.class, drawing::png).why();
        }
    }

    @Test
    void aPictureComesBackAsPng() throws Exception {
        BufferedImage picture = ImageIO.read(new ByteArrayInputStream(
                png(NiftiPictureTest.gzip(NiftiPictureTest.image(1, ByteOrder.LITTLE_ENDIAN)))));

        assertThat(picture.getWidth()).isEqualTo(2);
        assertThat(picture.getRaster().getPixels(0, 0, 2, 2, (int[]) null)).containsExactly(170, 255, 0, 85);
    }

    @Test
    void theReasonComesBack() throws Exception {
        byte[] text = "nobody knows".getBytes(StandardCharsets.UTF_8);

        assertThat(why(Drawing.begin(0, text.length), text)).isEqualTo(Why.UNKNOWN_FORMAT);
        assertThat(why(Drawing.begin(0, 0), new byte[0])).isEqualTo(Why.UNKNOWN_FORMAT);
        assertThat(catchThrowableOfType(NoPicture.class, () -> Drawing.begin(0, Drawing.FILE_BYTES_MAX + 1))
                        .why())
                .isEqualTo(Why.TOO_LARGE);
    }

    /** An image that needs the most memory: as large as the file may be, in numbers of four bytes. */
    @Test
    void theLargestFileIsDrawn() throws Exception {
        int rows = 4_095;
        ByteBuffer largest = NiftiPictureTest.header(1, ByteOrder.LITTLE_ENDIAN, 4_096 * rows * 4, 8, 2, 4_096, rows);
        for (int i = 0; i < 4_096 * rows; i++) {
            largest.putInt(i * 0x9E37_79B9);
        }

        BufferedImage picture = ImageIO.read(new ByteArrayInputStream(png(largest.array())));

        assertThat(picture.getWidth()).isEqualTo(1_024);
        assertThat(picture.getHeight()).isEqualTo(1_024);
    }

    /** The rest passes, so that whoever reads the content can check all of it. */
    @Test
    void ofALargerFileTheBeginningIsDecoded() throws Exception {
        byte[] largest = Arrays.copyOf(Recordings.fiff(11), Drawing.CONTENT_BYTES_MAX);

        try (Drawing drawing = Drawing.begin(0, largest.length + 2L)) {
            drawing.content().write(largest);
            drawing.content().write(new byte[2]);
            assertThat(ImageIO.read(new ByteArrayInputStream(drawing.png())).getHeight())
                    .isEqualTo(84);
        }
        assertThat(why(Drawing.begin(0, largest.length + 2L), largest)).isEqualTo(Why.UNFINISHED);
        assertThat(why(Drawing.begin(0, largest.length + 1L), new byte[largest.length + 1]))
                .isEqualTo(Why.UNKNOWN_FORMAT);
    }

    @Test
    void aHeaderInAnotherFileIsPassedFirst() throws Exception {
        byte[] header = Recordings.res4(50, 100, 5);
        byte[] data = Recordings.meg4(50, 1, 1);

        try (Drawing drawing = Drawing.begin(header.length, data.length)) {
            drawing.content().write(header);
            drawing.content().write(data);
            assertThat(ImageIO.read(new ByteArrayInputStream(drawing.png())).getHeight())
                    .isEqualTo(52);
        }
        assertThat(catchThrowableOfType(NoPicture.class, () -> Drawing.begin(Drawing.CONTENT_BYTES_MAX + 1L, 1))
                        .why())
                .isEqualTo(Why.TOO_LARGE);
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 1})
    void contentOfAnotherLengthIsNotDecoded(int more) throws Exception {
        byte[] image = NiftiPictureTest.image(1, ByteOrder.LITTLE_ENDIAN);

        assertThat(why(Drawing.begin(0, image.length + more), image)).isEqualTo(Why.UNFINISHED);
    }

    /** Says what it finds. */
    static final class Looking {
        public static void main(String[] arguments) {
            System.out.write(PNG);
            System.out.print(System.getenv().keySet() + " " + System.getProperty("java.class.path"));
        }
    }

    @Test
    void theProcessHasNoEnvironmentAndNoMoreOfTheProgram() throws Exception {
        try (Drawing drawing = Drawing.begin(0, 0, Looking.class, LIMIT, LIMIT)) {
            assertThat(new String(drawing.png(), StandardCharsets.ISO_8859_1)).matches(".\\[] [^:]*test[^:]*");
        }
    }

    /** Takes the content, and never ends. */
    static final class Hanging {
        public static void main(String[] arguments) throws IOException {
            System.in.readAllBytes();
            while (true) {
                LockSupport.park();
            }
        }
    }

    /** Takes no content. */
    static final class Deaf {
        public static void main(String[] arguments) {
            while (true) {
                LockSupport.park();
            }
        }
    }

    /** Takes all memory. */
    static final class Greedy {
        public static void main(String[] arguments) {
            List<byte[]> all = new ArrayList<>();
            while (true) {
                all.add(new byte[1 << 20]);
            }
        }
    }

    /** Takes the content, and writes without end. */
    static final class Talking {
        public static void main(String[] arguments) throws IOException {
            System.in.readAllBytes();
            System.out.write(PNG);
            while (!System.out.checkError()) {
                System.out.print("x".repeat(10_000));
            }
        }
    }

    /** Dies before it takes content. */
    static final class Dying {
        public static void main(String[] arguments) {
            Runtime.getRuntime().halt(1);
        }
    }

    /** Ends well, without a picture. */
    static final class Silent {
        public static void main(String[] arguments) {}
    }

    @Test
    void aProcessThatHangsIsEnded() throws Exception {
        assertThat(why(Drawing.begin(0, 1, Hanging.class, LIMIT, Duration.ofMillis(1)), new byte[1]))
                .isEqualTo(Why.UNFINISHED);
    }

    @Test
    void aProcessThatTakesNoContentIsEnded() throws Exception {
        assertThat(why(Drawing.begin(0, 10 << 20, Deaf.class, Duration.ofMillis(1), LIMIT), new byte[10 << 20]))
                .isEqualTo(Why.UNFINISHED);
    }

    @ParameterizedTest
    @ValueSource(classes = {Greedy.class, Talking.class, Dying.class, Silent.class})
    void aProcessThatDoesSomethingElseGivesNoPicture(Class<?> program) throws Exception {
        assertThat(why(Drawing.begin(0, 10 << 20, program, LIMIT, LIMIT), new byte[10 << 20]))
                .isEqualTo(Why.UNFINISHED);
    }

    /** It would otherwise wait for content for ever. */
    @Test
    void aDrawingThatIsNotWantedAnyMoreLeavesNoProcess() throws Exception {
        ProcessHandle child;
        try (Drawing drawing = Drawing.begin(0, 10)) {
            child = drawing.process().toHandle();
            assertThat(child.isAlive()).isTrue();
        }

        assertThat(child.onExit().get(5, TimeUnit.MINUTES)).isEqualTo(child);
    }
}
