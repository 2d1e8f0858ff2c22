package dozo.copy;

import dozo.copy.Destination.Refused;
import dozo.file.Digest;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.RemoteException;
import dozo.remote.RemoteFacts;
import dozo.send.Crew;
import dozo.send.SiteReader;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The engine for copies from a site: takes files, returns outcomes. Each arrives under a temporary name and is digested
 * meanwhile; in parallel the site computes the digests of all of them. A file gets its final name only if it has that
 * digest and is on the disk. Thread-safe, and meant for several threads at once.
 *
 * <p>A problem of one file is an outcome. A problem of the site is a {@link RemoteException}; a problem of the whole
 * destination is another {@link IOException}.
 */
record Fetch(SiteFiles site, LocalTree local, Outcomes outcomes) {

    /** How often a file with a wrong digest is fetched. */
    private static final int TRIES = 3;

    /** How much content beyond its size a file may have: it could be without an end. */
    private static final long BEYOND_BYTES_MAX = 64 << 20;

    interface Outcomes {
        void verified(Found found);

        /** A file has this digest on both sides, and its final name; it is verified next. */
        void proven(Found file, Digest digest);

        void failed(Found found, Problem problem, String message);

        /** The file's size differs from when it was found. */
        void resized(long moreBytes);
    }

    /** A file to fetch, and how often that was tried. */
    private record Attempt(Found file, int fetched, boolean changed, boolean mayStand) {
        Attempt again() {
            return new Attempt(file, fetched + 1, changed, false);
        }

        Attempt asIs(RemoteFacts now) {
            return new Attempt(file.now(now), fetched, true, false);
        }
    }

    /** The result of fetching a file, before it is verified. */
    private sealed interface Arrival {}

    /** The complete file is here, with the size that was read; under its final name if there is no temporary one. */
    private record Arrived(
            Found file, Digest digest, @Nullable Path temporary) implements Arrival {}

    private record Changed(RemoteFacts now) implements Arrival {}

    private record Missing(Problem problem, String message) implements Arrival {}

    /** What was read of a file, whatever its size is said to be. */
    private record Content(Digest digest, long bytes) {}

    /** Fetches and verifies files, all at once. */
    void files(List<Found> files) throws IOException, InterruptedException {
        List<Attempt> left =
                files.stream().map(file -> new Attempt(file, 0, false, true)).toList();
        while (!left.isEmpty()) {
            left = fetchAndProve(left);
        }
    }

    /** Creates links with the text they have at the site. */
    void links(List<Found> links) throws IOException, InterruptedException {
        try (Crew crew = new Crew()) {
            for (Found link : links) {
                crew.start(() -> site.withLeave(() -> link(link)));
            }
            crew.join();
        }
    }

    private void link(Found link) throws IOException, InterruptedException {
        try {
            local.link(site.linkText(link.remote()), link.local());
            outcomes.verified(link);
        } catch (Refused e) {
            outcomes.failed(link, Problem.DESTINATION_REFUSED, String.valueOf(e.getMessage()));
        } catch (RemoteException e) {
            Missing missing = missing(link, e);
            outcomes.failed(link, missing.problem, missing.message);
        }
    }

    /** Returns those to fetch once more. */
    private List<Attempt> fetchAndProve(List<Attempt> files) throws IOException, InterruptedException {
        Map<Attempt, Arrival> arrivals = new ConcurrentHashMap<>();
        Map<FilePath, Digest> atSite = new ConcurrentHashMap<>();
        try (Crew crew = new Crew()) {
            // NB: equal digests prove equal content, whichever side was read first.
            crew.start(() -> atSite.putAll(site.digests(
                    files.stream().map(wanted -> wanted.file.remote()).toList(),
                    files.stream()
                            .mapToLong(wanted -> wanted.file.facts().sizeBytes())
                            .sum())));
            for (Attempt wanted : files) {
                crew.start(() -> arrivals.put(wanted, arrival(wanted)));
            }
            crew.join();
        }
        local.sync();
        List<Attempt> again = new ArrayList<>();
        for (Attempt wanted : files) {
            settle(wanted, arrivals.get(wanted), atSite.get(wanted.file.remote()))
                    .ifPresent(again::add);
        }
        return again;
    }

    private Arrival arrival(Attempt wanted) throws IOException, InterruptedException {
        Found file = wanted.file;
        try {
            local.checkWay(file.local());
            Arrival[] arrival = new Arrival[1];
            if (Units.isLarge(file.facts().sizeBytes())) {
                arrival[0] = fetch(wanted);
            } else {
                site.withLeave(() -> arrival[0] = fetch(wanted));
            }
            return arrival[0];
        } catch (Refused e) {
            return new Missing(Problem.DESTINATION_REFUSED, String.valueOf(e.getMessage()));
        } catch (RemoteException e) {
            return missing(file, e);
        }
    }

    private Arrival fetch(Attempt wanted) throws IOException, InterruptedException {
        Found file = wanted.file;
        Optional<Digest> standing = wanted.mayStand ? local.standing(file) : Optional.empty();
        if (standing.isPresent()) {
            return new Arrived(file, standing.get(), null);
        }
        boolean large = Units.isLarge(file.facts().sizeBytes());
        // A wrong digest may come from an earlier version that changed meanwhile.
        try (LocalFile temporary = local.incoming().create(file);
                FileChannel earlier = large && wanted.fetched == 0 ? local.openFile(file.local()) : null) {
            Content content = large
                    ? new Content(
                            new LargeFetch(site, file, temporary, earlier).run(),
                            file.facts().sizeBytes())
                    : content(wanted, temporary);
            Optional<RemoteFacts> now = site.facts(file.remote());
            if (now.isEmpty()) {
                local.incoming().discard(temporary.path());
                return new Missing(Problem.VANISHED, file.path() + ": no longer exists at the site");
            }
            if (!file.isStill(now.get())) {
                local.incoming().discard(temporary.path());
                return new Changed(now.get());
            }
            Found arrived = file.withSize(content.bytes);
            local.finish(temporary, arrived);
            return new Arrived(arrived, content.digest, temporary.path());
        }
    }

    /**
     * Reads a file: the first time as far as its size says, which is usual, then to its end. Some file systems report 0, or
     * a page, where they do not know the size.
     */
    private Content content(Attempt wanted, LocalFile temporary) throws IOException, InterruptedException {
        MessageDigest read = Digest.algorithm();
        long sizeBytes = wanted.file.facts().sizeBytes();
        long bytesMax = wanted.fetched == 0 ? sizeBytes : sizeBytes + BEYOND_BYTES_MAX;
        long bytes = 0;
        if (bytesMax > 0) {
            bytes = site.read(wanted.file.remote(), 0, bytesMax, read::reset, temporary.digesting(read));
        }
        return new Content(Digest.of(read.digest()), bytes);
    }

    /** Settles what can be settled. Returns an attempt if another try is worthwhile. */
    private Optional<Attempt> settle(Attempt wanted, @Nullable Arrival arrival, @Nullable Digest atSite)
            throws IOException {
        switch (arrival) {
            case null -> throw new IllegalStateException("nothing came of " + wanted.file.path());
            case Missing(Problem problem, String message) -> outcomes.failed(wanted.file, problem, message);
            case Changed(RemoteFacts now) -> {
                if (!wanted.changed && now.kind() == RemoteFacts.Kind.FILE && !Units.isTooLarge(now.sizeBytes())) {
                    outcomes.resized(now.sizeBytes() - wanted.file.facts().sizeBytes());
                    return Optional.of(wanted.asIs(now));
                }
                outcomes.failed(
                        wanted.file,
                        Problem.CHANGED,
                        wanted.file.path() + ": changed while it was read; copy it again when it no longer changes");
            }
            case Arrived arrived when atSite != null && atSite.equals(arrived.digest) -> name(wanted.file, arrived);
            case Arrived arrived -> {
                if (arrived.temporary != null) {
                    local.incoming().discard(arrived.temporary);
                }
                return unequal(wanted, arrived, atSite);
            }
        }
        return Optional.empty();
    }

    private void name(Found wanted, Arrived arrived) throws IOException {
        Found file = arrived.file;
        try {
            if (arrived.temporary == null) {
                local.setMode(file);
            } else {
                local.publish(arrived.temporary, file.local());
            }
            if (file.contentBytes() != wanted.contentBytes()) {
                outcomes.resized(file.contentBytes() - wanted.contentBytes());
            }
            outcomes.proven(file, arrived.digest);
            outcomes.verified(file);
        } catch (Refused e) {
            if (arrived.temporary != null) {
                local.incoming().discard(arrived.temporary);
            }
            outcomes.failed(wanted, Problem.DESTINATION_REFUSED, String.valueOf(e.getMessage()));
        }
    }

    private Optional<Attempt> unequal(Attempt wanted, Arrived arrived, @Nullable Digest atSite) {
        FilePath path = wanted.file.path();
        if (atSite == null) {
            outcomes.failed(wanted.file, Problem.UNPROVEN, path + ": the site returned no digest");
            return Optional.empty();
        }
        if (arrived.temporary == null) {
            return Optional.of(new Attempt(wanted.file, wanted.fetched, wanted.changed, false));
        }
        if (wanted.fetched + 1 < TRIES) {
            return Optional.of(wanted.again());
        }
        outcomes.failed(
                wanted.file,
                Problem.MISMATCHED,
                "%s: checksum mismatch: received %s, digest at the site is %s; check the disks on both sides"
                        .formatted(path, arrived.digest, atSite));
        return Optional.empty();
    }

    /** Returns the problem of one file; rethrows any other failure. */
    private static Missing missing(Found file, RemoteException e) throws RemoteException {
        Problem problem = SiteReader.problem(e);
        return new Missing(
                problem,
                problem == Problem.VANISHED
                        ? file.path() + ": no longer exists at the site"
                        : "%s: cannot be read: %s".formatted(file.path(), e.getMessage()));
    }
}
