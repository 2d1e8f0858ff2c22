package dozo.transfer;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.file.Problem;
import dozo.remote.Lane;
import dozo.remote.Lanes;
import dozo.remote.RemoteDigest;
import dozo.remote.RemoteException;
import dozo.remote.RemoteException.Reason;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFile;
import dozo.transfer.Outcome.Failed;
import dozo.transfer.Outcome.Sent;
import dozo.transfer.Outcome.Verified;
import dozo.transfer.SourceFile.SourceProblem;
import java.io.IOException;
import java.io.OutputStream;
import java.security.DigestOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The engine: units in, outcomes out. Sends over the lanes of one site, many files at once, each under a temporary name;
 * has the digests computed there; and gives a final name only to what is proven. Knows no database. Thread-safe; units
 * sent at the same time share the lanes.
 *
 * <p>What concerns one entry is an outcome. What concerns the whole site (it is full, unreachable, or not who it should
 * be) is a {@link RemoteException}, and nothing is then said of the unit.
 */
public final class Sender implements AutoCloseable {

    /** Files open at once on a lane: enough requests in flight to hide a long round trip. */
    private static final int FILES_PER_LANE = 64;

    /** How often an entry is tried on another lane when one dies under it, and sent again when its digest is wrong. */
    private static final int TRIES = 3;

    private final Lanes lanes;
    private final RemoteDigest digest;
    private final BagFolder bag;
    private final boolean namesAreBytes;
    private final Semaphore filesOpen;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

    /** Writes the content of a file that Dozo makes itself. */
    public interface Content {
        void writeTo(OutputStream out) throws IOException;
    }

    /** Something done over a lane. */
    private interface Work<T> {
        T over(Lane lane) throws IOException, InterruptedException, SourceProblem;
    }

    /**
     * The engine for one site.
     *
     * @param namesAreBytes whether the site keeps names that are no UTF-8; where it does not, such entries fail
     */
    public Sender(Lanes lanes, int laneCount, RemoteDigest digest, boolean namesAreBytes) {
        this.lanes = lanes;
        this.namesAreBytes = namesAreBytes;
        this.digest = digest;
        this.bag = new BagFolder(digest);
        this.filesOpen = new Semaphore(laneCount * FILES_PER_LANE);
    }

    /** How digests are computed at the site; goes into the receipt. */
    public String method() {
        return digest.method();
    }

    /**
     * Sends a unit.
     *
     * @return an outcome for each of its entries, in their order
     * @throws RemoteException when the site as a whole cannot be used
     */
    public List<Outcome> send(Route route, Unit unit) throws RemoteException, InterruptedException {
        return switch (unit) {
            case Unit.Bundle bundle -> sendBundle(route, bundle.entries());
            case Unit.Range range -> List.of(sendRange(route, range));
            case Unit.Whole whole -> List.of(prove(route, whole.entry()));
        };
    }

    /**
     * Puts a file that Dozo makes into the bag, unless it stands there with this content already; what it replaces is kept
     * as a version.
     *
     * @return its digest
     */
    public Digest place(Route route, FilePath inBag, Content content) throws IOException, InterruptedException {
        FilePath finalName = route.bag().resolve(inBag);
        FilePath temporary = route.incoming()
                .resolve("tag-" + Digest.ofContent(inBag.bytes()).toString().substring(0, 16));
        for (int i = 1; ; i++) {
            try {
                return place(lanes.next(), route, temporary, finalName, content);
            } catch (RemoteException e) {
                if (!e.retryable() || i == TRIES) {
                    throw e;
                }
            }
        }
    }

    private Digest place(Lane lane, Route route, FilePath temporary, FilePath finalName, Content content)
            throws IOException, InterruptedException {
        bag.makeFolders(lane, route, temporary.parent());
        Digest sent = write(lane, temporary, content);
        Digest found = digest.digests(lane, List.of(temporary)).get(temporary);
        if (found == null || !found.equals(sent)) {
            throw new RemoteException(
                    Reason.REFUSED, "%s came out at the site as %s, not as %s".formatted(finalName, found, sent));
        }
        bag.publish(lane, route, temporary, finalName, sent, null);
        return sent;
    }

    /**
     * Gives folders that stand at the site the modes and times they have at the source.
     *
     * @return those that could not be given them, perhaps because somebody has removed them there
     */
    public List<Failed> setFolderFacts(Route route, List<Entry> folders) throws RemoteException, InterruptedException {
        Map<Entry, Outcome> outcomes = each(
                folders,
                folder -> entryOutcome(folder, lane -> {
                    SiteFacts facts = SiteFacts.of(folder);
                    lane.sftp().setFacts(route.finalName(folder), facts.mode(), facts.modifiedSeconds());
                    return new Sent(folder);
                }));
        return outcomes.values().stream()
                .filter(Failed.class::isInstance)
                .map(Failed.class::cast)
                .toList();
    }

    /** Removes what earlier runs left under temporary names, but for the files with these numbers. */
    public void sweep(Route route, Set<Integer> keep) throws IOException, InterruptedException {
        Lane lane = lanes.next();
        if (lane.sftp().lstat(route.incoming()).isEmpty()) {
            return;
        }
        Set<String> kept = keep.stream().map(String::valueOf).collect(Collectors.toSet());
        List<FilePath> leftovers = new ArrayList<>();
        lane.sftp().list(route.incoming(), (path, facts) -> {
            if (!kept.contains(FilePath.render(path.name())) && facts.kind() == RemoteFacts.Kind.FILE) {
                leftovers.add(path);
            }
        });
        for (FilePath leftover : leftovers) {
            lane.sftp().remove(leftover);
        }
        if (keep.isEmpty()) {
            removeIfEmpty(lane, route.incoming());
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
        lanes.close();
    }

    private static void removeIfEmpty(Lane lane, FilePath folder) throws RemoteException, InterruptedException {
        try {
            lane.sftp().rmdir(folder);
        } catch (RemoteException e) {
            // Something that is not ours lies in it: a folder, a link. It is not for us to remove.
            if (e.reason() != Reason.REFUSED && e.reason() != Reason.EXISTS) {
                throw e;
            }
        }
    }

    private List<Outcome> sendBundle(Route route, List<Entry> entries) throws RemoteException, InterruptedException {
        List<Entry> left = new ArrayList<>();
        List<Entry> others = new ArrayList<>();
        entries.forEach(entry -> (entry.facts().kind() == EntryKind.FILE ? left : others).add(entry));
        Map<Entry, Outcome> outcomes = each(others, other -> makeOther(route, other));
        for (int i = 0; i < TRIES && !left.isEmpty(); i++) {
            Map<Entry, Outcome> tried = sendAndProve(route, left);
            outcomes.putAll(tried);
            // A copy that came out wrong is sent again; whatever else failed would fail again.
            left.removeIf(
                    entry -> !(tried.get(entry) instanceof Failed failed && failed.problem() == Problem.MISMATCHED));
        }
        return entries.stream()
                .map(entry -> requireNonNull(outcomes.get(entry)))
                .toList();
    }

    private Map<Entry, Outcome> sendAndProve(Route route, List<Entry> files)
            throws RemoteException, InterruptedException {
        if (!files.isEmpty()) {
            over(lane -> {
                bag.makeFolders(lane, route, route.incoming());
                return Optional.empty();
            });
        }
        Map<Entry, Outcome> outcomes = new HashMap<>();
        // What is sent is not proven yet: until then its digest only waits here.
        Map<Entry, Outcome> sent = each(files, file -> sendFile(route, file));
        Map<FilePath, Digest> found = digestsAtSite(sent.values().stream()
                .filter(Verified.class::isInstance)
                .map(outcome -> route.temporaryName(outcome.entry()))
                .toList());
        Map<Entry, Verified> proven = new HashMap<>();
        sent.forEach((file, outcome) -> {
            Outcome compared = outcome instanceof Verified waiting
                    ? compare(waiting, found.get(route.temporaryName(file)))
                    : outcome;
            outcomes.put(file, compared);
            if (compared instanceof Verified verified) {
                proven.put(file, verified);
            }
        });
        outcomes.putAll(each(List.copyOf(proven.keySet()), file -> publish(route, requireNonNull(proven.get(file)))));
        return outcomes;
    }

    /** Sends one file under its temporary name. The outcome's digest is the source's: not yet a proof. */
    private Outcome sendFile(Route route, Entry file) throws RemoteException, InterruptedException {
        return entryOutcome(file, lane -> {
            FilePath temporary = route.temporaryName(file);
            // Read facts first: for a file that cannot be read nothing is made at the site.
            SourceFile source = new SourceFile(route, file);
            try (LazyFile remote = new LazyFile(lane, temporary)) {
                Digest read = source.read(
                                0,
                                file.facts().sizeBytes(),
                                true,
                                (offset, bytes, length) -> remote.open().write(offset, bytes, 0, length))
                        .orElseThrow();
                SiteFacts facts = SiteFacts.of(file);
                remote.open().finish(facts.mode(), facts.modifiedSeconds());
                return new Verified(file, read);
            }
        });
    }

    private Outcome sendRange(Route route, Unit.Range range) throws RemoteException, InterruptedException {
        Entry file = range.entry();
        return entryOutcome(file, lane -> {
            bag.makeFolders(lane, route, route.incoming());
            SourceFile source = new SourceFile(route, file);
            try (RemoteFile remote = openOrCreate(lane, route.temporaryName(file))) {
                source.read(
                        range.offsetBytes(),
                        range.lengthBytes(),
                        false,
                        (offset, bytes, length) -> remote.write(offset, bytes, 0, length));
                remote.finish();
                return new Sent(file);
            }
        });
    }

    private Outcome prove(Route route, Entry file) throws RemoteException, InterruptedException {
        return entryOutcome(file, lane -> {
            FilePath temporary = route.temporaryName(file);
            Digest source = new SourceFile(route, file)
                    .read(0, file.facts().sizeBytes(), true, (offset, bytes, length) -> {})
                    .orElseThrow();
            boolean renamed = lane.sftp().lstat(temporary).isEmpty();
            FilePath standing = renamed ? route.finalName(file) : temporary;
            Digest found = lane.sftp().lstat(standing).isEmpty()
                    ? null
                    : digest.digests(lane, List.of(standing)).get(standing);
            Outcome outcome = compare(new Verified(file, source), found);
            if (outcome instanceof Verified && !renamed) {
                SiteFacts facts = SiteFacts.of(file);
                lane.sftp().setFacts(temporary, facts.mode(), facts.modifiedSeconds());
                bag.publish(lane, route, temporary, route.finalName(file), source, facts);
            }
            return outcome;
        });
    }

    private Outcome publish(Route route, Verified proven) throws RemoteException, InterruptedException {
        Entry file = proven.entry();
        return entryOutcome(file, lane -> {
            bag.publish(
                    lane, route, route.temporaryName(file), route.finalName(file), proven.digest(), SiteFacts.of(file));
            return proven;
        });
    }

    /** Makes a folder or a link, and looks whether it is there as meant. */
    private Outcome makeOther(Route route, Entry entry) throws RemoteException, InterruptedException {
        return entryOutcome(entry, lane -> {
            FilePath name = route.finalName(entry);
            byte[] target = entry.facts().linkTarget();
            if (target == null) {
                bag.makeFolders(lane, route, name);
                return new Verified(entry, Digest.OF_NOTHING);
            }
            bag.link(lane, route, target, name);
            byte[] found = lane.sftp().readlink(name);
            return Arrays.equals(found, target)
                    ? new Verified(entry, Digest.ofContent(target))
                    : new Failed(entry, Problem.MISMATCHED, entry.path() + ": the link at the site has another target");
        });
    }

    private static Outcome compare(Verified read, @Nullable Digest found) {
        Entry file = read.entry();
        if (found == null) {
            return new Failed(file, Problem.UNPROVEN, file.path() + ": the site gave no digest for it");
        }
        return found.equals(read.digest())
                ? read
                : new Failed(
                        file,
                        Problem.MISMATCHED,
                        "%s: the site's copy has the digest %s, the source %s; look at the site's disks"
                                .formatted(file.path(), found, read.digest()));
    }

    private Map<FilePath, Digest> digestsAtSite(List<FilePath> names) throws RemoteException, InterruptedException {
        return names.isEmpty()
                ? Map.of()
                : over(lane -> Optional.of(digest.digests(lane, names))).orElseThrow();
    }

    private static RemoteFile openOrCreate(Lane lane, FilePath name) throws RemoteException, InterruptedException {
        try {
            return lane.sftp().create(name);
        } catch (RemoteException e) {
            if (e.reason() != Reason.EXISTS) {
                throw e;
            }
            return lane.sftp().open(name);
        }
    }

    private static Digest write(Lane lane, FilePath name, Content content) throws IOException, InterruptedException {
        try (LazyFile remote = new LazyFile(lane, name);
                DigestOutputStream out = new DigestOutputStream(remote.stream(), Digest.algorithm())) {
            content.writeTo(out);
            remote.open().finish();
            return Digest.of(out.getMessageDigest().digest());
        }
    }

    private interface EntryWork {
        Outcome of(Entry entry) throws RemoteException, InterruptedException;
    }

    /** Does the same with each entry, all at once. */
    private Map<Entry, Outcome> each(List<Entry> entries, EntryWork work) throws RemoteException, InterruptedException {
        Map<Entry, Future<Outcome>> running = new LinkedHashMap<>();
        Map<Entry, Outcome> outcomes = new HashMap<>();
        try {
            for (Entry entry : entries) {
                running.put(entry, threads.submit(() -> {
                    filesOpen.acquire();
                    try {
                        return work.of(entry);
                    } finally {
                        filesOpen.release();
                    }
                }));
            }
            for (Map.Entry<Entry, Future<Outcome>> one : running.entrySet()) {
                outcomes.put(one.getKey(), join(one.getValue()));
            }
        } finally {
            running.values().forEach(one -> one.cancel(true));
        }
        return outcomes;
    }

    private static <T> T join(Future<T> running) throws RemoteException, InterruptedException {
        try {
            return running.get();
        } catch (ExecutionException e) {
            switch (e.getCause()) {
                case RemoteException site -> throw site;
                case InterruptedException stopped -> throw stopped;
                case RuntimeException bug -> throw bug;
                case Error error -> throw error;
                case null, default -> throw new IllegalStateException(e.getCause());
            }
        }
    }

    private Outcome entryOutcome(Entry entry, Work<Outcome> work) throws RemoteException, InterruptedException {
        if (!namesAreBytes && !entry.path().isUtf8()) {
            return new Failed(
                    entry,
                    Problem.SITE_REFUSED,
                    entry.path() + ": the site does not keep names that are no UTF-8; use an OpenSSH server there");
        }
        try {
            return overWithSource(work);
        } catch (SourceProblem e) {
            return new Failed(entry, e.problem(), String.valueOf(e.getMessage()));
        } catch (RemoteException e) {
            return switch (e.reason()) {
                case NO_SUCH_FILE, EXISTS, PERMISSION_DENIED, REFUSED, UNSUPPORTED ->
                    new Failed(
                            entry,
                            Problem.SITE_REFUSED,
                            "%s: the site refuses it: %s".formatted(entry.path(), e.getMessage()));
                case UNREACHABLE, HOST_KEY, LOGIN_REFUSED, NO_SFTP, LOST, READ_ONLY, FULL, PROTOCOL -> throw e;
            };
        }
    }

    private <T> Optional<T> over(Work<Optional<T>> work) throws RemoteException, InterruptedException {
        try {
            return overWithSource(work);
        } catch (SourceProblem e) {
            throw new IllegalStateException("no source is read here", e);
        }
    }

    /** Does the work on a lane, and again on another one when the lane dies under it: all of it may be done twice. */
    private <T> T overWithSource(Work<T> work) throws RemoteException, InterruptedException, SourceProblem {
        for (int i = 1; ; i++) {
            try {
                return work.over(lanes.next());
            } catch (RemoteException e) {
                if (!e.retryable() || i == TRIES) {
                    throw e;
                }
            } catch (IOException e) {
                throw new IllegalStateException("only the site throws IOException here", e);
            }
        }
    }
}
