import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.file.Spool;
import dozo.remote.Lanes;
import dozo.remote.Patience;
import dozo.remote.SiteAddress;
import dozo.send.SiteReader;
import dozo.source.Listings;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.LongAdder;

/**
 * Reads what a rebuild reads of a bag, its list and the listing of its data folder, and does nothing with it.
 *
 * <pre>java -cp CLASSES ListReads PORT USER ROOT KEY HOST_KEY_FILE LANES PROJECT/EXPERIMENT</pre>
 *
 * Prints a line: entries, bytes of the list, and seconds. Opening the lanes is not measured.
 */
final class ListReads {

    private ListReads() {}

    public static void main(String[] arguments) throws Exception {
        SiteAddress site = new SiteAddress(
                "127.0.0.1",
                Integer.parseInt(arguments[0]),
                arguments[1],
                arguments[2],
                Path.of(arguments[3]),
                Files.readString(Path.of(arguments[4])).strip());
        try (Lanes lanes = Lanes.to(site, Integer.parseInt(arguments[5]))) {
            SiteReader reader = SiteReader.readOnly(lanes, Patience.USUAL);
            FilePath bag = FilePath.of(arguments[6]);
            Counts counts = new Counts();
            long started = System.nanoTime();
            long bytes;
            try (Spool list = reader.content(bag.resolve("manifest-sha256.txt"), Long.MAX_VALUE);
                    InputStream in = list.read()) {
                bytes = in.transferTo(java.io.OutputStream.nullOutputStream());
            }
            reader.walk(bag.resolve("data"), counts);
            System.out.printf("%d %d %.3f%n", counts.entries.sum(), bytes, (System.nanoTime() - started) / 1e9);
        }
    }

    private static final class Counts implements Listings {

        private final LongAdder entries = new LongAdder();

        @Override
        public Listing folder(FilePath folder) {
            return new Listing() {
                @Override
                public void entry(byte[] name, Facts facts) {
                    entries.increment();
                }

                @Override
                public void end() {}
            };
        }

        @Override
        public void problem(FilePath path, Problem problem, String message) throws IOException {
            throw new IOException(path + ": " + message);
        }
    }
}
