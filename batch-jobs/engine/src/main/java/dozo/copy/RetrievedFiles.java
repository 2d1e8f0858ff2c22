package dozo.copy;

import static java.util.Objects.requireNonNull;

import dozo.copy.Destination.Refused;
import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Lane;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.send.Crew;
import dozo.send.OtherPlaces;
import dozo.send.SiteFolders;
import dozo.send.SiteReader;
import java.io.IOException;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Fetches files of a restore. A file gets its name only if its bytes have their verified digest, from whatever place at
 * the site they come. Thread-safe, and meant for several threads at once.
 */
final class RetrievedFiles {

    /** How long a file may wait for its name while others arrive. */
    private static final long NAME_AFTER_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final SiteFolders folders;
    private final Lanes lanes;
    private final SiteFiles site;
    private final LocalTree local;
    private final Tally tally;
    private final LostFacts lost;
    private volatile @Nullable OtherPlaces otherPlaces;

    /** A file to fetch, and its verified digest. */
    record Expected(Found file, Digest digest) {}

    /** Why a place does not provide the file. */
    private record Miss(Problem problem, String message) {}

    RetrievedFiles(SiteFolders folders, Lanes lanes, SiteFiles site, LocalTree local, Tally tally, LostFacts lost) {
        this.folders = folders;
        this.lanes = lanes;
        this.site = site;
        this.local = local;
        this.tally = tally;
        this.lost = lost;
    }

    /** Returns the content bytes received so far, including repeated ones. */
    long bytesMoved() {
        return site.bytesMoved();
    }

    /** Returns when the first content byte arrived, by {@link System#nanoTime}; null: none has. */
    @Nullable
    Long firstByteAt() {
        return site.firstByteAt();
    }

    /** Fetches and verifies files, all at once. */
    void fetch(List<Expected> files) throws IOException, InterruptedException {
        Arrivals arrived = new Arrivals();
        Set<Expected> together = fetchTogether(files, arrived);
        try (Crew crew = new Crew()) {
            for (Expected file : files) {
                if (!together.contains(file)) {
                    crew.start(() -> fetch(file, arrived));
                }
            }
            crew.join();
        }
        arrived.nameAll();
    }

    /** A file under its temporary name. */
    private record Arrived(Found file, Path temporary) {}

    /**
     * Files that have arrived. They get their names together, after one sync; from time to time, so that little is
     * fetched again if a slow restore is cut off.
     */
    private final class Arrivals {

        private final Queue<Arrived> waiting = new ConcurrentLinkedQueue<>();
        private final ReentrantLock naming = new ReentrantLock();
        private volatile long namedAt = System.nanoTime();

        void add(Arrived one) throws IOException, InterruptedException {
            waiting.add(one);
            if (System.nanoTime() - namedAt > NAME_AFTER_NANOS && naming.tryLock()) {
                try {
                    nameAll();
                } finally {
                    naming.unlock();
                }
            }
        }

        void nameAll() throws IOException, InterruptedException {
            namedAt = System.nanoTime();
            List<Arrived> synced = new ArrayList<>();
            for (Arrived one = waiting.poll(); one != null; one = waiting.poll()) {
                synced.add(one);
            }
            if (synced.isEmpty()) {
                return;
            }
            local.sync();
            for (Arrived one : synced) {
                name(one);
            }
        }
    }

    /** Fetches files as one archive. Returns those that have arrived; what is wrong with the others is found one by one. */
    private Set<Expected> fetchTogether(List<Expected> files, Arrivals arrived)
            throws IOException, InterruptedException {
        Map<FilePath, Expected> absent = new LinkedHashMap<>();
        for (Expected file : files) {
            if (!Units.isLarge(file.file.facts().sizeBytes()) && local.isFree(file.file.local())) {
                absent.put(file.file.remote(), file);
            }
        }
        Set<Expected> come = new HashSet<>();
        site.readTogether(
                List.copyOf(absent.keySet()),
                absent.values().stream()
                        .mapToLong(wanted -> wanted.file.facts().sizeBytes())
                        .sum(),
                (place, sizeBytes, content) -> {
                    Expected wanted = requireNonNull(absent.get(place));
                    if (sizeBytes == wanted.file.facts().sizeBytes() && arrives(wanted, content, arrived)) {
                        come.add(wanted);
                    }
                });
        return come;
    }

    private boolean arrives(Expected wanted, SiteFiles.Content content, Arrivals arrived)
            throws IOException, InterruptedException {
        return keep(wanted.file, wanted.digest, arrived, temporary -> {
                    MessageDigest read = Digest.algorithm();
                    content.into(temporary.digesting(read));
                    return Digest.of(read.digest());
                })
                .isEmpty();
    }

    /** Writes a file's content, and returns its digest. */
    private interface Reader {
        Digest into(LocalFile temporary) throws IOException, InterruptedException;
    }

    /** Reads a file, and keeps it if it has this digest. Returns the digest that it has instead; empty: it was kept. */
    private Optional<Digest> keep(Found file, Digest wanted, Arrivals arrived, Reader reader)
            throws IOException, InterruptedException {
        try (LocalFile temporary = local.incoming().create(file)) {
            Digest read;
            try {
                read = reader.into(temporary);
            } catch (RemoteException e) {
                local.incoming().discard(temporary.path());
                throw e;
            }
            if (!wanted.equals(read)) {
                local.incoming().discard(temporary.path());
                return Optional.of(read);
            }
            temporary.fit(file);
            Found given = local.give(temporary, file);
            local.finish(temporary, given);
            arrived.add(new Arrived(given, temporary.path()));
            return Optional.empty();
        }
    }

    private void fetch(Expected wanted, Arrivals arrived) throws IOException, InterruptedException {
        Found file = wanted.file;
        try {
            local.checkWay(file.local());
            if (local.standing(file).filter(wanted.digest::equals).isPresent()) {
                lost.verified(local, local.setFacts(file));
                return;
            }
            local.checkPlace(file.local());
            Optional<Miss> miss = tryPlace(wanted, file.remote(), arrived);
            if (miss.isPresent() && !isElsewhere(wanted, arrived)) {
                tally.failed(file, miss.get().problem, miss.get().message);
            }
        } catch (Refused e) {
            lost.refused(local, file, e);
        }
    }

    private boolean isElsewhere(Expected wanted, Arrivals arrived) throws IOException, InterruptedException {
        for (FilePath place : otherPlaces(wanted.file.remote())) {
            if (!place.equals(wanted.file.remote())
                    && tryPlace(wanted, place, arrived).isEmpty()) {
                return true;
            }
        }
        return false;
    }

    private List<FilePath> otherPlaces(FilePath place) throws IOException, InterruptedException {
        try {
            return lanes.over(lane -> otherPlaces(lane).of(lane, place));
        } catch (RemoteException e) {
            // Reported for the place where the copy should be.
            var _ = missed(place, e);
            return List.of();
        }
    }

    private OtherPlaces otherPlaces(Lane lane) throws IOException, InterruptedException {
        OtherPlaces known = otherPlaces;
        if (known == null) {
            known = OtherPlaces.at(lane, folders);
            otherPlaces = known;
        }
        return known;
    }

    /** Fetches a copy from a place, and keeps it if it is the file. Returns empty if it is. */
    private Optional<Miss> tryPlace(Expected wanted, FilePath place, Arrivals arrived)
            throws IOException, InterruptedException {
        Found file = wanted.file.at(place);
        try {
            return keep(file, wanted.digest, arrived, temporary -> read(file, temporary))
                    .map(read -> new Miss(
                            Problem.MISMATCHED,
                            "%s: checksum mismatch: the copy %s at the site has digest %s instead of the verified %s"
                                    .formatted(file.path(), place, read, wanted.digest)));
        } catch (RemoteException e) {
            return Optional.of(missed(place, e));
        }
    }

    private Digest read(Found file, LocalFile temporary) throws IOException, InterruptedException {
        if (Units.isLarge(file.facts().sizeBytes())) {
            return new LargeFetch(site, file, temporary, null).run();
        }
        MessageDigest read = Digest.algorithm();
        // Also reads an empty file, to check that it exists.
        long bytesMax = Math.max(1, file.facts().sizeBytes());
        site.withLeave(() -> site.read(file.remote(), 0, bytesMax, read::reset, temporary.digesting(read)));
        return Digest.of(read.digest());
    }

    private void name(Arrived arrived) throws IOException {
        try {
            local.publishNew(arrived.temporary, arrived.file.local());
            lost.verified(local, arrived.file);
        } catch (Refused e) {
            local.incoming().discard(arrived.temporary);
            lost.refused(local, arrived.file, e);
        }
    }

    /** Returns the problem of one place; rethrows any other failure. */
    private static Miss missed(FilePath place, RemoteException e) throws RemoteException {
        Problem problem = SiteReader.problem(e);
        return new Miss(
                problem,
                problem == Problem.VANISHED
                        ? place + ": the copy no longer exists, and no other copy was found"
                        : "%s: the copy at the site cannot be read: %s".formatted(place, e.getMessage()));
    }
}
