package dozo.send;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFacts.Kind;
import dozo.send.Outcome.Failed;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/**
 * Files below a folder of a site, as the source of a copy to another site. A file is passed on as verified only if the
 * bytes that were read have the digest that the site computes of it.
 */
public final class TreeAtSite extends SourceFolder {

    private final String host;
    private final Lanes lanes;
    private final FilePath top;
    private final Digests digests;

    /** The digests that a site computes of its files; the paths are below its root. */
    public interface Digests {

        /** Waits for the digest of a file of the unit, computed once for all of them; empty: the site returned none. */
        Optional<Digest> of(FilePath file) throws RemoteException, InterruptedException;

        /** Has the digest of one file computed at this moment; empty: the site returned none. */
        Optional<Digest> now(FilePath file, long sizeBytes) throws RemoteException, InterruptedException;

        /**
         * Returns the digests of the first {@code count} ranges of a file, by their numbers from 0, as far as they cost
         * less than reading the ranges.
         */
        Map<Integer, Digest> ranges(FilePath file, long rangeBytes, int count)
                throws RemoteException, InterruptedException;
    }

    /**
     * Creates a source.
     *
     * @param host the site's host, for messages
     * @param lanes to the site; the caller closes them
     * @param top the folder or single file whose own path is the root
     */
    public TreeAtSite(String host, Lanes lanes, FilePath top, Digests digests) {
        // Relative, so it is no folder of this machine.
        super(Path.of("files at " + host));
        this.host = host;
        this.lanes = lanes;
        this.top = top;
        this.digests = digests;
    }

    @Override
    boolean isLocal() {
        return false;
    }

    @Override
    OpenSource open(Entry found) {
        return new Opened(found, place(found));
    }

    /** SFTP does not report hard links. */
    @Override
    boolean areOne(Entry found, Entry other) {
        return false;
    }

    @Override
    Optional<Digest> known(Entry file) throws SourceProblem, InterruptedException {
        try {
            return digests.of(place(file));
        } catch (RemoteException e) {
            throw problem(file, e);
        }
    }

    @Override
    Map<Integer, Digest> ranges(Entry file, long rangeBytes, int count) throws SourceProblem, InterruptedException {
        try {
            return digests.ranges(place(file), rangeBytes, count);
        } catch (RemoteException e) {
            throw problem(file, e);
        }
    }

    @Override
    Optional<Failed> differs(Entry file, Digest read) throws InterruptedException {
        try {
            if (digests.of(place(file)).filter(read::equals).isPresent()) {
                return Optional.empty();
            }
            // Perhaps it changed between both, and what was read is newer.
            Optional<Digest> now = digests.now(place(file), file.facts().sizeBytes());
            return now.filter(read::equals).isPresent() ? Optional.empty() : Optional.of(unequal(file, read, now));
        } catch (RemoteException e) {
            return Optional.of(problem(file, e).failed(file));
        }
    }

    private Failed unequal(Entry file, Digest read, Optional<Digest> now) {
        return now.map(there -> new Failed(
                        file,
                        Problem.MISMATCHED,
                        "%s: checksum mismatch: received %s, digest at %s is %s; check the disks there"
                                .formatted(file.path(), read, host, there)))
                .orElseGet(() ->
                        new Failed(file, Problem.UNPROVEN, "%s: %s returned no digest".formatted(file.path(), host)));
    }

    private FilePath place(Entry file) {
        return top.resolve(file.path());
    }

    /** Turns a failure of the site into a problem: of this file, or of the whole source. */
    private SourceProblem problem(Entry file, RemoteException e) {
        try {
            Problem problem = SiteReader.problem(e);
            return new SourceProblem(
                    problem,
                    problem == Problem.VANISHED
                            ? "%s: no longer exists at %s".formatted(file.path(), host)
                            : "%s: cannot be read at %s: %s".formatted(file.path(), host, e.getMessage()));
        } catch (RemoteException ofSite) {
            return SourceProblem.ofSource(
                    Problem.UNREADABLE, "%s cannot be read: %s".formatted(host, ofSite.getMessage()));
        }
    }

    private final class Opened extends FileAtSite {

        private final Entry found;
        private final FilePath place;

        Opened(Entry found, FilePath place) {
            super(lanes, place, found.facts().sizeBytes());
            this.found = found;
            this.place = place;
        }

        /** Compares it with when it was found, so also with when it was opened. */
        @Override
        public boolean isUnchanged() throws IOException, SourceProblem {
            try {
                RemoteFacts now = lanes.over(lane -> lane.sftp().lstat(place))
                        .orElseThrow(() -> new SourceProblem(
                                Problem.VANISHED, "%s: no longer exists at %s".formatted(found.path(), host)));
                return now.kind() == Kind.FILE
                        && now.sizeBytes() == found.facts().sizeBytes()
                        && TimeUnit.SECONDS.toNanos(now.modifiedSeconds())
                                == found.facts().modifiedNanos();
            } catch (InterruptedException e) {
                throw interrupted();
            } catch (RemoteException e) {
                throw problem(e);
            }
        }

        @Override
        SourceProblem problem(RemoteException e) {
            return TreeAtSite.this.problem(found, e);
        }

        @Override
        SourceProblem endsAt(long bytes) {
            return new SourceProblem(
                    Problem.CHANGED,
                    "%s: ends after %d bytes at %s, which reported %d; copy it again when it no longer changes"
                            .formatted(found.path(), bytes, host, found.facts().sizeBytes()));
        }
    }
}
