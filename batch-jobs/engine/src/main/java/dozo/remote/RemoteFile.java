package dozo.remote;

import dozo.file.FilePath;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A file open for writing at a site, used by one thread.
 *
 * <p>Writes return when they are queued. Only {@link #finish} tells whether they succeeded: when it returns, the site
 * has acknowledged every byte, set the attributes and closed the file. Do not rename a file before.
 */
public final class RemoteFile implements AutoCloseable {

    /** The most that one request has the site copy: it answers no other request meanwhile. */
    private static final long COPY_BYTES_MAX = 64 << 20;

    private final SftpChannel channel;
    private final FilePath path;
    private final byte[] handle;

    /** Requests without an answer, plus one for the owner, who may add more. */
    private final AtomicInteger shares = new AtomicInteger(1);

    private final CompletableFuture<@Nullable Void> allAnswered = new CompletableFuture<>();
    private final AtomicReference<@Nullable Failure> failure = new AtomicReference<>();
    private boolean closed;

    private record Failure(Deed doing, int status, @Nullable RemoteException exception) {}

    RemoteFile(SftpChannel channel, FilePath path, byte[] handle) {
        this.channel = channel;
        this.path = path;
        this.handle = handle;
    }

    public FilePath path() {
        return path;
    }

    /**
     * Queues bytes for this offset, in blocks; waits while the channel has too many in use. The array can be reused at
     * once. Throws if an earlier write is known to have failed.
     */
    public void write(long offset, byte[] bytes, int from, int length) throws RemoteException, InterruptedException {
        int done = 0;
        while (done < length) {
            Block block = block();
            int n = Math.min(channel.limits().writeBytes(), length - done);
            block.content().put(bytes, from + done, n);
            write(offset + done, block);
            done += n;
        }
    }

    /**
     * Returns an empty block to fill and {@linkplain #write(long, Block) write}. Waits while the channel has too many
     * in use.
     */
    public Block block() throws RemoteException, InterruptedException {
        return channel.pipeline().takeBlock(channel.limits().writeBytes());
    }

    /**
     * Queues one of this file's blocks for this offset. The caller must not use the block again, even after a failure.
     */
    public void write(long offset, Block block) throws RemoteException, InterruptedException {
        try {
            checkOpen();
            throwFailure();
        } catch (RemoteException | InterruptedException | RuntimeException e) {
            block.giveBack();
            throw e;
        }
        Packet request = Packet.of(Packet.WRITE).string(handle).uint64(offset);
        watch(channel.pipeline().sendBlock(request, block), Deed.WRITE);
    }

    /** Queues a copy from another file that is open at the site. */
    void copy(byte[] from, Sftp.Part part) throws RemoteException, InterruptedException {
        for (long done = 0; done < part.length(); done += COPY_BYTES_MAX) {
            checkOpen();
            throwFailure();
            Packet request = Packet.extended("copy-data")
                    .string(from)
                    .uint64(part.from() + done)
                    .uint64(Math.min(COPY_BYTES_MAX, part.length() - done))
                    .string(handle)
                    .uint64(part.at() + done);
            watch(channel.pipeline().send(request), Deed.WRITE);
        }
    }

    /**
     * Finishes a file: sends attributes, sync and close after the last write, and waits for all answers.
     *
     * @param sync whether the site writes the file to its disk first, if it offers that
     */
    public void finish(int mode, long modifiedSeconds, boolean sync) throws RemoteException, InterruptedException {
        checkOpen();
        Packet attributes = Packet.of(Packet.FSETSTAT).string(handle).facts(mode, modifiedSeconds);
        watch(channel.pipeline().send(attributes), Deed.SET_FACTS);
        finish(sync);
    }

    /** Does the same for a file that may be shorter than {@code sizeBytes}: the missing end becomes a hole. */
    public void finish(long sizeBytes, int mode, long modifiedSeconds, boolean sync)
            throws RemoteException, InterruptedException {
        checkOpen();
        Packet attributes = Packet.of(Packet.FSETSTAT).string(handle).facts(sizeBytes, mode, modifiedSeconds);
        watch(channel.pipeline().send(attributes), Deed.SET_FACTS);
        finish(sync);
    }

    /** Finishes a part of a file: the same without attributes. */
    public void finish(boolean sync) throws RemoteException, InterruptedException {
        checkOpen();
        if (sync && channel.syncs()) {
            watch(channel.pipeline().send(Packet.extended("fsync@openssh.com").string(handle)), Deed.SYNC);
        }
        closed = true;
        watch(channel.closeHandle(handle), Deed.CLOSE);
        answered();
        channel.pipeline().await(allAnswered);
        throwFailure();
    }

    /** Closes an unfinished file without waiting for the writes. What was written remains there. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            channel.release(handle);
        }
    }

    private void watch(CompletableFuture<Reply> answer, Deed doing) {
        shares.incrementAndGet();
        var _ = answer.whenComplete((reply, lost) -> {
            try {
                if (lost != null) {
                    note(new Failure(doing, 0, lost instanceof RemoteException e ? e : null));
                } else if (reply.status() != Reply.OK) {
                    note(new Failure(doing, reply.status(), null));
                }
            } catch (RemoteException garbage) {
                note(new Failure(doing, 0, garbage));
            } finally {
                answered();
            }
        });
    }

    private void note(Failure first) {
        failure.compareAndSet(null, first);
    }

    private void answered() {
        if (shares.decrementAndGet() == 0) {
            allAnswered.complete(null);
        }
    }

    private void throwFailure() throws RemoteException, InterruptedException {
        Failure first = failure.get();
        if (first == null) {
            return;
        }
        if (first.exception != null) {
            throw new RemoteException(
                    first.exception.reason(),
                    "cannot " + first.doing + " " + path + ": " + first.exception.getMessage(),
                    first.exception);
        }
        throw channel.failure(first.status, path, first.doing);
    }

    private void checkOpen() {
        if (closed) {
            throw new IllegalStateException("file is already finished or closed: " + path);
        }
    }
}
