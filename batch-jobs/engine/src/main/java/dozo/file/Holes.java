package dozo.file;

import java.util.Arrays;

/**
 * Finds pages of a file that contain only zeros, which a file system need not store. If they are not written, the file
 * has holes (ADR 0050).
 */
public final class Holes {

    /** The allocation unit of file systems. */
    private static final int PAGE_BYTES = 4_096;

    private static final byte[] ZEROS = new byte[PAGE_BYTES];

    private Holes() {}

    /**
     * Returns how many bytes from {@code from} on are zeros, in whole pages of the file or up to {@code end}.
     *
     * @param offset the position of {@code from} in the file
     */
    public static int zeros(byte[] bytes, int from, int end, long offset) {
        return run(bytes, from, end, offset, true);
    }

    /** Returns how many bytes from {@code from} on precede the next page of zeros. */
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
