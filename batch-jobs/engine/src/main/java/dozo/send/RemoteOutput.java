package dozo.send;

import dozo.remote.RemoteFile;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;

/** Writes a file at the site from its beginning, except for parts passed over. Closing it does not finish the file. */
final class RemoteOutput extends OutputStream {

    private final RemoteFile file;
    private long at;

    RemoteOutput(RemoteFile file) {
        this.file = file;
    }

    /** Returns the length of the file so far. */
    long length() {
        return at;
    }

    /** Skips this many bytes, which are written in another way. */
    void pass(long bytes) {
        at += bytes;
    }

    @Override
    public void write(int b) throws IOException {
        write(new byte[] {(byte) b}, 0, 1);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
        try {
            file.write(at, bytes, from, length);
            at += length;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InterruptedIOException("stopped while writing " + file.path());
        }
    }
}
