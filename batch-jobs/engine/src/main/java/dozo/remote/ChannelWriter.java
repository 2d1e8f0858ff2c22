package dozo.remote;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import org.apache.sshd.client.channel.ChannelSession;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.channel.RemoteWindow;
import org.apache.sshd.common.channel.exception.SshChannelClosedException;
import org.apache.sshd.common.io.IoWriteFuture;
import org.apache.sshd.common.util.buffer.Buffer;

/**
 * Writes to a channel directly into SSH packets as large as the site allows. Used by one thread, which is never
 * interrupted: that would close the whole connection ({@link BlockingConnection}).
 */
final class ChannelWriter {

    /** The largest channel packet, whatever the site allows: RFC 4253 requires no more than 32,768 bytes of payload. */
    private static final int PACKET_BYTES_MAX = 32 << 10;

    /** How long a site may accept no data. {@link Lanes} closes a stuck lane earlier. */
    static final Duration WINDOW_TIMEOUT = Duration.ofMinutes(10);

    /** OpenSSH returns window space in steps of three packets; a few more keep both sides busy. */
    private static final long NEAR_BYTES = 13L * PACKET_BYTES_MAX;

    /** 2.4 Gbit/s: four or more lanes share a link of 10 Gbit/s. */
    private static final double BYTES_PER_NANO = 0.3;

    /** If a site returns no window space for this long, all of its window is used. */
    private static final Duration HOLD_TIMEOUT = Duration.ofSeconds(1);

    private final ChannelSession channel;

    /** The packet being filled. */
    private final Buffer packet;

    private boolean filling;
    /** How much of the site's window the distance requires; 0: not known yet. */
    private volatile long neededBytes;

    /** How much of the window is held back. */
    private long held;

    private boolean holds;
    private int packetStart;
    private int packetRoom;

    ChannelWriter(ChannelSession channel) {
        this.channel = channel;
        this.packet = channel.getSession().createBuffer(SshConstants.SSH_MSG_CHANNEL_DATA, PACKET_BYTES_MAX + 16);
    }

    /**
     * Sets the round trip. Any thread may call it. Over a short distance, only as much of the site's window is used as
     * keeps it busy: an OpenSSH server copies waiting data again and again, which costs a quarter of its time (ADR
     * 0059).
     */
    void roundTrip(long nanos) {
        neededBytes = NEAR_BYTES + (long) (nanos * BYTES_PER_NANO);
    }

    /** Writes bytes. Those that do not fill a packet wait for {@link #flush}. The array can be reused at once. */
    void put(byte[] bytes, int length) throws IOException {
        int done = 0;
        while (done < length) {
            if (!filling) {
                begin();
            }
            int n = Math.min(packetRoom, length - done);
            packet.putRawBytes(bytes, done, n);
            done += n;
            packetRoom -= n;
            if (packetRoom == 0) {
                flush();
            }
        }
    }

    /** Sends what waits in the packet. */
    void flush() throws IOException {
        if (!filling) {
            return;
        }
        filling = false;
        int end = packet.wpos();
        int length = end - packetStart - Integer.BYTES;
        packet.wpos(packetStart);
        packet.putUInt(length);
        packet.wpos(end);
        channel.getRemoteWindow().consume(length);
        if (!channel.isOpen()) {
            throw new SshChannelClosedException(channel.getChannelId(), "closed");
        }
        IoWriteFuture written = channel.getSession().writePacket(packet);
        if (!written.isWritten()) {
            throw new IOException("not written", written.getException());
        }
    }

    /** Begins a packet no larger than the free part of the peer's window. No other class takes from that window. */
    private void begin() throws IOException {
        RemoteWindow window = channel.getRemoteWindow();
        long most = Math.min(window.getPacketSize(), waitForSpace(window));
        // The buffer can be reused: a packet has left when writePacket returns (BlockingConnection).
        var _ = channel.getSession().prepareBuffer(SshConstants.SSH_MSG_CHANNEL_DATA, packet);
        packet.putUInt(channel.getRecipient());
        packetStart = packet.wpos();
        packet.putUInt(0);
        packetRoom = (int) Math.min(most, PACKET_BYTES_MAX);
        filling = true;
    }

    private long waitForSpace(RemoteWindow window) throws IOException {
        if (!holds && neededBytes > 0) {
            holds = true;
            held = Math.max(0, window.getSize() - neededBytes);
            window.consume(held);
        }
        long size = window.getSize();
        if (size > 0) {
            return size;
        }
        try {
            return window.waitForSpace(held > 0 ? HOLD_TIMEOUT : WINDOW_TIMEOUT);
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts this thread", e);
        } catch (SocketTimeoutException e) {
            if (held == 0) {
                throw new IOException("the site took no data for " + WINDOW_TIMEOUT.toSeconds() + " s", e);
            }
            window.expand(held);
            held = 0;
            return waitForSpace(window);
        }
    }
}
