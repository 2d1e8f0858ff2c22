package dozo.commitment;

import dozo.commitment.Offer.Context;
import java.io.DataInputStream;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.util.List;

/** The other side of an association, that sends what it likes. */
final class RawPeer implements AutoCloseable {

    static final byte VERIFICATION = 1;
    static final byte COMMITMENT = 3;

    private static final int PATIENCE_MILLIS = 120_000;

    private final Socket socket;
    private final DataInputStream in;

    RawPeer(int port) throws IOException {
        this(connected(port));
    }

    RawPeer(Socket socket) throws IOException {
        this.socket = socket;
        socket.setSoTimeout(PATIENCE_MILLIS);
        in = new DataInputStream(socket.getInputStream());
    }

    private static Socket connected(int port) throws IOException {
        Socket socket = new Socket();
        socket.connect(new InetSocketAddress("127.0.0.1", port), PATIENCE_MILLIS);
        return socket;
    }

    static Offer offer(String called, String calling, String application, int bytesMax) {
        return new Offer(
                called,
                calling,
                application,
                List.of(
                        new Context(VERIFICATION, 0, Offer.VERIFICATION, true),
                        new Context(COMMITMENT, 0, Offer.COMMITMENT, true),
                        new Context((byte) 5, 0, "1.2.840.10008.5.1.4.1.1.4", true)),
                bytesMax,
                false);
    }

    /** Opens an association as scanner MR. */
    RawPeer associated() throws IOException {
        send(offer("DOZO", "MR", Offer.APPLICATION, 0).write(Pdu.ASSOCIATE_RQ));
        Pdu answer = receive();
        if (answer.type() != Pdu.ASSOCIATE_AC) {
            throw new IOException("PDU " + answer.type());
        }
        return this;
    }

    void send(Pdu pdu) throws IOException {
        pdu.write(socket.getOutputStream());
    }

    void send(byte... bytes) throws IOException {
        socket.getOutputStream().write(bytes);
    }

    /** Sends one fragment of a message. */
    void fragment(int context, int control, byte[] bytes) throws IOException {
        ByteBuffer body = ByteBuffer.allocate(6 + bytes.length);
        body.putInt(bytes.length + 2).put((byte) context).put((byte) control).put(bytes);
        send(new Pdu(Pdu.DATA, body));
    }

    Pdu receive() throws IOException {
        return Pdu.read(in);
    }

    /** Returns the command of an answer. */
    DataSet command() throws IOException {
        ByteBuffer body = receive().body();
        byte[] command = new byte[body.getInt() - 2];
        body.getShort();
        body.get(command);
        return DataSet.read(command);
    }

    /** Returns the status that is answered to a request about data; null: without. */
    int action(int context, DataSet.Writer command, byte[] data) throws IOException {
        fragment(
                context,
                3,
                command.number(Message.DATA, data == null ? Message.NO_DATA : 0).command());
        if (data != null) {
            fragment(context, 2, data);
        }
        return command().number(Message.STATUS);
    }

    /** Returns whether the other side has closed the connection, or closes it now; what it says before is passed over. */
    boolean isClosed() {
        try {
            while (true) {
                receive();
            }
        } catch (IOException e) {
            return !(e instanceof SocketTimeoutException);
        }
    }

    @Override
    public void close() throws IOException {
        socket.close();
    }
}
