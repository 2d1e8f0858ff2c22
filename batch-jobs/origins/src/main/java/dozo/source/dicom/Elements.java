package dozo.source.dicom;

import dozo.file.Digest;
import dozo.source.dicom.Damaged.Damage;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;

/** Walks the elements of one file and keeps the wanted values as bytes; everything else is skipped. */
final class Elements {

    private static final int ITEM = 0xFFFE_E000;
    private static final int ITEM_END = 0xFFFE_E00D;
    private static final int SEQUENCE_END = 0xFFFE_E0DD;
    private static final int GROUP_META = 0x0002;
    private static final int GROUP_DELIMITERS = 0xFFFE;
    private static final int GROUP_PADDING = 0xFFFC;
    private static final long UNDEFINED = 0xFFFF_FFFFL;
    private static final long NO_END = Long.MAX_VALUE;

    /** Pixel Data, Float Pixel Data and Double Float Pixel Data. */
    private static final Set<Integer> PIXELS = Set.of(0x7FE0_0010, 0x7FE0_0008, 0x7FE0_0009);

    /** The most elements at the top of a data set of which digests are kept. */
    private static final int TOP_MAX = 10_000;

    private static final int PIXELS_LAST = 0x7FE0_0010;

    private final Map<Tag, Raw> found = new EnumMap<>(Tag.class);
    private Input input;
    private int count;

    /** A raw value; {@code vr} is 0 if the file does not state it. */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    record Raw(byte[] bytes, int vr, boolean bigEndian) {}

    /** The head of an element; its value follows. */
    private record Head(int number, int vr, long length) {

        boolean isUndefined() {
            return length == UNDEFINED;
        }
    }

    Elements(Input input) {
        this.input = input;
    }

    /** Returns the wanted values so far; of a repeated tag, the first. */
    Map<Tag, Raw> found() {
        return found;
    }

    long offset() {
        return input.offset();
    }

    /** Continues with another input. */
    void goOnWith(Input other) {
        input = other;
    }

    /** Reads group 0002 to its last element. The length that the group states is not used: it is wrong too often. */
    void meta() throws IOException, Malformed {
        while (input.has(2) && input.shortAt(0, false) == GROUP_META) {
            element(head(Encoding.EXPLICIT_LITTLE), Encoding.EXPLICIT_LITTLE, Tag.AT_TOP, NO_END, 0);
        }
    }

    /** Reads the data set up to the last wanted tag. */
    void dataSet(Encoding encoding) throws IOException, Malformed {
        while (!isAtEnd()) {
            Head head = head(encoding);
            if (Integer.compareUnsigned(head.number(), Tag.LAST) > 0) {
                checkNumber(head, encoding);
                return;
            }
            element(head, encoding, Tag.AT_TOP, NO_END, 0);
        }
    }

    /** Reads the data set up to its pixels, so that their value comes next; returns whether there are any. */
    boolean pixels(Encoding encoding) throws IOException, Malformed {
        while (!isAtEnd()) {
            Head head = head(encoding);
            if (PIXELS.contains(head.number())) {
                return true;
            }
            if (Integer.compareUnsigned(head.number(), PIXELS_LAST) > 0) {
                return false;
            }
            element(head, encoding, Map.of(), NO_END, 0);
        }
        return false;
    }

    /** Reads the whole data set, and returns the digests of its elements' values; of a repeated element, the last. */
    Map<Integer, Digest> digests(Encoding encoding) throws IOException, Malformed {
        Map<Integer, Digest> digests = new HashMap<>();
        while (!isAtEnd()) {
            Head head = head(encoding);
            MessageDigest digest = Digest.algorithm();
            digest(head, encoding, digest, 0);
            digests.put(head.number(), Digest.of(digest.digest()));
            if (digests.size() > TOP_MAX) {
                throw new Malformed(Damage.TOO_MUCH, input.offset());
            }
        }
        return digests;
    }

    private void digest(Head head, Encoding encoding, MessageDigest digest, int depth) throws IOException, Malformed {
        if (!head.isUndefined() && !beginsItems(head)) {
            if (head.length() <= Input.AHEAD_BYTES_MAX) {
                digest.update(unpadded(input.take((int) head.length())));
            } else {
                digestBytes(head.length(), digest);
            }
            return;
        }
        if (depth >= HeaderReader.DEPTH_MAX) {
            throw new Malformed(Damage.TOO_DEEP, input.offset());
        }
        Encoding inside = inside(head, encoding);
        long end = head.isUndefined() ? NO_END : input.offset() + head.length();
        while (input.offset() < end) {
            Head item = head(inside);
            if (item.number() == SEQUENCE_END && head.isUndefined()) {
                return;
            }
            if (item.number() != ITEM) {
                throw new Malformed(Damage.NO_ELEMENT, input.offset());
            }
            digest.update((byte) depth);
            if (PIXELS.contains(head.number()) && !item.isUndefined()) {
                digestBytes(item.length(), digest);
            } else {
                digestItem(item, inside, end, digest, depth + 1);
            }
        }
    }

    /** NB: a sequence with a length has no VR that says so if the encoding is implicit. */
    private boolean beginsItems(Head head) throws IOException, Malformed {
        boolean maySo = head.vr() == 0 || head.vr() == Vr.UN || head.vr() == Vr.SQ;
        return maySo
                && !PIXELS.contains(head.number())
                && head.length() >= 8
                && input.has(8)
                && (input.shortAt(0, false) << 16 | input.shortAt(2, false)) == ITEM;
    }

    private void digestItem(Head item, Encoding encoding, long end, MessageDigest digest, int depth)
            throws IOException, Malformed {
        long itemEnd = item.isUndefined() ? end : input.offset() + item.length();
        while (input.offset() < itemEnd) {
            Head head = head(encoding);
            if (head.number() == ITEM_END && item.isUndefined()) {
                return;
            }
            digest.update(
                    ByteBuffer.allocate(Integer.BYTES).putInt(head.number()).flip());
            digest(head, encoding, digest, depth);
        }
    }

    /** NB: with its length, so that values in a sequence are not taken for one another. */
    private static ByteBuffer unpadded(byte[] value) {
        int length = value.length;
        while (length > 0 && (value[length - 1] == ' ' || value[length - 1] == 0)) {
            length--;
        }
        return ByteBuffer.allocate(Long.BYTES + length)
                .putLong(length)
                .put(value, 0, length)
                .flip();
    }

    private void digestBytes(long length, MessageDigest digest) throws IOException, Malformed {
        digest.update(ByteBuffer.allocate(Long.BYTES).putLong(length).flip());
        for (long left = length; left > 0; ) {
            byte[] some = input.take((int) Math.min(left, Input.AHEAD_BYTES_MAX));
            digest.update(some);
            left -= some.length;
        }
    }

    /** Returns whether only padding is left: some machines pad a file with zeros. */
    private boolean isAtEnd() throws IOException, Malformed {
        if (input.has(8)) {
            return false;
        }
        for (int i = 0; input.has(i + 1); i++) {
            if (input.byteAt(i) != 0) {
                return false;
            }
        }
        return true;
    }

    /** Checks that the walk ended at a later element, and not at arbitrary bytes. */
    private void checkNumber(Head head, Encoding encoding) throws Malformed {
        int group = head.number() >>> 16;
        boolean isPadding = group == GROUP_PADDING || group == GROUP_DELIMITERS;
        if (encoding.explicit() && !isPadding && !Vr.isPrintable(head.vr())) {
            throw new Malformed(Damage.NO_ELEMENT, input.offset());
        }
    }

    private Head head(Encoding encoding) throws IOException, Malformed {
        if (!input.has(8)) {
            throw new Malformed(Damage.CUT_OFF, input.offset());
        }
        boolean bigEndian = encoding.bigEndian();
        int number = (input.shortAt(0, bigEndian) << 16) | input.shortAt(2, bigEndian);
        int vr = input.shortAt(4, true);
        Head head;
        int bytes = 8;
        if (!encoding.explicit() || number >>> 16 == GROUP_DELIMITERS || !Vr.isPrintable(vr)) {
            // NB: also in explicit data sets, because some machines have mixed implicit elements into them.
            head = new Head(number, 0, length(4, bigEndian));
        } else if (Vr.hasLongLength(vr)) {
            if (!input.has(12)) {
                throw new Malformed(Damage.CUT_OFF, input.offset());
            }
            head = new Head(number, vr, length(8, bigEndian));
            bytes = 12;
        } else {
            head = new Head(number, vr, input.shortAt(6, bigEndian));
        }
        countOne();
        input.skip(bytes);
        return head;
    }

    private void countOne() throws Malformed {
        if (++count > HeaderReader.ELEMENTS_MAX) {
            throw new Malformed(Damage.TOO_MUCH, input.offset());
        }
    }

    private long length(int ahead, boolean bigEndian) {
        return Integer.toUnsignedLong(input.intAt(ahead, bigEndian));
    }

    private void element(Head head, Encoding encoding, Map<Integer, Tag> wanted, long end, int depth)
            throws IOException, Malformed {
        if (!head.isUndefined() && head.length() > end - input.offset()) {
            throw new Malformed(Damage.NO_ELEMENT, input.offset());
        }
        Tag tag = wanted.get(head.number());
        if (head.number() == Tag.REQUEST_ATTRIBUTES && depth == 0) {
            sequence(head, inside(head, encoding), Tag.IN_REQUEST, 1);
        } else if (head.isUndefined()) {
            sequence(head, inside(head, encoding), Map.of(), depth + 1);
        } else if (tag == null || found.containsKey(tag)) {
            input.skip(head.length());
        } else {
            found.put(tag, new Raw(value(head), head.vr(), encoding.bigEndian()));
        }
    }

    /** Returns the encoding inside a sequence; with VR UN it is always implicit little endian. */
    private static Encoding inside(Head head, Encoding encoding) {
        return head.vr() == Vr.UN ? Encoding.IMPLICIT_LITTLE : encoding;
    }

    private byte[] value(Head head) throws IOException, Malformed {
        if (head.length() > HeaderReader.VALUE_BYTES_MAX) {
            long from = input.offset();
            input.skip(head.length());
            throw new Malformed(Damage.TOO_LONG, from);
        }
        return input.take((int) head.length());
    }

    /** Reads a sequence to its end. Only tags of its first item are wanted. */
    private void sequence(Head sequence, Encoding encoding, Map<Integer, Tag> wanted, int depth)
            throws IOException, Malformed {
        if (depth > HeaderReader.DEPTH_MAX) {
            throw new Malformed(Damage.TOO_DEEP, input.offset());
        }
        long end = sequence.isUndefined() ? NO_END : input.offset() + sequence.length();
        Map<Integer, Tag> still = wanted;
        while (input.offset() < end) {
            Head item = head(encoding);
            if (item.number() == SEQUENCE_END && sequence.isUndefined()) {
                return;
            }
            if (item.number() != ITEM) {
                throw new Malformed(Damage.NO_ELEMENT, input.offset());
            }
            item(item, encoding, still, end, depth);
            still = Map.of();
        }
    }

    private void item(Head item, Encoding encoding, Map<Integer, Tag> wanted, long end, int depth)
            throws IOException, Malformed {
        if (!item.isUndefined() && item.length() > end - input.offset()) {
            throw new Malformed(Damage.NO_ELEMENT, input.offset());
        }
        if (!item.isUndefined() && wanted.isEmpty()) {
            input.skip(item.length());
            return;
        }
        long itemEnd = item.isUndefined() ? end : input.offset() + item.length();
        while (input.offset() < itemEnd) {
            Head head = head(encoding);
            if (head.number() == ITEM_END && item.isUndefined()) {
                return;
            }
            if (head.number() >>> 16 == GROUP_DELIMITERS) {
                throw new Malformed(Damage.NO_ELEMENT, input.offset());
            }
            element(head, encoding, wanted, itemEnd, depth);
        }
        if (item.isUndefined()) {
            throw new Malformed(Damage.NO_ELEMENT, input.offset());
        }
    }
}
