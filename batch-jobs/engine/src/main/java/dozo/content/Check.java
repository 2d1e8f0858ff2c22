package dozo.content;

import dozo.content.Verdict.State;
import java.nio.ByteBuffer;
import java.util.Optional;

/**
 * A check of one file, whose bytes pass once and in order. A subclass asks for the next few bytes by {@link #want}, gets them
 * in {@link #part} however they come, and asks again; what it does not need it lets pass by {@link #skip}. It keeps at most
 * {@value #PART_BYTES_MAX} bytes.
 */
abstract class Check {

    /** The most that can be wanted at once. */
    static final int PART_BYTES_MAX = 1 << 16;

    private final String format;
    private ByteBuffer buffer = ByteBuffer.allocate(0);
    private boolean wanting;
    private long skip;
    private long position;

    /** Begins with nothing wanted: call {@link #want}. */
    Check(String format) {
        this.format = format;
    }

    /** Takes the bytes that were wanted, from 0 to the limit. If it wants no more, the rest goes to {@link #stream}. */
    void part(ByteBuffer bytes) throws NotWhole {
        throw new IllegalStateException("nothing is wanted");
    }

    /**
     * Takes bytes while no part is wanted: at least one, or it wants or skips some. By default the rest of the file passes. The
     * position counts them afterwards.
     */
    void stream(ByteBuffer bytes) throws NotWhole {
        bytes.position(bytes.limit());
    }

    /**
     * Judges at the end of the file. By default a file may not end within a part that is wanted or skipped.
     *
     * @param left how many bytes of the wanted part did not come, after what was to be skipped; 0: the last part was complete
     */
    void end(long left) throws NotWhole {
        if (left > 0) {
            throw NotWhole.broken("it ends after %,d bytes, in the middle of a part".formatted(position));
        }
    }

    /** Wants the next bytes, 1 to {@value #PART_BYTES_MAX}. The part that is being judged may still be read. */
    final void want(int bytes) {
        if (bytes < 1 || bytes > PART_BYTES_MAX) {
            throw new IllegalArgumentException("cannot want %d bytes".formatted(bytes));
        }
        if (buffer.capacity() < bytes) {
            buffer = ByteBuffer.allocate(bytes);
        }
        buffer.clear().limit(bytes);
        wanting = true;
    }

    /** Lets bytes pass before those that are wanted next. They count as missing if the file ends before. */
    final void skip(long bytes) {
        if (bytes < 0) {
            throw new IllegalArgumentException("cannot skip %d bytes".formatted(bytes));
        }
        skip += bytes;
    }

    /** Returns how many bytes must pass until the next part is complete; 0: nothing is wanted. */
    final long left() {
        return skip + (wanting ? buffer.remaining() : 0);
    }

    /** Returns how many bytes have passed, including the part that is being judged. */
    final long position() {
        return position;
    }

    /** Returns the name of the format. */
    String format() {
        return format;
    }

    /** Takes the next bytes of the file. */
    void take(ByteBuffer bytes) throws NotWhole {
        while (bytes.hasRemaining()) {
            if (skip > 0) {
                skip -= pass(bytes, skip);
            } else if (wanting) {
                fill(bytes);
            } else {
                int before = bytes.remaining();
                stream(bytes);
                position += before - bytes.remaining();
            }
        }
    }

    private int pass(ByteBuffer bytes, long most) {
        int passing = (int) Math.min(bytes.remaining(), most);
        bytes.position(bytes.position() + passing);
        position += passing;
        return passing;
    }

    private void fill(ByteBuffer bytes) throws NotWhole {
        int count = Math.min(buffer.remaining(), bytes.remaining());
        buffer.put(buffer.position(), bytes, bytes.position(), count);
        buffer.position(buffer.position() + count);
        pass(bytes, count);
        if (!buffer.hasRemaining()) {
            wanting = false;
            part(buffer.duplicate().flip());
        }
    }

    /** Returns what the file says of others, as far as it has passed. */
    Optional<Relation> relation() {
        return Optional.empty();
    }

    /** Returns the verdict after the last byte. */
    Verdict judge() throws NotWhole {
        end(left());
        return new Verdict(State.WHOLE, format(), "");
    }
}
