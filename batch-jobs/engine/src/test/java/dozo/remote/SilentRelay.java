package dozo.remote;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntSupplier;

/**
 * Relays bytes between a client and a site on this machine, until it falls silent: then it passes on no byte and no
 * end. It can also cut and reset connections.
 */
public final class SilentRelay implements AutoCloseable {

    private final SiteAddress site;
    private final ServerSocket listening;
    private final List<Socket> sockets = new CopyOnWriteArrayList<>();
    private final CountDownLatch over = new CountDownLatch(1);
    private volatile boolean silent;
    private volatile boolean frozen;
    private volatile int silentBelow;
    private final AtomicLong cutAfter = new AtomicLong(Long.MAX_VALUE);
    private volatile Runnable beforeCut = () -> {};
    private final AtomicInteger readsLeft = new AtomicInteger();
    private final AtomicInteger resets = new AtomicInteger();
    private volatile IntSupplier readsBetween = () -> 0;

    public SilentRelay(SiteAddress site) throws IOException {
        this.site = site;
        listening = new ServerSocket();
        // Small, so that writes are stuck soon after the relay has stopped to read.
        listening.setReceiveBufferSize(64 << 10);
        listening.bind(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 0), 10);
        Thread.ofVirtual().start(() -> {
            try {
                while (true) {
                    connect(listening.accept());
                }
            } catch (IOException closed) {
                // The test has ended.
            }
        });
    }

    private void connect(Socket client) throws IOException {
        Socket server;
        try {
            server = new Socket(InetAddress.ofLiteral("127.0.0.1"), site.port());
        } catch (ConnectException away) {
            client.close();
            return;
        }
        int number = sockets.size();
        sockets.add(client);
        sockets.add(server);
        Thread.ofVirtual().start(() -> pass(client, server, number));
        Thread.ofVirtual().start(() -> pass(server, client, number));
    }

    /** Returns the address of the site behind the relay. */
    public SiteAddress address() {
        return new SiteAddress(
                site.host(), listening.getLocalPort(), site.user(), site.root(), site.identity(), site.hostKey());
    }

    /**
     * Cuts a connection, once, when a client has sent this many bytes over it.
     *
     * @param before done before
     */
    public void cutAfter(long bytes, Runnable before) {
        beforeCut = before;
        cutAfter.set(bytes);
    }

    /**
     * Resets a connection again and again: the one that the relay reads from when it has read so often.
     *
     * @param reads returns the number of reads until the next reset, from all sides together; 0: there is none
     */
    public void resetAfter(IntSupplier reads) {
        readsBetween = reads;
        readsLeft.set(reads.getAsInt());
    }

    /** Returns how many connections were reset. */
    public int resets() {
        return resets.get();
    }

    void fallSilent() {
        silent = true;
    }

    /** Silences only the current connections. */
    public void dropWhatIsConnected() {
        silentBelow = sockets.size();
    }

    /** Closes the current connections. */
    public void cutWhatIsConnected() throws IOException {
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    /** Returns how many connections there have been. */
    public int connections() {
        return sockets.size() / 2;
    }

    /** Reads nothing more from either side, so that buffers fill up. */
    void freeze() {
        frozen = true;
    }

    @Override
    public void close() throws IOException {
        over.countDown();
        listening.close();
        for (Socket socket : sockets) {
            socket.close();
        }
    }

    private boolean isFromClient(int number, Socket from) {
        return sockets.get(number) == from;
    }

    private boolean isToBeCut(long passed) {
        long after = cutAfter.get();
        if (passed < after || !cutAfter.compareAndSet(after, Long.MAX_VALUE)) {
            return false;
        }
        beforeCut.run();
        return true;
    }

    private boolean isToBeReset() {
        if (readsLeft.get() <= 0 || readsLeft.decrementAndGet() != 0) {
            return false;
        }
        resets.incrementAndGet();
        readsLeft.set(readsBetween.getAsInt());
        return true;
    }

    private static void reset(Socket socket) throws IOException {
        socket.setSoLinger(true, 0);
        socket.close();
    }

    private void pass(Socket from, Socket to, int number) {
        try {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            byte[] bytes = new byte[64 << 10];
            long passed = 0;
            for (int n = in.read(bytes); n >= 0; n = in.read(bytes)) {
                if (frozen) {
                    over.await();
                }
                if (isToBeReset()) {
                    reset(from);
                    reset(to);
                    return;
                }
                passed += n;
                if (isFromClient(number, from) && isToBeCut(passed)) {
                    from.close();
                    to.close();
                    return;
                }
                if (!silent && number >= silentBelow) {
                    out.write(bytes, 0, n);
                }
            }
        } catch (IOException | InterruptedException closed) {
            // The other direction ends, too, with its own socket.
        }
    }
}
