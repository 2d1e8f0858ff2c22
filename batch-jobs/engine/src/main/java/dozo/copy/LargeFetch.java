package dozo.copy;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.send.Crew;
import java.io.IOException;
import java.security.MessageDigest;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;

/**
 * Fetches one large file over all lanes, several ranges at a time. A digest needs the bytes in order, so a thread reads
 * each range again, from the page cache, after all ranges before it have arrived: the file is read a second time here,
 * but only the last range adds to the waiting time.
 *
 * <p>Ranges that an earlier run left are kept if the site reports the same digests; without a way to request those the
 * file is fetched again.
 */
final class LargeFetch {

    /**
     * The size of a range, which is verified and kept as one after a failure. Smaller than for sending: a kill loses
     * all ranges in progress, and here there are several.
     */
    static final long RANGE_BYTES = 16 << 20;

    /**
     * More ranges than channels, because each has a limited number of requests in flight; not too many, or they leave
     * the page cache before they are digested.
     */
    private static final int RANGES_PER_CHANNEL = 4;

    private static final int RANGES_MAX = 32;

    private final SiteFiles site;
    private final Found file;
    private final LocalFile temporary;
    private final long sizeBytes;

    LargeFetch(SiteFiles site, Found file, LocalFile temporary) {
        this.site = site;
        this.file = file;
        this.temporary = temporary;
        this.sizeBytes = file.facts().sizeBytes();
    }

    /** Returns the digest of the file here. */
    Digest run() throws IOException, InterruptedException {
        int count = Math.toIntExact((sizeBytes + RANGE_BYTES - 1) / RANGE_BYTES);
        int left = (int) (Math.min(temporary.leftBytes(), sizeBytes) / RANGE_BYTES);
        Map<Integer, Digest> atSite = site.ranges(file.remote(), RANGE_BYTES, left);
        CountDownLatch[] come =
                IntStream.range(0, count).mapToObj(i -> new CountDownLatch(1)).toArray(CountDownLatch[]::new);
        int atOnce = Math.min(RANGES_MAX, RANGES_PER_CHANNEL * site.channels());
        MessageDigest whole = Digest.algorithm();
        // The digest is one more; it ends last.
        try (Crew crew = new Crew(atOnce + 1)) {
            crew.start(() -> digest(come, whole));
            for (int i = 0; i < count; i++) {
                int number = i;
                crew.start(() -> {
                    range(number, atSite);
                    requireNonNull(come[number]).countDown();
                });
            }
            crew.join();
        }
        return Digest.of(whole.digest());
    }

    private void digest(CountDownLatch[] come, MessageDigest whole) throws IOException, InterruptedException {
        for (int i = 0; i < come.length; i++) {
            come[i].await();
            temporary.digest(whole, i * RANGE_BYTES, length(i));
            // Otherwise the final sync would wait for the whole file.
            temporary.force(false);
        }
    }

    private void range(int number, Map<Integer, Digest> atSite) throws IOException, InterruptedException {
        long offset = number * RANGE_BYTES;
        Digest known = atSite.get(number);
        if (known != null && known.equals(temporary.digest(offset, length(number)))) {
            return;
        }
        site.withLeave(() -> site.read(file.remote(), offset, length(number), () -> {}, temporary::write));
    }

    private long length(int number) {
        return Math.min(RANGE_BYTES, sizeBytes - number * RANGE_BYTES);
    }
}
