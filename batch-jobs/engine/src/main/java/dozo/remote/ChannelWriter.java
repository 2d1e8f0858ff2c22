package dozo.remote;

import java.io.IOException;
import java.net.SocketTimeoutException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.channel.RemoteWindow;
import org.apache.sshd.common.io.IoWriteFuture;
import org.apache.sshd.common.util.buffer.Buffer;
import org.jspecify.annotations.Nullable;

/** Writes to a channel directly into SSH packets as large as the site allows. Used by one thread. */
final class ChannelWriter {

    /** The largest channel packet, whatever the site allows: RFC 4253 requires no more than 32,768 bytes of payload. */
    private static final int PACKET_BYTES_MAX = 32 << 10;

    /** The part of the window that is used over a short distance. */
    private static final long NEAR_BYTES = 26L * PACKET_BYTES_MAX;

    /**
     * When that part is used up, the writer waits until this much of it is free. OpenSSH returns window space in steps
     * of three packets; sending after every step costs both sides a change of threads each time (ADR 0062).
     */
    private static final long BURST_BYTES = 16L * PACKET_BYTES_MAX;

    /** 2.4 Gbit/s: four or more lanes share a link of 10 Gbit/s. */
    static final double BYTES_PER_NANO = 0.3;

    /** If the site returns less than {@link #BURST_BYTES} in this time, its whole window is used. */
    private static final Duration HOLD_TIMEOUT = Duration.ofSeconds(1);

    private final ProgramChannel channel;
    private final Duration patience;
    private final LongAdder bytesMoved;
    private final Buffer packet;

    /** The packet's room for content, while it is being filled. */
    private @Nullable ByteBuffer room;

    /** How much of the site's window the distance requires; 0: not known yet. */
    private volatile long neededBytes;

    /** How much of the window is held back. */
    private long held;

    private boolean holds;

    /**
     * Creates a writer.
     *
     * @param patience how long the site may accept no data
     * @param bytesMoved counts the bytes sent
     */
    ChannelWriter(ProgramChannel channel, Duration patience, LongAdder bytesMoved) {
        this.channel = channel;
        this.patience = patience;
        this.bytesMoved = bytesMoved;
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

    /**
     * Returns room for at least one byte in the packet that is sent next. Whatever is put there counts as written, and
     * is sent when the packet is full, or by {@link #flush}.
     *
     * @throws SocketTimeoutException if the site accepts no data for too long
     */
    ByteBuffer room() throws IOException, InterruptedException {
        if (room != null && !room.hasRemaining()) {
            flush();
        }
        if (room == null) {
            room = begin();
        }
        return room;
    }

    /** Writes bytes. The array can be reused at once. */
    void put(byte[] bytes, int length) throws IOException, InterruptedException {
        for (int at = 0; at < length; ) {
            ByteBuffer into = room();
            int n = Math.min(into.remaining(), length - at);
            into.put(bytes, at, n);
            at += n;
        }
    }

    /** Sends what waits in the packet. */
    void flush() throws IOException {
        ByteBuffer filled = room;
        room = null;
        if (filled == null || filled.position() == 0) {
            return;
        }
        int length = filled.position();
        packet.putUInt(length);
        packet.wpos(packet.wpos() + length);
        channel.getRemoteWindow().consume(length);
        IoWriteFuture written = channel.writePacket(packet);
        if (!written.isWritten()) {
            throw new IOException("not written", written.getException());
        }
        bytesMoved.add(length);
    }

    /** Begins a packet no larger than the free part of the peer's window. No other class takes from that window. */
    private ByteBuffer begin() throws IOException, InterruptedException {
        RemoteWindow window = channel.getRemoteWindow();
        long most = Math.min(window.getPacketSize(), waitForSpace(window));
        // The buffer can be reused: a packet has left when writePacket returns (BlockingConnection).
        var _ = channel.getSession().prepareBuffer(SshConstants.SSH_MSG_CHANNEL_DATA, packet);
        packet.putUInt(channel.getRecipient());
        // Before the content is its length.
        return ByteBuffer.wrap(packet.array(), packet.wpos() + Integer.BYTES, (int) Math.min(most, PACKET_BYTES_MAX))
                .slice();
    }

    private long waitForSpace(RemoteWindow window) throws IOException, InterruptedException {
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
            if (held == 0) {
                return window.waitForSpace(patience);
            }
            window.waitAndConsume(BURST_BYTES, HOLD_TIMEOUT);
            window.expand(BURST_BYTES);
            return window.getSize();
        } catch (SocketTimeoutException e) {
            if (held == 0) {
                throw e;
            }
            window.expand(held);
            held = 0;
            return waitForSpace(window);
        }
    }
}
