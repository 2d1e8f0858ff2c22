package dozo.source.dicomweb;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/**
 * An answer's body. It has a limit, and has to go on: the HTTP client watches the time only until the body begins. What is the matter
 * with it comes as a {@link DicomwebException}.
 */
final class Body extends FilterInputStream {

    /** What has to arrive within each time that is allowed for stalling; less is no way to read gigabytes. */
    private static final long PROGRESS_BYTES_MIN = 1_024;

    private final Http.Question question;
    private final Duration stall;
    private final ScheduledFuture<?> watching;
    private volatile long bytes;
    private long bytesSeen;
    private volatile boolean waits;
    private volatile boolean stalled;

    Body(Http.Question question, InputStream in, Duration stall, ScheduledExecutorService watch) {
        super(in);
        this.question = question;
        this.stall = stall;
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
        int n;
        waits = true;
        try {
            n = in.read(into, offset, length);
        } catch (IOException e) {
            throw ended();
        } finally {
            waits = false;
        }
        if (stalled) {
            throw ended();
        }
        if (n > 0) {
            bytes += n;
        }
        if (bytes > question.bytesMax()) {
            throw new DicomwebException(
                    Trouble.TOO_LARGE, "%s: more than %d bytes".formatted(question.what(), question.bytesMax()));
        }
        return n;
    }

    private DicomwebException ended() {
        if (stalled) {
            return new DicomwebException(
                    Trouble.STALLED,
                    "%s: %d bytes came, and within %d s not %d more"
                            .formatted(question.what(), bytes, stall.toSeconds(), PROGRESS_BYTES_MIN));
        }
        return new DicomwebException(
                Trouble.DROPPED, "%s: the connection ended behind %d bytes".formatted(question.what(), bytes));
    }

    /** NB: only while somebody waits for bytes: a slow disk of ours is no silence of the server. */
    private void look() {
        long now = bytes;
        if (waits && now - bytesSeen < PROGRESS_BYTES_MIN) {
            stalled = true;
            try {
                in.close();
            } catch (IOException e) {
                // Whoever reads is told anyway.
                watching.cancel(false);
            }
        }
        bytesSeen = now;
    }

    @Override
    public void close() throws IOException {
        watching.cancel(false);
        super.close();
    }
}
