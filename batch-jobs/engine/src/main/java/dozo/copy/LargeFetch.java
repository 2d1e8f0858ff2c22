package dozo.copy;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.send.Crew;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.security.MessageDigest;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Fetches one large file over all lanes, several ranges at a time. A digest needs the bytes in order, so a thread reads
 * each range again, from the page cache, after all ranges before it have arrived: the file is read a second time here,
 * but only the last range adds to the waiting time.
 *
 * <p>Ranges that an earlier run left are kept if the site reports the same digests; without a way to request those the
 * file is fetched again. Ranges that an earlier version of the file has here are copied from it (ADR 0107).
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

    private static final int PIECE_BYTES = 256 << 10;

    private final SiteFiles site;
    private final Found file;
    private final LocalFile temporary;
    private final @Nullable FileChannel earlier;
    private final long sizeBytes;

    /** @param earlier another version of the file, if there is one */
    LargeFetch(SiteFiles site, Found file, LocalFile temporary, @Nullable FileChannel earlier) {
        this.site = site;
        this.file = file;
        this.temporary = temporary;
        this.earlier = earlier;
        this.sizeBytes = file.facts().sizeBytes();
    }

    /** Returns the digest of the file here. */
    Digest run() throws IOException, InterruptedException {
        int count = Math.toIntExact((sizeBytes + RANGE_BYTES - 1) / RANGE_BYTES);
        int here = Math.max(complete(temporary.leftBytes()), rangesOfEarlier());
        Map<Integer, Digest> atSite = site.ranges(file.remote(), RANGE_BYTES, IntStream.range(0, here));
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

    private int complete(long bytes) {
        return (int) (Math.min(bytes, sizeBytes) / RANGE_BYTES);
    }

    /** Returns how many ranges to compare with the earlier version: none if its first, middle and last one all differ. */
    private int rangesOfEarlier() throws IOException, InterruptedException {
        int count = earlier == null ? 0 : complete(earlier.size());
        if (earlier == null || count == 0) {
            return 0;
        }
        for (Map.Entry<Integer, Digest> range : site.ranges(
                        file.remote(), RANGE_BYTES, IntStream.of(0, count / 2, count - 1))
                .entrySet()) {
            MessageDigest here = Digest.algorithm();
            var _ = LocalFile.digest(earlier, here, range.getKey() * RANGE_BYTES, RANGE_BYTES);
            if (range.getValue().equals(Digest.of(here.digest()))) {
                return count;
            }
        }
        return 0;
    }

    private boolean isLeft(int number, Digest wanted) throws IOException {
        return number < complete(temporary.leftBytes())
                && wanted.equals(temporary.digest(number * RANGE_BYTES, length(number)));
    }

    /** Copies a range of the earlier version; returns whether it has this digest. What has another one is overwritten later. */
    private boolean takes(int number, Digest wanted) throws IOException {
        if (earlier == null) {
            return false;
        }
        MessageDigest taken = Digest.algorithm();
        ByteBuffer piece = ByteBuffer.allocate(PIECE_BYTES);
        long end = number * RANGE_BYTES + length(number);
        for (long at = number * RANGE_BYTES; at < end && earlier.read(piece.clear(), at) > 0; at += piece.position()) {
            int length = (int) Math.min(piece.position(), end - at);
            taken.update(piece.array(), 0, length);
            temporary.write(piece.array(), 0, length, at);
        }
        return wanted.equals(Digest.of(taken.digest()));
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
        if (known != null && (isLeft(number, known) || takes(number, known))) {
            return;
        }
        site.withLeave(() -> site.read(file.remote(), offset, length(number), () -> {}, temporary::write));
    }

    private long length(int number) {
        return Math.min(RANGE_BYTES, sizeBytes - number * RANGE_BYTES);
    }
}
