package dozo.source.delivery;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** Sends the body of a request, and gives up if the server takes nothing of it for a stall interval: writes have no time limit. */
final class WatchedUpload extends FilterOutputStream {

    private final Runnable abort;
    private volatile long bytes;
    private volatile boolean waits;
    private long bytesSeen;

    private WatchedUpload(OutputStream out, Runnable abort) {
        super(out);
        this.abort = abort;
    }

    /** @param abort ends a write in which another thread is blocked */
    static void send(Upload upload, OutputStream out, Duration stall, ScheduledExecutorService watch, Runnable abort)
            throws IOException {
        WatchedUpload watched = new WatchedUpload(out, abort);
        ScheduledFuture<?> watching =
                watch.scheduleAtFixedRate(watched::look, stall.toMillis(), stall.toMillis(), TimeUnit.MILLISECONDS);
        try {
            upload.writeTo(watched);
        } finally {
            watching.cancel(false);
        }
    }

    @Override
    public void write(int one) throws IOException {
        write(new byte[] {(byte) one}, 0, 1);
    }

    // Only the writing thread writes the count.
    @SuppressWarnings("NonAtomicVolatileUpdate")
    @Override
    public void write(byte[] from, int offset, int length) throws IOException {
        waits = true;
        out.write(from, offset, length);
        waits = false;
        bytes += length;
    }

    /** NB: counts only while a write is blocked, so that a slow local disk is not taken for a stall of the server. */
    private void look() {
        long now = bytes;
        if (waits && now == bytesSeen) {
            abort.run();
        }
        bytesSeen = now;
    }
}
