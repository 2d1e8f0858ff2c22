package dozo.copy;

import dozo.copy.Inventory.Item;
import dozo.copy.Inventory.StoredCopy;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.file.Selection;
import dozo.remote.Lane;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts.Kind;
import dozo.remote.SiteAddress;
import dozo.send.CopiesAtSite;
import dozo.send.CopiesAtSite.Place;
import dozo.send.Outcome;
import dozo.send.Outcome.Failed;
import dozo.send.Route;
import dozo.send.Sender;
import dozo.send.SiteFacts;
import java.io.IOException;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Restores one manifest of an experiment, or what is selected of it, from a site into a folder of an SFTP server. The
 * content passes through this machine and is not stored here. A file gets its name only after the digest of it, as read
 * from the site and as computed at the server, is the verified one. Nothing at the server is overwritten. A restore
 * that was interrupted is completed by running it again.
 *
 * <p>The server gets modes, times in whole seconds, and links. What it does not get is counted in findings.
 */
public final class RestoreToServer implements Copy {

    private final ManifestPart part;
    private final SiteAddress target;
    private final Options options;
    private final Lanes from;
    private final Lanes to;
    private final CopiesAtSite source;
    private final Tally tally = new Tally(Copy.Proofs.NONE);

    /** The copies of files under way, by entry number. */
    private final Map<Integer, Place> places = new ConcurrentHashMap<>();

    private final LongAdder failures = new LongAdder();
    private final LongAdder linkedNames = new LongAdder();
    private final LongAdder otherModes = new LongAdder();
    private final LongAdder otherTimes = new LongAdder();
    private volatile @Nullable String sourceAway;
    private volatile @Nullable Sender sender;

    /**
     * Creates a restore of a manifest of {@code project/experiment}.
     *
     * @param selection what is restored; everything keeps its path below the target
     * @param site the site that has the copies
     * @param siteName its name, for messages
     * @param target the server, with a folder as its root that does not exist or is empty, or that an earlier run of
     *     the same restore left; its parent must exist
     */
    public RestoreToServer(
            Inventory inventory,
            String experiment,
            int manifest,
            Selection selection,
            SiteAddress site,
            String siteName,
            SiteAddress target,
            Options options) {
        this.part = new ManifestPart(inventory, experiment, manifest, selection);
        this.target = target;
        this.options = options;
        this.from = options.lanesTo(site);
        this.to = options.lanesTo(target);
        this.source = new CopiesAtSite(siteName, from, entry -> Optional.ofNullable(places.get(entry.number())));
    }

    @Override
    public Progress run(Consumer<Finding> findings) throws IOException, InterruptedException {
        tally.tell(findings);
        part.select();
        if (options.dryRun()) {
            part.entries(entry -> tally.found(entry.facts().sizeBytes()));
            tally.counted();
        } else {
            part.reportUnmatched(tally::finding);
            String key = part.key((target + target.root()).getBytes(StandardCharsets.UTF_8));
            try (FileLock _ = RunningCopies.lock(key)) {
                restore(Incoming.name(key, part::isTopName));
            }
        }
        return progress();
    }

    private void restore(FilePath incoming) throws IOException, InterruptedException {
        // Before anything is created at the server.
        var _ = from.next();
        boolean topIsNew = makeTop(to.next(), incoming);
        try (Sender engine = CopyToSite.sender(target, to, incoming, topIsNew, options)) {
            sender = engine;
            send(engine, Route.restore(source, incoming));
            if (failures.sum() > 0) {
                // By this folder the same restore recognises that it may continue.
                to.doOver(lane -> lane.sftp().mkdirs(incoming));
            }
        }
    }

    private void send(Sender engine, Route route) throws IOException, InterruptedException {
        try (SendUnits units = new SendUnits(engine, route, this::outcome)) {
            part.items(item -> send(item, units));
            tally.counted();
            units.end();
            refuseIfAway();
            reportFacts();
            // Before the folders get their times: one of them contains the temporary folder.
            engine.sweep(route, Set.of());
            units.settleFolders();
        }
    }

    private void send(Item item, SendUnits units) throws IOException, InterruptedException {
        refuseIfAway();
        Entry entry = item.entry();
        tally.found(entry.facts().sizeBytes());
        StoredCopy copy = item.copy();
        if (copy != null) {
            places.put(entry.number(), new Place(copy.place(), copy.digest()));
        }
        countFacts(entry);
        units.add(entry);
    }

    private void countFacts(Entry entry) {
        if (entry.facts().kind() == EntryKind.LINK) {
            return;
        }
        if (entry.facts().hardLink() != null) {
            linkedNames.increment();
        }
        if (!SiteFacts.keepsMode(entry)) {
            otherModes.increment();
        }
        if (!SiteFacts.keepsTime(entry)) {
            otherTimes.increment();
        }
    }

    private void outcome(Outcome outcome) {
        places.remove(outcome.entry().number());
        if (outcome instanceof Failed failed) {
            failures.increment();
            if (failed.ofSource()) {
                sourceAway = failed.message();
                return;
            }
        }
        tally.outcome(FilePath.ROOT, outcome);
    }

    private void refuseIfAway() throws RemoteException {
        String why = sourceAway;
        if (why != null) {
            throw new RemoteException(Reason.LOST, why);
        }
    }

    private void reportFacts() {
        report(linkedNames, "names of hard links are files of their own at the server");
        report(
                otherModes,
                "folders or files have another mode at the server: setuid, setgid and sticky are not set, and the owner keeps access");
        report(otherTimes, "modification times are outside of what SFTP can store, 1970 to 2106");
    }

    private void report(LongAdder entries, String what) {
        if (entries.sum() > 0) {
            tally.finding(FilePath.ROOT, Problem.NOT_SET, entries.sum() + " " + what);
        }
    }

    /**
     * Creates the folder that is filled, and in it the folder of temporary names. Returns whether the first was created
     * now.
     *
     * @throws IOException if it exists, contains something, and is not what an earlier run of this restore left
     */
    private boolean makeTop(Lane lane, FilePath incoming) throws IOException, InterruptedException {
        boolean isNew = CopyToSite.makeTop(lane);
        if (!isNew
                && lane.sftp()
                        .lstat(incoming)
                        .filter(there -> there.kind() == Kind.DIRECTORY)
                        .isEmpty()) {
            boolean[] filled = new boolean[1];
            lane.sftp().listToKeep(FilePath.ROOT, (_, _) -> filled[0] = true);
            if (filled[0]) {
                throw new IOException(
                        "%s:%s is not empty; choose an empty or new folder".formatted(target, target.root()));
            }
        }
        lane.sftp().mkdirs(incoming);
        return isNew;
    }

    /** Returns the server's host. */
    public String host() {
        return target.host();
    }

    @Override
    public Progress progress() {
        Sender engine = sender;
        return tally.progress(engine == null ? 0 : engine.bytesMoved(), to.open());
    }

    @Override
    public void close() {
        to.close();
        from.close();
    }
}
