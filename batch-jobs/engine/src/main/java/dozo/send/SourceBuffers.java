package dozo.send;

import java.nio.ByteBuffer;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/** Buffers for reading sources ahead: 16 MiB in all, outside the heap. */
final class SourceBuffers {

    static final int BYTES = 256 << 10;

    private static final Semaphore LEFT = new Semaphore(64);
    private static final Queue<ByteBuffer> FREE = new ConcurrentLinkedQueue<>();

    private SourceBuffers() {}

    /** Returns a buffer, or null if all are in use. */
    static @Nullable ByteBuffer take() {
        if (!LEFT.tryAcquire()) {
            return null;
        }
        ByteBuffer free = FREE.poll();
        return free == null ? ByteBuffer.allocateDirect(BYTES) : free;
    }

    static void giveBack(ByteBuffer buffer) {
        FREE.add(buffer);
        LEFT.release();
    }
}
