package dozo.send;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.EntryKind;
import dozo.file.FilePath;
import dozo.remote.Lane;
import dozo.remote.RemoteException;
import dozo.remote.RemoteFacts;
import dozo.remote.RemoteFile;
import dozo.send.Arrival.Arrived;
import dozo.send.Outcome.Verified;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Future;

/** Sends bundles: each file whole, many at once. Makes their folders and links. */
record BundleSender(Engine engine, Entries entries, SourceContent content, TarStream stream) {

    /** Returns an outcome for each entry. */
    Map<Entry, Outcome> send(Route route, List<Entry> bundle, Earlier earlier)
            throws RemoteException, InterruptedException {
        List<Entry> left = new ArrayList<>();
        List<Entry> others = new ArrayList<>();
        bundle.forEach(entry -> (entry.facts().kind() == EntryKind.FILE ? left : others).add(entry));
        // In parallel, because nested folders take a while over a long distance.
        Future<Map<Entry, Outcome>> making =
                engine.workers().begin(() -> engine.workers().each(others, other -> entries.makeOther(route, other)));
        Map<Entry, Outcome> outcomes = new HashMap<>();
        for (int i = 0; i < Entries.TRIES && !left.isEmpty(); i++) {
            Map<Entry, Outcome> tried = sendAndProve(route, left, earlier, i == 0);
            outcomes.putAll(tried);
            left.removeIf(entry -> !Entries.worthAnotherTry(tried.get(entry)));
        }
        try (Stay _ = engine.gauges().naming.enter()) {
            outcomes.putAll(Workers.join(making));
            engine.prover().syncAll();
        }
        return outcomes;
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
        Map<Entry, Outcome> outcomes = engine.prover().prove(arrivals.values());
        Map<Entry, Arrived> proven = new HashMap<>();
        arrivals.forEach((file, arrival) -> {
            if (arrival instanceof Arrived arrived && outcomes.get(file) instanceof Verified) {
                proven.put(file, arrived);
            }
        });
        if (!proven.isEmpty()) {
            try (Stay _ = engine.gauges().naming.enter()) {
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
        Set<FilePath> made = engine.tree().makeFoldersOf(engine, route, names.values());
        names.values().removeIf(name -> !made.contains(name.parent()));
        Set<FilePath> named = new HashSet<>();
        try {
            named.addAll(engine.tree().publishAll(engine.lanes().next(), route, names));
        } catch (RemoteException e) {
            if (!e.retryable()) {
                throw e;
            }
        }
        Map<Entry, Outcome> outcomes = new HashMap<>();
        Set<Entry> left = new HashSet<>();
        proven.forEach((file, arrived) -> {
            if (named.contains(arrived.lies())) {
                outcomes.put(file, arrived.verified());
            } else {
                left.add(file);
            }
        });
        outcomes.putAll(engine.workers()
                .each(left, file -> entries.publish(route, requireNonNull(proven.get(file)), earlier)));
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
        try (Stay _ = engine.gauges().sending.enter()) {
            engine.lanes().doOver(lane -> engine.tree().makeFolders(lane, route, route.incoming()));
            Map<Entry, Arrival> arrivals = new HashMap<>();
            if (look && stream.isWorthIt(files)) {
                arrivals.putAll(stream.send(route, forStream(route, files)));
            }
            List<Entry> left =
                    files.stream().filter(file -> !arrivals.containsKey(file)).toList();
            arrivals.putAll(engine.workers().each(left, file -> {
                try (Stay _ = engine.gauges().files.enter()) {
                    return sendFile(route, file, look);
                }
            }));
            for (Map.Entry<Entry, Arrival> each : arrivals.entrySet()) {
                each.setValue(earlier.check(route, each.getValue()));
            }
            return arrivals;
        }
    }

    /**
     * Returns the files that can be sent in an archive: their names are UTF-8, and nothing is expected under their
     * final names.
     */
    private List<Entry> forStream(Route route, List<Entry> files) throws RemoteException, InterruptedException {
        SiteTree tree = engine.tree();
        boolean copy = route.mayStand();
        if (copy) {
            var _ = tree.makeFoldersOf(
                    engine, route, files.stream().map(route::finalName).toList());
        }
        return files.stream()
                .filter(file -> route.finalName(file).isUtf8())
                .filter(file -> !copy || tree.isNew(route.finalName(file).parent()))
                .toList();
    }

    /** Sends one file under its temporary name, or finds it under its final name. */
    private Arrival sendFile(Route route, Entry file, boolean look) throws RemoteException, InterruptedException {
        return entries.with(route, file, failed -> failed, lane -> {
            FilePath finalName = route.finalName(file);
            if (look && !route.source().isLocal()) {
                // Saves fetching it only to compare it.
                Optional<RemoteFacts> there = standing(lane, route, file);
                Optional<Digest> known = there.isPresent() ? route.source().known(file) : Optional.empty();
                if (known.isPresent()) {
                    return new Arrived(
                            file,
                            new Content(known.get()),
                            finalName,
                            there.orElseThrow().mode());
                }
            }
            // Opens the source first, so that nothing is created at the site for an unreadable file.
            try (SourceFile source = content.open(route, file, engine.lanes().files())) {
                Optional<RemoteFacts> there = look ? standing(lane, route, file) : Optional.empty();
                if (there.isPresent()) {
                    return new Arrived(
                            file,
                            content.read(route, source),
                            finalName,
                            there.get().mode());
                }
                FilePath temporary = route.temporaryName(file);
                Content sent = content.withHoles(
                        look && source.isSparse(), holes -> sendNew(lane, file, source, temporary, holes));
                return new Arrived(file, sent, temporary, SiteFacts.of(file).mode());
            }
        });
    }

    /** Returns the facts of what may be this file, already under its final name. */
    private Optional<RemoteFacts> standing(Lane lane, Route route, Entry file)
            throws RemoteException, InterruptedException {
        FilePath finalName = route.finalName(file);
        return mayStand(lane, route, finalName.parent())
                ? engine.tree().standing(lane, finalName, file)
                : Optional.empty();
    }

    /**
     * Returns whether a file may exist in this folder. A copy looks first. A backup knows from its receipts; if a file
     * exists after all, the final rename fails.
     */
    private boolean mayStand(Lane lane, Route route, FilePath folder) throws RemoteException, InterruptedException {
        if (!route.mayStand()) {
            return false;
        }
        if (!engine.tree().isNew(folder)) {
            engine.tree().makeFolders(lane, route, folder);
        }
        return !engine.tree().isNew(folder);
    }

    /** Sends a complete file under an unused name; what is not written becomes a hole. */
    private Content sendNew(Lane lane, Entry file, SourceFile source, FilePath temporary, boolean holes)
            throws SourceProblem, RemoteException, InterruptedException {
        long sizeBytes = file.facts().sizeBytes();
        SiteFacts facts = SiteFacts.of(file);
        ContentDigest read = new ContentDigest(engine, file);
        try (RemoteFile remote = SiteTree.create(lane, temporary)) {
            content.send(source, 0, sizeBytes, holes, () -> remote, read);
            source.checkUnchanged();
            boolean sync = !engine.site().syncsAtOnce();
            if (holes) {
                remote.finish(sizeBytes, facts.mode(), facts.modifiedSeconds(), sync);
            } else {
                remote.finish(facts.mode(), facts.modifiedSeconds(), sync);
            }
            return read.content();
        }
    }
}
