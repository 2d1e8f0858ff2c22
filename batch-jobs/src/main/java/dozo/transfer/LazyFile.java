package dozo.transfer;

import dozo.file.FilePath;
import dozo.remote.Lane;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFile;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import org.jspecify.annotations.Nullable;

/** A new file at the site under a temporary name, made when the first byte is there. One writer at a time. */
final class LazyFile implements AutoCloseable {

    private final Lane lane;
    private final FilePath name;
    private @Nullable RemoteFile file;
    private long written;

    LazyFile(Lane lane, FilePath name) {
        this.lane = lane;
        this.name = name;
    }

    /** The file; what a dead run left under its name is removed first. */
    RemoteFile open() throws RemoteException, InterruptedException {
        if (file == null) {
            file = create();
        }
        return file;
    }

    /** Writes from the beginning. */
    OutputStream stream() {
        return new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                write(new byte[] {(byte) b}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int from, int length) throws IOException {
                try {
                    open().write(written, bytes, from, length);
                    written += length;
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new InterruptedIOException("stopped while writing " + name);
                }
            }
        };
    }

    @Override
    public void close() throws RemoteException {
        if (file != null) {
            file.close();
        }
    }

    private RemoteFile create() throws RemoteException, InterruptedException {
        try {
            return lane.sftp().create(name);
        } catch (RemoteException e) {
            if (e.reason() != Reason.EXISTS) {
                throw e;
            }
            lane.sftp().remove(name);
            return lane.sftp().create(name);
        }
    }
}
