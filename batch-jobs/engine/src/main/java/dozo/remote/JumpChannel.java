package dozo.remote;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.time.Duration;
import org.apache.sshd.client.channel.ChannelDirectTcpip;
import org.apache.sshd.client.session.ClientSession;
import org.apache.sshd.common.session.ConnectionService;
import org.apache.sshd.common.util.net.SshdSocketAddress;

/**
 * A connection that a jump host forwards (RFC 4254, 7.2). It has a login of its own there, which ends with it. Nothing
 * listens on this machine. Read by one thread, and written to by one at a time. Buffers must have an array.
 */
record JumpChannel(ClientSession session, ChannelDirectTcpip channel) implements ByteChannel {

    /** The sender of the connection, as the jump host may log it. */
    private static final SshdSocketAddress FROM = new SshdSocketAddress("127.0.0.1", 0);

    /** Makes the host of this session connect to the target. The host resolves the target's name itself. */
    static JumpChannel open(ClientSession session, String host, int port, Duration timeout) throws IOException {
        ChannelDirectTcpip channel = new ChannelDirectTcpip(FROM, new SshdSocketAddress(host, port));
        session.getService(ConnectionService.class).registerChannel(channel);
        channel.open().verify(timeout);
        return new JumpChannel(session, channel);
    }

    @Override
    public int read(ByteBuffer into) throws IOException {
        int n = channel.getInvertedOut().read(into.array(), into.arrayOffset() + into.position(), into.remaining());
        if (n > 0) {
            into.position(into.position() + n);
        }
        return n;
    }

    @Override
    public int write(ByteBuffer bytes) throws IOException {
        int n = bytes.remaining();
        OutputStream out = channel.getInvertedIn();
        out.write(bytes.array(), bytes.arrayOffset() + bytes.position(), n);
        out.flush();
        bytes.position(bytes.limit());
        return n;
    }

    @Override
    public boolean isOpen() {
        return channel.isOpen();
    }

    @Override
    public void close() {
        session.close(true);
    }
}
