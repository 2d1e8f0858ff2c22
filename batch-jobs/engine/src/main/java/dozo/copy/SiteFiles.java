package dozo.copy;

import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.remote.Lanes;
import dozo.remote.RemoteDigest;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts;
import dozo.send.Throttle;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Reads from a site: content, digests, facts. If a lane is lost, the request is repeated on another. */
final class SiteFiles {

    private final Lanes lanes;
    private final Throttle throttle;
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
     */
    void read(FilePath file, long offset, long length, Runnable restart, Sink sink)
            throws IOException, InterruptedException {
        lanes.over(lane -> {
            restart.run();
            long[] at = {offset};
            return lane.sftp().read(file, offset, length, (bytes, from, n) -> {
                throttle.pass(n);
                bytesMoved.add(n);
                if (firstByteAt == null) {
                    firstByteAt = System.nanoTime();
                }
                sink.take(bytes, from, n, at[0]);
                at[0] += n;
            });
        });
    }

    Optional<RemoteFacts> facts(FilePath file) throws IOException, InterruptedException {
        return lanes.over(lane -> lane.sftp().lstat(file));
    }

    byte[] linkText(FilePath link) throws IOException, InterruptedException {
        return lanes.over(lane -> lane.sftp().readlink(link));
    }

    /** Returns the digests of these files, as far as there are any. */
    Map<FilePath, Digest> digests(List<FilePath> files, long bytes) throws IOException, InterruptedException {
        try {
            return lanes.over(lane -> digest.digests(lane, files, bytes));
        } catch (RemoteException e) {
            if (e.reason() != Reason.UNSUPPORTED) {
                throw e;
            }
            // Offered, but not for SHA-256: reading back always works.
            digest = RemoteDigest.readBack();
            return lanes.over(lane -> digest.digests(lane, files, bytes));
        }
    }

    /** Returns the digests of the first ranges of a file, if they cost less than the ranges themselves. */
    Map<Integer, Digest> ranges(FilePath file, long rangeBytes, int count) throws IOException, InterruptedException {
        return count == 0 ? Map.of() : lanes.over(lane -> digest.ranges(lane, file, rangeBytes, count));
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
