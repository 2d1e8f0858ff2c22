package dozo.copy;

import dozo.file.Entry;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Lanes;
import dozo.remote.RemoteDigest;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts.Kind;
import dozo.remote.SiteAddress;
import dozo.send.Crew;
import dozo.send.Outcome;
import dozo.send.Outcome.Failed;
import dozo.send.Route;
import dozo.send.Sender;
import dozo.send.SiteReader;
import dozo.send.Throttle;
import java.io.IOException;
import java.nio.channels.FileLock;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Copies files and folders of one site to another through this machine, which stores nothing of them: at most 64 MiB of
 * content read ahead are in memory. Writes nothing at the source. A file gets its final name only after its digest, as
 * computed at both sites, is that of the bytes that were read. What the same command has copied before is recognised by
 * the digests at both sites, and is not read here.
 */
public final class CopyBetweenSites implements Copy {

    private static final int LINKS_AT_ONCE = 1_000;

    private final SiteAddress from;
    private final SiteAddress to;
    private final FilePath destination;
    private final boolean into;
    private final Options options;
    private final Tally tally;
    private final Lanes lanes;
    private final SiteSources sources;
    private volatile @Nullable Lanes lanesTo;
    private volatile @Nullable Sender sender;
    private volatile @Nullable String sourceAway;

    /**
     * Creates a copy of these sources.
     *
     * @param sources below the root of {@code from}; not in the destination, nor the destination in one of them
     * @param destination below the root of {@code to}; its parent must exist
     * @param into whether the sources keep their names and go into the destination; otherwise the only source becomes
     *     it
     */
    public CopyBetweenSites(
            SiteAddress from,
            List<FilePath> sources,
            SiteAddress to,
            FilePath destination,
            boolean into,
            Options options) {
        this.from = from;
        this.to = to;
        this.destination = destination;
        this.into = into;
        this.options = options;
        this.tally = new Tally(options.proofs());
        this.lanes = options.lanesTo(from);
        this.sources = new SiteSources(lanes, sources, into, options.filter(), tally);
    }

    @Override
    public Progress run(Consumer<Finding> findings) throws IOException, InterruptedException {
        tally.tell(findings);
        List<Found> roots = sources.roots(destination.name());
        if (options.dryRun()) {
            sources.tellFound(roots);
        } else {
            try (FileLock _ = RunningCopies.lock(to + "\n" + to.root() + "\n" + key())) {
                copy(roots);
            }
        }
        tally.tellMissing(options.filter());
        return progress();
    }

    private void copy(List<Found> roots) throws IOException, InterruptedException {
        boolean folder = into || roots.getFirst().local().isRoot();
        SiteAddress top = to.below(folder ? destination : destination.parent());
        Lanes target = options.lanesTo(top);
        lanesTo = target;
        boolean topIsNew = CopyToSite.makeTop(target.next());
        FilePath incoming = Incoming.name(
                key(),
                name -> sources.isTopName(roots, name) || (!topIsNew && CopyToSite.isNoFolder(target.next(), name)));
        SiteFiles files = new SiteFiles(lanes, RemoteDigest.readOnly(lanes.next()), new Throttle(0));
        try (Sender engine = CopyToSite.sender(top, target, incoming, topIsNew, options)) {
            sender = engine;
            for (Found root : roots) {
                SiteOrigin origin = new SiteOrigin(from.host(), lanes, files, root.remote());
                Route route = new Route(origin.of(List.of()), FilePath.ROOT, root.local(), incoming, Optional.empty());
                send(engine, route, origin, root, root.equals(roots.getLast()));
            }
        }
    }

    private void send(Sender engine, Route route, SiteOrigin origin, Found root, boolean last)
            throws IOException, InterruptedException {
        try (SendUnits units = new SendUnits(engine, route, origin, outcome -> outcome(root.local(), outcome))) {
            Taken taken = new Taken(origin, units);
            sources.walk(root, taken::add);
            taken.addLinks();
            if (last) {
                tally.counted();
            }
            units.end();
            refuseIfAway();
            if (last) {
                // Before the folders get their times: one of them contains the temporary folder.
                engine.sweep(route, Set.of());
            }
            units.settleFolders();
        }
    }

    private void outcome(FilePath content, Outcome outcome) {
        if (outcome instanceof Failed failed && failed.ofSource()) {
            sourceAway = failed.message();
        } else {
            tally.outcome(content, outcome);
        }
    }

    private void refuseIfAway() throws RemoteException {
        String why = sourceAway;
        if (why != null) {
            throw new RemoteException(Reason.LOST, why);
        }
    }

    /**
     * Passes on what several threads find of one source, one item after another: if there is no room for more, all of
     * them wait. Links come last, because reading the text of each takes a round trip.
     */
    private final class Taken {

        private final ReentrantLock lock = new ReentrantLock();
        private final SiteOrigin origin;
        private final SendUnits units;
        private final List<Found> links = new ArrayList<>();
        private int number;

        Taken(SiteOrigin origin, SendUnits units) {
            this.origin = origin;
            this.units = units;
        }

        void add(Found found) throws IOException, InterruptedException {
            lock.lockInterruptibly();
            try {
                refuseIfAway();
                if (found.facts().kind() == Kind.LINK) {
                    links.add(found);
                } else {
                    add(found, origin.facts(found.path(), found.facts()));
                }
            } finally {
                lock.unlock();
            }
        }

        private void add(Found found, Facts facts) throws IOException, InterruptedException {
            units.add(new Entry(++number, found.path(), facts));
        }

        void addLinks() throws IOException, InterruptedException {
            for (int i = 0; i < links.size(); i += LINKS_AT_ONCE) {
                List<Found> some = links.subList(i, Math.min(links.size(), i + LINKS_AT_ONCE));
                List<Optional<Facts>> read = Crew.each(some, this::read);
                for (int j = 0; j < some.size(); j++) {
                    if (read.get(j).isPresent()) {
                        add(some.get(j), read.get(j).get());
                    }
                }
            }
        }

        /** Returns the facts of a link with its text; empty: it cannot be read, which is a finding. */
        private Optional<Facts> read(Found link) throws RemoteException, InterruptedException {
            try {
                return Optional.of(origin.facts(link.path(), link.facts()));
            } catch (RemoteException e) {
                Problem problem = SiteReader.problem(e);
                tally.failed(link, problem, "%s: link cannot be read: %s".formatted(link.path(), e.getMessage()));
                return Optional.empty();
            }
        }
    }

    @Override
    public Progress progress() {
        Sender engine = sender;
        Lanes target = lanesTo;
        return tally.progress(engine == null ? 0 : engine.bytesMoved(), target == null ? lanes.open() : target.open());
    }

    @Override
    public void close() {
        Lanes target = lanesTo;
        if (target != null) {
            target.close();
        }
        lanes.close();
    }

    String key() {
        return sources.key(from, destination.bytes());
    }
}
