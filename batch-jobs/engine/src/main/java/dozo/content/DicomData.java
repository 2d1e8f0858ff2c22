package dozo.content;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * A DICOM data set (PS3.5 section 7): elements until the end of the file. Sequences and items of known length pass unread,
 * except those of a DICOMDIR; those of undefined length are walked. The length of the image data must fit what the header says
 * of it. Padding and what follows the image data are never an alarm.
 */
final class DicomData extends Check {

    static final int HEADER_BYTES = 8;
    static final int LONG_HEADER_BYTES = 12;

    /** Deeper sequences are not walked, and nobody knows. */
    static final int DEPTH_MAX = 64;

    private static final long UNDEFINED = 0xFFFF_FFFFL;

    private static final int DELIMITERS = 0xFFFE;
    private static final int ITEM = 0xFFFE_E000;
    private static final int ITEM_END = 0xFFFE_E00D;
    private static final int SEQUENCE_END = 0xFFFE_E0DD;

    /** Data Set Trailing Padding (PS3.10 section 7.2); its length is often wrong. */
    private static final int PADDING = 0xFFFC_FFFC;

    private static final int SIGNATURES = 0xFFFA_FFFA;

    private static final int EXTENDED_OFFSETS = 0x7FE0_0001;
    private static final int FLOATS = 0x7FE0_0008;
    private static final int DOUBLES = 0x7FE0_0009;
    private static final int PIXELS = 0x7FE0_0010;
    private static final int SPECTRA = 0x5600_0020;
    private static final int PIXELS_ELSEWHERE = 0x0028_7FE0;

    /** Groups of and behind the image data. */
    private static final int PIXELS_GROUP = 0x7FE0;

    private static final int PIXELS_GROUP_LAST = 0x7FFF;

    private static final int FIRST_RECORD = 0x0004_1200;
    private static final int RECORDS = 0x0004_1220;
    private static final int NEXT_RECORD = 0x0004_1400;
    private static final int LOWER_RECORD = 0x0004_1420;

    /** Zeros of this length in place of elements are more than padding. */
    private static final int ZEROS_BYTES_MIN = 4_096;

    /** An element without a type, where one is expected, is not longer. */
    private static final int UNTYPED_BYTES_MAX = 0xFFFE;

    private interface Part {
        void take(ByteBuffer bytes) throws NotWhole;
    }

    private enum Kind {
        ITEM,
        SEQUENCE,
        FRAGMENTS
    }

    /** The data set, or a sequence or item that is open. */
    private static final class Level {

        private final Kind kind;
        private final long end;
        private boolean explicit;
        private boolean empty = true;
        private int last;

        Level(Kind kind, long end, boolean explicit) {
            this.kind = kind;
            this.end = end;
            this.explicit = explicit;
        }
    }

    private final DicomSyntax syntax;
    private final long base;
    private final DicomImage image = new DicomImage();
    private final DicomSeries series = new DicomSeries();
    private final DicomFragments fragments;
    private final DicomOffsets extended = new DicomOffsets();
    private final DicomOffsets records = new DicomOffsets();
    private final DicomOffsets links = new DicomOffsets();
    private final Deque<Level> levels = new ArrayDeque<>();
    private final Part header = this::header;
    private Part next = header;
    private boolean atHeader;
    private int tag;
    private long valueStart;
    private long valueBytes;
    private boolean untyped;
    private boolean hasImage;
    private boolean hasRecords;
    private boolean afterImage;
    private long zerosFrom = -1;
    private @Nullable String suspicion;

    /**
     * Begins.
     *
     * @param base how many bytes of the file are before the data set
     */
    DicomData(String format, DicomSyntax syntax, long base) {
        super(format);
        this.syntax = syntax;
        this.base = base;
        fragments = new DicomFragments(syntax);
        levels.push(new Level(Kind.ITEM, Long.MAX_VALUE, syntax.explicit()));
        pass(0);
    }

    @Override
    Optional<Instance> instance() {
        return series.instance();
    }

    @Override
    void part(ByteBuffer bytes) throws NotWhole {
        next.take(bytes.order(syntax.order()));
    }

    private void expect(int bytes, Part part) {
        want(bytes);
        next = part;
        atHeader = false;
    }

    /** Lets a value pass; the next header follows it. */
    private void pass(long bytes) {
        skip(bytes);
        expect(HEADER_BYTES, header);
        atHeader = true;
    }

    private Level level() {
        return levels.element();
    }

    private boolean isTop() {
        return levels.size() == 1;
    }

    private void open(Kind kind, long end, boolean explicit) throws NotWhole {
        if (levels.size() == DEPTH_MAX) {
            throw NotWhole.unknown();
        }
        levels.push(new Level(kind, end, explicit));
        pass(0);
    }

    private void close() {
        if (!isTop()) {
            levels.pop();
        }
    }

    private void suspect(@Nullable String why) {
        if (suspicion == null) {
            suspicion = why;
        }
    }

    private NotWhole lost(long start) {
        String why = "from byte %,d on its data is not DICOM".formatted(base + start + 1);
        boolean known = !untyped && !(afterImage && isTop());
        return known ? NotWhole.broken(why) : NotWhole.suspect(why);
    }

    private void header(ByteBuffer bytes) throws NotWhole {
        long start = position() - HEADER_BYTES;
        while (start >= level().end) {
            close();
        }
        tag = bytes.getShort(0) << Short.SIZE | Short.toUnsignedInt(bytes.getShort(2));
        if (level().kind == Kind.FRAGMENTS) {
            fragment(bytes, start);
        } else if (bytes.getLong(0) == 0) {
            zeros(start);
        } else if (tag >>> Short.SIZE == DELIMITERS) {
            delimiter(start, Integer.toUnsignedLong(bytes.getInt(4)));
        } else {
            if (level().kind == Kind.SEQUENCE) {
                leaveSequence(bytes, start);
            }
            element(bytes, start);
        }
    }

    private void zeros(long start) throws NotWhole {
        if (!isTop()) {
            throw lost(start);
        }
        zerosFrom = start;
    }

    /** Delimiters have no value, whatever their length says. An item may lack its own, and those of nothing are ignored. */
    private void delimiter(long start, long length) throws NotWhole {
        switch (tag) {
            case ITEM -> item(start, length);
            case ITEM_END -> {
                if (level().kind == Kind.ITEM) {
                    close();
                }
                pass(0);
            }
            case SEQUENCE_END -> {
                if (level().kind == Kind.ITEM) {
                    close();
                }
                close();
                pass(0);
            }
            default -> throw lost(start);
        }
    }

    private void item(long start, long length) throws NotWhole {
        if (isTop()) {
            throw lost(start);
        }
        if (level().kind == Kind.ITEM) {
            close();
        }
        boolean record = isDirectory();
        if (record) {
            records.add(base + start);
        }
        if (length == UNDEFINED) {
            open(Kind.ITEM, Long.MAX_VALUE, level().explicit);
        } else if (record) {
            // A record may claim to be longer than the sequence it is in.
            open(Kind.ITEM, Math.min(position() + length, level().end), level().explicit);
        } else {
            pass(length);
        }
    }

    /** Returns whether the sequence of records of a DICOMDIR is open, or one of its items. */
    private boolean isDirectory() {
        return levels.size() <= 3 && levels.getLast().last == RECORDS;
    }

    /** Some sequences lack their delimiter: then an element of the enclosing item follows. */
    private void leaveSequence(ByteBuffer bytes, long start) throws NotWhole {
        close();
        Level outer = level();
        boolean typed = !outer.explicit || DicomVr.isShort(bytes, 0) || DicomVr.isLong(bytes, 0);
        if (!typed || Integer.compareUnsigned(tag, outer.last) <= 0) {
            throw lost(start);
        }
    }

    private void element(ByteBuffer bytes, long start) throws NotWhole {
        Level level = level();
        if (isTop() && afterImage && !isAfterImage(bytes)) {
            suspect("bytes that are not DICOM follow its image data, from byte %,d on".formatted(base + start + 1));
            return;
        }
        if (isTop() && tag == PADDING) {
            return;
        }
        if (level.empty) {
            level.explicit = isExplicit(level.explicit, bytes);
        }
        boolean ascends = level.empty || Integer.compareUnsigned(tag, level.last) > 0;
        level.empty = false;
        level.last = tag;
        if (!level.explicit) {
            value(Integer.toUnsignedLong(bytes.getInt(4)), false);
        } else if (DicomVr.isShort(bytes, 0)) {
            value(Short.toUnsignedLong(bytes.getShort(6)), false);
        } else if (DicomVr.isLong(bytes, 0)) {
            boolean implicitItems = bytes.get(4) == 'U' && bytes.get(5) == 'N';
            expect(Integer.BYTES, length -> value(Integer.toUnsignedLong(length.getInt(0)), implicitItems));
        } else {
            untyped(bytes, start, ascends);
        }
    }

    /** Private groups may have higher numbers than the image data; without types, anything could look like one. */
    private boolean isAfterImage(ByteBuffer bytes) {
        int group = tag >>> Short.SIZE;
        if (level().explicit) {
            return group >= PIXELS_GROUP && (DicomVr.isShort(bytes, 0) || DicomVr.isLong(bytes, 0) || tag == PADDING);
        }
        return (group >= PIXELS_GROUP && group <= PIXELS_GROUP_LAST) || tag == SIGNATURES || tag == PADDING;
    }

    /** Items, and whole data sets, are sometimes encoded otherwise than what is around them. */
    private static boolean isExplicit(boolean declared, ByteBuffer bytes) {
        long length = Integer.toUnsignedLong(bytes.getInt(4));
        if (declared) {
            boolean untyped = !DicomVr.isShort(bytes, 0) && !DicomVr.isLong(bytes, 0);
            return !untyped || (length > UNTYPED_BYTES_MAX && length != UNDEFINED);
        }
        // Without types, two letters would be the low half of a large length.
        return DicomVr.isShort(bytes, 0) && bytes.getShort(6) != 0;
    }

    /**
     * Single elements have no type, one of two blanks or the like, or one that nobody knows, also in healthy files. What their
     * length is, is then a guess, and no later fault an alarm.
     */
    private void untyped(ByteBuffer bytes, long start, boolean ascends) throws NotWhole {
        byte first = bytes.get(4);
        boolean same = first == bytes.get(5) && !Character.isLetterOrDigit(first);
        boolean letters = DicomVr.isLetters(bytes, 0);
        long length = Integer.toUnsignedLong(bytes.getInt(4));
        boolean implicit = length <= UNTYPED_BYTES_MAX || length == UNDEFINED;
        if (!ascends || !(letters || same || implicit)) {
            throw lost(start);
        }
        untyped = true;
        if (letters) {
            expect(Integer.BYTES, large -> value(Integer.toUnsignedLong(large.getInt(0)), false));
        } else {
            value(same ? Short.toUnsignedLong(bytes.getShort(6)) : length, false);
        }
    }

    private void value(long length, boolean implicitItems) throws NotWhole {
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
                if (DicomImage.isAttribute(tag)) {
                    image.take(tag, value);
                } else {
                    series.take(tag, value);
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

    private void fragment(ByteBuffer bytes, long start) throws NotWhole {
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
        while (position() >= level().end) {
            close();
        }
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
        if (levels.getLast().empty) {
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
            throw NotWhole.unknown();
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
