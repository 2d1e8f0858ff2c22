package dozo.remote;

import dozo.file.FilePath;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;

/**
 * Reads one open file in order, with requests running ahead. Beyond the size that the site reported it sends one
 * request at a time: a file that has grown is read completely, and any other costs one "end of file" answer.
 */
final class ReadAhead implements AutoCloseable {

    /** Requests of one reader in flight: at 128 KiB, 2 MiB. */
    private static final int DEPTH = 16;

    private record Asked(long offset, int length, CompletableFuture<Reply> answer) {}

    private final SftpChannel channel;
    private final byte[] handle;
    private final FilePath path;
    private final long end;
    private final long sizeBytes;
    private final ArrayDeque<Asked> asked = new ArrayDeque<>();
    private long next;
    private long taken;

    ReadAhead(SftpChannel channel, byte[] handle, FilePath path, long offset, long length, long sizeBytes) {
        if (offset < 0 || length < 0) {
            throw new IllegalArgumentException("offset " + offset + ", length " + length);
        }
        this.channel = channel;
        this.handle = handle;
        this.path = path;
        this.next = offset;
        this.end = length > Long.MAX_VALUE - offset ? Long.MAX_VALUE : offset + length;
        this.sizeBytes = sizeBytes;
    }

    long into(Sftp.Sink sink) throws IOException, InterruptedException {
        boolean beyond = false;
        while (true) {
            while (next < end && asked.size() < DEPTH && !beyond) {
                beyond = next >= sizeBytes;
                long stop = beyond ? end : Math.min(end, sizeBytes);
                if (!ask(next, (int) Math.min(channel.limits().readBytes(), stop - next))) {
                    break;
                }
            }
            Asked first = asked.poll();
            if (first == null) {
                return taken;
            }
            if (first.offset >= sizeBytes) {
                beyond = false;
            }
            if (!deliver(first, sink)) {
                return taken;
            }
        }
    }

    /** Abandons the requests in flight. */
    @Override
    public void close() {
        for (Asked given : asked) {
            var _ = given.answer.whenComplete(
                    (reply, lost) -> channel.pipeline().contentTaken(given.length));
        }
        asked.clear();
    }

    private boolean ask(long offset, int length) throws RemoteException, InterruptedException {
        // NB: only a reader with no requests in flight may wait for permits; otherwise two readers could wait for each
        // other.
        if (!channel.pipeline().mayAskFor(length, asked.isEmpty())) {
            return false;
        }
        Packet request = Packet.of(Packet.READ).string(handle).uint64(offset).uint32(length);
        try {
            asked.add(new Asked(offset, length, channel.pipeline().send(request)));
        } catch (RemoteException | InterruptedException | RuntimeException e) {
            channel.pipeline().contentTaken(length);
            throw e;
        }
        next = offset + length;
        return true;
    }

    /** Passes the content on. Returns false at the end of the file. */
    private boolean deliver(Asked first, Sftp.Sink sink) throws IOException, InterruptedException {
        try {
            CompletableFuture<Reply> answer = first.answer;
            int done = 0;
            while (done < first.length) {
                Reply reply = channel.pipeline().await(answer);
                if (reply.isStatus(Reply.END_OF_FILE)) {
                    return false;
                }
                channel.failIfStatus(reply, path, Deed.READ);
                ByteBuffer data = reply.data();
                int n = data.remaining();
                if (n == 0 || n > first.length - done) {
                    throw channel.pipeline()
                            .protocol("the site sent " + n + " bytes; expected 1 to " + (first.length - done));
                }
                sink.take(data.array(), data.arrayOffset() + data.position(), n);
                done += n;
                taken += n;
                if (done < first.length) {
                    // A server may send less than requested; the rest is requested separately.
                    Packet rest = Packet.of(Packet.READ)
                            .string(handle)
                            .uint64(first.offset + done)
                            .uint32((long) first.length - done);
                    answer = channel.pipeline().send(rest);
                }
            }
            return true;
        } finally {
            channel.pipeline().contentTaken(first.length);
        }
    }
}
