import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.source.Listings;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.atomic.LongAdder;

/**
 * Crawls a folder several times in one process and reads every entry's facts, but does nothing with them.
 *
 * <pre>java -cp CLASSES Crawl FOLDER ROUNDS</pre>
 *
 * Prints a line for each round: entries and seconds.
 */
final class Crawl {

    private Crawl() {}

    public static void main(String[] arguments) throws Exception {
        for (int round = 0; round < Integer.parseInt(arguments[1]); round++) {
            Sums sums = new Sums();
            long started = System.nanoTime();
            new dozo.source.Crawl(Path.of(arguments[0])).into(sums);
            double seconds = (System.nanoTime() - started) / 1e9;
            // Prints the sum, so that the compiler cannot remove the reads.
            System.out.printf("%d %.3f %d%n", sums.entries.sum(), seconds, sums.facts.sum());
        }
    }

    private static final class Sums implements Listings {

        private final LongAdder entries = new LongAdder();
        private final LongAdder facts = new LongAdder();

        @Override
        public Listing folder(FilePath folder) {
            return new Listing() {
                private long count;
                private long sum;

                @Override
                public void entry(byte[] name, Facts its) {
                    count++;
                    sum += name.length + its.sizeBytes() + its.modifiedNanos() + its.changedNanos() + its.mode();
                }

                @Override
                public void end() {
                    entries.add(count);
                    facts.add(sum);
                }
            };
        }

        @Override
        public void problem(FilePath path, Problem problem, String message) throws IOException {
            throw new IOException(path + ": " + message);
        }
    }
}
