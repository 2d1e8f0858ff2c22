package dozo.content;

import java.nio.ByteBuffer;

/** Keeps the last bytes that pass. */
final class Tail {

    private final byte[] ring;
    private long count;

    /** Keeps so many. */
    Tail(int bytes) {
        ring = new byte[bytes];
    }

    /** Takes all bytes. */
    void take(ByteBuffer bytes) {
        int passing = Math.max(0, bytes.remaining() - ring.length);
        count += passing;
        bytes.position(bytes.position() + passing);
        while (bytes.hasRemaining()) {
            int at = (int) (count % ring.length);
            int length = Math.min(bytes.remaining(), ring.length - at);
            bytes.get(ring, at, length);
            count += length;
        }
    }

    /** Returns the last bytes in their order. */
    ByteBuffer last() {
        if (count <= ring.length) {
            return ByteBuffer.wrap(ring, 0, (int) count).slice();
        }
        int at = (int) (count % ring.length);
        return ByteBuffer.allocate(ring.length)
                .put(ring, at, ring.length - at)
                .put(ring, 0, at)
                .flip();
    }
}
