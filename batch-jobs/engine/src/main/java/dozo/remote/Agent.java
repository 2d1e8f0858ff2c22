package dozo.remote;

import java.io.IOException;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.file.Path;
import java.security.PublicKey;
import java.util.List;
import java.util.Map.Entry;
import java.util.Optional;
import java.util.stream.StreamSupport;
import org.apache.sshd.agent.SshAgent;
import org.apache.sshd.agent.SshAgentFactory;
import org.apache.sshd.agent.SshAgentServer;
import org.apache.sshd.agent.common.AbstractAgentProxy;
import org.apache.sshd.common.FactoryManager;
import org.apache.sshd.common.channel.ChannelFactory;
import org.apache.sshd.common.config.keys.KeyUtils;
import org.apache.sshd.common.session.ConnectionService;
import org.apache.sshd.common.session.Session;
import org.apache.sshd.common.util.buffer.Buffer;
import org.apache.sshd.common.util.buffer.ByteArrayBuffer;

/** A connection to an SSH agent, which keeps private keys and signs with them (draft-ietf-sshm-ssh-agent). */
public final class Agent extends AbstractAgentProxy {

    /** Of OpenSSH. */
    private static final int MESSAGE_BYTES_MAX = 256 << 10;

    private final SocketChannel channel;
    private final Optional<PublicKey> only;

    private Agent(Path socket, Optional<PublicKey> only) throws IOException {
        super(null);
        this.channel = SocketChannel.open(UnixDomainSocketAddress.of(socket));
        this.only = only;
    }

    /** Returns the public keys that the agent at this socket signs with; none if it does not answer. */
    public static List<PublicKey> keys(Path socket) {
        try (Agent agent = new Agent(socket, Optional.empty())) {
            return StreamSupport.stream(agent.getIdentities().spliterator(), false)
                    .<PublicKey>map(Entry::getKey)
                    .toList();
        } catch (IOException | RuntimeException silent) {
            return List.of();
        }
    }

    /** Returns whether a key is among these. */
    public static boolean has(List<PublicKey> keys, PublicKey key) {
        return keys.stream().anyMatch(each -> KeyUtils.compareKeys(each, key));
    }

    /**
     * Returns what connects sessions to the agent at a socket.
     *
     * @param only the only key to use; empty: all
     */
    static SshAgentFactory at(Path socket, Optional<PublicKey> only) {
        return new SshAgentFactory() {
            @Override
            public List<ChannelFactory> getChannelForwardingFactories(FactoryManager manager) {
                return List.of();
            }

            @Override
            public SshAgent createClient(Session session, FactoryManager manager) throws IOException {
                return new Agent(socket, only);
            }

            @Override
            public SshAgentServer createServer(ConnectionService service) {
                throw new UnsupportedOperationException("the agent is not forwarded");
            }
        };
    }

    @Override
    public Iterable<? extends Entry<PublicKey, String>> getIdentities() throws IOException {
        return StreamSupport.stream(super.getIdentities().spliterator(), false)
                .filter(identity -> only.isEmpty() || KeyUtils.compareKeys(only.get(), identity.getKey()))
                .toList();
    }

    @Override
    protected synchronized Buffer request(Buffer request) throws IOException {
        ByteBuffer out = ByteBuffer.wrap(request.getCompactData());
        while (out.hasRemaining()) {
            channel.write(out);
        }
        int length = read(Integer.BYTES).getInt();
        if (length < 1 || length > MESSAGE_BYTES_MAX) {
            throw new IOException("the agent answers with %d bytes".formatted(length));
        }
        return new ByteArrayBuffer(read(length).array());
    }

    private ByteBuffer read(int bytes) throws IOException {
        ByteBuffer in = ByteBuffer.allocate(bytes);
        while (in.hasRemaining()) {
            if (channel.read(in) < 0) {
                throw new IOException("the agent has ended the connection");
            }
        }
        return in.flip();
    }

    @Override
    public boolean isOpen() {
        return channel.isOpen();
    }

    @Override
    public void close() throws IOException {
        channel.close();
        super.close();
    }
}
