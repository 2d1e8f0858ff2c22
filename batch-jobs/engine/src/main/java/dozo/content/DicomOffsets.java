package dozo.content;

import org.jspecify.annotations.Nullable;

/** A bag of offsets, as a count and a sum: equal bags are equal, and others hardly ever. */
final class DicomOffsets {

    /** Mixes the bits, so that sums of different numbers differ. */
    private static final long ODD = 0x9E37_79B9_7F4A_7C15L;

    private long count;
    private long sum;

    void add(long offset) {
        long mixed = (offset + 1) * ODD;
        count++;
        sum += (mixed ^ (mixed >>> 32)) * ODD;
    }

    long count() {
        return count;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof DicomOffsets offsets && offsets.count == count && offsets.sum == sum;
    }

    @Override
    public int hashCode() {
        return Long.hashCode(sum);
    }
}
