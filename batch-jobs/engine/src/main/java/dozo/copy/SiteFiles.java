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

/** The site as what it is read for: content, digests, facts. All of it is asked again on another lane when one is lost. */
final class SiteFiles {

    private final Lanes lanes;
    private final Throttle throttle;
    private final LongAdder bytesMoved = new LongAdder();
    private volatile RemoteDigest digest;

    /** What takes content from an offset of the file on; the same may come twice. */
    interface Sink {
        void take(byte[] bytes, int from, int length, long offset) throws IOException;
    }

    SiteFiles(Lanes lanes, RemoteDigest digest, Throttle throttle) {
        this.lanes = lanes;
        this.digest = digest;
        this.throttle = throttle;
    }

    /** Content bytes that came so far, those that came again too. */
    long bytesMoved() {
        return bytesMoved.sum();
    }

    /** How many files may be open at once now. */
    int channels() {
        return Math.max(
                1, lanes.all().stream().mapToInt(lane -> lane.all().size()).sum());
    }

    /** Reads a part of a file; begins anew with {@code restart} when a lane is lost. A part that is not there is not read. */
    void read(FilePath file, long offset, long length, Runnable restart, Sink sink)
            throws IOException, InterruptedException {
        lanes.over(lane -> {
            restart.run();
            long[] at = {offset};
            return lane.sftp().read(file, offset, length, (bytes, from, n) -> {
                throttle.pass(n);
                bytesMoved.add(n);
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

    /** The digests of these files, of those whose digest came. */
    Map<FilePath, Digest> digests(List<FilePath> files, long bytes) throws IOException, InterruptedException {
        try {
            return lanes.over(lane -> digest.digests(lane, files, bytes));
        } catch (RemoteException e) {
            if (e.reason() != Reason.UNSUPPORTED) {
                throw e;
            }
            // Offered, and not for SHA-256: reading back is always possible.
            digest = RemoteDigest.readBack();
            return lanes.over(lane -> digest.digests(lane, files, bytes));
        }
    }

    /** The digests of the first ranges of a file, where they cost less than the ranges themselves. */
    Map<Integer, Digest> ranges(FilePath file, long rangeBytes, int count) throws IOException, InterruptedException {
        return count == 0 ? Map.of() : lanes.over(lane -> digest.ranges(lane, file, rangeBytes, count));
    }

    /** Does something while it may have a file open at the site. */
    void withLeave(Crew.Task task) throws IOException, InterruptedException {
        lanes.files().acquire();
        try {
            task.run();
        } finally {
            lanes.files().release();
        }
    }
}
