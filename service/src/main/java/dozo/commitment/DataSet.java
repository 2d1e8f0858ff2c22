package dozo.commitment;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.net.ProtocolException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** A DICOM data set in memory, in implicit little endian (PS3.5 section 7). */
final class DataSet {

    static final int TRANSACTION_UID = 0x0008_1195;
    static final int FAILED_IMAGES = 0x0008_1198;
    static final int IMAGES = 0x0008_1199;
    static final int CLASS_UID = 0x0008_1150;
    static final int INSTANCE_UID = 0x0008_1155;
    static final int REASON = 0x0008_1197;

    /** Of a sequence only so many items are kept, which is one more than any request may have. */
    private static final int ITEMS_KEPT = Commitments.IMAGES_MAX + 1;

    private static final int DEPTH_MAX = 4;
    private static final int UNDEFINED = -1;
    private static final int ITEM = 0xFFFE_E000;
    private static final int ITEM_END = 0xFFFE_E00D;
    private static final int SEQUENCE_END = 0xFFFE_E0DD;

    private final Map<Integer, ByteBuffer> values = new HashMap<>(4);
    private List<DataSet> images = List.of();

    private DataSet() {}

    /** Reads one. A ProtocolException says that it is cut, or nested deeper than {@value #DEPTH_MAX}. */
    static DataSet read(byte[] bytes) throws ProtocolException {
        try {
            return read(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN), false, 0);
        } catch (BufferUnderflowException e) {
            throw new ProtocolException("a data set is cut");
        }
    }

    private static DataSet read(ByteBuffer in, boolean delimited, int depth) throws ProtocolException {
        DataSet set = new DataSet();
        while (delimited || in.hasRemaining()) {
            int tag = tag(in);
            int length = in.getInt();
            if (tag == ITEM_END && delimited) {
                return set;
            }
            if (tag == IMAGES) {
                set.images = items(in, length, depth + 1);
            } else if (length == UNDEFINED) {
                items(in, length, depth + 1);
            } else {
                set.values.put(tag, slice(in, length));
            }
        }
        return set;
    }

    private static List<DataSet> items(ByteBuffer in, int length, int depth) throws ProtocolException {
        if (depth > DEPTH_MAX) {
            throw new ProtocolException("a data set is nested deeper than %d".formatted(DEPTH_MAX));
        }
        List<DataSet> items = new ArrayList<>();
        boolean delimited = length == UNDEFINED;
        ByteBuffer part = delimited ? in : slice(in, length);
        while (delimited || part.hasRemaining()) {
            int tag = tag(part);
            int itemLength = part.getInt();
            if (tag == SEQUENCE_END && delimited) {
                break;
            }
            if (tag != ITEM) {
                throw new ProtocolException("element %08x in place of an item".formatted(tag));
            }
            boolean open = itemLength == UNDEFINED;
            DataSet item = read(open ? part : slice(part, itemLength), open, depth);
            if (items.size() < ITEMS_KEPT) {
                items.add(item);
            }
        }
        return items;
    }

    private static int tag(ByteBuffer in) {
        return in.getShort() << 16 | Short.toUnsignedInt(in.getShort());
    }

    private static ByteBuffer slice(ByteBuffer in, int length) {
        if (length < 0 || length > in.remaining()) {
            throw new BufferUnderflowException();
        }
        ByteBuffer slice = in.slice(in.position(), length).order(ByteOrder.LITTLE_ENDIAN);
        in.position(in.position() + length);
        return slice;
    }

    /** Returns a text without its padding; empty: there is none. */
    String text(int tag) {
        ByteBuffer value = values.getOrDefault(tag, ByteBuffer.allocate(0));
        return ISO_8859_1.decode(value.slice()).toString().replace('\0', ' ').strip();
    }

    /** Returns a number of 16 bits; -1: there is none. */
    int number(int tag) {
        ByteBuffer value = values.get(tag);
        return value == null || value.limit() != Short.BYTES ? -1 : Short.toUnsignedInt(value.getShort(0));
    }

    /** Returns the items of the sequence of images. */
    List<DataSet> images() {
        return images;
    }

    /** Writes one, in the order of the calls. */
    static final class Writer {

        private final ByteArrayOutputStream out = new ByteArrayOutputStream();

        Writer uid(int tag, String uid) {
            return element(tag, (uid.length() % 2 == 0 ? uid : uid + '\0').getBytes(ISO_8859_1));
        }

        Writer number(int tag, int value) {
            return element(tag, new byte[] {(byte) value, (byte) (value >>> 8)});
        }

        /** Writes a sequence, unless it is empty. */
        Writer sequence(int tag, List<byte[]> items) {
            Writer all = new Writer();
            items.forEach(item -> all.element(ITEM, item));
            return items.isEmpty() ? this : element(tag, all.bytes());
        }

        private Writer element(int tag, byte[] value) {
            ByteBuffer header = ByteBuffer.allocate(2 * Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            header.putShort((short) (tag >>> 16)).putShort((short) tag).putInt(value.length);
            out.writeBytes(header.array());
            out.writeBytes(value);
            return this;
        }

        byte[] bytes() {
            return out.toByteArray();
        }

        /** Returns the elements of a command after their length in bytes (PS3.7 section 6.3.1). */
        byte[] command() {
            ByteBuffer length = ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.LITTLE_ENDIAN);
            Writer all = new Writer().element(0, length.putInt(out.size()).array());
            all.out.writeBytes(bytes());
            return all.bytes();
        }
    }
}
