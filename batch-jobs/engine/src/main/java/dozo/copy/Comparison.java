package dozo.copy;

import dozo.file.Digest;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Lanes;
import dozo.remote.RemoteDigest;
import dozo.remote.RemoteException;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFacts.Kind;
import dozo.send.Crew;
import dozo.send.SiteReader;
import dozo.send.Throttle;
import dozo.source.DirectoryTree;
import dozo.source.DirectoryTree.SpecialFileException;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.FileChannel;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.security.MessageDigest;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Compares files by their digests and links by their targets; folders only have to exist. The site computes its digests, or its files
 * are read back if it cannot. Times, modes and owners are not compared. Nothing is written on either side. What is equal
 * counts as verified; anything else is a finding: MISSING, MISMATCHED, or why nothing is known.
 */
final class Comparison implements AutoCloseable {

    /** Units in progress: some are read here, some at the site. */
    private static final int UNDER_WAY_MAX = 8;

    /** Requests for facts of one unit. */
    private static final int LOOKS_AT_ONCE = 64;

    private final SiteFiles site;
    private final boolean toSite;
    private final Tally tally;
    private final ReentrantLock lock = new ReentrantLock();
    private final Units<Pair> units = new Units<>(UNDER_WAY_MAX, this::compare);

    /**
     * An entry of a source and what it is compared with.
     *
     * @param path below the source
     * @param target below the destination
     * @param there below the site's root
     */
    record Pair(FilePath path, FilePath target, Path here, FilePath there, long sizeBytes) {}

    /** What exists on both sides; null: nothing. */
    private record Sides(@Nullable Facts here, @Nullable RemoteFacts there) {}

    /** @param toSite whether the sources are here */
    Comparison(Lanes lanes, boolean toSite, Tally tally) throws RemoteException, InterruptedException {
        this.site = new SiteFiles(lanes, lanes.over(RemoteDigest::readOnly), new Throttle(0));
        this.toSite = toSite;
        this.tally = tally;
    }

    /** Adds an entry; may be called by several threads at once. */
    void add(Pair pair) throws IOException, InterruptedException {
        lock.lockInterruptibly();
        try {
            units.add(pair, pair.sizeBytes);
        } finally {
            lock.unlock();
        }
    }

    /** Waits until everything added is compared. */
    void end() throws IOException, InterruptedException {
        units.end();
    }

    @Override
    public void close() {
        units.close();
    }

    private void compare(List<Pair> pairs) throws IOException, InterruptedException {
        Map<Pair, Sides> files = new ConcurrentHashMap<>();
        try (Crew crew = new Crew(LOOKS_AT_ONCE)) {
            for (Pair pair : pairs) {
                crew.start(() -> look(pair).ifPresent(sides -> files.put(pair, sides)));
            }
            crew.join();
        }
        Map<Pair, Digest> here = new ConcurrentHashMap<>();
        Map<FilePath, Digest> there = new ConcurrentHashMap<>();
        try (Crew crew = new Crew()) {
            crew.start(() -> there.putAll(site.digests(
                    files.keySet().stream().map(Pair::there).toList(),
                    files.values().stream().mapToLong(Comparison::bytes).sum())));
            crew.start(() -> {
                for (Pair pair : files.keySet()) {
                    digest(pair).ifPresent(digest -> here.put(pair, digest));
                }
            });
            crew.join();
        }
        for (Map.Entry<Pair, Sides> file : files.entrySet()) {
            Pair pair = file.getKey();
            Digest read = here.get(pair);
            if (read != null) {
                judge(pair, file.getValue(), read, there.get(pair.there));
            }
        }
    }

    private static long bytes(Sides sides) {
        return sides.there == null ? 0 : sides.there.sizeBytes();
    }

    /** Returns what exists if it is a file on both sides; settles anything else. */
    private Optional<Sides> look(Pair pair) throws IOException, InterruptedException {
        try {
            return lookAtBoth(pair);
        } catch (RemoteException e) {
            return failed(pair, SiteReader.problem(e), "cannot be read at the site: " + e.getMessage());
        } catch (SpecialFileException e) {
            return failed(pair, Problem.MISMATCHED, "is a socket, device or fifo here");
        } catch (IOException e) {
            return failed(pair, Problem.UNREADABLE, "cannot be read here: " + Destination.reason(e));
        }
    }

    private Optional<Sides> lookAtBoth(Pair pair) throws IOException, InterruptedException {
        Sides sides = sides(pair);
        if ((toSite ? sides.here : sides.there) == null) {
            return failed(pair, Problem.VANISHED, "no longer exists in the source");
        }
        if (sides.here == null || sides.there == null) {
            return failed(pair, Problem.MISSING, toSite ? "does not exist at the site" : "does not exist here");
        }
        Kind here = Kind.valueOf(sides.here.kind().name());
        // The top folder may be a link to one.
        Kind there = pair.there.isRoot() && site.isFolder(pair.there) ? Kind.DIRECTORY : sides.there.kind();
        if (here != there) {
            return failed(
                    pair, Problem.MISMATCHED, "is %s here, and %s at the site".formatted(text(here), text(there)));
        }
        if (here == Kind.FILE) {
            return Optional.of(sides);
        }
        if (here == Kind.LINK && !Arrays.equals(sides.here.linkTarget(), site.linkText(pair.there))) {
            return failed(pair, Problem.MISMATCHED, "is a link with another target at the site");
        }
        tally.verified(pair.sizeBytes);
        return Optional.empty();
    }

    private Sides sides(Pair pair) throws IOException, InterruptedException {
        return new Sides(here(pair.here), site.facts(pair.there).orElse(null));
    }

    private static @Nullable Facts here(Path path) throws IOException {
        try {
            return DirectoryTree.facts(path);
        } catch (NoSuchFileException missing) {
            return null;
        }
    }

    private static String text(Kind kind) {
        return switch (kind) {
            case FILE -> "a file";
            case DIRECTORY -> "a folder";
            case LINK -> "a link";
            case OTHER -> "a socket, device or fifo";
        };
    }

    private Optional<Digest> digest(Pair pair) throws InterruptedException {
        try (FileChannel channel = FileChannel.open(pair.here, StandardOpenOption.READ, LinkOption.NOFOLLOW_LINKS)) {
            MessageDigest digest = Digest.algorithm();
            var _ = LocalFile.digest(channel, digest, 0, Long.MAX_VALUE);
            return Optional.of(Digest.of(digest.digest()));
        } catch (ClosedByInterruptException e) {
            throw new InterruptedException();
        } catch (IOException e) {
            return failed(pair, Problem.UNREADABLE, "cannot be read here: " + Destination.reason(e));
        }
    }

    private void judge(Pair pair, Sides before, Digest here, @Nullable Digest there)
            throws IOException, InterruptedException {
        if (there == null) {
            failed(pair, Problem.UNPROVEN, "the site returned no digest; perhaps this user cannot read it there");
        } else if (here.equals(there)) {
            tally.proven(pair.target, here);
            tally.verified(pair.sizeBytes);
        } else if (hasChanged(pair, before)) {
            failed(pair, Problem.CHANGED, "changed while it was compared; compare it again when it no longer changes");
        } else {
            failed(pair, Problem.MISMATCHED, "checksum mismatch: %s here, %s at the site".formatted(here, there));
        }
    }

    private boolean hasChanged(Pair pair, Sides before) throws RemoteException, InterruptedException {
        try {
            return !before.equals(sides(pair));
        } catch (RemoteException e) {
            var _ = SiteReader.problem(e);
            return true;
        } catch (IOException e) {
            return true;
        }
    }

    private <T> Optional<T> failed(Pair pair, Problem problem, String message) {
        tally.finding(pair.path, problem, message);
        return Optional.empty();
    }
}
