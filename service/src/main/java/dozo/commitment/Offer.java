package dozo.commitment;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.io.ByteArrayOutputStream;
import java.net.ProtocolException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * What a request for an association offers, or what its acceptance says (PS3.8 sections 9.3.2 and 9.3.3). All data sets are in
 * implicit little endian, which everybody has to offer (PS3.5 section 10.1).
 *
 * @param application the application context
 * @param bytesMax of a data PDU that its sender reads; 0: any
 * @param reports whether the one that opens the association is the SCP of Storage Commitment (PS3.7 section D.3.3.4)
 */
record Offer(String called, String calling, String application, List<Context> contexts, int bytesMax, boolean reports) {

    static final String APPLICATION = "1.2.840.10008.3.1.1.1";
    static final String VERIFICATION = "1.2.840.10008.1.1";
    static final String COMMITMENT = "1.2.840.10008.1.20.1";
    private static final String IMPLICIT = "1.2.840.10008.1.2";

    /** 2.25 and a UUID: a name that needs no registration. */
    private static final String IMPLEMENTATION = "2.25.62733124104935706325846513049317294315";

    private static final int APPLICATION_ITEM = 0x10;
    private static final int CONTEXT_ITEM = 0x20;
    private static final int ACCEPTED_CONTEXT_ITEM = 0x21;
    private static final int CLASS_ITEM = 0x30;
    private static final int SYNTAX_ITEM = 0x40;
    private static final int USER_ITEM = 0x50;
    private static final int BYTES_MAX_ITEM = 0x51;
    private static final int IMPLEMENTATION_ITEM = 0x52;
    private static final int ROLE_ITEM = 0x54;

    private static final int TITLE_BYTES = 16;
    private static final int RESERVED_BYTES = 32;

    /** A presentation context: a class, whether it can be used, and if not, why. An acceptance does not repeat the class. */
    record Context(byte id, int result, String sopClass, boolean implicit) {

        /** Returns the answer to an offered one. */
        Context answer() {
            boolean known = sopClass.equals(VERIFICATION) || sopClass.equals(COMMITMENT);
            return new Context(id, known && implicit ? 0 : known ? 4 : 3, sopClass, true);
        }

        boolean isAccepted() {
            return result == 0 && implicit;
        }
    }

    private record Item(int type, ByteBuffer value) {}

    /** Reads one. Items that are not known here are left out. */
    static Offer read(ByteBuffer body) throws ProtocolException {
        try {
            ByteBuffer bytes = body.slice();
            bytes.getInt();
            String called = text(slice(bytes, TITLE_BYTES));
            String calling = text(slice(bytes, TITLE_BYTES));
            slice(bytes, RESERVED_BYTES);
            List<Item> items = items(bytes);
            List<Item> user = items(only(items, USER_ITEM));
            boolean reports =
                    user.stream().filter(item -> item.type == ROLE_ITEM).anyMatch(Offer::isReporting);
            return new Offer(
                    called,
                    calling,
                    text(only(items, APPLICATION_ITEM)),
                    items.stream()
                            .filter(item -> item.type == CONTEXT_ITEM || item.type == ACCEPTED_CONTEXT_ITEM)
                            .map(item -> context(item.value))
                            .toList(),
                    only(user, BYTES_MAX_ITEM).getInt(),
                    reports);
        } catch (BufferUnderflowException e) {
            throw new ProtocolException("an item of an association is missing or cut");
        }
    }

    private static List<Item> items(ByteBuffer bytes) {
        List<Item> items = new ArrayList<>();
        while (bytes.hasRemaining()) {
            int type = bytes.getShort() >>> 8;
            items.add(new Item(type, slice(bytes, Short.toUnsignedInt(bytes.getShort()))));
        }
        return items;
    }

    private static ByteBuffer only(List<Item> items, int type) {
        return items.stream()
                .filter(item -> item.type == type)
                .findFirst()
                .orElseThrow(BufferUnderflowException::new)
                .value;
    }

    private static Context context(ByteBuffer value) {
        byte id = value.get();
        int result = value.getShort() & 0xFF;
        value.get();
        List<Item> items = items(value);
        String sopClass = items.stream()
                .filter(item -> item.type == CLASS_ITEM)
                .map(item -> text(item.value))
                .findFirst()
                .orElse("");
        boolean implicit = items.stream()
                .anyMatch(item -> item.type == SYNTAX_ITEM && text(item.value).equals(IMPLICIT));
        return new Context(id, result, sopClass, implicit);
    }

    private static boolean isReporting(Item role) {
        boolean commitment = text(slice(role.value, Short.toUnsignedInt(role.value.getShort())))
                .equals(COMMITMENT);
        return (role.value.getShort() & 0xFF) == 1 && commitment;
    }

    private static ByteBuffer slice(ByteBuffer bytes, int length) {
        if (length > bytes.remaining()) {
            throw new BufferUnderflowException();
        }
        ByteBuffer slice = bytes.slice(bytes.position(), length);
        bytes.position(bytes.position() + length);
        return slice;
    }

    private static String text(ByteBuffer bytes) {
        return ISO_8859_1
                .decode(bytes.slice())
                .toString()
                .replaceAll("\\p{Cntrl}", " ")
                .strip();
    }

    /** Returns the offer as a request or an acceptance. */
    Pdu write(int type) {
        boolean asks = type == Pdu.ASSOCIATE_RQ;
        Stream<byte[]> offered = contexts.stream()
                .map(each -> asks
                        ? item(CONTEXT_ITEM, new byte[] {each.id, 0, 0, 0}, item(CLASS_ITEM, each.sopClass), syntax())
                        : item(ACCEPTED_CONTEXT_ITEM, new byte[] {each.id, 0, (byte) each.result, 0}, syntax()));
        byte[] limit = item(
                BYTES_MAX_ITEM,
                ByteBuffer.allocate(Integer.BYTES).putInt(bytesMax).array());
        byte[] role = reports
                ? item(
                        ROLE_ITEM,
                        new byte[] {0, (byte) COMMITMENT.length()},
                        COMMITMENT.getBytes(ISO_8859_1),
                        new byte[] {0, 1})
                : new byte[0];
        byte[] titles = "%-16s%-16s".formatted(called, calling).getBytes(ISO_8859_1);
        byte[] user = item(USER_ITEM, limit, item(IMPLEMENTATION_ITEM, IMPLEMENTATION), role);
        byte[] all = joined(Stream.of(
                        Stream.of(new byte[] {0, 1, 0, 0}, titles, new byte[RESERVED_BYTES]),
                        Stream.of(item(APPLICATION_ITEM, application)),
                        offered,
                        Stream.of(user))
                .flatMap(each -> each));
        return new Pdu(type, ByteBuffer.wrap(all));
    }

    private static byte[] syntax() {
        return item(SYNTAX_ITEM, IMPLICIT);
    }

    private static byte[] item(int type, String text) {
        return item(type, text.getBytes(ISO_8859_1));
    }

    private static byte[] item(int type, byte[]... parts) {
        byte[] value = joined(Stream.of(parts));
        ByteBuffer item = ByteBuffer.allocate(2 * Short.BYTES + value.length);
        return item.putShort((short) (type << 8))
                .putShort((short) value.length)
                .put(value)
                .array();
    }

    private static byte[] joined(Stream<byte[]> parts) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        parts.forEachOrdered(all::writeBytes);
        return all.toByteArray();
    }
}
