package dozo.send;

import static java.util.Objects.requireNonNull;

import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.remote.Lanes;
import dozo.remote.RemoteException;
import dozo.send.Outcome.Verified;
import dozo.send.SourceFile.SourceProblem;
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
final class HardLinks {

    private final Lanes lanes;
    private final Workers workers;
    private final SiteTree tree;
    private final Prover prover;
    private final Gauges gauges;
    private final SourcePatience patience;

    HardLinks(Lanes lanes, Workers workers, SiteTree tree, Prover prover, Gauges gauges, SourcePatience patience) {
        this.lanes = lanes;
        this.workers = workers;
        this.tree = tree;
        this.prover = prover;
        this.gauges = gauges;
        this.patience = patience;
    }

    /**
     * Links what can be linked; whatever the reason for the others is, sending them finds it.
     *
     * @param copies entries, and the verified file that each is to be another name of
     * @return those that have their names now
     */
    Map<Entry, Verified> link(Route route, Map<Entry, Verified> copies) throws RemoteException, InterruptedException {
        Map<Entry, Verified> links = new HashMap<>(copies);
        links.keySet().retainAll(named(copies, (name, copy) -> isAtSource(route, name, copy)));
        links.values().retainAll(intact(route, Set.copyOf(links.values())));
        links.keySet().retainAll(publish(route, links));
        links.replaceAll((name, copy) -> new Verified(name, copy.digest(), WayIn.LINK));
        return links;
    }

    private boolean isAtSource(Route route, Entry name, Verified copy) throws InterruptedException {
        if (route.source().differs(name, copy.digest()).isPresent()) {
            return false;
        }
        try {
            return SourceFile.isAlso(copy.entry(), route.source(), name, gauges.reading, patience, lanes.files());
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
        Prover.Said found = prover.digests(names, bytes);
        Set<Verified> intact = new HashSet<>(copies);
        intact.removeIf(copy -> !Objects.equals(found.of(route.finalName(copy.entry())), copy.digest()));
        Map<Verified, Boolean> asSealed = workers.each(
                intact,
                copy -> isDone(() -> lanes.over(lane -> lane.sftp()
                        .lstat(route.finalName(copy.entry()))
                        .filter(SiteFacts.of(copy.entry())::areOf)
                        .isPresent())));
        intact.removeIf(copy -> !requireNonNull(asSealed.get(copy)));
        return intact;
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
        Set<FilePath> made = tree.makeFoldersOf(lanes, workers, route, names.keySet());
        names.keySet().removeIf(name -> !made.contains(name.parent()));
        try {
            Set<FilePath> linked = lanes.next().sftp().hardLinkAll(names);
            links.keySet().stream()
                    .filter(name -> linked.contains(route.finalName(name)))
                    .forEach(done::add);
        } catch (RemoteException e) {
            if (!e.retryable()) {
                throw e;
            }
        }
        Map<Entry, Verified> left = new HashMap<>(links);
        left.keySet().removeAll(done);
        done.addAll(named(
                left,
                (name, copy) -> isDone(() -> {
                    lanes.doOver(lane -> tree.hardLink(
                            lane,
                            route,
                            route.finalName(copy.entry()),
                            route.finalName(name),
                            copy.digest(),
                            SiteFacts.of(name)));
                    return true;
                })));
        return done;
    }

    private interface Check {
        boolean of(Entry name, Verified copy) throws RemoteException, InterruptedException;
    }

    private Set<Entry> named(Map<Entry, Verified> links, Check check) throws RemoteException, InterruptedException {
        Map<Entry, Boolean> results =
                workers.each(links.keySet(), name -> check.of(name, requireNonNull(links.get(name))));
        Set<Entry> named = new HashSet<>(results.keySet());
        named.removeIf(name -> !requireNonNull(results.get(name)));
        return named;
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
