package dozo.remote;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SocketChannel;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.sshd.common.AttributeRepository;
import org.apache.sshd.common.AttributeRepository.AttributeKey;
import org.apache.sshd.common.Factory;
import org.apache.sshd.common.FactoryManager;
import org.apache.sshd.common.io.DefaultIoConnectFuture;
import org.apache.sshd.common.io.IoAcceptor;
import org.apache.sshd.common.io.IoConnectFuture;
import org.apache.sshd.common.io.IoConnector;
import org.apache.sshd.common.io.IoHandler;
import org.apache.sshd.common.io.IoServiceEventListener;
import org.apache.sshd.common.io.IoServiceFactory;
import org.apache.sshd.common.io.IoServiceFactoryFactory;
import org.apache.sshd.common.io.IoSession;
import org.apache.sshd.common.util.closeable.AbstractCloseable;
import org.apache.sshd.common.util.threads.CloseableExecutorService;
import org.apache.sshd.common.util.threads.ThreadUtils;
import org.jspecify.annotations.Nullable;

/**
 * Plain client sockets: each connection has a thread that reads it, and the thread that has a packet writes it. For a
 * few connections this is faster than MINA's asynchronous sockets, which pass every packet to another thread (ADR
 * 0013).
 */
final class BlockingIo extends AbstractCloseable implements IoServiceFactoryFactory, IoServiceFactory {

    /** In a connection's context: what it runs over, if not a socket of its own. */
    static final AttributeKey<JumpChannel> WAY = new AttributeKey<>();

    private final int dscp;
    private final WriteCheck check;

    /**
     * Creates the factory.
     *
     * @param dscp the mark of sent packets, 0 to 63
     */
    BlockingIo(int dscp, WriteCheck check) {
        this.dscp = dscp;
        this.check = check;
    }

    @Override
    public IoServiceFactory create(FactoryManager manager) {
        return this;
    }

    @Override
    public void setExecutorServiceFactory(Factory<CloseableExecutorService> factory) {
        // No pool: a connection's thread lives as long as the connection.
    }

    @Override
    public IoConnector createConnector(IoHandler handler) {
        return new Connector(handler);
    }

    @Override
    public IoAcceptor createAcceptor(IoHandler handler) {
        throw new UnsupportedOperationException("this side never listens");
    }

    @Override
    public @Nullable IoServiceEventListener getIoServiceEventListener() {
        return null;
    }

    @Override
    public void setIoServiceEventListener(IoServiceEventListener listener) {
        // Not used.
    }

    final class Connector extends AbstractCloseable implements IoConnector {

        private final IoHandler handler;
        private final Map<Long, IoSession> connections = new ConcurrentHashMap<>();

        Connector(IoHandler handler) {
            this.handler = handler;
        }

        @Override
        public IoConnectFuture connect(
                SocketAddress target, @Nullable AttributeRepository context, @Nullable SocketAddress local) {
            IoConnectFuture future = new DefaultIoConnectFuture(target, null);
            Thread.ofPlatform().daemon().name("connection to " + target).start(() -> run(target, context, future));
            return future;
        }

        @Override
        public Map<Long, IoSession> getManagedSessions() {
            return connections;
        }

        @Override
        public @Nullable IoServiceEventListener getIoServiceEventListener() {
            return null;
        }

        @Override
        public void setIoServiceEventListener(IoServiceEventListener listener) {
            // Not used.
        }

        @Override
        protected void doCloseImmediately() {
            connections.values().forEach(connection -> connection.close(true));
            super.doCloseImmediately();
        }

        void closed(BlockingConnection connection) {
            connections.remove(connection.getId());
        }

        /** Runs a connection from opening to close. */
        private void run(SocketAddress target, @Nullable AttributeRepository context, IoConnectFuture future) {
            BlockingConnection connection;
            try {
                connection = open(target, context == null ? null : context.getAttribute(WAY));
            } catch (IOException | RuntimeException e) {
                future.setException(e);
                return;
            }
            try {
                connections.put(connection.getId(), connection);
                if (context != null) {
                    connection.setAttribute(AttributeRepository.class, context);
                }
                ThreadUtils.runAsInternal(() -> {
                    handler.sessionCreated(connection);
                    future.setSession(connection);
                    if (future.getSession() != connection || isClosing()) {
                        // The caller has stopped waiting for it.
                        connection.close(true);
                    }
                    connection.readToTheEnd();
                    return null;
                });
            } catch (Exception e) {
                future.setException(e);
            } finally {
                connection.close(true);
            }
        }

        private BlockingConnection open(SocketAddress target, @Nullable JumpChannel way) throws IOException {
            if (way != null) {
                return new BlockingConnection(this, handler, way, check, target, target);
            }
            // NB: an unresolved name fails here, and the message contains it.
            SocketChannel socket = socket((InetSocketAddress) target, dscp, SshLogin.CONNECT_TIMEOUT);
            return new BlockingConnection(
                    this, handler, socket, check, socket.getLocalAddress(), socket.getRemoteAddress());
        }
    }

    /** Returns a connected socket whose packets have this mark. */
    static SocketChannel socket(InetSocketAddress target, int dscp, Duration patience) throws IOException {
        SocketChannel socket = SocketChannel.open();
        try {
            socket.setOption(StandardSocketOptions.TCP_NODELAY, true);
            socket.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
            if (dscp > 0) {
                // The two low bits belong to the network (ECN).
                socket.setOption(StandardSocketOptions.IP_TOS, dscp << 2);
            }
            socket.socket().connect(target, Math.toIntExact(patience.toMillis()));
            return socket;
        } catch (IOException | RuntimeException e) {
            socket.close();
            throw e;
        }
    }
}
