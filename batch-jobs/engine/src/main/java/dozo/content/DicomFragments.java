package dozo.content;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;

/**
 * The parts of compressed images (PS3.5 A.4): a table of offsets, maybe empty, then at least one part for every image. Keeps
 * counts and sums only: if there are as many parts as images, the offsets must be those of the parts in any order.
 */
final class DicomFragments {

    /** How much of the first and of the last bytes of a part says what it is. */
    static final int ENDS_BYTES = 64;

    private static final int RLE_SEGMENTS_MAX = 15;
    private static final int ZEROS_BYTES_MIN = 8;
    private static final long BASIC_MASK = 0xFFFF_FFFFL;

    private final DicomSyntax syntax;
    private final DicomOffsets basic = new DicomOffsets();
    private final DicomOffsets basicFound = new DicomOffsets();
    private final DicomOffsets extendedFound = new DicomOffsets();
    private long count;
    private long first;
    private long damaged;
    private long strange;
    private long unfinished;
    private boolean lastUnfinished;

    DicomFragments(DicomSyntax syntax) {
        this.syntax = syntax;
    }

    /** Returns how many parts have begun. */
    long count() {
        return count;
    }

    /** Takes a piece of the table: whole numbers of 32 bits. */
    void table(ByteBuffer bytes) {
        while (bytes.remaining() >= Integer.BYTES) {
            basic.add(Integer.toUnsignedLong(bytes.getInt()));
        }
    }

    /** Takes the place where a part begins. */
    void begins(long position) {
        if (count == 0) {
            first = position;
        }
        count++;
        basicFound.add((position - first) & BASIC_MASK);
        extendedFound.add(position - first);
    }

    /** Takes the first bytes of a part. */
    void head(ByteBuffer bytes, long length) {
        boolean zeros = length >= ZEROS_BYTES_MIN;
        for (int i = 0; zeros && i < bytes.limit(); i++) {
            zeros = bytes.get(i) == 0;
        }
        boolean bad = syntax.isRle() ? !isRle(bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN), length) : zeros;
        if (bad && damaged == 0) {
            damaged = count;
        }
        if (!syntax.isRle() && !isImage(bytes) && strange == 0) {
            strange = count;
        }
    }

    /** Segments: their number and the offsets of each (PS3.5 annex G.5). */
    private static boolean isRle(ByteBuffer bytes, long length) {
        if (bytes.limit() < ENDS_BYTES) {
            return false;
        }
        int segments = bytes.getInt(0);
        if (segments < 1 || segments > RLE_SEGMENTS_MAX) {
            return false;
        }
        for (int i = 1; i <= segments; i++) {
            if (Integer.toUnsignedLong(bytes.getInt(Integer.BYTES * i)) >= length) {
                return false;
            }
        }
        return true;
    }

    private boolean isImage(ByteBuffer bytes) {
        if (syntax.isJpeg()) {
            return has(bytes, 0xFF, 0xD8);
        }
        return !syntax.isJpeg2000() || has(bytes, 0xFF, 0x4F) || has(bytes, 0, 0, 0, 0x0C);
    }

    private static boolean has(ByteBuffer bytes, int... wanted) {
        for (int i = 0; i < wanted.length; i++) {
            if (i >= bytes.limit() || Byte.toUnsignedInt(bytes.get(i)) != wanted[i]) {
                return false;
            }
        }
        return true;
    }

    /** Takes the last bytes of a part: zeros, or one other byte, may follow the end mark. */
    void tail(ByteBuffer bytes) {
        int end = bytes.limit();
        while (end > 0 && bytes.get(end - 1) == 0) {
            end--;
        }
        boolean marked = isMarked(bytes, end) || isMarked(bytes, bytes.limit() - 1);
        lastUnfinished = (syntax.isJpeg() || syntax.isJpeg2000()) && !marked;
        if (lastUnfinished && unfinished == 0) {
            unfinished = count;
        }
    }

    private static boolean isMarked(ByteBuffer bytes, int end) {
        return end >= 2 && bytes.get(end - 2) == (byte) 0xFF && bytes.get(end - 1) == (byte) 0xD9;
    }

    /**
     * Judges after the last part.
     *
     * @param frames how many images there are; not above zero: not known
     * @param extended the offsets of the extended table; empty: there is none
     * @return what is suspect, if anything is
     */
    @Nullable
    String judge(long frames, DicomOffsets extended) throws NotWhole {
        if (count == 0) {
            return "its image data is empty";
        }
        if (frames < 1 || !syntax.hasPartsByImage()) {
            return null;
        }
        if (count < frames) {
            throw NotWhole.broken("its header says %,d images, it has %,d".formatted(frames, count));
        }
        boolean one = count == frames;
        if (one && damaged > 0) {
            throw NotWhole.broken("the data of image %,d of %,d is damaged".formatted(damaged, frames));
        }
        if (one && strange > 0) {
            return "the data of image %,d of %,d is not what the header says".formatted(strange, frames);
        }
        if (one ? unfinished > 0 : lastUnfinished) {
            return "image %,d of %,d has no end mark".formatted(one ? unfinished : frames, frames);
        }
        if (!one && syntax.isRle()) {
            return "its header says %,d images, it has %,d".formatted(frames, count);
        }
        return isIndexed(basic, basicFound, frames, one) && isIndexed(extended, extendedFound, frames, one)
                ? null
                : "its table of images does not fit its images";
    }

    private static boolean isIndexed(DicomOffsets table, DicomOffsets found, long frames, boolean one) {
        return table.count() == 0 || (one ? table.equals(found) : table.count() == frames);
    }
}
