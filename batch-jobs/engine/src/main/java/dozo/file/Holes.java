package dozo.file;

import java.util.Arrays;

/**
 * Finds what a file system need not store: pages of a file that hold nothing but zeros. Where they are not written, the file has holes
 * (ADR 0050).
 */
public final class Holes {

    /** What file systems allocate at a time. */
    private static final int PAGE_BYTES = 4_096;

    private static final byte[] ZEROS = new byte[PAGE_BYTES];

    private Holes() {}

    /**
     * How many bytes from {@code from} on are zeros, in whole pages of the file or up to {@code end}.
     *
     * @param offset where in the file {@code from} lies
     */
    public static int zeros(byte[] bytes, int from, int end, long offset) {
        return run(bytes, from, end, offset, true);
    }

    /** How many bytes from {@code from} on come before the next page that is zeros. */
    public static int data(byte[] bytes, int from, int end, long offset) {
        return run(bytes, from, end, offset, false);
    }

    private static int run(byte[] bytes, int from, int end, long offset, boolean zeros) {
        int at = from;
        while (at < end) {
            int left = PAGE_BYTES - (int) ((offset + at - from) % PAGE_BYTES);
            int pageEnd = Math.min(end, at + left);
            if (Arrays.equals(bytes, at, pageEnd, ZEROS, 0, pageEnd - at) != zeros) {
                break;
            }
            at = pageEnd;
        }
        return at - from;
    }
}
