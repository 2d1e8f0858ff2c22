package dozo.send;

import dozo.file.FilePath;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.send.SourceFolder.OpenSource;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;

/**
 * A file at a site as a source, read by SFTP. A small one takes one request for content; of a large one, several ranges
 * are in flight ahead of its reader.
 */
abstract class FileAtSite implements OpenSource {

    /** What is fetched at once ahead of the reader. */
    private static final int RANGE_BYTES = 1 << 20;

    /** Ranges of one file in flight ahead of its reader. */
    private static final int AHEAD_MAX = 8;

    /** Ranges of all files in flight or waiting for their readers: 64 MiB. */
    private static final Semaphore AHEAD = new Semaphore(64);

    private final Lanes lanes;
    private final FilePath place;
    private final long sizeBytes;
    private final Deque<Range> ahead = new ArrayDeque<>();
    private long asked;

    /** @param place below the site's root */
    FileAtSite(Lanes lanes, FilePath place, long sizeBytes) {
        this.lanes = lanes;
        this.place = place;
        this.sizeBytes = sizeBytes;
    }

    /** Turns a failure of the site into a problem: of this file, or of the whole source. */
    abstract SourceProblem problem(RemoteException e);

    /** Returns the problem that the file ends after so many bytes, which are fewer than its size. */
    abstract SourceProblem endsAt(long bytes);

    /** A range of a file that is fetched by a thread of its own. */
    private record Range(long offset, CompletableFuture<ByteBuffer> content) {

        /** Frees its memory, now or when it has come. */
        void drop() {
            var _ = content.whenComplete((_, _) -> AHEAD.release());
        }
    }

    /** SFTP does not report holes. Blocks of zeros of a large file become holes, as in a restore. */
    @Override
    public boolean isSparse() {
        return sizeBytes > RANGE_BYTES;
    }

    @Override
    public void read(ByteBuffer into, long offset) throws IOException, SourceProblem {
        long at = offset;
        while (into.hasRemaining() && at < sizeBytes) {
            dropBefore(at);
            Range next = ahead.peek();
            if (next == null || next.offset > at) {
                at += fetchInto(into, at);
            } else {
                at += take(next, into, at);
            }
        }
        askAhead(at);
    }

    @Override
    public void close() {
        ahead.forEach(Range::drop);
        ahead.clear();
    }

    private void dropBefore(long at) {
        for (Range first = ahead.peek(); first != null && first.offset + RANGE_BYTES <= at; first = ahead.peek()) {
            ahead.remove().drop();
        }
    }

    private int fetchInto(ByteBuffer into, long offset) throws IOException, SourceProblem {
        int length = (int) Math.min(into.remaining(), sizeBytes - offset);
        ByteBuffer part = into.slice(into.position(), length);
        try {
            fetch(part, offset);
        } catch (InterruptedException e) {
            throw interrupted();
        } catch (RemoteException e) {
            throw problem(e);
        }
        checkComplete(part, offset);
        into.position(into.position() + length);
        return length;
    }

    private int take(Range range, ByteBuffer into, long offset) throws IOException, SourceProblem {
        ByteBuffer come;
        try {
            come = range.content.get();
        } catch (InterruptedException e) {
            throw interrupted();
        } catch (ExecutionException e) {
            if (e.getCause() instanceof RemoteException failed) {
                throw problem(failed);
            }
            throw new IOException(e.getCause());
        }
        checkComplete(come, range.offset);
        int from = (int) (offset - range.offset);
        int length = Math.min(into.remaining(), come.limit() - from);
        into.put(into.position(), come, from, length);
        into.position(into.position() + length);
        return length;
    }

    private void askAhead(long at) {
        asked = Math.max(asked, at);
        while (asked < sizeBytes && ahead.size() < AHEAD_MAX && AHEAD.tryAcquire()) {
            long offset = asked;
            ByteBuffer room = ByteBuffer.allocate((int) Math.min(RANGE_BYTES, sizeBytes - offset));
            CompletableFuture<ByteBuffer> content = new CompletableFuture<>();
            ahead.add(new Range(offset, content));
            asked = offset + room.capacity();
            Thread.ofVirtual().name("read ahead").start(() -> {
                try {
                    fetch(room, offset);
                    content.complete(room);
                } catch (Throwable e) {
                    content.completeExceptionally(e);
                }
            });
        }
    }

    /** Fills the buffer, as far as the file reaches. */
    private void fetch(ByteBuffer into, long offset) throws IOException, InterruptedException {
        int length = into.remaining();
        int start = into.position();
        var _ = lanes.over(lane -> {
            into.position(start);
            return lane.sftp().read(place, offset, length, (bytes, from, count) -> into.put(bytes, from, count));
        });
    }

    private void checkComplete(ByteBuffer part, long offset) throws SourceProblem {
        if (part.hasRemaining()) {
            throw endsAt(offset + part.position());
        }
    }

    static InterruptedIOException interrupted() {
        Thread.currentThread().interrupt();
        return new InterruptedIOException("interrupted while reading at a site");
    }
}
