package dozo.send;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Lane;
import dozo.remote.Lanes;
import dozo.remote.Lanes.LaneTraffic;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.Sftp.Part;
import dozo.remote.TuningDecision;
import dozo.send.Outcome.Failed;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The engine: takes units, returns outcomes. Sends over the lanes of one site, many files at once, each under a
 * temporary name; has the digests computed there; and gives a file its final name only after it is verified. Uses no
 * database. Thread-safe and meant for several threads at once: units share the lanes, and while one is verified the
 * next is sent.
 *
 * <p>An entry reported as verified is on the site's disk, including its name, as far as the site can guarantee that.
 *
 * <p>A problem of one entry is an outcome. A problem of the whole site (it is full, unreachable, or has the wrong host
 * key) is a {@link RemoteException}; the unit then has no outcome.
 */
public final class Sender implements AutoCloseable {

    private static final Duration FOREVER = Duration.ofDays(36_500);

    private final Lanes lanes;
    private final Engine engine;
    private final Entries entries;
    private final BundleSender bundles;
    private final SourceContent content;
    private final HardLinks links;
    private final Placement placement;

    /** The content of a file that Dozo generates; may be read several times. */
    public interface Content {
        InputStream read() throws IOException;
    }

    /**
     * A file that Dozo generates, and its name in a bag.
     *
     * @param standing the parts expected in the file that has its name now, in their order: the site may copy these
     */
    public record Placing(Route route, FilePath inBag, Content content, List<Part> standing) {

        public Placing(Route route, FilePath inBag, Content content) {
            this(route, inBag, content, List.of());
        }

        Placing whole() {
            return new Placing(route, inBag, content);
        }

        FilePath finalName() {
            return route.top().resolve(inBag);
        }

        FilePath temporary() {
            return route.incoming()
                    .resolve("tag-"
                            + Digest.ofContent(finalName().bytes()).toString().substring(0, 16));
        }
    }

    /**
     * Creates an engine for a site with these known properties. Entries whose names the site would not keep byte for
     * byte fail.
     */
    public Sender(Lanes lanes, KnownSite site, Throttle throttle) {
        this(lanes, site, throttle, 0, FOREVER, false, _ -> {});
    }

    /**
     * Creates an engine that compares some digests computed at the site with the bytes read back, chosen at random: a
     * command there that is sometimes wrong is detected some day (ADR 0027).
     *
     * @param readBackOneIn reads one in this many files back; 0: none
     * @param patience how long a source may not answer before the file fails
     * @param inspects whether content is judged by the rules of its format while it is read
     * @param archivesGivenUp receives the reason, once, if archives failed too often and all later files are sent by
     *     SFTP
     */
    public Sender(
            Lanes lanes,
            KnownSite site,
            Throttle throttle,
            int readBackOneIn,
            Duration patience,
            boolean inspects,
            Consumer<String> archivesGivenUp) {
        this.lanes = lanes;
        Gauges gauges = new Gauges();
        Workers workers = new Workers(lanes);
        engine = new Engine(
                lanes,
                workers,
                site,
                new SiteTree(site),
                new Prover(lanes, workers, site, gauges, readBackOneIn),
                throttle,
                gauges,
                new SourcePatience(patience, throttle.sources()),
                inspects);
        entries = new Entries(engine);
        content = new SourceContent(engine);
        bundles = new BundleSender(engine, entries, content, new TarStream(engine, archivesGivenUp));
        links = new HardLinks(engine, entries, content, bundles);
        placement = new Placement(engine);
        throttle.askBy(this::ping);
    }

    /** Records that the root itself was just created: nothing can be in it yet. */
    public void rootIsNew() {
        engine.tree().rootIsNew();
    }

    /**
     * Ends all current and future waits for a source that does not answer. The units concerned have no outcome then, as
     * after an interrupt.
     */
    public void leaveSources() {
        engine.patience().leave();
    }

    /** Returns the content bytes sent so far, including repeated ones. */
    public long bytesMoved() {
        return engine.gauges().bytesMoved.sum();
    }

    /** Returns the number of open lanes. */
    public int lanes() {
        return lanes.open();
    }

    /** Returns what each open lane has moved. */
    public List<LaneTraffic> laneTraffic() {
        return lanes.traffic();
    }

    /** Returns the latest decisions about the number of lanes, the oldest first. */
    public List<TuningDecision> decisions() {
        return lanes.decisions();
    }

    /** Returns what the engine is doing right now. */
    public Load load() {
        return engine.gauges()
                .load(engine.throttle().waiting(), engine.throttle().yieldingNow(), lanes.load());
    }

    /** Counts units as being recorded; recording happens outside the engine. */
    public Stay recording(int units) {
        return engine.gauges().recording.enter(units);
    }

    /** Returns the digest method at the site, for receipts. */
    public String method() throws RemoteException, InterruptedException {
        return engine.site().digest().method();
    }

    /** Sends a unit; nothing is known of copies that its entries replace. */
    public List<Outcome> send(Route route, Unit unit) throws RemoteException, InterruptedException {
        return send(route, unit, Earlier.NOTHING);
    }

    /**
     * Sends a unit.
     *
     * @param earlier what is known of copies that its entries replace
     * @return an outcome for each of its entries, in their order
     * @throws RemoteException if the site as a whole cannot be used
     */
    public List<Outcome> send(Route route, Unit unit, Earlier earlier) throws RemoteException, InterruptedException {
        Optional<String> taken = taken(route);
        if (taken.isPresent()) {
            return unit.entries().stream()
                    .<Outcome>map(entry ->
                            new Failed(entry, Problem.SITE_REFUSED, "%s: %s".formatted(entry.path(), taken.get())))
                    .toList();
        }
        return switch (unit) {
            case Unit.Bundle bundle -> inOrder(unit, bundles.send(route, bundle.entries(), earlier));
            case Unit.Large large ->
                List.of(new LargeFile(engine, entries, content, route, large.entry(), earlier).send());
            case Unit.Links names -> inOrder(unit, links.send(route, names, earlier));
        };
    }

    private static List<Outcome> inOrder(Unit unit, Map<Entry, Outcome> outcomes) {
        return unit.entries().stream()
                .map(entry -> requireNonNull(outcomes.get(entry)))
                .toList();
    }

    /** Returns why a bag cannot be filled: the site takes its folder for that of another bag. Usually empty. */
    public Optional<String> taken(Route route) throws RemoteException, InterruptedException {
        if (route.top().isRoot() || !engine.site().foldsNames()) {
            return Optional.empty();
        }
        try {
            lanes.doOver(lane -> engine.tree().makeFolders(lane, route, route.top()));
            return Optional.empty();
        } catch (RemoteException e) {
            if (e.reason() != Reason.EXISTS) {
                throw e;
            }
            return Optional.of(String.valueOf(e.getMessage()));
        }
    }

    /** Sends a small request over a lane that is open; returns whether there is one. */
    private boolean ping() throws RemoteException, InterruptedException {
        Optional<Lane> lane = lanes.all().stream().findFirst();
        if (lane.isEmpty()) {
            return false;
        }
        var _ = lane.get().sftp().lstat(FilePath.ROOT);
        return true;
    }

    /** Returns a reader of stored copies over the same lanes. */
    public SiteReader reader() throws RemoteException, InterruptedException {
        return new SiteReader(lanes, engine.workers(), engine.site());
    }

    /**
     * Puts generated files into bags, unless a file with this content is already there; files they replace are kept as
     * versions. All are written first. One command computes their digests, and the site syncs them to its disk. Then
     * they get their names, those of one bag in the order of the list.
     *
     * @return where the files are now that were replaced, by their names before
     * @throws RemoteException if the site as a whole cannot be used, or a digest at the site is wrong: then none has
     *     its name
     */
    public Map<FilePath, FilePath> place(List<Placing> files) throws RemoteException, InterruptedException {
        return placement.place(files);
    }

    /**
     * Moves a generated file that is no longer valid from the bag to the versions. Returns where it is now; empty: it did not exist.
     */
    public Optional<FilePath> putAside(Route route, FilePath inBag) throws RemoteException, InterruptedException {
        return lanes.over(
                lane -> engine.tree().putAside(lane, route, route.top().resolve(inBag)));
    }

    /**
     * Renames copies back into the bag that a run moved aside before it died without replacing them. A name that is in
     * use again is left as it is; a missing folder is created.
     *
     * @return the number of files and links renamed
     */
    public int putBack(Route route, SiteFolders folders, List<SiteCopy> standing)
            throws RemoteException, InterruptedException {
        int back = 0;
        for (Map.Entry<SiteCopy, FilePath> one :
                reader().movedAside(folders, standing).entrySet()) {
            SiteCopy copy = one.getKey();
            back += lanes.over(lane -> {
                if (copy.kind() == EntryKind.DIRECTORY) {
                    engine.tree().makeFolders(lane, route, copy.path());
                    return 0;
                }
                return engine.tree().putBack(lane, route, one.getValue(), copy.path()) ? 1 : 0;
            });
        }
        return back;
    }

    /**
     * Sets the modes and times of folders at the site to those at the source.
     *
     * @return those that could not be set, for example because somebody has removed the folder
     */
    public List<Failed> setFolderFacts(Route route, List<Entry> folders) throws RemoteException, InterruptedException {
        return setFolderFacts(Map.of(route, folders)).getOrDefault(route, List.of());
    }

    /** Does the same for many bags at once. Returns the failures by bag. */
    public Map<Route, List<Failed>> setFolderFacts(Map<Route, List<Entry>> folders)
            throws RemoteException, InterruptedException {
        return entries.setFolderFacts(folders);
    }

    /**
     * Removes temporary files of earlier runs, except those with these numbers. After a copy nothing remains, unless
     * other copies to the same place are running.
     */
    public void sweep(Route route, Set<Integer> keep) throws RemoteException, InterruptedException {
        engine.site().awaitLook();
        Leftovers leftovers = new Leftovers(lanes.next());
        var _ = leftovers.sweep(route.incoming(), keep);
        if (keep.isEmpty() && route.mayStand()) {
            // The folder that contains the temporary folders of copies.
            var _ = leftovers.removeIfEmpty(route.incoming().parent());
        }
    }

    /**
     * Removes temporary files of this and earlier runs, of all experiments. Called at the end of a run, when nothing is
     * in progress.
     *
     * @param keep the numbers of the files of {@code project/experiment} that the next run continues; empty: the
     *     experiment is unknown, and its files are left alone
     * @param probesBefore a site check that began before this time is over
     * @return a sentence for each folder that could not be emptied
     */
    public List<String> sweepAll(Function<String, Optional<Set<Integer>>> keep, Instant probesBefore)
            throws RemoteException, InterruptedException {
        engine.tree().forget(SiteFolders.INCOMING);
        return lanes.over(lane -> new Leftovers(lane).sweepAll(SiteFolders.INCOMING, keep, probesBefore));
    }

    /**
     * Removes a folder at the site with everything in it: for an erasure, and for nothing else. Does nothing if it does not exist.
     * A link is removed and never followed. Safe to repeat after a crash at any point.
     *
     * @param folder of at least two names
     * @throws RemoteException if something of it could not be removed
     */
    public void erase(FilePath folder) throws RemoteException, InterruptedException {
        engine.tree().forget(folder);
        new SiteRemoval(lanes, engine.workers()).remove(folder);
    }

    /** Removes files at the site, as far as they exist: for an erasure, and for nothing else. */
    public void erase(List<FilePath> files) throws RemoteException, InterruptedException {
        new SiteRemoval(lanes, engine.workers()).removeFiles(files);
    }

    /**
     * Returns whether there is such a folder at the site.
     *
     * @throws RemoteException REFUSED if it, or something on the way to it, is no folder
     */
    public boolean isFolder(FilePath folder) throws RemoteException, InterruptedException {
        return new SiteRemoval(lanes, engine.workers()).isFolder(folder);
    }

    @Override
    public void close() {
        engine.workers().close();
        lanes.close();
    }
}
