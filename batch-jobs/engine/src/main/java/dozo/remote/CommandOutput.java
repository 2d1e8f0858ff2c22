package dozo.remote;

import dozo.remote.RemoteException.Reason;
import java.io.InputStream;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.function.IntConsumer;

/**
 * The output of a command at a site, as it arrives. The channel's window limits how much waits here. MINA's own stream takes a
 * lock and asks its logger at each read. One thread reads; any other may add and end.
 */
final class CommandOutput extends InputStream {

    /** No other array in the queue is empty. */
    private static final byte[] END = {};

    /** How much is read before the window is adjusted: each adjustment costs both sides a change of threads. */
    private static final int RELEASE_BYTES = SshLogin.RECEIVE_WINDOW_BYTES / 8;

    private final SiteAddress site;
    private final IntConsumer whenRead;
    private final BlockingQueue<byte[]> arrived = new LinkedBlockingQueue<>();
    private volatile boolean complete;
    private byte[] current = {};
    private int at;
    private int unreleased;
    private boolean ended;

    /** @param whenRead receives the number of bytes read since its last call, after each {@link #RELEASE_BYTES} */
    CommandOutput(SiteAddress site, IntConsumer whenRead) {
        this.site = site;
        this.whenRead = whenRead;
    }

    void add(byte[] bytes, int from, int length) {
        if (length > 0) {
            arrived.add(Arrays.copyOfRange(bytes, from, from + length));
        }
    }

    /** The command has printed everything. */
    void complete() {
        complete = true;
        arrived.add(END);
    }

    /** Nothing comes any more. If that was not everything, reading fails after what has arrived. */
    void end() {
        arrived.add(END);
    }

    @Override
    public int read() throws RemoteException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
    }

    /** Returns less than {@code length} only before the end. */
    @Override
    public int read(byte[] into, int from, int length) throws RemoteException {
        Objects.checkFromIndexSize(from, length, into.length);
        int read = 0;
        while (read < length && hasMore()) {
            int n = Math.min(length - read, current.length - at);
            System.arraycopy(current, at, into, from + read, n);
            at += n;
            read += n;
        }
        return read == 0 && length > 0 ? -1 : read;
    }

    private boolean hasMore() throws RemoteException {
        if (!ended && at == current.length) {
            release(at);
            current = next();
            at = 0;
            ended = current.length == 0;
        }
        if (ended && !complete) {
            throw new RemoteException(Reason.LOST, "the output of a command at %s was cut off".formatted(site));
        }
        return !ended;
    }

    private void release(int bytes) {
        unreleased += bytes;
        if (unreleased >= RELEASE_BYTES) {
            whenRead.accept(unreleased);
            unreleased = 0;
        }
    }

    private byte[] next() throws RemoteException {
        try {
            return arrived.take();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new RemoteException(
                    Reason.LOST, "interrupted while reading the output of a command at %s".formatted(site), e);
        }
    }
}
