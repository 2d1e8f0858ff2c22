package dozo.content;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/**
 * A DICOM data set judged by what its elements say. The length of the image data must fit what the header says of it. Padding
 * and what follows the image data are never an alarm.
 */
final class DicomData extends DicomElements {

    private static final int EXTENDED_OFFSETS = 0x7FE0_0001;
    private static final int FLOATS = 0x7FE0_0008;
    private static final int DOUBLES = 0x7FE0_0009;
    private static final int PIXELS = 0x7FE0_0010;
    private static final int SPECTRA = 0x5600_0020;
    private static final int PIXELS_ELSEWHERE = 0x0028_7FE0;

    private static final int FIRST_RECORD = 0x0004_1200;
    private static final int NEXT_RECORD = 0x0004_1400;
    private static final int LOWER_RECORD = 0x0004_1420;

    /** Zeros of this length in place of elements are more than padding. */
    private static final int ZEROS_BYTES_MIN = 4_096;

    private final DicomImage image = new DicomImage();
    private final DicomSeries series = new DicomSeries();
    private final DicomFragments fragments;
    private final DicomOffsets extended = new DicomOffsets();
    private final DicomOffsets links = new DicomOffsets();
    private long valueStart;
    private long valueBytes;
    private boolean hasImage;
    private boolean hasRecords;

    DicomData(String format, DicomSyntax syntax, long base) {
        super(format, syntax, base);
        fragments = new DicomFragments(syntax);
    }

    @Override
    Optional<Relation> relation() {
        return series.instance();
    }

    @Override
    void value(long length, boolean implicitItems) throws NotWhole {
        valueStart = position();
        valueBytes = length;
        if (length == UNDEFINED) {
            undefined(implicitItems);
        } else if (isTop()) {
            topValue(length);
        } else if (isDirectory() && (tag == NEXT_RECORD || tag == LOWER_RECORD) && length == Integer.BYTES) {
            expect(Integer.BYTES, this::link);
        } else {
            pass(length);
        }
    }

    private void undefined(boolean implicitItems) throws NotWhole {
        if (isTop() && tag == PIXELS) {
            hasImage = true;
            open(Kind.FRAGMENTS, Long.MAX_VALUE, true);
        } else {
            hasRecords |= isTop() && tag == RECORDS;
            if (implicitItems && syntax.order() == ByteOrder.BIG_ENDIAN) {
                throw NotWhole.unknown(); // its items are little endian (PS3.5 section 6.2.2, note 4)
            }
            open(Kind.SEQUENCE, Long.MAX_VALUE, level().explicit && !implicitItems);
        }
    }

    private void topValue(long length) throws NotWhole {
        if (tag == RECORDS) {
            hasRecords = true;
            open(Kind.SEQUENCE, position() + length, level().explicit);
        } else if (tag == FIRST_RECORD && length == Integer.BYTES) {
            expect(Integer.BYTES, this::link);
        } else if (length > 0 && length <= DicomImage.VALUE_BYTES_MAX && isAttribute()) {
            expect((int) length, value -> {
                if (DicomSeries.isAttribute(tag)) {
                    series.take(tag, value);
                }
                if (DicomImage.isAttribute(tag)) {
                    image.take(tag, value);
                }
                pass(0);
            });
        } else if (tag == EXTENDED_OFFSETS && length % Long.BYTES == 0 && length > 0) {
            offsets(length, Long.BYTES);
        } else {
            image(length);
        }
    }

    private boolean isAttribute() {
        return DicomImage.isAttribute(tag) || DicomSeries.isAttribute(tag);
    }

    private void link(ByteBuffer value) {
        long offset = Integer.toUnsignedLong(value.getInt(0));
        if (offset != 0) {
            links.add(offset);
        }
        pass(0);
    }

    private void image(long length) throws NotWhole {
        switch (tag) {
            case PIXELS -> uncompressed(length, 0);
            case FLOATS -> uncompressed(length, Float.SIZE);
            case DOUBLES -> uncompressed(length, Double.SIZE);
            case SPECTRA, PIXELS_ELSEWHERE -> hasImage = true;
            default -> {}
        }
        pass(length);
    }

    private void uncompressed(long length, int sampleBits) throws NotWhole {
        if (length == 0) {
            return;
        }
        hasImage = true;
        afterImage = true;
        long needed = image.bytes(sampleBits);
        boolean declared = !syntax.uid().isEmpty();
        if (length >= needed || (declared && !syntax.isNative())) {
            return;
        }
        String why = "its header says %,d bytes of image data, it has %,d".formatted(needed, length);
        // Some writers leave out the last byte, or whole images.
        boolean images = image.frames() > 1 && length * image.frames() % needed == 0;
        if (images || length == needed - 1 || !declared || untyped) {
            suspect(why);
        } else {
            throw NotWhole.broken(why);
        }
    }

    private void offsets(long left, int size) {
        int count = (int) Math.min(left, PART_BYTES_MAX);
        expect(count, bytes -> {
            if (size == Long.BYTES) {
                while (bytes.hasRemaining()) {
                    extended.add(bytes.getLong());
                }
            } else {
                fragments.table(bytes);
            }
            if (left > count) {
                offsets(left - count, size);
            } else {
                pass(0);
            }
        });
    }

    @Override
    void fragment(ByteBuffer bytes, long start) throws NotWhole {
        Level level = level();
        long length = Integer.toUnsignedLong(bytes.getInt(4));
        if (tag == SEQUENCE_END) {
            suspect(fragments.judge(image.frames(), extended));
            close();
            afterImage = true;
            pass(0);
        } else if (tag != ITEM) {
            suspect(fragments.judge(image.frames(), extended));
            suspect("its image data has no end mark");
        } else if (level.empty) {
            level.empty = false;
            if (length > 0 && length != UNDEFINED) {
                offsets(length, Integer.BYTES);
            } else {
                pass(0);
            }
        } else {
            fragments.begins(start);
            fragmentData(length);
        }
    }

    private void fragmentData(long length) throws NotWhole {
        valueStart = position();
        valueBytes = length;
        if (length == UNDEFINED) {
            suspect(fragments.judge(image.frames(), extended));
            suspect("the last part of its image data has no length");
        } else if (length == 0) {
            pass(0);
        } else {
            int head = (int) Math.min(length, DicomFragments.ENDS_BYTES);
            expect(head, bytes -> {
                fragments.head(bytes, length);
                fragmentTail(bytes, length - head);
            });
        }
    }

    private void fragmentTail(ByteBuffer head, long rest) {
        if (rest == 0) {
            fragments.tail(head);
            pass(0);
            return;
        }
        int tail = (int) Math.min(rest, DicomFragments.ENDS_BYTES);
        skip(rest - tail);
        expect(tail, bytes -> {
            fragments.tail(bytes);
            pass(0);
        });
    }

    @Override
    void end(long left) throws NotWhole {
        closeUntil(position());
        boolean border = left == 0 || (atHeader && left <= HEADER_BYTES);
        boolean complete = isTop() || level().kind == Kind.FRAGMENTS;
        if (!border || !complete) {
            throw cut();
        }
        if (level().kind == Kind.FRAGMENTS) {
            suspect(fragments.judge(image.frames(), extended));
            suspect("its image data has no end mark");
        } else if (left > 0 && left < HEADER_BYTES) {
            suspect("bytes that are not DICOM follow its data, from byte %,d on"
                    .formatted(base + position() - HEADER_BYTES + left + 1));
        }
        finish();
    }

    private NotWhole cut() {
        String why = "it ends after %,d bytes, in the middle of %s".formatted(base + position(), place());
        return untyped ? NotWhole.suspect(why) : NotWhole.broken(why);
    }

    private String place() {
        long frames = image.frames();
        if (level().kind == Kind.FRAGMENTS) {
            boolean known = frames > 1 && fragments.count() <= frames && syntax.hasPartsByImage();
            return known ? "image %,d of %,d".formatted(fragments.count(), frames) : "its image data";
        }
        if (isTop() && tag == PIXELS) {
            long needed = image.bytes(0);
            boolean known = frames > 1 && valueBytes == needed + needed % 2;
            return known
                    ? "image %,d of %,d"
                            .formatted(Math.min(frames, (position() - valueStart) * frames / needed + 1), frames)
                    : "its image data";
        }
        return hasImage ? "what follows its image data" : "its header";
    }

    /** Judges the data set as a whole after its last element. */
    private void finish() throws NotWhole {
        if (isEmpty()) {
            throw NotWhole.broken("it has no data after its file header");
        }
        if (!hasImage) {
            withoutImage();
        }
        if (!links.equals(records)) {
            suspect("its directory records do not point to each other");
        }
        if (suspicion != null) {
            throw NotWhole.suspect(suspicion);
        }
        if (!hasImage && !hasRecords && !image.isOtherClass()) {
            throw NotWhole.unknown("it ends without an image, and its class does not say whether it should have one");
        }
    }

    /** Many healthy objects have no image; zeros that are long enough to be the lost one are no padding. */
    private void withoutImage() throws NotWhole {
        long needed = syntax.isNative() ? image.bytes(0) : 0;
        long zeros = zerosFrom < 0 ? 0 : position() - zerosFrom;
        if (zeros >= Math.max(needed > 0 ? needed : ZEROS_BYTES_MIN, HEADER_BYTES)
                && (image.isDescribed() || image.isImageClass())) {
            throw NotWhole.broken(
                    "from byte %,d on it has zeros in place of its image data".formatted(base + zerosFrom + 1));
        }
        if (image.isDescribed()) {
            suspect("its header describes an image, but there is no image data");
        } else if (zeros >= ZEROS_BYTES_MIN) {
            suspect("from byte %,d on it has zeros in place of data".formatted(base + zerosFrom + 1));
        }
    }
}
