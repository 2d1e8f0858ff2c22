package dozo.archive;

import dozo.send.Throttle;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;

/** Passes bytes on no faster than a limit. */
final class Throttled extends FilterOutputStream {

    private final Throttle throttle;

    Throttled(OutputStream out, Throttle throttle) {
        super(out);
        this.throttle = throttle;
    }

    @Override
    public void write(byte[] from, int offset, int count) throws IOException {
        try {
            throttle.pass(count);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("the restore is stopped");
        }
        out.write(from, offset, count);
    }
}
