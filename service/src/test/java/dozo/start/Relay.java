package dozo.start;

import dozo.loopback.Ports;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** Forwards bytes between the service and its database, or refuses every connection and closes the existing ones. */
final class Relay implements AutoCloseable {

    private volatile int server;
    private final int port;
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private final AtomicInteger turnedAway = new AtomicInteger();
    private volatile boolean through = true;
    private @Nullable ServerSocket listening;

    Relay(int server) {
        this.server = server;
        this.port = Ports.free();
    }

    int port() {
        return port;
    }

    /** Forwards new connections to another server from now on. */
    void to(int other) {
        server = other;
    }

    void open() throws IOException {
        ServerSocket fresh = new ServerSocket();
        fresh.setReuseAddress(true);
        fresh.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), port), 200);
        listening = fresh;
        Thread.ofPlatform().daemon().start(() -> {
            try {
                while (true) {
                    Socket client = fresh.accept();
                    if (!through) {
                        client.close();
                        turnedAway.incrementAndGet();
                        continue;
                    }
                    Socket behind = new Socket(InetAddress.ofLiteral("127.0.0.1"), server);
                    sockets.add(client);
                    sockets.add(behind);
                    if (fresh.isClosed()) {
                        // Accepted just before: closed here if refuse() did not see it.
                        client.close();
                        behind.close();
                    }
                    Thread.ofPlatform().daemon().start(() -> pass(client, behind));
                    Thread.ofPlatform().daemon().start(() -> pass(behind, client));
                }
            } catch (IOException closed) {
                // Connections are refused from now on.
            }
        });
    }

    /** Closes all connections, and refuses new ones from now on. */
    void refuse() throws IOException {
        ServerSocket open = listening;
        if (open != null) {
            open.close();
        }
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    /** Accepts connections from now on, and closes them at once. */
    void turnAway() {
        through = false;
    }

    void letThrough() {
        through = true;
    }

    int turnedAway() {
        return turnedAway.get();
    }

    @Override
    public void close() throws IOException {
        refuse();
    }

    private static void pass(Socket from, Socket to) {
        try (from;
                to) {
            from.getInputStream().transferTo(to.getOutputStream());
        } catch (IOException broken) {
            // This is intended.
        }
    }
}
