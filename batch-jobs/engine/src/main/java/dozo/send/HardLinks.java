package dozo.send;

import static java.util.Objects.requireNonNull;

import dozo.file.Entry;
import dozo.file.Facts;
import dozo.file.FilePath;
import dozo.remote.RemoteException;
import dozo.send.Outcome.Verified;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Gives files that are at a site already further names there, instead of sending them again (ADR 0072). Such a file is
 * digested first, so a damaged one gets no further name. And a name is given only if it is, at the source and at that moment,
 * a name of the same file.
 */
record HardLinks(Engine engine, Entries entries, SourceContent content, BundleSender bundles) {

    /** Of files that could not be linked: how many bytes are sent as one; longer ones are sent as large files. */
    private static final long BUNDLE_BYTES_MAX = 64 << 20;

    /**
     * Links names to verified files. Of each file that cannot be linked, one name is sent, and the others are linked to
     * that; so it goes on, a few times, if the site can link files at all.
     *
     * @return an outcome for each name
     */
    Map<Entry, Outcome> send(Route route, Unit.Links unit, Earlier earlier)
            throws RemoteException, InterruptedException {
        // Names of one file have the same facts, with its number.
        Map<Facts, Verified> copies = new HashMap<>();
        unit.copies().forEach(copy -> copies.put(copy.entry().facts(), copy));
        Map<Entry, Outcome> outcomes = new HashMap<>();
        List<Entry> left = new ArrayList<>(unit.entries());
        for (int i = 0; i < Entries.TRIES && !left.isEmpty() && engine.site().linksFiles(); i++) {
            try (Stay _ = engine.gauges().naming.enter()) {
                outcomes.putAll(link(route, linkable(route, left, copies, earlier)));
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
        try (Stay _ = engine.gauges().naming.enter()) {
            engine.prover().syncAll();
        }
        return outcomes;
    }

    /** Returns the entries that may be linked, with their files. */
    private Map<Entry, Verified> linkable(Route route, List<Entry> names, Map<Facts, Verified> copies, Earlier earlier)
            throws RemoteException, InterruptedException {
        Map<Entry, Verified> linkable = new HashMap<>();
        for (Entry name : names) {
            Verified copy = copies.get(name.facts());
            if (copy != null
                    && earlier.proven()
                            .getOrDefault(name.number(), copy.digest())
                            .equals(copy.digest())
                    && entries.canHaveName(route, name)) {
                linkable.put(name, copy);
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
                outcomes.put(file, new LargeFile(engine, entries, content, route, file, earlier).send());
                continue;
            }
            if (bytes + sizeBytes > BUNDLE_BYTES_MAX) {
                outcomes.putAll(bundles.send(route, bundle, earlier));
                bundle.clear();
                bytes = 0;
            }
            bundle.add(file);
            bytes += sizeBytes;
        }
        if (!bundle.isEmpty()) {
            outcomes.putAll(bundles.send(route, bundle, earlier));
        }
        return outcomes;
    }

    /**
     * Links what can be linked; whatever the reason for the others is, sending them finds it.
     *
     * @param copies entries, and the verified file that each is to be another name of
     * @return those that have their names now
     */
    private Map<Entry, Verified> link(Route route, Map<Entry, Verified> copies)
            throws RemoteException, InterruptedException {
        Map<Entry, Verified> links = new HashMap<>(copies);
        links.keySet()
                .retainAll(engine.workers()
                        .which(copies.keySet(), name -> isAtSource(route, name, requireNonNull(copies.get(name)))));
        links.values().retainAll(intact(route, Set.copyOf(links.values())));
        links.keySet().retainAll(publish(route, links));
        links.replaceAll((name, copy) -> new Verified(name, copy.digest(), WayIn.LINK, copy.content(), null));
        return links;
    }

    private boolean isAtSource(Route route, Entry name, Verified copy) throws InterruptedException {
        if (route.source().differs(name, copy.digest()).isPresent()) {
            return false;
        }
        try {
            return SourceFile.isAlso(
                    copy.entry(),
                    route.source(),
                    name,
                    engine.gauges().reading,
                    engine.patience(),
                    engine.lanes().files());
        } catch (SourceProblem e) {
            return false;
        }
    }

    /** Returns the files whose bytes are as verified, read at this moment, with the mode and time of the manifest. */
    private Set<Verified> intact(Route route, Collection<Verified> copies)
            throws RemoteException, InterruptedException {
        List<FilePath> names =
                copies.stream().map(copy -> route.finalName(copy.entry())).toList();
        long bytes = copies.stream()
                .mapToLong(copy -> copy.entry().facts().sizeBytes())
                .sum();
        Prover.Said found = engine.prover().digests(names, bytes);
        Set<Verified> intact = new HashSet<>(copies);
        intact.removeIf(copy -> !Objects.equals(found.of(route.finalName(copy.entry())), copy.digest()));
        return engine.workers()
                .which(
                        intact,
                        copy -> isDone(() -> engine.lanes()
                                .over(lane -> lane.sftp()
                                        .lstat(route.finalName(copy.entry()))
                                        .filter(SiteFacts.of(copy.entry())::areOf)
                                        .isPresent())));
    }

    /** Makes all links at once, and then one by one those for which that failed. Returns those that have their names. */
    private Set<Entry> publish(Route route, Map<Entry, Verified> links) throws RemoteException, InterruptedException {
        Map<FilePath, FilePath> names = new HashMap<>();
        Set<Entry> done = new HashSet<>();
        links.forEach((name, copy) -> {
            if (name.equals(copy.entry())) {
                // The copy itself, which had no other name before.
                done.add(name);
            } else {
                names.put(route.finalName(name), route.finalName(copy.entry()));
            }
        });
        Set<FilePath> made = engine.tree().makeFoldersOf(engine, route, names.keySet());
        names.keySet().removeIf(name -> !made.contains(name.parent()));
        try {
            Set<FilePath> linked = engine.lanes().next().sftp().hardLinkAll(names);
            links.keySet().stream()
                    .filter(name -> linked.contains(route.finalName(name)))
                    .forEach(done::add);
        } catch (RemoteException e) {
            if (!e.retryable()) {
                throw e;
            }
        }
        Set<Entry> left = new HashSet<>(links.keySet());
        left.removeAll(done);
        done.addAll(engine.workers().which(left, name -> isLinked(route, name, requireNonNull(links.get(name)))));
        return done;
    }

    private boolean isLinked(Route route, Entry name, Verified copy) throws RemoteException, InterruptedException {
        FilePath stored = route.finalName(copy.entry());
        return isDone(() -> {
            engine.lanes()
                    .doOver(lane -> engine.tree()
                            .hardLink(lane, route, stored, route.finalName(name), copy.digest(), SiteFacts.of(name)));
            return true;
        });
    }

    private interface Request {
        boolean done() throws RemoteException, InterruptedException;
    }

    /** Returns false if the site refuses, which concerns one file; throws what concerns the whole site. */
    private static boolean isDone(Request request) throws RemoteException, InterruptedException {
        try {
            return request.done();
        } catch (RemoteException e) {
            return switch (e.reason()) {
                case NO_SUCH_FILE, EXISTS, PERMISSION_DENIED, REFUSED, UNSUPPORTED, STUCK -> false;
                case UNREACHABLE, HOST_KEY, LOGIN_REFUSED, NO_SFTP, LOST, READ_ONLY, FULL, PROTOCOL -> throw e;
            };
        }
    }
}
