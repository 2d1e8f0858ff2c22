package dozo.content;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The elements of a DICOM data set (PS3.5 section 7), one after the other until the end of the file. Sequences and items of known
 * length pass unread, except those of a DICOMDIR; those of undefined length are walked. What the values say is for the subclass.
 */
abstract class DicomElements extends Check {

    static final int HEADER_BYTES = 8;
    static final int LONG_HEADER_BYTES = 12;

    /** Deeper sequences are not walked, and nobody knows. */
    private static final int DEPTH_MAX = 64;

    static final long UNDEFINED = 0xFFFF_FFFFL;

    private static final int DELIMITERS = 0xFFFE;
    static final int ITEM = 0xFFFE_E000;
    private static final int ITEM_END = 0xFFFE_E00D;
    static final int SEQUENCE_END = 0xFFFE_E0DD;

    /** Data Set Trailing Padding (PS3.10 section 7.2); its length is often wrong. */
    private static final int PADDING = 0xFFFC_FFFC;

    private static final int SIGNATURES = 0xFFFA_FFFA;

    /** Groups of and behind the image data. */
    private static final int PIXELS_GROUP = 0x7FE0;

    private static final int PIXELS_GROUP_LAST = 0x7FFF;

    static final int RECORDS = 0x0004_1220;

    /** An element without a type, where one is expected, is not longer. */
    private static final int UNTYPED_BYTES_MAX = 0xFFFE;

    /** Takes a part that was expected. */
    interface Part {
        void take(ByteBuffer bytes) throws NotWhole;
    }

    enum Kind {
        ITEM,
        SEQUENCE,
        FRAGMENTS
    }

    /** The data set, or a sequence or item that is open. */
    static final class Level {

        final Kind kind;
        final long end;
        boolean explicit;
        boolean empty = true;
        private int last;

        private Level(Kind kind, long end, boolean explicit) {
            this.kind = kind;
            this.end = end;
            this.explicit = explicit;
        }
    }

    final DicomSyntax syntax;

    /** How many bytes of the file are before the data set. */
    final long base;

    /** Where the records of a DICOMDIR are. */
    final DicomOffsets records = new DicomOffsets();

    /** Of the latest element. */
    int tag;

    boolean atHeader;
    boolean afterImage;

    /** Whether an element had no type: then no later fault is an alarm. */
    boolean untyped;

    /** Where the elements end and zeros begin; negative: nowhere. */
    long zerosFrom = -1;

    @Nullable
    String suspicion;

    private final Deque<Level> levels = new ArrayDeque<>();
    private final Part header = this::header;
    private Part next = header;

    DicomElements(String format, DicomSyntax syntax, long base) {
        super(format);
        this.syntax = syntax;
        this.base = base;
        levels.push(new Level(Kind.ITEM, Long.MAX_VALUE, syntax.explicit()));
        pass(0);
    }

    /** Takes the length of the value that follows; {@link #UNDEFINED}: it is a sequence, or parts of an image. */
    abstract void value(long length, boolean implicitItems) throws NotWhole;

    /** Takes the header of a part of a compressed image, or of what ends them. */
    abstract void fragment(ByteBuffer bytes, long start) throws NotWhole;

    @Override
    final void part(ByteBuffer bytes) throws NotWhole {
        next.take(bytes.order(syntax.order()));
    }

    final void expect(int bytes, Part part) {
        want(bytes);
        next = part;
        atHeader = false;
    }

    /** Lets a value pass; the next header follows it. */
    final void pass(long bytes) {
        skip(bytes);
        expect(HEADER_BYTES, header);
        atHeader = true;
    }

    final Level level() {
        return levels.element();
    }

    final boolean isTop() {
        return levels.size() == 1;
    }

    final void open(Kind kind, long end, boolean explicit) throws NotWhole {
        if (levels.size() == DEPTH_MAX) {
            throw NotWhole.unknown();
        }
        levels.push(new Level(kind, end, explicit));
        pass(0);
    }

    final void close() {
        if (!isTop()) {
            levels.pop();
        }
    }

    /** Closes what ends here by its length. */
    final void closeUntil(long at) {
        while (at >= level().end) {
            close();
        }
    }

    /** Returns whether the data set has no element. */
    final boolean isEmpty() {
        return levels.getLast().empty;
    }

    /** Keeps the first reason. */
    final void suspect(@Nullable String why) {
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
        closeUntil(start);
        tag = bytes.getShort(0) << Short.SIZE | Short.toUnsignedInt(bytes.getShort(2));
        if (level().kind == Kind.FRAGMENTS) {
            fragment(bytes, start);
        } else if (bytes.getLong(0) == 0) {
            if (!isTop()) {
                throw lost(start);
            }
            zerosFrom = start;
        } else if (tag >>> Short.SIZE == DELIMITERS) {
            delimiter(start, Integer.toUnsignedLong(bytes.getInt(4)));
        } else {
            if (level().kind == Kind.SEQUENCE) {
                leaveSequence(bytes, start);
            }
            element(bytes, start);
        }
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
            // Some writers leave out a sequence's header, or say that it is empty: all is there, but where it ends is a
            // guess.
            throw NotWhole.suspect("at byte %,d it has an item outside of a sequence".formatted(base + start + 1));
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
    final boolean isDirectory() {
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
     * length is, is then a guess, and no later fault an alarm. Text in place of the tag, or between an unknown type and its length
     * (PS3.5 section 7.1.2 wants zeros there), is none of them: a wrong length led here.
     */
    private void untyped(ByteBuffer bytes, long start, boolean ascends) throws NotWhole {
        byte first = bytes.get(4);
        boolean same = first == bytes.get(5) && !Character.isLetterOrDigit(first);
        boolean letters = DicomVr.isLetters(bytes, 0) && bytes.getShort(6) == 0;
        long length = Integer.toUnsignedLong(bytes.getInt(4));
        boolean implicit = length <= UNTYPED_BYTES_MAX || length == UNDEFINED;
        if (!ascends || isText(bytes) || !(letters || same || implicit)) {
            throw lost(start);
        }
        untyped = true;
        if (letters) {
            expect(Integer.BYTES, large -> value(Integer.toUnsignedLong(large.getInt(0)), false));
        } else {
            value(same ? Short.toUnsignedLong(bytes.getShort(6)) : length, false);
        }
    }

    private static boolean isText(ByteBuffer tag) {
        return IntStream.range(0, Integer.BYTES).allMatch(i -> tag.get(i) >= ' ' && tag.get(i) <= '~');
    }
}
