package dozo.copy;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Lane;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts.Kind;
import dozo.remote.SiteAddress;
import dozo.remote.SiteCheck;
import dozo.remote.Space;
import dozo.send.Crew;
import dozo.send.KnownSite;
import dozo.send.Route;
import dozo.send.Sender;
import dozo.send.SourceFolder;
import dozo.send.Throttle;
import dozo.source.Crawl;
import dozo.source.DirectoryTree;
import dozo.source.Listings;
import java.io.IOException;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Copies files and folders of this machine to a site. */
public final class CopyToSite implements Copy {

    private static final int TRIES = 3;

    private final SiteAddress site;
    private final List<Path> sources;
    /**
     * The new name of a single source file; empty if sources keep their names, or the source folder becomes the top.
     */
    private final Optional<FilePath> name;

    private final boolean into;
    private final Options options;
    private final Lanes lanes;
    private final Tally tally;
    private volatile @Nullable Sender sender;

    /**
     * Creates a copy of these sources.
     *
     * @param destination below the site's root
     * @param into whether the sources keep their names and go into the destination; otherwise the only source becomes
     *     it
     */
    public CopyToSite(SiteAddress site, List<Path> sources, FilePath destination, boolean into, Options options) {
        this(site, sources, destination, into, options, options::lanesTo);
    }

    CopyToSite(
            SiteAddress site,
            List<Path> sources,
            FilePath destination,
            boolean into,
            Options options,
            Function<SiteAddress, Lanes> lanes) {
        if (sources.isEmpty() || (!into && sources.size() > 1)) {
            throw new IllegalArgumentException("only one source can be copied to a new name, not " + sources.size());
        }
        boolean folder = into || Files.isDirectory(sources.getFirst(), LinkOption.NOFOLLOW_LINKS);
        this.site = site.below(folder ? destination : destination.parent());
        this.name = folder ? Optional.empty() : Optional.of(FilePath.of(destination.name()));
        this.sources = List.copyOf(sources);
        this.into = into;
        this.options = options;
        this.tally = new Tally(options.proofs());
        this.lanes = lanes.apply(this.site);
    }

    @Override
    public Progress run(Consumer<Finding> findings) throws IOException, InterruptedException {
        tally.tell(findings);
        if (options.comparing()) {
            compare();
        } else if (options.dryRun()) {
            for (Path source : sources) {
                FilePath content = content(source);
                walk(source, entry -> {
                    if (entry.facts().kind() != EntryKind.DIRECTORY) {
                        tally.tellFound(content.resolve(entry.path()));
                    }
                });
            }
            tally.counted();
        } else {
            try (FileLock _ = RunningCopies.lock(site + "\n" + site.root() + "\n" + key())) {
                copy();
            }
        }
        tally.tellMissing(options.filter());
        return progress();
    }

    private void compare() throws IOException, InterruptedException {
        try (Comparison comparison = new Comparison(lanes, true, tally)) {
            for (Path source : sources) {
                FilePath content = content(source);
                Path from = reached(source);
                walk(source, entry -> {
                    FilePath there = content.resolve(entry.path());
                    Path here = entry.path().under(from);
                    comparison.add(new Comparison.Pair(
                            entry.path(), there, here, there, entry.facts().sizeBytes()));
                });
            }
            tally.counted();
            comparison.end();
        }
    }

    private void copy() throws IOException, InterruptedException {
        boolean topIsNew = makeTop(lanes.next());
        FilePath incoming = Incoming.name(key(), top -> isTopName(top) || (!topIsNew && isNoFolder(lanes.next(), top)));
        try (Sender engine = sender(site, lanes, incoming, topIsNew, options)) {
            sender = engine;
            for (Path source : sources) {
                send(engine, source, incoming);
            }
        }
    }

    private void send(Sender engine, Path source, FilePath incoming) throws IOException, InterruptedException {
        FilePath content = content(source);
        Route route = new Route(SourceFolder.of(reached(source)), FilePath.ROOT, content, incoming, Optional.empty());
        boolean last = source.equals(sources.getLast());
        try (SendUnits units = new SendUnits(engine, route, outcome -> tally.outcome(content, outcome))) {
            walk(source, units::add);
            if (last) {
                tally.counted();
            }
            units.end();
            if (last) {
                // Before the folders get their times: one of them contains the temporary folder.
                engine.sweep(route, Set.of());
            }
            units.settleFolders();
        }
    }

    /** Returns where a source is below the destination. */
    private FilePath content(Path source) {
        return name.isPresent() ? name.get() : into ? nameOf(source) : FilePath.ROOT;
    }

    /** Returns an engine for a site that is checked while files are sent: over a long distance that takes seconds. */
    static Sender sender(SiteAddress site, Lanes lanes, FilePath incoming, boolean topIsNew, Options options) {
        KnownSite looked = KnownSite.lookedAtMeanwhile(early -> look(site, lanes, incoming, early));
        KnownSite known = options.sftpAlone() ? looked.bySftpAlone() : looked;
        Sender engine = new Sender(lanes, known, new Throttle(options.limitBytesPerSecond()));
        if (topIsNew) {
            engine.rootIsNew();
        }
        return engine;
    }

    /**
     * Checks the site. Repeats the check if the lane is lost, or if another copy just removes the parent of this copy's
     * temporary folder.
     */
    private static SiteCheck look(SiteAddress site, Lanes lanes, FilePath incoming, SiteCheck.Early early)
            throws RemoteException, InterruptedException {
        for (int i = 1; ; i++) {
            try {
                SiteCheck check = SiteCheck.in(lanes.next(), incoming, early);
                if (check.writable()) {
                    return check;
                }
                if (i == TRIES) {
                    throw new RemoteException(whyNot(check), site + ": " + String.join("; ", check.findings()));
                }
            } catch (RemoteException e) {
                if (!e.retryable() || i == TRIES) {
                    throw e;
                }
            }
        }
    }

    private static Reason whyNot(SiteCheck check) {
        if (check.space().filter(Space::readOnly).isPresent()) {
            return Reason.READ_ONLY;
        }
        return check.space().filter(Space::full).isPresent() ? Reason.FULL : Reason.PERMISSION_DENIED;
    }

    /** Creates the folder that is filled, if it does not exist; its parent must exist. */
    static boolean makeTop(Lane lane) throws RemoteException, InterruptedException {
        try {
            return lane.sftp().mkdir(FilePath.ROOT, 0700);
        } catch (RemoteException e) {
            // It may exist: whether it is a folder, or a link to one, is found by the check that follows.
            if (e.retryable() || e.reason() == Reason.NO_SUCH_FILE) {
                throw e;
            }
            return false;
        }
    }

    @Override
    public Progress progress() {
        Sender engine = sender;
        return tally.progress(engine == null ? 0 : engine.bytesMoved(), lanes.open());
    }

    @Override
    public void close() {
        lanes.close();
    }

    /** Returns whether something of a source gets this name in the folder that is filled. */
    private boolean isTopName(FilePath top) {
        return name.map(top::equals)
                .orElseGet(() -> sources.stream()
                        .anyMatch(source -> into
                                ? nameOf(source).equals(top)
                                : Files.exists(top.under(source), LinkOption.NOFOLLOW_LINKS)));
    }

    /** Returns whether something other than a folder has this name at the destination. */
    static boolean isNoFolder(Lane lane, FilePath top) throws RemoteException, InterruptedException {
        return lane.sftp()
                .lstat(top)
                .filter(there -> there.kind() != Kind.DIRECTORY)
                .isPresent();
    }

    /**
     * Returns a key that is the same for the same command and different for any other: runs recognise only their own
     * temporary files.
     */
    String key() {
        MessageDigest digest = Digest.algorithm();
        for (Path source : sources) {
            digest.update(FilePath.rawBytes(source));
            digest.update((byte) 0);
        }
        digest.update((byte) (into ? 1 : 0));
        name.ifPresent(each -> digest.update(each.bytes()));
        return HexFormat.of().formatHex(digest.digest(), 0, 8);
    }

    /**
     * Returns the source's path without links on the way to it: below it, no link is followed. A source that is a link
     * itself is copied as a link.
     */
    private static Path reached(Path source) throws IOException {
        Path absolute = source.toAbsolutePath();
        Path above = absolute.getParent();
        return Files.isSymbolicLink(absolute) && above != null
                ? above.toRealPath().resolve(absolute.getFileName())
                : absolute.toRealPath();
    }

    private static FilePath nameOf(Path source) {
        return FilePath.ROOT.resolve(
                FilePath.between(Path.of("/"), source.toAbsolutePath().normalize())
                        .name());
    }

    /** Passes on the source itself, as the root, and everything below it. */
    private void walk(Path source, Crew.Work<Entry> sink) throws IOException, InterruptedException {
        Walked walked = new Walked(sink);
        Facts root = DirectoryTree.facts(source);
        walked.found(FilePath.ROOT, root);
        if (root.kind() == EntryKind.DIRECTORY) {
            new Crawl(reached(source)).into(walked);
        }
    }

    /** Passes on what several threads find, one item after another: if there is no room for more, all of them wait. */
    private final class Walked implements Listings {

        private final ReentrantLock lock = new ReentrantLock();
        private final Crew.Work<Entry> sink;
        private int number;

        Walked(Crew.Work<Entry> sink) {
            this.sink = sink;
        }

        @Override
        public Listing folder(FilePath folder) {
            return new Listing() {
                @Override
                public void entry(byte[] name, Facts facts) throws IOException, InterruptedException {
                    FilePath path = folder.resolve(name);
                    if (options.filter().takes(path, facts.kind() == EntryKind.DIRECTORY)) {
                        found(path, facts);
                    }
                }

                @Override
                public void end() {
                    // Vanished files are found when they are sent.
                }
            };
        }

        @Override
        public boolean enters(FilePath parent, byte[] name) {
            return options.filter().takes(parent.resolve(name), true);
        }

        @Override
        public void problem(FilePath path, Problem problem, String message) {
            if (options.filter().takes(path, false)) {
                tally.foundUnfit(path, problem, message);
            }
        }

        void found(FilePath path, Facts facts) throws IOException, InterruptedException {
            lock.lockInterruptibly();
            try {
                tally.found(facts.sizeBytes());
                sink.on(new Entry(++number, path, facts));
            } finally {
                lock.unlock();
            }
        }
    }
}
