package dozo.send;

import dozo.remote.RemoteFile;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;

/** Writes a file at the site from its beginning on, but for what is passed over. Closing it does not finish the file. */
final class RemoteOutput extends OutputStream {

    private final RemoteFile file;
    private long at;

    RemoteOutput(RemoteFile file) {
        this.file = file;
    }

    /** How long the file is by now. */
    long length() {
        return at;
    }

    /** Goes on so much further: what is there comes otherwise. */
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
