package dozo.send;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Lane;
import dozo.remote.Lanes;
import dozo.remote.Lanes.LaneTraffic;
import dozo.remote.Lanes.Work;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFile;
import dozo.remote.Sftp.Part;
import dozo.remote.TuningDecision;
import dozo.send.Arrival.Arrived;
import dozo.send.Arrival.Missing;
import dozo.send.Outcome.Failed;
import dozo.send.Outcome.Verified;
import dozo.send.SourceFile.SourceProblem;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

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

    /** How often an entry is sent if its digest is wrong or it changes meanwhile. */
    private static final int TRIES = 3;

    private static final Duration FOREVER = Duration.ofDays(36_500);

    private static final int TRANSFER_BYTES = 64 << 10;

    /** Of files that could not be linked: how many bytes are sent as one; longer ones are sent as large files. */
    private static final long BUNDLE_BYTES_MAX = 64 << 20;

    private final Lanes lanes;
    private final KnownSite site;
    private final SiteTree tree;
    private final Throttle throttle;
    private final SourcePatience patience;
    private final Gauges gauges = new Gauges();
    private final Workers workers;
    private final Prover prover;
    private final TarStream stream;
    private final HardLinks links;

    /** Set after the site has refused to create holes in a file. */
    private volatile boolean holesRefused;

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

        private Placing whole() {
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

    private record Written(Digest digest, long bytes) {}

    /**
     * Creates an engine for a site with these known properties. Entries whose names the site would not keep byte for
     * byte fail.
     */
    public Sender(Lanes lanes, KnownSite site, Throttle throttle) {
        this(lanes, site, throttle, 0, FOREVER, _ -> {});
    }

    /**
     * Creates an engine that compares some digests computed at the site with the bytes read back, chosen at random: a
     * command there that is sometimes wrong is detected some day (ADR 0027).
     *
     * @param readBackOneIn reads one in this many files back; 0: none
     * @param patience how long a source may not answer before the file fails
     * @param archivesGivenUp receives the reason, once, if archives failed too often and all later files are sent by
     *     SFTP
     */
    public Sender(
            Lanes lanes,
            KnownSite site,
            Throttle throttle,
            int readBackOneIn,
            Duration patience,
            Consumer<String> archivesGivenUp) {
        this.lanes = lanes;
        this.site = site;
        this.throttle = throttle;
        this.patience = new SourcePatience(patience, throttle.sources());
        this.tree = new SiteTree(site);
        this.workers = new Workers(lanes);
        this.stream = new TarStream(lanes, site, throttle, gauges, this.patience, archivesGivenUp);
        this.prover = new Prover(lanes, workers, site, gauges, readBackOneIn);
        this.links = new HardLinks(lanes, workers, tree, prover, gauges, this.patience);
        throttle.askBy(this::ping);
    }

    /** Records that the root itself was just created: nothing can be in it yet. */
    public void rootIsNew() {
        tree.rootIsNew();
    }

    /**
     * Ends all current and future waits for a source that does not answer. The units concerned have no outcome then, as
     * after an interrupt.
     */
    public void leaveSources() {
        patience.leave();
    }

    /** Returns the content bytes sent so far, including repeated ones. */
    public long bytesMoved() {
        return gauges.bytesMoved.sum();
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
        return gauges.load(throttle.waiting(), throttle.yieldingNow(), lanes.load());
    }

    /** Counts units as being recorded; recording happens outside the engine. */
    public Stay recording(int units) {
        return gauges.recording.enter(units);
    }

    /** Returns the digest method at the site, for receipts. */
    public String method() throws RemoteException, InterruptedException {
        return site.digest().method();
    }

    /**
     * Sends a unit.
     *
     * @return an outcome for each of its entries, in their order
     * @throws RemoteException if the site as a whole cannot be used
     */
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
            case Unit.Bundle bundle -> sendBundle(route, bundle.entries(), earlier);
            case Unit.Large large -> List.of(withoutRemains(route, sendLarge(route, large.entry(), earlier)));
            case Unit.Links links -> sendLinks(route, links, earlier);
        };
    }

    /** Returns why a bag cannot be filled: the site takes its folder for that of another bag. Usually empty. */
    public Optional<String> taken(Route route) throws RemoteException, InterruptedException {
        if (route.top().isRoot() || !site.foldsNames()) {
            return Optional.empty();
        }
        try {
            lanes.doOver(lane -> tree.makeFolders(lane, route, route.top()));
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
        return new SiteReader(lanes, workers, site);
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
        Map<Placing, Digest> digests = bring(files);
        Map<Route, List<Placing>> bags =
                files.stream().collect(Collectors.groupingBy(Placing::route, LinkedHashMap::new, Collectors.toList()));
        Map<FilePath, FilePath> aside = new ConcurrentHashMap<>();
        workers.each(bags.keySet(), bag -> {
            for (Placing file : requireNonNull(bags.get(bag))) {
                Digest digest = requireNonNull(digests.get(file));
                lanes.doOver(lane -> tree.publish(lane, bag, file.temporary(), file.finalName(), digest, null, false)
                        .ifPresent(place -> aside.put(file.finalName(), place)));
            }
            return bag;
        });
        return aside;
    }

    /**
     * Writes files at the site under their temporary names. Returns their digests, which are equal to those computed
     * there.
     */
    private Map<Placing, Digest> bring(List<Placing> files) throws RemoteException, InterruptedException {
        Map<Placing, Written> written = workers.each(
                files,
                file -> lanes.over(lane -> {
                    tree.makeFolders(lane, file.route, file.route.incoming());
                    return write(lane, file);
                }));
        long bytes = written.values().stream().mapToLong(Written::bytes).sum();
        Prover.Said found =
                prover.digests(files.stream().map(Placing::temporary).toList(), bytes);
        Map<Placing, Digest> digests = new HashMap<>();
        List<Placing> again = new ArrayList<>();
        for (Placing file : files) {
            Digest sent = requireNonNull(written.get(file)).digest;
            digests.put(file, sent);
            if (!file.standing.isEmpty() && !Objects.equals(sent, found.of(file.temporary()))) {
                // The existing file did not contain the expected parts.
                again.add(file.whole());
            } else {
                checkWritten(file, sent, found);
            }
        }
        if (!again.isEmpty()) {
            bring(again);
        }
        return digests;
    }

    /**
     * Moves a generated file that is no longer valid from the bag to the versions. Returns where it is now; empty: it did not exist.
     */
    public Optional<FilePath> putAside(Route route, FilePath inBag) throws RemoteException, InterruptedException {
        return lanes.over(lane -> tree.putAside(lane, route, route.top().resolve(inBag)));
    }

    private static void checkWritten(Placing file, Digest sent, Prover.Said said) throws RemoteException {
        Digest found = said.of(file.temporary());
        if (found == null) {
            throw new RemoteException(
                    Reason.REFUSED, "the site returned no digest for %s%s".formatted(file.finalName(), said.why()));
        }
        if (!found.equals(sent)) {
            throw new RemoteException(
                    Reason.REFUSED,
                    "%s: checksum mismatch: digest %s at the site, expected %s"
                            .formatted(file.finalName(), found, sent));
        }
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
                    tree.makeFolders(lane, route, copy.path());
                    return 0;
                }
                return tree.putBack(lane, route, one.getValue(), copy.path()) ? 1 : 0;
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
        List<Placed> all = folders.entrySet().stream()
                .flatMap(bag -> bag.getValue().stream().map(folder -> new Placed(bag.getKey(), folder)))
                .toList();
        Map<Placed, Outcome> outcomes = workers.each(
                all,
                placed -> entryOutcome(placed.route, placed.entry, lane -> {
                    SiteFacts facts = SiteFacts.of(placed.entry);
                    lane.sftp().setFacts(placed.route.finalName(placed.entry), facts.mode(), facts.modifiedSeconds());
                    return new Verified(placed.entry, Digest.OF_NOTHING);
                }));
        Map<Route, List<Failed>> failures = new HashMap<>();
        for (Placed placed : all) {
            if (outcomes.get(placed) instanceof Failed failed) {
                failures.computeIfAbsent(placed.route, _ -> new ArrayList<>()).add(failed);
            }
        }
        return failures;
    }

    /** An entry of a bag. */
    private record Placed(Route route, Entry entry) {}

    /**
     * Removes temporary files of earlier runs, except those with these numbers. After a copy nothing remains, unless
     * other copies to the same place are running.
     */
    public void sweep(Route route, Set<Integer> keep) throws RemoteException, InterruptedException {
        site.awaitLook();
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
        tree.forget(SiteFolders.INCOMING);
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
        tree.forget(folder);
        new SiteRemoval(lanes, workers).remove(folder);
    }

    /** Removes files at the site, as far as they exist: for an erasure, and for nothing else. */
    public void erase(List<FilePath> files) throws RemoteException, InterruptedException {
        new SiteRemoval(lanes, workers).removeFiles(files);
    }

    /**
     * Returns whether there is such a folder at the site.
     *
     * @throws RemoteException REFUSED if it, or something on the way to it, is no folder
     */
    public boolean isFolder(FilePath folder) throws RemoteException, InterruptedException {
        return new SiteRemoval(lanes, workers).isFolder(folder);
    }

    @Override
    public void close() {
        workers.close();
        lanes.close();
    }

    /**
     * Links names to verified files. Of each file that cannot be linked, one name is sent, and the others are linked to
     * that; so it goes on, a few times, if the site can link files at all.
     */
    private List<Outcome> sendLinks(Route route, Unit.Links unit, Earlier earlier)
            throws RemoteException, InterruptedException {
        // Names of one file have the same facts, with its number.
        Map<Facts, Verified> copies = new HashMap<>();
        unit.copies().forEach(copy -> copies.put(copy.entry().facts(), copy));
        Map<Entry, Outcome> outcomes = new HashMap<>();
        List<Entry> left = new ArrayList<>(unit.entries());
        for (int i = 0; i < TRIES && !left.isEmpty() && site.linksFiles(); i++) {
            try (Stay _ = gauges.naming.enter()) {
                outcomes.putAll(links.link(route, linkable(route, left, copies, earlier)));
            }
            left.removeIf(outcomes::containsKey);
            Map<Facts, Entry> firsts = new HashMap<>();
            left.forEach(entry -> firsts.putIfAbsent(entry.facts(), entry));
            Map<Entry, Outcome> sent = sendContents(route, firsts.values(), earlier);
            outcomes.putAll(sent);
            left.removeIf(outcomes::containsKey);
            sent.forEach((first, outcome) -> {
                copies.remove(first.facts());
                if (outcome instanceof Verified verified) {
                    copies.put(first.facts(), verified);
                }
            });
        }
        outcomes.putAll(sendContents(route, left, earlier));
        try (Stay _ = gauges.naming.enter()) {
            prover.syncAll();
        }
        return inOrder(unit.entries(), outcomes);
    }

    /** Returns the entries that may be linked, with their files. */
    private Map<Entry, Verified> linkable(
            Route route, List<Entry> entries, Map<Facts, Verified> copies, Earlier earlier)
            throws RemoteException, InterruptedException {
        Map<Entry, Verified> linkable = new HashMap<>();
        for (Entry entry : entries) {
            Verified copy = copies.get(entry.facts());
            if (copy != null
                    && earlier.proven()
                            .getOrDefault(entry.number(), copy.digest())
                            .equals(copy.digest())
                    && canHaveName(route, entry)) {
                linkable.put(entry, copy);
            }
        }
        return linkable;
    }

    /** Sends files that were not planned to be sent, in units of the usual sizes. */
    private Map<Entry, Outcome> sendContents(Route route, Collection<Entry> files, Earlier earlier)
            throws RemoteException, InterruptedException {
        Map<Entry, Outcome> outcomes = new HashMap<>();
        List<Entry> bundle = new ArrayList<>();
        long bytes = 0;
        for (Entry file : files) {
            long sizeBytes = file.facts().sizeBytes();
            if (sizeBytes > BUNDLE_BYTES_MAX) {
                outcomes.put(file, withoutRemains(route, sendLarge(route, file, earlier)));
                continue;
            }
            if (bytes + sizeBytes > BUNDLE_BYTES_MAX) {
                sendBundle(route, bundle, earlier).forEach(outcome -> outcomes.put(outcome.entry(), outcome));
                bundle.clear();
                bytes = 0;
            }
            bundle.add(file);
            bytes += sizeBytes;
        }
        if (!bundle.isEmpty()) {
            sendBundle(route, bundle, earlier).forEach(outcome -> outcomes.put(outcome.entry(), outcome));
        }
        return outcomes;
    }

    private static List<Outcome> inOrder(List<Entry> entries, Map<Entry, Outcome> outcomes) {
        return entries.stream()
                .map(entry -> requireNonNull(outcomes.get(entry)))
                .toList();
    }

    private List<Outcome> sendBundle(Route route, List<Entry> entries, Earlier earlier)
            throws RemoteException, InterruptedException {
        List<Entry> left = new ArrayList<>();
        List<Entry> others = new ArrayList<>();
        entries.forEach(entry -> (entry.facts().kind() == EntryKind.FILE ? left : others).add(entry));
        // In parallel, because nested folders take a while over a long distance.
        Future<Map<Entry, Outcome>> making =
                workers.begin(() -> workers.each(others, other -> makeOther(route, other)));
        Map<Entry, Outcome> outcomes = new HashMap<>();
        for (int i = 0; i < TRIES && !left.isEmpty(); i++) {
            Map<Entry, Outcome> tried = sendAndProve(route, left, earlier, i == 0);
            outcomes.putAll(tried);
            left.removeIf(entry -> !worthAnotherTry(tried.get(entry)));
        }
        try (Stay _ = gauges.naming.enter()) {
            outcomes.putAll(Workers.join(making));
            prover.syncAll();
        }
        return inOrder(entries, outcomes);
    }

    /**
     * Returns whether sending again may help: after a wrong digest, or after a change of the source file. Other
     * failures stay.
     */
    private static boolean worthAnotherTry(@Nullable Outcome outcome) {
        return outcome instanceof Failed failed
                && (failed.problem() == Problem.MISMATCHED || failed.problem() == Problem.CHANGED);
    }

    /**
     * Sends and verifies files. Those that are verified have their final names afterwards.
     *
     * @param look whether the file may exist under its final name, and holes are allowed; false after that turned out
     *     wrong
     */
    private Map<Entry, Outcome> sendAndProve(Route route, List<Entry> files, Earlier earlier, boolean look)
            throws RemoteException, InterruptedException {
        Map<Entry, Arrival> arrivals = sendFiles(route, files, earlier, look);
        Prover.Said found = digestsAtSite(arrivals.values().stream()
                .filter(Arrived.class::isInstance)
                .map(Arrived.class::cast)
                .toList());
        Map<Entry, Outcome> outcomes = new HashMap<>();
        Map<Entry, Arrived> proven = new HashMap<>();
        arrivals.forEach((file, arrival) -> {
            Outcome compared = switch (arrival) {
                case Arrived arrived -> compare(arrived, found);
                case Missing(Failed failed) -> failed;
            };
            outcomes.put(file, compared);
            if (compared instanceof Verified) {
                proven.put(file, (Arrived) arrival);
            }
        });
        if (!proven.isEmpty()) {
            try (Stay _ = gauges.naming.enter()) {
                outcomes.putAll(publishAll(route, proven, earlier));
            }
        }
        clearFolders(arrivals.values());
        return outcomes;
    }

    /** Renames all files at once, and then one by one those for which that failed. */
    private Map<Entry, Outcome> publishAll(Route route, Map<Entry, Arrived> proven, Earlier earlier)
            throws RemoteException, InterruptedException {
        Map<FilePath, FilePath> names = new HashMap<>();
        proven.forEach((file, arrived) -> {
            if (!arrived.lies().equals(route.finalName(file))) {
                names.put(arrived.lies(), route.finalName(file));
            }
        });
        Set<FilePath> made = tree.makeFoldersOf(lanes, workers, route, names.values());
        names.values().removeIf(name -> !made.contains(name.parent()));
        Set<FilePath> named = new HashSet<>();
        try {
            named.addAll(tree.publishAll(lanes.next(), route, names));
        } catch (RemoteException e) {
            if (!e.retryable()) {
                throw e;
            }
        }
        Map<Entry, Outcome> outcomes = new HashMap<>();
        Set<Entry> left = new HashSet<>();
        proven.forEach((file, arrived) -> {
            if (named.contains(arrived.lies())) {
                outcomes.put(file, new Verified(file, arrived.digest(), arrived.wayIn()));
            } else {
                left.add(file);
            }
        });
        outcomes.putAll(workers.each(left, file -> publish(route, requireNonNull(proven.get(file)), earlier)));
        return outcomes;
    }

    /** Removes the temporary folders of archives whose files have been renamed or failed verification. */
    private void clearFolders(Collection<Arrival> arrivals) throws RemoteException, InterruptedException {
        Set<FilePath> folders = new HashSet<>();
        for (Arrival arrival : arrivals) {
            if (arrival instanceof Arrived arrived && arrived.inArchive()) {
                folders.add(arrived.lies().parent());
            }
        }
        for (FilePath folder : folders) {
            stream.clear(folder);
        }
    }

    private Map<Entry, Arrival> sendFiles(Route route, List<Entry> files, Earlier earlier, boolean look)
            throws RemoteException, InterruptedException {
        try (Stay _ = gauges.sending.enter()) {
            lanes.doOver(lane -> tree.makeFolders(lane, route, route.incoming()));
            Map<Entry, Arrival> arrivals = new HashMap<>();
            if (look && stream.isWorthIt(files)) {
                arrivals.putAll(stream.send(route, forStream(route, files)));
            }
            List<Entry> left =
                    files.stream().filter(file -> !arrivals.containsKey(file)).toList();
            arrivals.putAll(workers.each(left, file -> {
                try (Stay _ = gauges.files.enter()) {
                    return sendFile(route, file, look);
                }
            }));
            arrivals.replaceAll((_, arrival) -> asProven(route, arrival, earlier));
            return arrivals;
        }
    }

    /**
     * Returns the files that can be sent in an archive: their names are UTF-8, and nothing is expected under their
     * final names.
     */
    private List<Entry> forStream(Route route, List<Entry> files) throws RemoteException, InterruptedException {
        boolean copy = route.mayStand();
        if (copy) {
            var _ = tree.makeFoldersOf(
                    lanes, workers, route, files.stream().map(route::finalName).toList());
        }
        return files.stream()
                .filter(file -> route.finalName(file).isUtf8())
                .filter(file -> !copy || tree.isNew(route.finalName(file).parent()))
                .toList();
    }

    /** Sends one file under its temporary name, or finds it under its final name. */
    private Arrival sendFile(Route route, Entry file, boolean look) throws RemoteException, InterruptedException {
        return entryWork(route, file, Missing::new, lane -> {
            // Opens the source first, so that nothing is created at the site for an unreadable file.
            try (SourceFile source = open(route, file, lanes.files())) {
                FilePath finalName = route.finalName(file);
                Optional<RemoteFacts> there = look && mayStand(lane, route, finalName.parent())
                        ? standing(lane, finalName, file)
                        : Optional.empty();
                if (there.isPresent()) {
                    return new Arrived(
                            file, digest(route, source), finalName, there.get().mode());
                }
                FilePath temporary = route.temporaryName(file);
                Digest sent =
                        withHoles(look && source.isSparse(), holes -> sendNew(lane, file, source, temporary, holes));
                return new Arrived(file, sent, temporary, SiteFacts.of(file).mode());
            }
        });
    }

    /** Returns the digest of a source's file; reads it only if the source does not know it. */
    private static Digest digest(Route route, SourceFile source) throws SourceProblem, InterruptedException {
        Optional<Digest> known = route.source().known(source.entry());
        return known.isPresent()
                ? known.get()
                : source.digest(source.entry().facts().sizeBytes());
    }

    /** Sends a complete file under an unused name; what is not written becomes a hole. */
    private Digest sendNew(Lane lane, Entry file, SourceFile source, FilePath temporary, boolean holes)
            throws SourceProblem, RemoteException, InterruptedException {
        long sizeBytes = file.facts().sizeBytes();
        SiteFacts facts = SiteFacts.of(file);
        try (RemoteFile remote = create(lane, temporary)) {
            Digest sent = send(source, remote, sizeBytes, holes);
            if (holes) {
                remote.finish(sizeBytes, facts.mode(), facts.modifiedSeconds(), !site.syncsAtOnce());
            } else {
                remote.finish(facts.mode(), facts.modifiedSeconds(), !site.syncsAtOnce());
            }
            return sent;
        }
    }

    private interface Sending {
        Digest send(boolean holes) throws SourceProblem, RemoteException, InterruptedException;
    }

    /** Sends with holes if wanted. If the site refuses that, sends without, and never tries holes again. */
    private Digest withHoles(boolean wanted, Sending sending)
            throws SourceProblem, RemoteException, InterruptedException {
        boolean holes = wanted && !holesRefused;
        try {
            return sending.send(holes);
        } catch (RemoteException e) {
            boolean refused = e.reason() == Reason.REFUSED
                    || e.reason() == Reason.UNSUPPORTED
                    || e.reason() == Reason.PERMISSION_DENIED;
            if (!holes || !refused) {
                throw e;
            }
        }
        Digest sent = sending.send(false);
        holesRefused = true;
        return sent;
    }

    private SourceFile open(Route route, Entry file, @Nullable Semaphore permits)
            throws SourceProblem, InterruptedException {
        return SourceFile.open(route.source(), file, gauges.reading, patience, permits);
    }

    /**
     * Returns whether a file may exist in this folder. A copy looks first. A backup knows from its receipts; if a file
     * exists after all, the final rename fails.
     */
    private boolean mayStand(Lane lane, Route route, FilePath folder) throws RemoteException, InterruptedException {
        if (!route.mayStand()) {
            return false;
        }
        if (!tree.isNew(folder)) {
            tree.makeFolders(lane, route, folder);
        }
        return !tree.isNew(folder);
    }

    /** Returns the facts of a file with this size and time, if it exists: it is probably this one. */
    private Optional<RemoteFacts> standing(Lane lane, FilePath name, Entry file)
            throws RemoteException, InterruptedException {
        Optional<RemoteFacts> standing = lane.sftp()
                .lstat(name)
                .filter(there -> there.kind() == RemoteFacts.Kind.FILE
                        && there.sizeBytes() == file.facts().sizeBytes()
                        && there.modifiedSeconds() == SiteFacts.of(file).modifiedSeconds());
        if (standing.isPresent()) {
            tree.requireOwn(lane, name);
        }
        return standing;
    }

    private Digest send(SourceFile source, RemoteFile remote, long sizeBytes, boolean holes)
            throws SourceProblem, RemoteException, InterruptedException {
        MessageDigest read = Digest.algorithm();
        int n = 1;
        for (long at = 0; at < sizeBytes && n > 0; at += n) {
            n = sendBlock(source, remote, at, sizeBytes - at, read, holes);
        }
        source.checkUnchanged();
        return Digest.of(read.digest());
    }

    /** Sends the next block. Returns by how many bytes the position advances. */
    private int sendBlock(
            SourceFile source, RemoteFile remote, long offset, long left, MessageDigest read, boolean holes)
            throws SourceProblem, RemoteException, InterruptedException {
        source.fetch(offset);
        Room room = new Room(remote, left);
        Kept kept;
        try {
            source.read(room, offset);
            kept = Kept.of(room.block(), holes, offset, whole -> {
                try (Stay _ = gauges.digesting.enter()) {
                    whole.addTo(read);
                }
            });
            throttle.pass(kept.written());
        } catch (SourceProblem | InterruptedException | RuntimeException e) {
            room.giveBack();
            throw e;
        }
        if (kept.written() == 0) {
            room.giveBack();
        } else {
            remote.write(offset + kept.skipped(), room.block());
            gauges.bytesMoved.add(kept.written());
        }
        return kept.bytes();
    }

    private Outcome sendLarge(Route route, Entry file, Earlier earlier) throws RemoteException, InterruptedException {
        Outcome outcome = tryLarge(route, file, earlier, true);
        for (int i = 1; i < TRIES && worthAnotherTry(outcome); i++) {
            // Perhaps the holes did not read as zeros.
            outcome = tryLarge(route, file, earlier, false);
        }
        return outcome;
    }

    /**
     * Removes the temporary file of a large file that no further attempt can continue: the site refuses its name, or
     * its content is not the wanted one. Temporary files of small files are never continued; the sweep removes them.
     */
    private Outcome withoutRemains(Route route, Outcome outcome) throws RemoteException, InterruptedException {
        if (!(outcome instanceof Failed(Entry file, Problem problem, String message, var _))
                || !Set.of(Problem.SITE_REFUSED, Problem.SOURCE_DIFFERS, Problem.CHANGED)
                        .contains(problem)) {
            return outcome;
        }
        FilePath temporary = route.temporaryName(file);
        try {
            lanes.doOver(lane -> SiteTree.removeIfThere(lane, temporary));
            return outcome;
        } catch (RemoteException e) {
            if (e.retryable()) {
                throw e;
            }
            return new Failed(
                    file,
                    problem,
                    "%s; temporary file %s could not be removed at the site: %s"
                            .formatted(message, temporary, e.getMessage()));
        }
    }

    /**
     * Turns an arrival into a failure if the source knows another digest of the file, or if the file is to replace a
     * damaged copy and does not have the verified digest: nobody knows which is right.
     */
    private static Arrival asProven(Route route, Arrival arrival, Earlier earlier) {
        if (arrival instanceof Arrived(Entry file, Digest digest, var _, var _, var _)) {
            Optional<Failed> differs = route.source().differs(file, digest);
            if (differs.isPresent()) {
                return new Missing(differs.get());
            }
            Digest expected = earlier.proven().get(file.number());
            if (expected != null && !expected.equals(digest)) {
                return new Missing(new Failed(
                        file,
                        Problem.SOURCE_DIFFERS,
                        ("%s: the copy at the site is damaged, and the source now has digest %s instead of the verified"
                                        + " %s, although its size and time are unchanged. Nothing was replaced; find out which"
                                        + " is right")
                                .formatted(file.path(), digest, expected)));
            }
        }
        return arrival;
    }

    private Outcome tryLarge(Route route, Entry file, Earlier earlier, boolean holes)
            throws RemoteException, InterruptedException {
        Arrival arrival;
        try (Stay _ = gauges.sending.enter();
                Stay _ = gauges.files.enter()) {
            arrival = asProven(
                    route,
                    entryWork(route, file, Missing::new, lane -> arriveLarge(lane, route, file, earlier, holes)),
                    earlier);
        }
        return switch (arrival) {
            case Missing(Failed failed) -> failed;
            case Arrived arrived -> {
                Outcome proven = compare(arrived, digestsAtSite(List.of(arrived)));
                yield proven instanceof Verified ? publishSynced(route, arrived, earlier) : proven;
            }
        };
    }

    /** Sends a large file under its temporary name, or finds it with this content under its final name. */
    private Arrival arriveLarge(Lane lane, Route route, Entry file, Earlier earlier, boolean mayLeaveHoles)
            throws RemoteException, InterruptedException, SourceProblem {
        FilePath finalName = route.finalName(file);
        // NB: the mode of a file with other names must not be changed.
        Optional<RemoteFacts> there = standing(lane, finalName, file)
                .filter(stored ->
                        !earlier.mayBeShared(file) || SiteFacts.of(file).areOf(stored));
        if (there.isPresent()) {
            try (SourceFile source = open(route, file, null)) {
                Arrived standing = new Arrived(
                        file, digest(route, source), finalName, there.get().mode());
                Map<FilePath, Digest> found =
                        site.digests(lane, List.of(finalName), there.get().sizeBytes());
                if (compare(standing, new Prover.Said(found, "")) instanceof Verified) {
                    return standing;
                }
            }
        }
        tree.makeFolders(lane, route, route.incoming());
        try (SourceFile source = open(route, file, null)) {
            Digest sent = withHoles(
                    mayLeaveHoles && source.isSparse(),
                    holes -> new LargeFile(lanes, site, throttle, gauges, route, file, holes).send(source));
            return new Arrived(
                    file, sent, route.temporaryName(file), SiteFacts.of(file).mode());
        }
    }

    private Outcome publishSynced(Route route, Arrived proven, Earlier earlier)
            throws RemoteException, InterruptedException {
        try (Stay _ = gauges.naming.enter()) {
            Outcome outcome = publish(route, proven, earlier);
            prover.syncAll();
            return outcome;
        }
    }

    private Outcome publish(Route route, Arrived proven, Earlier earlier) throws RemoteException, InterruptedException {
        Entry file = proven.file();
        SiteFacts facts = SiteFacts.of(file);
        return entryOutcome(route, file, lane -> {
            FilePath finalName = route.finalName(file);
            if (!proven.lies().equals(finalName)) {
                var _ = tree.publish(
                        lane, route, proven.lies(), finalName, proven.digest(), facts, earlier.mayBeShared(file));
            } else if (proven.mode() != facts.mode()) {
                lane.sftp().setFacts(finalName, facts.mode(), facts.modifiedSeconds());
            }
            return new Verified(file, proven.digest(), proven.wayIn());
        });
    }

    /** Creates a folder or a link, and checks the link. */
    private Outcome makeOther(Route route, Entry entry) throws RemoteException, InterruptedException {
        return entryOutcome(route, entry, lane -> {
            FilePath name = route.finalName(entry);
            byte[] sealed = entry.facts().linkTarget();
            if (sealed == null) {
                tree.makeFolders(lane, route, name);
                return new Verified(entry, Digest.OF_NOTHING);
            }
            byte[] target = route.names().ofLink(sealed);
            tree.link(lane, route, target, route.temporaryName(entry), name);
            byte[] found = lane.sftp().readlink(name);
            return Arrays.equals(found, target)
                    ? new Verified(entry, Digest.ofContent(target))
                    : new Failed(entry, Problem.MISMATCHED, entry.path() + ": the link at the site has another target");
        });
    }

    private static Outcome compare(Arrived arrived, Prover.Said said) {
        Entry file = arrived.file();
        Digest found = said.of(arrived.lies());
        if (found == null && said.why().isEmpty() && arrived.inArchive()) {
            return new Failed(file, Problem.MISMATCHED, file.path() + ": tar at the site did not unpack it");
        }
        if (found == null) {
            return new Failed(file, Problem.UNPROVEN, file.path() + ": the site returned no digest" + said.why());
        }
        return found.equals(arrived.digest())
                ? new Verified(file, found)
                : new Failed(
                        file,
                        Problem.MISMATCHED,
                        "%s: checksum mismatch: digest %s at the site, %s at the source; check the site's disks"
                                .formatted(file.path(), found, arrived.digest()));
    }

    private Prover.Said digestsAtSite(List<Arrived> arrived) throws RemoteException, InterruptedException {
        List<FilePath> names = arrived.stream().map(Arrived::lies).toList();
        long bytes = arrived.stream()
                .mapToLong(each -> each.file().facts().sizeBytes())
                .sum();
        return prover.digests(names, bytes);
    }

    /** Creates a file, replacing what a dead run left under its name. */
    private static RemoteFile create(Lane lane, FilePath name) throws RemoteException, InterruptedException {
        try {
            return lane.sftp().create(name);
        } catch (RemoteException e) {
            if (e.reason() != Reason.EXISTS) {
                throw e;
            }
            lane.sftp().remove(name);
            return lane.sftp().create(name);
        }
    }

    private Written write(Lane lane, Placing file) throws RemoteException, InterruptedException {
        if (!file.standing.isEmpty() && lane.sftp().copiesData()) {
            try {
                return write(lane, file, file.standing);
            } catch (RemoteException e) {
                if (!Set.of(Reason.NO_SUCH_FILE, Reason.PERMISSION_DENIED, Reason.REFUSED, Reason.UNSUPPORTED)
                        .contains(e.reason())) {
                    throw e;
                }
            }
        }
        return write(lane, file, List.of());
    }

    private Written write(Lane lane, Placing file, List<Part> standing) throws RemoteException, InterruptedException {
        try (RemoteFile remote = create(lane, file.temporary());
                InputStream content = file.content.read();
                DigestInputStream in = new DigestInputStream(content, Digest.algorithm());
                RemoteOutput out = new RemoteOutput(remote)) {
            if (!standing.isEmpty()) {
                lane.sftp().copy(file.finalName(), standing, remote);
            }
            long at = 0;
            for (Part part : standing) {
                transfer(in, part.at() - at, out);
                transfer(in, part.length(), OutputStream.nullOutputStream());
                out.pass(part.length());
                at = part.at() + part.length();
            }
            in.transferTo(out);
            remote.finish(!site.syncsAtOnce());
            return new Written(Digest.of(in.getMessageDigest().digest()), out.length());
        } catch (RemoteException e) {
            throw e;
        } catch (IOException e) {
            // A failure of the content: our own memory or disk.
            throw new UncheckedIOException(e);
        }
    }

    private static void transfer(InputStream in, long bytes, OutputStream out) throws IOException {
        byte[] buffer = new byte[(int) Math.min(bytes, TRANSFER_BYTES)];
        for (long left = bytes; left > 0; ) {
            int read = in.read(buffer, 0, (int) Math.min(left, buffer.length));
            if (read < 0) {
                throw new EOFException("the content is shorter than its parts");
            }
            out.write(buffer, 0, read);
            left -= read;
        }
    }

    private Outcome entryOutcome(Route route, Entry entry, Work<Outcome, SourceProblem> work)
            throws RemoteException, InterruptedException {
        return entryWork(route, entry, failed -> failed, work);
    }

    private boolean canHaveName(Route route, Entry entry) throws RemoteException, InterruptedException {
        return route.finalName(entry).isUtf8() || site.namesAreBytes();
    }

    /** Works on an entry. A problem of this entry alone is a result. */
    private <T> T entryWork(Route route, Entry entry, Function<Failed, T> failure, Work<T, SourceProblem> work)
            throws RemoteException, InterruptedException {
        if (!canHaveName(route, entry)) {
            return failure.apply(new Failed(
                    entry,
                    Problem.SITE_REFUSED,
                    entry.path() + ": the site cannot store names that are not UTF-8; use an OpenSSH server there"));
        }
        try {
            return lanes.over(work);
        } catch (SourceProblem e) {
            return failure.apply(new Failed(entry, e.problem(), String.valueOf(e.getMessage()), e.isOfSource()));
        } catch (RemoteException e) {
            return switch (e.reason()) {
                case NO_SUCH_FILE, EXISTS, PERMISSION_DENIED, REFUSED, UNSUPPORTED ->
                    failure.apply(new Failed(
                            entry,
                            Problem.SITE_REFUSED,
                            "%s: refused by the site: %s".formatted(entry.path(), e.getMessage())));
                case STUCK ->
                    failure.apply(new Failed(
                            entry,
                            Problem.UNPROVEN,
                            "%s: the site returned no digest: %s".formatted(entry.path(), e.getMessage())));
                case UNREACHABLE, HOST_KEY, LOGIN_REFUSED, NO_SFTP, LOST, READ_ONLY, FULL, PROTOCOL -> throw e;
            };
        }
    }
}
