package dozo.remote;

import java.io.IOException;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.SocketChannel;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.apache.sshd.common.io.AbstractIoWriteFuture;
import org.apache.sshd.common.io.IoHandler;
import org.apache.sshd.common.io.IoService;
import org.apache.sshd.common.io.IoSession;
import org.apache.sshd.common.io.IoWriteFuture;
import org.apache.sshd.common.util.buffer.Buffer;
import org.apache.sshd.common.util.buffer.ByteArrayBuffer;
import org.apache.sshd.common.util.closeable.AbstractCloseable;
import org.jspecify.annotations.Nullable;

/**
 * One connection of {@link BlockingIo}. A write is complete when {@link #writeBuffer} returns, so the buffer can be
 * reused at once.
 *
 * <p>NB: only platform threads that nobody interrupts write to the socket. An interruption would close it, as with all
 * interruptible channels; and after the first write by a virtual thread, the JDK no longer blocks in its reads and
 * writes, but needs three system calls for each (ADR 0062).
 */
final class BlockingConnection extends AbstractCloseable implements IoSession {

    private static final int READ_BYTES = 64 << 10;
    private static final AtomicLong IDS = new AtomicLong();

    /** Write for virtual threads. Those write only small requests; content has a thread for each channel. */
    private static final ExecutorService WRITERS = Executors.newCachedThreadPool(
            Thread.ofPlatform().name("write-", 0).daemon().factory());

    private final long id = IDS.incrementAndGet();
    private final BlockingIo.Connector connector;
    private final IoHandler handler;
    private final ByteChannel way;
    private final WriteCheck check;
    private final SocketAddress local;
    private final SocketAddress remote;
    private final Map<Object, Object> attributes = new ConcurrentHashMap<>();
    private final ReentrantLock writing = new ReentrantLock();

    /** When the current write last made progress, in {@link System#nanoTime} terms; 0 if there is none. */
    private volatile long writingSinceNanos;

    /**
     * Creates a connection.
     *
     * @param way a socket, or a connection that a jump host forwards; blocking
     * @param check is asked before each packet
     */
    BlockingConnection(
            BlockingIo.Connector connector,
            IoHandler handler,
            ByteChannel way,
            WriteCheck check,
            SocketAddress local,
            SocketAddress remote) {
        this.connector = connector;
        this.handler = handler;
        this.way = way;
        this.check = check;
        this.local = local;
        this.remote = remote;
    }

    /** Passes on all incoming bytes until the end of the stream. */
    void readToTheEnd() {
        ByteBuffer bytes = ByteBuffer.allocate(READ_BYTES);
        try {
            while (way.read(bytes.clear()) >= 0) {
                handler.messageReceived(this, new ByteArrayBuffer(bytes.array(), 0, bytes.position()));
            }
        } catch (Exception e) {
            failed(e);
        }
    }

    @Override
    public IoWriteFuture writeBuffer(Buffer buffer) {
        if (Thread.currentThread().isVirtual()) {
            // NB: join cannot be interrupted; the caller may reuse the buffer afterwards.
            return CompletableFuture.supplyAsync(() -> write(buffer), WRITERS).join();
        }
        return write(buffer);
    }

    private IoWriteFuture write(Buffer buffer) {
        ByteBuffer bytes = ByteBuffer.wrap(buffer.array(), buffer.rpos(), buffer.available());
        writing.lock();
        try {
            check.check();
            while (bytes.hasRemaining()) {
                writingSinceNanos = System.nanoTime();
                var _ = way.write(bytes);
            }
            return AbstractIoWriteFuture.fulfilled(this, true);
        } catch (IOException e) {
            // NB: a part may have been sent. An interruption closes a socket, but not a connection that a jump host
            // forwards.
            closeWay();
            return AbstractIoWriteFuture.fulfilled(this, e);
        } finally {
            writingSinceNanos = 0;
            writing.unlock();
        }
    }

    /**
     * Returns how long, in nanoseconds, the peer has accepted nothing of the current write. NB: the heartbeat cannot
     * detect this, because it waits behind that write.
     */
    long stuckNanos() {
        long since = writingSinceNanos;
        return since == 0 ? 0 : System.nanoTime() - since;
    }

    @Override
    protected void doCloseImmediately() {
        closeWay();
        connector.closed(this);
        super.doCloseImmediately();
        try {
            handler.sessionClosed(this);
        } catch (Exception e) {
            // The layers above know already.
        }
    }

    private void closeWay() {
        try {
            if (mayNotWrite() && way instanceof SocketChannel socket) {
                // The kernel would still send what it holds, perhaps minutes later, when a link that was cut is back.
                socket.setOption(StandardSocketOptions.SO_LINGER, 0);
            }
            way.close();
        } catch (IOException e) {
            // It is not used any more, closed or not.
        }
    }

    private boolean mayNotWrite() {
        try {
            check.check();
            return false;
        } catch (IOException e) {
            return true;
        }
    }

    /** Ends the connection after a read failure, unless this side closed it. */
    private void failed(Exception e) {
        if (isClosing() || e instanceof ClosedChannelException) {
            return;
        }
        try {
            handler.exceptionCaught(this, e);
        } catch (Exception again) {
            // The caller closes the connection in any case.
        }
    }

    @Override
    public void shutdownOutputStream() {
        // For servers that forward ports.
    }

    @Override
    public void suspendRead() {
        // For servers that forward ports.
    }

    @Override
    public void resumeRead() {
        // Never suspended.
    }

    @Override
    public long getId() {
        return id;
    }

    @Override
    public IoService getService() {
        return connector;
    }

    @Override
    public SocketAddress getLocalAddress() {
        return local;
    }

    @Override
    public SocketAddress getRemoteAddress() {
        return remote;
    }

    @Override
    public @Nullable SocketAddress getAcceptanceAddress() {
        return null;
    }

    @Override
    public @Nullable Object getAttribute(Object key) {
        return attributes.get(key);
    }

    @Override
    public @Nullable Object setAttribute(Object key, Object value) {
        return attributes.put(key, value);
    }

    @Override
    public @Nullable Object setAttributeIfAbsent(Object key, Object value) {
        return attributes.putIfAbsent(key, value);
    }

    @Override
    public @Nullable Object removeAttribute(Object key) {
        return attributes.remove(key);
    }
}
