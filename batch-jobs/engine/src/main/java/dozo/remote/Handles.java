package dozo.remote;

import dozo.file.FilePath;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;

/** The files and folders open on one channel: no more at once than the site allows; further callers wait. */
final class Handles {

    /** The protocol limits a handle to 256 bytes. */
    private static final int BYTES_MAX = 256;

    private final SftpChannel channel;
    private final int max;
    private final Semaphore free;

    Handles(SftpChannel channel, int max) {
        this.channel = channel;
        this.max = max;
        this.free = new Semaphore(max);
    }

    /** Returns the number of open handles. */
    int open() {
        return max - free.availablePermits();
    }

    /** Opens a file for reading. */
    byte[] openToRead(FilePath path) throws RemoteException, InterruptedException {
        return open(channel.at(Packet.OPEN, path).uint32(Packet.OPEN_READ).uint32(0), path, Deed.READ);
    }

    /** Opens a folder for listing. */
    byte[] openFolder(FilePath folder) throws RemoteException, InterruptedException {
        return open(channel.at(Packet.OPENDIR, folder), folder, Deed.LIST);
    }

    /** Sends a request whose answer is a handle. {@link #close} or {@link #release} it. */
    byte[] open(Packet request, FilePath path, Deed doing) throws RemoteException, InterruptedException {
        free.acquire();
        CompletableFuture<Reply> answer;
        try {
            answer = channel.pipeline().send(request);
        } catch (RemoteException | InterruptedException e) {
            free.release();
            throw e;
        }
        try {
            Reply reply = channel.pipeline().await(answer);
            channel.failIfStatus(reply, path, doing);
            byte[] handle = reply.handle();
            if (handle.length > BYTES_MAX) {
                throw channel.pipeline()
                        .protocol(
                                "the site sent a handle of " + handle.length + " bytes; expected at most " + BYTES_MAX);
            }
            return handle;
        } catch (RemoteException e) {
            free.release();
            throw e;
        } catch (InterruptedException e) {
            closeWhenOpened(answer);
            throw e;
        }
    }

    /** Closes the handle when it arrives, because its caller was interrupted before. */
    private void closeWhenOpened(CompletableFuture<Reply> answer) {
        var _ = answer.whenComplete((reply, lost) -> {
            try {
                if (lost == null && reply.type() == Packet.HANDLE) {
                    release(reply.handle());
                    return;
                }
            } catch (RemoteException garbage) {
                // The channel is already dead.
            }
            free.release();
        });
    }

    /** Asks the site to close a handle, and lets the next caller open one after the answer. */
    CompletableFuture<Reply> close(byte[] handle) throws RemoteException, InterruptedException {
        try {
            CompletableFuture<Reply> closed =
                    channel.pipeline().send(Packet.of(Packet.CLOSE).string(handle));
            var _ = closed.whenComplete((reply, lost) -> free.release());
            return closed;
        } catch (RemoteException | InterruptedException e) {
            free.release();
            throw e;
        }
    }

    /** Closes a handle without waiting for the answer. */
    void release(byte[] handle) {
        // In a thread of its own because sending may block: the caller may be interrupted, or be the thread that reads
        // answers.
        Thread.ofVirtual().name("close handle").start(() -> {
            try {
                var _ = close(handle);
            } catch (RemoteException | InterruptedException gone) {
                // The site itself closes all handles of a lost channel.
            }
        });
    }
}
