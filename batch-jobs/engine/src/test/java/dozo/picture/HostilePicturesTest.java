package dozo.picture;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.content.DicomSample;
import dozo.content.RealFiles;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Whatever a file contains, it is drawn or has a reason, within the limits. */
class HostilePicturesTest {

    private static final int CHANGES_MAX = 8;
    private static final int ROUNDS = 2_000;

    private static final byte[] CTF_HEADER = Recordings.res4(50, 100, 0, 5, 5);

    private static void draw(byte[] content, Map<String, Integer> results) {
        String result;
        boolean ctf = content.length > 3 && content[0] == CTF_HEADER[0];
        try {
            BufferedImage picture = DrawingProcess.draw(content, ctf ? CTF_HEADER.length : 0, false);
            assertThat(picture.getWidth()).isBetween(1, Picture.SHOWN_MAX);
            assertThat(picture.getHeight()).isBetween(1, Picture.SHOWN_MAX);
            result = "drawn";
        } catch (NoPicture none) {
            result = none.why().name();
        }
        results.merge(result, 1, Integer::sum);
    }

    @Test
    void damagedSamplesAreDrawnOrHaveAReason() {
        byte[] ctf = ByteBuffer.allocate(CTF_HEADER.length + 608)
                .put(CTF_HEADER)
                .put(Recordings.meg4(50, 3, 1))
                .array();
        List<byte[]> samples = Stream.of(
                        Stream.of(
                                        DicomSample.IMPLICIT,
                                        DicomSample.EXPLICIT,
                                        DicomSample.BIG_ENDIAN,
                                        DicomSample.DEFLATED)
                                .map(DicomPictureTest::file),
                        Stream.of(
                                NiftiPictureTest.image(1, ByteOrder.LITTLE_ENDIAN),
                                NiftiPictureTest.image(2, ByteOrder.BIG_ENDIAN),
                                NiftiPictureTest.gzip(NiftiPictureTest.image(1, ByteOrder.BIG_ENDIAN)),
                                Recordings.fiff(2),
                                NiftiPictureTest.gzip(Recordings.fiff(2)),
                                ctf,
                                Recordings.kit(300, 2)))
                .flatMap(each -> each)
                .toList();
        long seed = System.nanoTime();
        Random random = new Random(seed);
        Map<String, Integer> results = new HashMap<>();

        for (int round = 0; round < ROUNDS; round++) {
            for (byte[] sample : samples) {
                byte[] copy = sample.clone();
                for (int i = random.nextInt(CHANGES_MAX); i >= 0; i--) {
                    copy[random.nextInt(copy.length)] = (byte) (random.nextInt(4) == 0 ? 0xFF : random.nextInt());
                }
                draw(random.nextInt(4) == 0 ? Arrays.copyOf(copy, random.nextInt(copy.length)) : copy, results);
            }
        }

        System.out.printf("hostile pictures, seed %d: %s%n", seed, results);
        assertThat(results).containsKeys("drawn", "DAMAGED", "UNKNOWN_FORMAT", "NO_IMAGE");
    }

    /** Uncompressed DICOM in grey and NIfTI in one file: most of the real files. */
    @Test
    void realFilesAreDrawnOrHaveAReason() throws IOException {
        Map<String, Integer> results = new HashMap<>();
        List<Path> files = new ArrayList<>(RealFiles.below("dicom"));
        files.addAll(RealFiles.below("nifti"));
        files.addAll(RealFiles.below("meg"));

        for (Path file : files) {
            draw(Files.readAllBytes(file), results);
        }

        System.out.printf("pictures of real files: %s%n", results);
        assertThat(results.get("drawn")).isGreaterThan(files.size() / 2);
        assertThat(results.get("COMPRESSED")).isPositive();
    }
}
