package dozo.demo;

import dozo.file.FilePath;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.SplittableRandom;

/** A MEG recording: one file of 300 MB, the files that belong to it, and 200 small files, one for each trial. */
final class MegRecording {

    private static final int BLOCK_BYTES = 1_000_000;
    private static final int RECORDING_BLOCKS = 300;
    private static final int TRIALS = 200;

    private MegRecording() {}

    static void write(NewTree tree) throws IOException {
        writeRecording(tree.newFile(FilePath.of("S0124_grating_run1.con")));
        SplittableRandom random = new SplittableRandom(124);
        tree.file(FilePath.of("S0124_before.mrk"), bytes(random, 196_608));
        tree.file(FilePath.of("S0124_after.mrk"), bytes(random, 196_608));
        tree.file("S0124.hsp", digitized(random, 500));
        tree.file("S0124.elp", digitized(random, 8));
        for (int trial = 1; trial <= TRIALS; trial++) {
            String name = String.format(Locale.ROOT, "trials/trial-%04d.tsv", trial);
            tree.file(name, "onset\tresponse_ms\n" + trial * 2.5 + "\t" + (200 + random.nextInt(600)) + "\n");
        }
        tree.file("empty_room_note.txt", "");
    }

    private static void writeRecording(Path file) throws IOException {
        SplittableRandom random = new SplittableRandom(300);
        try (OutputStream out = Files.newOutputStream(file)) {
            for (int block = 0; block < RECORDING_BLOCKS; block++) {
                out.write(bytes(random, BLOCK_BYTES));
            }
        }
    }

    private static byte[] bytes(SplittableRandom random, int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private static String digitized(SplittableRandom random, int points) {
        StringBuilder text = new StringBuilder("# head shape, x y z in metres\n");
        for (int i = 0; i < points; i++) {
            for (int axis = 0; axis < 3; axis++) {
                text.append(random.nextInt(-9_999, 10_000) / 100_000.0).append(axis < 2 ? '\t' : '\n');
            }
        }
        return text.toString();
    }
}
