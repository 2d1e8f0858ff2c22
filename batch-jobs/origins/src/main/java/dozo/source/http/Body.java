package dozo.source.http;

import dozo.source.http.HttpFailure.Kind;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** An answer's body. It has a limit, and has to go on: the client's own limit of time is for a single read, which a drop satisfies. */
final class Body extends InputStream {

    /** What has to arrive within each time that is allowed for stalling; less is no way to read gigabytes. */
    private static final long PROGRESS_BYTES_MIN = 1_024;

    /** More than that is cheaper not to read, and to ask on a new connection. */
    private static final int REST_BYTES_MAX = 8_192;

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

    /** @param abort ends a read that another thread waits in */
    Body(InputStream in, long bytesMax, Duration stall, ScheduledExecutorService watch, Runnable abort) {
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
            throw new HttpFailure(Kind.TOO_LARGE, "more than %d bytes came".formatted(bytesMax));
        }
        return n;
    }

    private HttpFailure ended() {
        if (stalled) {
            return new HttpFailure(
                    Kind.STALLED,
                    "%d bytes of the answer came, and within %d s not %d more"
                            .formatted(bytes, stall.toSeconds(), PROGRESS_BYTES_MIN));
        }
        return new HttpFailure(Kind.DROPPED, "the connection ended behind %d bytes of the answer".formatted(bytes));
    }

    /** NB: only while somebody waits for bytes: a slow disk of ours is no silence of the server. */
    private void look() {
        long now = bytes;
        if (waits && now - bytesSeen < PROGRESS_BYTES_MIN) {
            stalled = true;
            abort.run();
        }
        bytesSeen = now;
    }

    /** Reads what little is left behind what was wanted. */
    void finish() throws IOException {
        if (!over) {
            over = in.readNBytes(REST_BYTES_MAX).length < REST_BYTES_MAX;
        }
    }

    /** NB: leaves the connection alone: closing the client's stream would read all the rest of it. */
    @Override
    public void close() {
        watching.cancel(false);
    }
}
