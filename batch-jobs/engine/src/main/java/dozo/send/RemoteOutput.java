package dozo.send;

import dozo.remote.RemoteFile;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;

/** Writes a file at the site from its beginning on. Closing it does not finish the file. */
final class RemoteOutput extends OutputStream {

    private final RemoteFile file;
    private long written;

    RemoteOutput(RemoteFile file) {
        this.file = file;
    }

    /** Bytes written so far. */
    long written() {
        return written;
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
        try {
            file.write(written, bytes, from, length);
            written += length;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("stopped while writing " + file.path());
        }
    }
}
