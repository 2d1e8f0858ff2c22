package dozo.content;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryType;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

/**
 * Lets the checks judge damaged copies of files, for {@code bench/run content}.
 *
 * <pre>
 * java -Xmx64m … dozo.content.ContentFuzz BYTES SEED FILE…
 * </pre>
 *
 * <p>For so many bytes of copies of each file it prints the exceptions, also those that an {@link Inspection} hides from a backup, and
 * the milliseconds of the slowest copy. The last line is the most heap that was used, with garbage, in bytes. The caller limits the
 * time, and so finds endless loops.
 */
final class ContentFuzz {

    private static final int PIECE_BYTES = 1 << 15;
    private static final int CHANGES_MAX = 16;

    private ContentFuzz() {}

    public static void main(String[] arguments) throws IOException {
        Random random = new Random(Long.parseLong(arguments[1]));
        for (String file : List.of(arguments).subList(2, arguments.length)) {
            fuzz(Path.of(file), Long.parseLong(arguments[0]), random);
        }
        System.out.println(ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getType() == MemoryType.HEAP)
                .mapToLong(pool -> pool.getPeakUsage().getUsed())
                .sum());
    }

    private static void fuzz(Path file, long bytes, Random random) throws IOException {
        byte[] healthy = Files.readAllBytes(file);
        int exceptions = 0;
        long slowest = 0;
        long passed = 0;
        while (passed < bytes) {
            byte[] copy = damaged(healthy, random);
            long started = System.nanoTime();
            exceptions += throwsInspecting(file.getFileName().toString(), copy) ? 1 : 0;
            slowest = Math.max(slowest, System.nanoTime() - started);
            passed += copy.length;
        }
        System.out.println(exceptions + " " + TimeUnit.NANOSECONDS.toMillis(slowest));
    }

    /** Returns a copy with some changed bytes, most of them near the beginning, where headers are; half of the copies are cut. */
    private static byte[] damaged(byte[] healthy, Random random) {
        byte[] copy =
                Arrays.copyOf(healthy, random.nextBoolean() ? healthy.length : 1 + random.nextInt(healthy.length));
        for (int i = random.nextInt(CHANGES_MAX); i >= 0; i--) {
            int before = 1 + random.nextInt(copy.length);
            copy[random.nextInt(before)] = (byte) (random.nextInt(4) == 0 ? 0xFF : random.nextInt());
        }
        return copy;
    }

    private static boolean throwsInspecting(String name, byte[] copy) {
        Inspection inspection = new Inspection(name, copy.length);
        for (int at = 0; at < copy.length; at += PIECE_BYTES) {
            inspection.take(ByteBuffer.wrap(copy, at, Math.min(PIECE_BYTES, copy.length - at)));
        }
        inspection.verdict();
        if (inspection.defect() != null) {
            inspection.defect().printStackTrace();
        }
        return inspection.defect() != null;
    }
}
