package dozo.source.flywheel;

import static java.util.Objects.requireNonNull;

import java.io.IOException;
import java.net.http.HttpResponse.BodySubscriber;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow.Subscription;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * An answer's body on its way to where it goes. It is not kept, has a limit, and has to go on: the HTTP client watches the time only
 * until the body begins.
 */
final class Body implements BodySubscriber<Long> {

    /** What has to arrive within each time that is allowed for stalling; less is no way to read gigabytes. */
    private static final long PROGRESS_BYTES_MIN = 1_024;

    private final Sink sink;
    private final long bytesMax;
    private final Duration stall;
    private final ScheduledExecutorService watch;
    private final CompletableFuture<Long> end = new CompletableFuture<>();
    private @Nullable Subscription subscription;
    private @Nullable ScheduledFuture<?> watching;
    private volatile long bytes;
    private long bytesSeen;

    /** Takes the body, in order. */
    @FunctionalInterface
    interface Sink {
        /** Takes all that remains in the buffer. */
        void take(ByteBuffer bytes) throws IOException;
    }

    Body(Sink sink, long bytesMax, Duration stall, ScheduledExecutorService watch) {
        this.sink = sink;
        this.bytesMax = bytesMax;
        this.stall = stall;
        this.watch = watch;
    }

    /** How many bytes there were. */
    @Override
    public CompletionStage<Long> getBody() {
        return end;
    }

    @Override
    public void onSubscribe(Subscription given) {
        subscription = given;
        watching = watch.scheduleAtFixedRate(this::look, stall.toMillis(), stall.toMillis(), TimeUnit.MILLISECONDS);
        given.request(1);
    }

    @Override
    public void onNext(List<ByteBuffer> buffers) {
        if (end.isDone()) {
            return;
        }
        try {
            for (ByteBuffer buffer : buffers) {
                take(buffer);
            }
            requireNonNull(subscription).request(1);
        } catch (FlywheelException e) {
            fail(e);
        } catch (IOException e) {
            fail(new FlywheelException(Trouble.SPOOL, "the spool cannot be written: " + e, e));
        }
    }

    // Only this thread writes the count, one buffer after the other.
    @SuppressWarnings("NonAtomicVolatileUpdate")
    private void take(ByteBuffer buffer) throws IOException {
        int length = buffer.remaining();
        if (length > bytesMax - bytes) {
            throw new FlywheelException(Trouble.TOO_LARGE, "more than %d bytes came".formatted(bytesMax));
        }
        sink.take(buffer);
        bytes += length;
    }

    @Override
    public void onError(Throwable cause) {
        stopWatching();
        end.completeExceptionally(cause);
    }

    @Override
    public void onComplete() {
        stopWatching();
        end.complete(bytes);
    }

    private void stopWatching() {
        ScheduledFuture<?> running = watching;
        if (running != null) {
            running.cancel(false);
        }
    }

    private void look() {
        long now = bytes;
        if (now - bytesSeen < PROGRESS_BYTES_MIN) {
            fail(new FlywheelException(
                    Trouble.STALLED,
                    "%d bytes of the answer came, and within %d s not %d more"
                            .formatted(now, stall.toSeconds(), PROGRESS_BYTES_MIN)));
        }
        bytesSeen = now;
    }

    private void fail(FlywheelException why) {
        stopWatching();
        requireNonNull(subscription).cancel();
        end.completeExceptionally(why);
    }
}
