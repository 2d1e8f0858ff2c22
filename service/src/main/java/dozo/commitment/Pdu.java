package dozo.commitment;

import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ProtocolException;
import java.nio.ByteBuffer;

/**
 * A protocol data unit of the DICOM upper layer (PS3.8 section 9.3).
 *
 * @param body what follows its length, big endian, from 0 to the limit
 */
record Pdu(int type, ByteBuffer body) {

    static final int ASSOCIATE_RQ = 1;
    static final int ASSOCIATE_AC = 2;
    static final int ASSOCIATE_RJ = 3;
    static final int DATA = 4;
    static final int RELEASE_RQ = 5;
    static final int RELEASE_RP = 6;
    static final int ABORT = 7;

    /** The longest that is read or written. */
    static final int BYTES_MAX = 1 << 16;

    private static final int HEADER_BYTES = 6;

    /** A release or an abort; its four bytes say nothing of interest. */
    static Pdu empty(int type) {
        return new Pdu(type, ByteBuffer.allocate(4));
    }

    /** Reads the next one. A ProtocolException says that it has no known type, or is longer than {@value #BYTES_MAX}. */
    static Pdu read(DataInputStream in) throws IOException {
        int type = in.readUnsignedByte();
        in.readByte();
        int length = in.readInt();
        if (type < ASSOCIATE_RQ || type > ABORT || length < 0 || length > BYTES_MAX) {
            throw new ProtocolException("no PDU: type %d, %d bytes".formatted(type, length));
        }
        byte[] body = in.readNBytes(length);
        if (body.length < length) {
            throw new EOFException();
        }
        return new Pdu(type, ByteBuffer.wrap(body));
    }

    void write(OutputStream out) throws IOException {
        ByteBuffer all = ByteBuffer.allocate(HEADER_BYTES + body.limit());
        all.put((byte) type)
                .put((byte) 0)
                .putInt(body.limit())
                .put(body.duplicate().rewind());
        out.write(all.array());
        out.flush();
    }
}
