package dozo.source.dicom;

import static org.assertj.core.api.Assertions.assertThat;

import dozo.db.Campaign;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Real headers with randomly changed bytes never cause an exception. */
@Tag(Campaign.TAG)
class HeaderFuzzIT {

    private static final long SEED = 20261121;
    private static final int CHANGED_FILES = Campaign.times(30_000);
    private static final int SEED_BYTES_MAX = 6_000;
    private static final Duration LIMIT = Duration.ofSeconds(Campaign.times(20));
    private static final List<String> WORTH_TRYING = List.of(
            "\u00ff\u00ff\u00ff\u00ff",
            "\u00ff\u00ff\u00ff\u007f",
            "\u00fe\u00ff\u0000\u00e0",
            "\u00fe\u00ff\r\u00e0",
            "\u00fe\u00ff\u00dd\u00e0",
            "SQ\0\0",
            "UN\0\0",
            "\u001b$B",
            "\u001b$)C",
            "ISO_IR 13",
            "@\u0000u\u0002",
            "\0\0");

    private final HeaderReader reader = new HeaderReader();

    @Test
    void noChangeOfARealFileMakesTheReaderThrow() throws Exception {
        List<byte[]> seeds = seeds();
        Random dice = new Random(SEED);
        int[] outcomes = new int[3];
        // Fewer on a busy machine; the counts below show how many.
        long end = System.nanoTime() + LIMIT.toNanos();
        for (int i = 0; i < CHANGED_FILES && System.nanoTime() < end; i++) {
            byte[] file = changed(seeds.get(dice.nextInt(seeds.size())), dice);
            try {
                outcomes[use(file)]++;
            } catch (RuntimeException e) {
                throw new AssertionError("change " + i + " of seed " + SEED, e);
            }
        }
        System.out.printf(
                "changed DICOM files read: %d as headers, %d damaged, %d not DICOM%n",
                outcomes[0], outcomes[1], outcomes[2]);
        assertThat(Arrays.stream(outcomes).min().orElseThrow()).isGreaterThan(10);
    }

    private int use(byte[] file) throws IOException {
        return switch (reader.read(new ByteArrayInputStream(file))) {
            case Header header -> {
                header.illegal();
                header.values().keySet().forEach(tag -> {
                    header.day(tag);
                    header.number(tag);
                });
                yield 0;
            }
            case Damaged damaged -> 1;
            case NotDicom none -> 2;
        };
    }

    private static List<byte[]> seeds() throws IOException {
        List<byte[]> seeds = new ArrayList<>();
        for (Path file : SharedData.files()) {
            try (var stream = Files.newInputStream(file)) {
                seeds.add(stream.readNBytes(SEED_BYTES_MAX));
            }
        }
        return seeds;
    }

    private static byte[] changed(byte[] seed, Random dice) {
        byte[] file = dice.nextInt(8) == 0 ? Arrays.copyOf(seed, dice.nextInt(seed.length + 1)) : seed.clone();
        for (int i = dice.nextInt(12); i > 0 && file.length > 0; i--) {
            // Mostly at the start, where everything else depends on it.
            int at = dice.nextInt(dice.nextBoolean() ? Math.min(600, file.length) : file.length);
            if (dice.nextInt(3) == 0) {
                file[at] = (byte) dice.nextInt(256);
            } else {
                byte[] bytes =
                        WORTH_TRYING.get(dice.nextInt(WORTH_TRYING.size())).getBytes(StandardCharsets.ISO_8859_1);
                System.arraycopy(bytes, 0, file, at, Math.min(bytes.length, file.length - at));
            }
        }
        return file;
    }
}
