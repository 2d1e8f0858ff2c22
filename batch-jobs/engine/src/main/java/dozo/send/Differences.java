package dozo.send;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.send.HomeReader.ByteRange;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * Finds in which bytes an open source file differs from its copy at a site. The site digests parts of the copy; of those that
 * differ, the bytes are fetched and compared.
 */
record Differences(HomeReader home, SourceFile source, SiteReader site, SiteCopy copy) {

    private static final int PAGE_BYTES = 4 << 10;

    /** What is fetched and compared at once; of this or a multiple are the parts: see {@link SiteReader#ranges}. */
    private static final int PIECE_BYTES = 1 << 20;

    /** Each part costs the site two processes. */
    private static final int PARTS_MAX = 1_000;

    /** If more would have to be fetched of a copy, its parts are all that is said. */
    private static final long FETCHED_BYTES_MAX = 128 << 20;

    /** Returns them in order; empty if the site digests no parts. */
    List<ByteRange> find() throws SourceProblem, IOException, InterruptedException {
        long partBytes = Math.ceilDiv(copy.sizeBytes(), (long) PARTS_MAX * PIECE_BYTES) * PIECE_BYTES;
        List<ByteRange> parts = parts(partBytes);
        if (parts.size() * partBytes > FETCHED_BYTES_MAX) {
            return joined(parts);
        }
        List<ByteRange> pages = new ArrayList<>();
        for (ByteRange part : parts) {
            for (long at = part.first(); at <= part.last(); at += PIECE_BYTES) {
                addPages(at, (int) Math.min(PIECE_BYTES, part.last() + 1 - at), pages);
            }
        }
        return joined(pages);
    }

    private List<ByteRange> parts(long partBytes) throws SourceProblem, IOException, InterruptedException {
        int count = Math.toIntExact(Math.ceilDiv(copy.sizeBytes(), partBytes));
        if (count == 1) {
            return List.of(range(0, partBytes));
        }
        Map<Integer, Digest> there = site.ranges(
                copy.path(), partBytes, IntStream.range(0, count).boxed().toList());
        List<ByteRange> parts = new ArrayList<>();
        if (there.size() == count) {
            for (int i = 0; i < count; i++) {
                ByteRange part = range(i * partBytes, partBytes);
                if (!home.digest(source, part.first(), partBytes).equals(requireNonNull(there.get(i)))) {
                    parts.add(part);
                }
            }
        }
        return parts;
    }

    private void addPages(long offset, int length, List<ByteRange> pages)
            throws SourceProblem, IOException, InterruptedException {
        ByteBuffer here = ByteBuffer.allocate(length);
        home.pass(source, offset, length, here::put);
        // NB: a copy that ends before is not as it was sent, which the caller checks afterwards.
        byte[] there = Arrays.copyOf(site.bytes(copy.path(), offset, length), length);
        for (int at = 0; at < length; at += PAGE_BYTES) {
            int end = Math.min(length, at + PAGE_BYTES);
            if (!Arrays.equals(here.array(), at, end, there, at, end)) {
                pages.add(range(offset + at, PAGE_BYTES));
            }
        }
    }

    /** Returns this range, as far as the file reaches. */
    private ByteRange range(long first, long length) {
        return new ByteRange(first, Math.min(first + length, copy.sizeBytes()) - 1);
    }

    private static List<ByteRange> joined(List<ByteRange> ranges) {
        List<ByteRange> joined = new ArrayList<>();
        for (ByteRange range : ranges) {
            if (!joined.isEmpty() && joined.getLast().last() + 1 == range.first()) {
                joined.add(new ByteRange(joined.removeLast().first(), range.last()));
            } else {
                joined.add(range);
            }
        }
        return joined;
    }
}
