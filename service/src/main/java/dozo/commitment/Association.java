package dozo.commitment;

import dozo.commitment.Offer.Context;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.ProtocolException;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A DICOM association over a connection: messages come and go, one at a time. Everything is limited: the length of PDUs and
 * messages, the wait for the next byte, and the time as a whole, after which the connection is closed. After an IOException it
 * can only be aborted.
 */
final class Association implements AutoCloseable {

    /** The presentation context of reports. */
    static final byte REPORTS = 1;

    private static final int NO_SUCH_APPLICATION = 2;
    private static final int CALLING_UNKNOWN = 3;
    private static final int CALLED_UNKNOWN = 7;

    private static final int COMMAND_BYTES_MAX = 1 << 12;
    private static final int DATA_BYTES_MAX = 4 << 20;

    /** Before the bytes of a fragment: length, context, control. */
    private static final int FRAGMENT_HEADER_BYTES = 6;

    /** Less would take a PDU for every few bytes. */
    private static final int BYTES_MAX_MIN = 256;

    private static final int IS_COMMAND = 1;
    private static final int IS_LAST = 2;

    private final Socket carrier;
    private final Socket socket;
    private final DataInputStream in;
    private final OutputStream out;
    private final CountDownLatch closed = new CountDownLatch(1);

    /** The classes of accepted contexts. */
    private final Map<Byte, String> classes = new HashMap<>();

    private int bytesMax = Pdu.BYTES_MAX;

    /**
     * How long an association may take.
     *
     * @param idle until the next byte
     * @param whole in all
     */
    record Limits(Duration idle, Duration whole) {

        static final Limits USUAL = new Limits(Duration.ofSeconds(30), Duration.ofMinutes(2));
    }

    /**
     * Takes over a connection.
     *
     * @param carrier its own socket
     * @param socket the same, or TLS over it
     */
    Association(Socket carrier, Socket socket, Limits limits) throws IOException {
        this.carrier = carrier;
        this.socket = socket;
        socket.setTcpNoDelay(true);
        socket.setSoTimeout((int) limits.idle.toMillis());
        in = new DataInputStream(new BufferedInputStream(socket.getInputStream()));
        out = socket.getOutputStream();
        Thread.ofVirtual().name("end association").start(() -> closeAfter(limits.whole));
    }

    /** Ends also a write that hangs, for which a socket has no time-out. NB: TLS, which would still write, is closed after it. */
    private void closeAfter(Duration whole) {
        try {
            if (!closed.await(whole.toMillis(), TimeUnit.MILLISECONDS)) {
                carrier.close();
            }
        } catch (InterruptedException | IOException e) {
            // Closed now.
        }
        close();
    }

    /**
     * Waits for a request for the association, and accepts it if both titles are known.
     *
     * @return the title of whoever asked
     * @throws ProtocolException it was rejected, or is no request
     */
    String accept(String self, Set<String> callers) throws IOException {
        Offer offer = Offer.read(expect(Pdu.ASSOCIATE_RQ));
        int reason = reason(offer, self, callers);
        if (reason != 0) {
            new Pdu(Pdu.ASSOCIATE_RJ, ByteBuffer.wrap(new byte[] {0, 1, 1, (byte) reason})).write(out);
            throw new ProtocolException(
                    "%s asked for %s: rejected with reason %d".formatted(offer.calling(), offer.called(), reason));
        }
        List<Context> contexts = offer.contexts().stream().map(Context::answer).toList();
        agree(contexts, offer.bytesMax());
        new Offer(self, offer.calling(), Offer.APPLICATION, contexts, Pdu.BYTES_MAX, false)
                .write(Pdu.ASSOCIATE_AC)
                .write(out);
        return offer.calling();
    }

    private static int reason(Offer offer, String self, Set<String> callers) {
        if (!offer.application().equals(Offer.APPLICATION)) {
            return NO_SUCH_APPLICATION;
        }
        if (!offer.called().equals(self)) {
            return CALLED_UNKNOWN;
        }
        return callers.contains(offer.calling()) ? 0 : CALLING_UNKNOWN;
    }

    /** Asks for the association, to report on it: this side is the SCP although it asks. */
    void request(String other, String self) throws IOException {
        Context offered = new Context(REPORTS, 0, Offer.COMMITMENT, true);
        new Offer(other, self, Offer.APPLICATION, List.of(offered), Pdu.BYTES_MAX, true)
                .write(Pdu.ASSOCIATE_RQ)
                .write(out);
        Offer said = Offer.read(expect(Pdu.ASSOCIATE_AC));
        if (!said.reports() || said.contexts().stream().noneMatch(each -> each.id() == REPORTS && each.isAccepted())) {
            throw new ProtocolException("does not accept reports of Storage Commitment");
        }
        agree(List.of(offered), said.bytesMax());
    }

    private void agree(List<Context> contexts, int othersMax) throws ProtocolException {
        contexts.stream().filter(Context::isAccepted).forEach(each -> classes.put(each.id(), each.sopClass()));
        // An unsigned number, in which 0 is no limit.
        bytesMax = othersMax <= 0 ? Pdu.BYTES_MAX : Math.min(Pdu.BYTES_MAX, othersMax);
        if (bytesMax < BYTES_MAX_MIN) {
            throw new ProtocolException("reads only PDUs of %d bytes".formatted(bytesMax));
        }
    }

    /** Returns the class that an accepted context is about. */
    String classOf(byte context) {
        return classes.getOrDefault(context, "");
    }

    /** Returns the next message; null: the other has released the association. */
    @Nullable
    Message receive() throws IOException {
        Fragments command = new Fragments(COMMAND_BYTES_MAX, IS_COMMAND);
        Fragments data = new Fragments(DATA_BYTES_MAX, 0);
        DataSet about = null;
        while (true) {
            Pdu pdu = Pdu.read(in);
            if (pdu.type() == Pdu.RELEASE_RQ) {
                Pdu.empty(Pdu.RELEASE_RP).write(out);
                return null;
            }
            ByteBuffer body = required(pdu, Pdu.DATA);
            while (body.hasRemaining()) {
                if (about != null) {
                    if (data.take(body)) {
                        return new Message(command.context, about, DataSet.read(data.all.toByteArray()));
                    }
                } else if (command.take(body)) {
                    about = DataSet.read(command.all.toByteArray());
                    if (about.number(Message.DATA) == Message.NO_DATA) {
                        return new Message(command.context, about, null);
                    }
                }
            }
        }
    }

    private ByteBuffer expect(int type) throws IOException {
        return required(Pdu.read(in), type);
    }

    private static ByteBuffer required(Pdu pdu, int type) throws ProtocolException {
        if (pdu.type() != type) {
            throw new ProtocolException("expected PDU %d, got %d".formatted(type, pdu.type()));
        }
        return pdu.body();
    }

    /** The fragments of a command or a data set, as they come. */
    private final class Fragments {

        private final ByteArrayOutputStream all = new ByteArrayOutputStream();
        private final int most;
        private final int kind;
        private byte context;

        Fragments(int most, int kind) {
            this.most = most;
            this.kind = kind;
        }

        /** Takes the next one of a PDU. Returns whether it is the last one. */
        boolean take(ByteBuffer body) throws ProtocolException {
            if (body.remaining() < FRAGMENT_HEADER_BYTES) {
                throw new ProtocolException("a fragment is cut");
            }
            int length = body.getInt() - 2;
            context = body.get();
            int control = body.get();
            if (length < 0 || length > Math.min(body.remaining(), most - all.size())) {
                throw new ProtocolException("a fragment is cut, or a message has over %d bytes".formatted(most));
            }
            if ((control & IS_COMMAND) != kind || !classes.containsKey(context)) {
                throw new ProtocolException("a fragment of context %d is not expected".formatted(context));
            }
            byte[] part = new byte[length];
            body.get(part);
            all.writeBytes(part);
            return (control & IS_LAST) != 0;
        }
    }

    /** Sends a command or a data set. */
    void send(byte context, byte[] bytes, boolean command) throws IOException {
        int step = bytesMax - FRAGMENT_HEADER_BYTES;
        for (int at = 0; at < bytes.length; at += step) {
            int length = Math.min(step, bytes.length - at);
            int control = (command ? IS_COMMAND : 0) | (at + length == bytes.length ? IS_LAST : 0);
            ByteBuffer body = ByteBuffer.allocate(FRAGMENT_HEADER_BYTES + length);
            body.putInt(length + 2).put(context).put((byte) control).put(bytes, at, length);
            new Pdu(Pdu.DATA, body).write(out);
        }
    }

    /** Ends the association as agreed. */
    void release() throws IOException {
        Pdu.empty(Pdu.RELEASE_RQ).write(out);
        expect(Pdu.RELEASE_RP);
    }

    /** Says that something is wrong, and closes the connection. */
    void abort() {
        try {
            Pdu.empty(Pdu.ABORT).write(out);
        } catch (IOException e) {
            // The connection is gone, or was closed.
        }
        close();
    }

    @Override
    public void close() {
        closed.countDown();
        try {
            socket.close();
        } catch (IOException e) {
            // Closed is all that it should be.
        }
    }
}
