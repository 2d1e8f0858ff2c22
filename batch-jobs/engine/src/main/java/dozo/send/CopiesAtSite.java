package dozo.send;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.send.Outcome.Failed;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import java.util.function.Function;

/**
 * The verified copies at a site, as the source of copies at another. A copy that does not have its verified digest is
 * never passed on as verified: the engine compares what it has read (ADR 0073).
 *
 * <p>Copies are read by SFTP. A small one takes one request for content; of a large one, several ranges are in flight
 * ahead of its reader.
 */
public final class CopiesAtSite extends SourceFolder {

    /** What is fetched at once ahead of the reader. */
    static final int RANGE_BYTES = 1 << 20;

    /** Ranges of one file in flight ahead of its reader. */
    private static final int AHEAD_MAX = 8;

    /** Ranges of all files in flight or waiting for their readers: 64 MiB. */
    private static final Semaphore AHEAD = new Semaphore(64);

    private final String site;
    private final Lanes lanes;
    private final Function<Entry, Optional<Place>> places;

    /**
     * Where a copy is, and what it must contain.
     *
     * @param path below the site's root
     */
    public record Place(FilePath path, Digest digest) {}

    /**
     * Creates a source.
     *
     * @param site the site's name, for messages
     * @param lanes to the site; the caller closes them
     * @param places returns the verified copy of an entry; empty: there is none
     */
    public CopiesAtSite(String site, Lanes lanes, Function<Entry, Optional<Place>> places) {
        // Relative, so it is no folder of this machine.
        super(Path.of("copies at " + site));
        this.site = site;
        this.lanes = lanes;
        this.places = places;
    }

    /** Returns the site's name. */
    public String site() {
        return site;
    }

    @Override
    boolean isLocal() {
        return false;
    }

    @Override
    OpenSource open(Entry sealed) throws SourceProblem {
        return new Copy(
                sealed,
                places.apply(sealed)
                        .orElseThrow(() -> new SourceProblem(
                                Problem.UNPROVEN, "%s: has no verified copy at site %s".formatted(sealed.path(), site)))
                        .path());
    }

    /** The manifest says that they were one file. The site may have a copy for each name; these must be equal. */
    @Override
    boolean areOne(Entry sealed, Entry other) {
        return known(sealed).isPresent() && known(sealed).equals(known(other));
    }

    @Override
    Optional<Digest> known(Entry file) {
        return places.apply(file).map(Place::digest);
    }

    @Override
    Optional<Failed> differs(Entry file, Digest read) {
        return known(file)
                .filter(verified -> !verified.equals(read))
                .map(verified -> new Failed(
                        file,
                        Problem.SOURCE_DIFFERS,
                        damaged(file, "it has digest %s instead of the verified %s".formatted(read, verified))));
    }

    private String damaged(Entry file, String why) {
        return "%s: the copy at site %s is damaged: %s; scrub that site".formatted(file.path(), site, why);
    }

    /** Turns a failure of the site into a problem: of this file, or of the whole source. */
    private SourceProblem problem(Entry file, RemoteException e) {
        return switch (e.reason()) {
            case NO_SUCH_FILE ->
                new SourceProblem(
                        Problem.VANISHED,
                        "%s: the copy at site %s no longer exists; scrub that site".formatted(file.path(), site));
            case EXISTS, PERMISSION_DENIED, REFUSED, UNSUPPORTED ->
                new SourceProblem(
                        Problem.UNREADABLE,
                        "%s: the copy at site %s cannot be read: %s".formatted(file.path(), site, e.getMessage()));
            case UNREACHABLE, HOST_KEY, LOGIN_REFUSED, NO_SFTP, LOST, STUCK, READ_ONLY, FULL, PROTOCOL ->
                SourceProblem.ofSource(
                        Problem.UNREADABLE, "site %s cannot be read: %s".formatted(site, e.getMessage()));
        };
    }

    /** A range of a file that is fetched by a thread of its own. */
    private record Range(long offset, CompletableFuture<ByteBuffer> content) {

        /** Frees its memory, now or when it has come. */
        void drop() {
            var _ = content.whenComplete((_, _) -> AHEAD.release());
        }
    }

    private final class Copy implements OpenSource {

        private final Entry file;
        private final FilePath place;
        private final long sizeBytes;
        private final Deque<Range> ahead = new ArrayDeque<>();
        private long asked;

        Copy(Entry file, FilePath place) {
            this.file = file;
            this.place = place;
            this.sizeBytes = file.facts().sizeBytes();
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

        /** Nothing shows a change but the digest, which the engine compares. */
        @Override
        public boolean isUnchanged() {
            return true;
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
                throw problem(file, e);
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
                    throw problem(file, failed);
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

        /** Fills the buffer, as far as the copy reaches. */
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
                throw new SourceProblem(
                        Problem.SOURCE_DIFFERS,
                        damaged(
                                file,
                                "it has %d bytes instead of the verified %d"
                                        .formatted(offset + part.position(), sizeBytes)));
            }
        }

        private static InterruptedIOException interrupted() {
            Thread.currentThread().interrupt();
            return new InterruptedIOException("interrupted while reading a copy");
        }
    }
}
