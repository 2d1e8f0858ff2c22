import dozo.source.dicom.Damaged;
import dozo.source.dicom.Header;
import dozo.source.dicom.HeaderReader;
import dozo.source.dicom.NotDicom;
import dozo.source.dicom.Parsed;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;

/**
 * Reads the headers of all files below a folder several times, and keeps none.
 *
 * <pre>java -cp CLASSES DicomRate FOLDER THREADS ROUNDS</pre>
 *
 * Prints a line for each round: files, headers, values found, seconds, and bytes of live heap after it.
 */
final class DicomRate {

    private DicomRate() {}

    public static void main(String[] arguments) throws Exception {
        List<Path> files;
        try (var all = Files.walk(Path.of(arguments[0]))) {
            files = new ArrayList<>(all.filter(Files::isRegularFile).toList());
        }
        int threads = Integer.parseInt(arguments[1]);
        try (ExecutorService workers = Executors.newFixedThreadPool(threads)) {
            for (int round = 0; round < Integer.parseInt(arguments[2]); round++) {
                LongAdder headers = new LongAdder();
                LongAdder values = new LongAdder();
                long started = System.nanoTime();
                AtomicInteger next = new AtomicInteger();
                List<Callable<Integer>> tasks = new ArrayList<>();
                for (int thread = 0; thread < threads; thread++) {
                    tasks.add(() -> read(files, next, headers, values));
                }
                for (Future<Integer> ended : workers.invokeAll(tasks)) {
                    ended.get();
                }
                double seconds = (System.nanoTime() - started) / 1e9;
                System.gc();
                long live = ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
                System.out.printf("%d %d %d %.3f %d%n", files.size(), headers.sum(), values.sum(), seconds, live);
            }
        }
    }

    private static int read(List<Path> files, AtomicInteger next, LongAdder headers, LongAdder values)
            throws IOException {
        HeaderReader reader = new HeaderReader();
        int done = 0;
        for (int i = next.getAndIncrement(); i < files.size(); i = next.getAndIncrement()) {
            Parsed parsed = reader.read(files.get(i));
            Header header = switch (parsed) {
                case Header whole -> whole;
                case Damaged damaged -> damaged.before();
                case NotDicom none -> null;
            };
            if (header != null) {
                headers.increment();
                // Used, so that the compiler cannot remove the reads.
                values.add(header.values().size() + header.illegal().size());
            }
            done++;
        }
        return done;
    }
}
