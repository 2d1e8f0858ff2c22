package dozo.remote;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.sshd.client.channel.ChannelSession;
import org.apache.sshd.common.Closeable;
import org.apache.sshd.common.SshConstants;
import org.apache.sshd.common.channel.Channel;
import org.apache.sshd.common.future.DefaultCloseFuture;
import org.apache.sshd.common.io.IoWriteFuture;
import org.apache.sshd.common.util.buffer.Buffer;
import org.jspecify.annotations.Nullable;

/**
 * A channel for a program at the site: a command, or a subsystem (RFC 4254, section 6.5). It closes if the site refuses
 * the program, where MINA's own channels keep waiting.
 *
 * <p>Nothing is sent after its CLOSE. A program can end at any moment while another thread writes to it, and OpenSSH
 * ends the whole connection if anything arrives for a channel that both sides have closed (ADR 0096).
 */
class ProgramChannel extends ChannelSession {

    private final String request;
    private final String program;

    /** Threads that may have seen the channel open, and have not sent their packet. */
    private final AtomicInteger writers = new AtomicInteger();

    /** Done when the channel is closing and the last of them has ended. */
    private final DefaultCloseFuture lastWrite = new DefaultCloseFuture(this, futureLock);

    private ProgramChannel(String request, String program) {
        this.request = request;
        this.program = program;
    }

    /** Creates a channel for a command, a line for the account's login shell. */
    ProgramChannel(String command) {
        this(Channel.CHANNEL_EXEC, command);
    }

    /** Returns a channel for a subsystem. */
    static ProgramChannel subsystem(String name) {
        return new ProgramChannel(Channel.CHANNEL_SUBSYSTEM, name);
    }

    @Override
    protected void doOpen() throws IOException {
        byte[] what = program.getBytes(StandardCharsets.UTF_8);
        Buffer packet = getSession().createBuffer(SshConstants.SSH_MSG_CHANNEL_REQUEST, what.length + Integer.SIZE);
        packet.putUInt(getRecipient());
        packet.putString(request);
        // NB: without an answer, a site that refuses looks like a slow one.
        packet.putBoolean(true);
        packet.putBytes(what);
        var _ = writePacket(packet);
        super.doOpen();
    }

    @Override
    public IoWriteFuture writePacket(Buffer packet) throws IOException {
        writers.incrementAndGet();
        try {
            return super.writePacket(packet);
        } finally {
            endWrite();
        }
    }

    @Override
    protected @Nullable IoWriteFuture sendEof() throws IOException {
        writers.incrementAndGet();
        try {
            return isClosing() ? null : super.sendEof();
        } finally {
            endWrite();
        }
    }

    private void endWrite() {
        if (writers.decrementAndGet() == 0 && isClosing()) {
            lastWrite.setClosed();
        }
    }

    /**
     * Sends the CLOSE after the last write. NB: nobody may wait for a writer here, least of all the thread that reads
     * the socket: a writer itself waits while keys are exchanged.
     */
    @Override
    protected Closeable getInnerCloseable() {
        if (writers.get() == 0) {
            lastWrite.setClosed();
        }
        return builder().when(lastWrite).close(super.getInnerCloseable()).build();
    }

    @Override
    public void handleFailure() {
        close(true);
    }
}
