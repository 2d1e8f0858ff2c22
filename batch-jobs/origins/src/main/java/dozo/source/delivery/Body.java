package dozo.source.delivery;

import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * An answer's body, with limits on size and stalling. The client's own time limit applies to a single read, which one
 * byte satisfies.
 */
final class Body extends InputStream {

    /** The least number of bytes that must arrive in each stall interval; gigabytes cannot be read at a lower rate. */
    private static final long PROGRESS_BYTES_MIN = 1_024;

    /** The most that is read to reuse a connection; with more left, a new connection is cheaper. */
    private static final int REST_BYTES_MAX = 8_192;

    private final String what;
    private final InputStream in;
    private final long bytesMax;
    private final Duration stall;
    private final Runnable abort;
    private final ScheduledFuture<?> watching;
    private volatile long bytes;
    private long bytesSeen;
    private volatile boolean waits;
    private volatile boolean stalled;
    private boolean over;

    /**
     * @param what names the request in messages
     * @param abort cancels a read in which another thread is blocked
     */
    Body(String what, InputStream in, long bytesMax, Duration stall, ScheduledExecutorService watch, Runnable abort) {
        this.what = what;
        this.in = in;
        this.bytesMax = bytesMax;
        this.stall = stall;
        this.abort = abort;
        this.watching =
                watch.scheduleAtFixedRate(this::look, stall.toMillis(), stall.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    // Only the reading thread writes the count.
    @SuppressWarnings("NonAtomicVolatileUpdate")
    @Override
    public int read(byte[] into, int offset, int length) throws IOException {
        if (over) {
            return -1;
        }
        int n;
        waits = true;
        try {
            n = in.read(into, offset, length);
        } catch (IOException e) {
            throw ended();
        } finally {
            waits = false;
        }
        if (n < 0) {
            over = true;
            watching.cancel(false);
            return n;
        }
        bytes += n;
        if (bytes > bytesMax) {
            throw new DeliveryException(
                    Trouble.TOO_LARGE, "%s: answer is longer than %d bytes".formatted(what, bytesMax));
        }
        return n;
    }

    private DeliveryException ended() {
        if (stalled) {
            return new DeliveryException(
                    Trouble.STALLED,
                    "%s: answer stalled after %d bytes: fewer than %d more in %d s"
                            .formatted(what, bytes, PROGRESS_BYTES_MIN, stall.toSeconds()));
        }
        return new DeliveryException(
                Trouble.DROPPED, "%s: connection closed after %d bytes of the answer".formatted(what, bytes));
    }

    /** NB: counts only while a read is blocked, so that a slow local disk is not taken for a stall of the server. */
    private void look() {
        long now = bytes;
        if (waits && now - bytesSeen < PROGRESS_BYTES_MIN) {
            stalled = true;
            abort.run();
        }
        bytesSeen = now;
    }

    /** Reads a short rest of the body, so that the connection can be reused. */
    void finish() throws IOException {
        if (!over) {
            over = in.readNBytes(REST_BYTES_MAX).length < REST_BYTES_MAX;
        }
    }

    /** NB: does not close the client's stream, which would read the whole rest. */
    @Override
    public void close() {
        watching.cancel(false);
    }
}
