import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * Simulates a long link in one process: relays TCP connections, delays every byte by half the round trip in each
 * direction, and lets all connections share one rate per direction.
 *
 * <pre>java Relay.java ROUND_TRIP_MILLIS MEGABITS_PER_SECOND TARGET_PORT…</pre>
 *
 * For each target port (on loopback) it prints the port it listens on, one per line, and runs until it is killed.
 *
 * <p>It has one thread, which wakes at most once per tick and sleeps while nothing arrives or is due, because client
 * and server share the machine with it. The model includes the delay, the handshake (an extra round trip before the
 * first byte), and a queue of 20 ms before the shared rate. It does not include loss and slow start, so a real link is
 * harder on every program.
 */
final class Relay {
    private static final int BLOCK_BYTES = 64 * 1024;
    private static final long TICK_NANOS = 500_000;
    private static final long REST_NANOS_MAX = 10_000_000_000L;
    private static final long QUEUE_NANOS = 20_000_000;

    /**
     * Capacity of one direction of a connection, like a TCP window; more than rate × round trip of the measured links.
     */
    private static final int WINDOW_BYTES = 32 * 1024 * 1024;

    private final long oneWayNanos;
    private final double nanosPerByte;
    private final Selector selector = Selector.open();
    private final List<Connection> connections = new ArrayList<>();
    private final Set<Pipe> readable = new LinkedHashSet<>();
    private final ArrayDeque<ByteBuffer> spareBlocks = new ArrayDeque<>();

    private Relay(double roundTripMillis, double megabitsPerSecond) throws IOException {
        // Reading and writing each wait half a tick on average.
        oneWayNanos = Math.max(0, (long) (roundTripMillis * 500_000) - TICK_NANOS);
        nanosPerByte = 8_000 / megabitsPerSecond;
    }

    public static void main(String[] arguments) throws IOException {
        Relay relay = new Relay(Double.parseDouble(arguments[0]), Double.parseDouble(arguments[1]));
        for (int i = 2; i < arguments.length; i++) {
            System.out.println(relay.listen(Integer.parseInt(arguments[i])));
        }
        relay.run();
    }

    private int listen(int targetPort) throws IOException {
        ServerSocketChannel listener = ServerSocketChannel.open();
        listener.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 128);
        listener.configureBlocking(false);
        InetSocketAddress target = new InetSocketAddress(InetAddress.getLoopbackAddress(), targetPort);
        listener.register(selector, SelectionKey.OP_ACCEPT, new Listener(listener, target, new Wire(), new Wire()));
        return listener.socket().getLocalPort();
    }

    private void run() throws IOException {
        while (true) {
            LockSupport.parkNanos(TICK_NANOS);
            long restMillis = (nextAt() - System.nanoTime()) / 1_000_000;
            if (restMillis > 0) {
                selector.select(this::note, restMillis);
            } else {
                selector.selectNow(this::note);
            }
            readWhatTheRateAllows();
            connections.forEach(Connection::advance);
            connections.removeIf(Connection::isOver);
        }
    }

    /** Returns when something is due even if nothing arrives. */
    private long nextAt() {
        long next = System.nanoTime() + (readable.isEmpty() ? REST_NANOS_MAX : 0);
        for (Connection connection : connections) {
            next = Math.min(next, connection.nextAt());
        }
        return next;
    }

    private void note(SelectionKey key) {
        switch (key.attachment()) {
            case Listener listener -> listener.accept();
            // Not selected again before it has been read: with a full link it stays readable.
            case Pipe pipe -> {
                key.interestOps(0);
                readable.add(pipe);
            }
            default -> throw new IllegalStateException();
        }
    }

    /**
     * Reads a block from each connection in turn. A connection left out when the rate was used up comes first at the
     * next tick.
     */
    private void readWhatTheRateAllows() {
        boolean progress = true;
        while (progress) {
            progress = false;
            for (Pipe pipe : List.copyOf(readable)) {
                if (pipe.mayRead()) {
                    readable.remove(pipe);
                    if (pipe.readBlock()) {
                        readable.add(pipe);
                        progress = true;
                    }
                }
            }
        }
    }

    private ByteBuffer block() {
        ByteBuffer spare = spareBlocks.poll();
        return spare == null ? ByteBuffer.allocateDirect(BLOCK_BYTES) : spare.clear();
    }

    /** The rate of one direction, shared by all connections: when the last accepted byte will have left. */
    private final class Wire {
        private long freeAt = System.nanoTime();

        boolean hasRoom() {
            return freeAt - System.nanoTime() < QUEUE_NANOS;
        }

        long leaves(int bytes) {
            freeAt = Math.max(freeAt, System.nanoTime()) + (long) (bytes * nanosPerByte);
            return freeAt;
        }
    }

    private final class Listener {
        private final ServerSocketChannel channel;
        private final InetSocketAddress target;
        private final Wire there;
        private final Wire back;

        Listener(ServerSocketChannel channel, InetSocketAddress target, Wire there, Wire back) {
            this.channel = channel;
            this.target = target;
            this.there = there;
            this.back = back;
        }

        void accept() {
            try {
                connections.add(new Connection(channel.accept(), this));
            } catch (IOException e) {
                System.err.println("cannot accept: " + e);
            }
        }
    }

    /** Two pipes, which start when the handshake would have reached the target. */
    private final class Connection {
        private final SocketChannel client;
        private final Listener listener;
        private final long opensAt;
        private Pipe there;
        private Pipe back;
        private boolean broken;

        Connection(SocketChannel client, Listener listener) {
            this.client = client;
            this.listener = listener;
            opensAt = System.nanoTime() + 3 * oneWayNanos;
        }

        void advance() {
            try {
                if (there == null && System.nanoTime() >= opensAt) {
                    open();
                }
                if (there != null) {
                    there.deliver();
                    back.deliver();
                }
            } catch (IOException e) {
                broken = true;
            }
            if (isOver()) {
                close();
            }
        }

        private void open() throws IOException {
            SocketChannel server = SocketChannel.open(listener.target);
            // The client's first bytes travel together with the handshake.
            there = new Pipe(this, client, server, listener.there, 0);
            back = new Pipe(this, server, client, listener.back, oneWayNanos);
        }

        long nextAt() {
            return there == null ? opensAt : Math.min(there.nextAt(), back.nextAt());
        }

        boolean isOver() {
            return broken || (there != null && there.isClosed && back.isClosed);
        }

        private void close() {
            try (client) {
                if (there != null) {
                    readable.remove(there);
                    readable.remove(back);
                    there.to.close();
                }
            } catch (IOException e) {
                System.err.println("cannot close: " + e);
            }
        }
    }

    /** Bytes in transit in one direction of one connection. */
    private final class Pipe {
        private record Piece(ByteBuffer bytes, long dueAt) {}

        private final Connection connection;
        private final SocketChannel from;
        private final SocketChannel to;
        private final Wire wire;
        private final SelectionKey key;
        private final ArrayDeque<Piece> pieces = new ArrayDeque<>();
        private long delayNanos;
        private int heldBytes;
        private boolean isEnded;
        private long endDueAt;
        private boolean isClosed;

        Pipe(Connection connection, SocketChannel from, SocketChannel to, Wire wire, long firstDelayNanos)
                throws IOException {
            this.connection = connection;
            this.from = from;
            this.to = to;
            this.wire = wire;
            this.delayNanos = firstDelayNanos;
            from.configureBlocking(false);
            from.setOption(StandardSocketOptions.TCP_NODELAY, true);
            key = from.register(selector, SelectionKey.OP_READ, this);
        }

        boolean mayRead() {
            return heldBytes < WINDOW_BYTES && wire.hasRoom();
        }

        /** Reads a block; returns whether there may be more to read. */
        boolean readBlock() {
            ByteBuffer block = block();
            try {
                int count = from.read(block);
                if (count > 0) {
                    pieces.add(new Piece(block.flip(), wire.leaves(count) + delayNanos));
                    delayNanos = oneWayNanos;
                    heldBytes += count;
                    return true;
                }
                if (count < 0) {
                    isEnded = true;
                    endDueAt = System.nanoTime() + delayNanos;
                } else {
                    key.interestOps(SelectionKey.OP_READ);
                }
            } catch (IOException e) {
                connection.broken = true;
            }
            spareBlocks.add(block);
            return false;
        }

        void deliver() throws IOException {
            long now = System.nanoTime();
            while (!pieces.isEmpty() && pieces.peek().dueAt <= now) {
                ByteBuffer bytes = pieces.peek().bytes;
                heldBytes -= to.write(bytes);
                if (bytes.hasRemaining()) {
                    return; // the receiver's window is full: retries at the next tick
                }
                spareBlocks.add(bytes);
                pieces.remove();
            }
            if (isEnded && !isClosed && pieces.isEmpty() && endDueAt <= now) {
                to.shutdownOutput();
                isClosed = true;
            }
        }

        long nextAt() {
            if (!pieces.isEmpty()) {
                return pieces.peek().dueAt;
            }
            return isEnded && !isClosed ? endDueAt : Long.MAX_VALUE;
        }
    }
}
