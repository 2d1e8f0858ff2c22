package dozo.source;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;

/** The lines of a list, each ended by the same byte. A line that is too long is skipped. */
final class Lines {

    /** Room for a path of 4,096 bytes, all of them escaped, a link's text as long, and the facts. */
    static final int BYTES_MAX = 64 * 1024;

    private final InputStream in;
    private final byte end;
    private final byte[] block = new byte[64 * 1024];
    private int at;
    private int filled;
    private byte[] line = new byte[512];
    private int length;
    private long number;

    /** The result of {@link #next}. */
    enum State {
        WHOLE,
        TOO_LONG,
        /** The list ended before the line did. */
        CUT_OFF,
        END
    }

    Lines(InputStream in, byte end) {
        this.in = in;
        this.end = end;
    }

    State next() throws IOException {
        length = 0;
        boolean fits = true;
        boolean isEmpty = true;
        while (at < filled || fill()) {
            isEmpty = false;
            int stop = at;
            while (stop < filled && block[stop] != end) {
                stop++;
            }
            fits = fits && append(at, stop);
            boolean isEnd = stop < filled;
            at = isEnd ? stop + 1 : stop;
            if (isEnd) {
                number++;
                return fits ? State.WHOLE : State.TOO_LONG;
            }
        }
        if (isEmpty) {
            return State.END;
        }
        number++;
        return State.CUT_OFF;
    }

    /** Returns the number of the last line, from 1. */
    long number() {
        return number;
    }

    byte[] bytes() {
        return Arrays.copyOf(line, length);
    }

    private boolean fill() throws IOException {
        at = 0;
        filled = Math.max(0, in.read(block));
        return filled > 0;
    }

    private boolean append(int from, int to) {
        int needed = length + to - from;
        if (needed > BYTES_MAX) {
            return false;
        }
        if (needed > line.length) {
            line = Arrays.copyOf(line, Math.max(needed, 2 * line.length));
        }
        System.arraycopy(block, from, line, length, to - from);
        length = needed;
        return true;
    }
}
