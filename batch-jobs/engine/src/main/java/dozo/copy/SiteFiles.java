package dozo.copy;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.remote.Lanes;
import dozo.remote.Patience;
import dozo.remote.RemoteDigest;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts;
import dozo.remote.TarRead;
import dozo.send.Crew;
import dozo.send.Throttle;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Reads from a site: content, digests, facts. If a lane is lost, the request is repeated on another. */
final class SiteFiles {

    /** For fewer files, starting a command costs the site more than their requests. */
    private static final int ARCHIVE_FILES_MIN = 8;

    private static final int ARCHIVE_BUFFER_BYTES = 128 << 10;

    /** If this many archives in a row fail, single archives are not the problem: perhaps there is no tar, or no shell. */
    private static final int ARCHIVES_FAILED_MAX = 3;

    private final Lanes lanes;
    private final Throttle throttle;
    private final AtomicInteger archivesFailed = new AtomicInteger();
    private final LongAdder bytesMoved = new LongAdder();
    private volatile @Nullable Long firstByteAt;
    private volatile RemoteDigest digest;

    /** Receives content from an offset of the file on; the same content may come twice. */
    interface Sink {
        void take(byte[] bytes, int from, int length, long offset) throws IOException;
    }

    SiteFiles(Lanes lanes, RemoteDigest digest, Throttle throttle) {
        this.lanes = lanes;
        this.digest = digest;
        this.throttle = throttle;
    }

    /** Returns the content bytes received so far, including repeated ones. */
    long bytesMoved() {
        return bytesMoved.sum();
    }

    /** Returns when the first content byte arrived, by {@link System#nanoTime}; null: none has. */
    @Nullable
    Long firstByteAt() {
        return firstByteAt;
    }

    /** Returns the number of open channels, at least 1. */
    int channels() {
        return Math.max(
                1, lanes.all().stream().mapToInt(lane -> lane.all().size()).sum());
    }

    /**
     * Reads a part of a file; after a lost lane calls {@code restart} and begins again. Stops at the end of the file.
     *
     * @return bytes read
     */
    long read(FilePath file, long offset, long length, Runnable restart, Sink sink)
            throws IOException, InterruptedException {
        return lanes.over(lane -> {
            restart.run();
            long[] at = {offset};
            return lane.sftp().read(file, offset, length, (bytes, from, n) -> {
                count(n);
                sink.take(bytes, from, n, at[0]);
                at[0] += n;
            });
        });
    }

    /** Receives a file of an archive. Returns when it has read what it wants of the content. */
    interface ArchiveSink {
        void take(FilePath file, long sizeBytes, Content content) throws IOException, InterruptedException;
    }

    /** A file's content in an archive. */
    interface Content {
        /** Passes all of it on, in order. */
        void into(Sink sink) throws IOException, InterruptedException;
    }

    /**
     * Reads files as one archive if the site can do that and it pays. Files that were not passed on are to be read one by one.
     *
     * @param bytes how many they have
     */
    void readTogether(List<FilePath> files, long bytes, ArchiveSink sink) throws IOException, InterruptedException {
        if (files.size() < ARCHIVE_FILES_MIN || archivesFailed.get() >= ARCHIVES_FAILED_MAX) {
            return;
        }
        Optional<TarRead> tar = lanes.untar(Patience.USUAL);
        if (tar.isEmpty()) {
            return;
        }
        try (TarRead archive = tar.get()) {
            byte[] buffer = new byte[ARCHIVE_BUFFER_BYTES];
            archive.read(
                    files,
                    bytes,
                    (file, sizeBytes, content) -> sink.take(file, sizeBytes, to -> pass(content, buffer, to)));
            archivesFailed.set(0);
        } catch (RemoteException e) {
            archivesFailed.incrementAndGet();
        }
    }

    private void pass(InputStream content, byte[] buffer, Sink sink) throws IOException, InterruptedException {
        long at = 0;
        for (int n = read(content, buffer); n >= 0; n = read(content, buffer)) {
            count(n);
            sink.take(buffer, 0, n, at);
            at += n;
        }
    }

    private static int read(InputStream content, byte[] buffer) throws RemoteException {
        try {
            return content.read(buffer);
        } catch (RemoteException e) {
            throw e;
        } catch (IOException e) {
            throw new RemoteException(Reason.LOST, "an archive from the site ends within a file", e);
        }
    }

    private void count(int n) throws InterruptedException {
        throttle.pass(n);
        bytesMoved.add(n);
        if (firstByteAt == null) {
            firstByteAt = System.nanoTime();
        }
    }

    Optional<RemoteFacts> facts(FilePath file) throws RemoteException, InterruptedException {
        return lanes.over(lane -> lane.sftp().lstat(file));
    }

    /** Returns whether this is a folder that can be read, or a link to one. */
    boolean isFolder(FilePath folder) throws RemoteException, InterruptedException {
        return lanes.over(lane -> lane.sftp().isReadableFolder(folder));
    }

    byte[] linkText(FilePath link) throws RemoteException, InterruptedException {
        return lanes.over(lane -> lane.sftp().readlink(link));
    }

    /** Returns the digests of these files, as far as there are any. */
    Map<FilePath, Digest> digests(List<FilePath> files, long bytes) throws RemoteException, InterruptedException {
        try {
            return lanes.over(lane -> digest.digests(lane, files, bytes));
        } catch (RemoteException e) {
            if (e.reason() != Reason.UNSUPPORTED && e.reason() != Reason.STUCK) {
                throw e;
            }
            // Offered, but not for SHA-256, or stuck: reading back always works.
            digest = RemoteDigest.readBack();
            return lanes.over(lane -> digest.digests(lane, files, bytes));
        }
    }

    /** Returns the digests of ranges of a file with these numbers, if they cost less than the ranges themselves. */
    Map<Integer, Digest> ranges(FilePath file, long rangeBytes, IntStream numbers)
            throws RemoteException, InterruptedException {
        List<Integer> asked = numbers.distinct().boxed().toList();
        return asked.isEmpty() ? Map.of() : lanes.over(lane -> digest.ranges(lane, file, rangeBytes, asked));
    }

    /** Runs a task with a permit for an open file at the site. */
    void withLeave(Crew.Task task) throws IOException, InterruptedException {
        lanes.files().acquire();
        try {
            task.run();
        } finally {
            lanes.files().release();
        }
    }
}
