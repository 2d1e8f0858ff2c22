package dozo.run;

import static java.util.Objects.requireNonNull;

import dozo.file.Digest;
import dozo.file.Entry;
import dozo.file.FilePath;
import dozo.ledger.Coverage;
import dozo.ledger.Coverage.ExperimentCoverage;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Ledger;
import dozo.ledger.Ledger.Subject;
import dozo.manifest.Manifests;
import dozo.manifest.Manifests.Manifest;
import dozo.record.OwnFiles;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.remote.RemoteException;
import dozo.send.Outcome.Failed;
import dozo.send.Route;
import dozo.send.Sender;
import dozo.send.Sender.Placing;
import dozo.send.SiteCopy;
import dozo.send.SiteFolders;
import dozo.send.SourceFolder;
import dozo.send.Stay;
import dozo.transfer.OfferedLooks;
import dozo.transfer.TagFiles;
import dozo.transfer.TagFiles.Bag;
import dozo.transfer.TransferUnits;
import dozo.verify.Bags;
import dozo.verify.Copies;
import dozo.verify.Receipts;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.springframework.batch.core.job.JobInterruptedException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The flow of a backup that settles experiments once nothing more of them is to come, many at once, while others are
 * still sent: bags get their tag files, folders their times. It reads the database before it accesses the site, and
 * writes the results afterwards: no transaction is open in between.
 */
@Component
record Settling(
        OfferedLooks looks,
        Experiments experiments,
        Manifests manifests,
        Receipts receipts,
        Copies copies,
        TransferUnits units,
        TagFiles tagFiles,
        Bags bags,
        OwnFiles ownFiles,
        SiteAhead ahead,
        Coverage coverage,
        Findings findings,
        Ledger ledger,
        AtSite site,
        PaceWatch pace,
        TransactionTemplate transaction) {

    /** Experiments that are settled together, with one command for the digests of all their tag files. */
    private static final int BATCH_MAX = 100;

    /** The lists of this many entries fit into memory. */
    private static final long BATCH_ENTRIES = 50_000;

    private static final int ASIDE_PAGE = 2_000;

    /** What the ledger says of a settled experiment. */
    private static final List<String> TOLD =
            List.of("run", "files", "files_safe", "bytes", "bytes_safe", "bag_files", "put_back", "manifest_sha256");

    /**
     * Settles until everything is sent and nothing is left to settle. Returns the number of experiments.
     *
     * @throws JobInterruptedException if the run is asked to stop
     */
    int settle(NightFlow flow) throws Exception {
        int count = 0;
        while (true) {
            flow.check();
            long heard = flow.rings();
            boolean looked = looks.isLooked(flow.run());
            boolean sent = looked && !units.left(flow.run());
            List<Integer> next =
                    units.toSettle(flow.run(), flow.site(), flow.worker(), looked, BATCH_MAX, BATCH_ENTRIES);
            if (!next.isEmpty()) {
                settle(flow, next);
                count += next.size();
                flow.ring();
            } else if (sent && !units.settling(flow.run(), flow.site(), looked)) {
                return count;
            } else {
                flow.await(heard);
            }
        }
    }

    /**
     * What is needed to settle one experiment.
     *
     * @param before the bag's present tag files; empty: unknown
     * @param halfDone whether copies may have been moved aside for content that never arrived
     */
    private record Due(
            Experiment experiment,
            Manifest manifest,
            Route route,
            Bag bag,
            Optional<Map<FilePath, Digest>> before,
            boolean halfDone,
            List<Entry> folders) {}

    private void settle(NightFlow flow, List<Integer> ids)
            throws RemoteException, JobInterruptedException, InterruptedException {
        List<Due> batch = new ArrayList<>();
        try (Stay _ = pace.in(flow.run(), Limit.SETTLING)) {
            int[] all = ids.stream().mapToInt(Integer::intValue).toArray();
            transaction.executeWithoutResult(_ -> addDue(all, flow.site(), batch));
            Map<Route, Integer> back = new HashMap<>();
            Map<FilePath, FilePath> replaced = new HashMap<>();
            List<Due> free = new ArrayList<>();
            List<Finding> failed = site.of(flow, sender -> {
                free.clear();
                for (Due due : batch) {
                    if (sender.taken(due.route).isEmpty()) {
                        free.add(due);
                    }
                }
                for (Due due : free) {
                    int put = due.halfDone ? putBack(sender, due.route, due.experiment, flow.site()) : 0;
                    back.merge(due.route, put, Integer::sum);
                }
                place(sender, free, replaced);
                return setFolderFacts(sender, free);
            });
            transaction.executeWithoutResult(_ -> {
                if (!units.endSettling(flow.run(), flow.worker(), ids)) {
                    flow.fence();
                    flow.requireLease();
                }
                findings.add(flow.run(), failed);
                bags.written(
                        free.stream().collect(Collectors.toMap(due -> due.experiment.id(), due -> due.bag.digests())),
                        flow.site());
                receipts.settled(all, flow.site());
                Map<Integer, ExperimentCoverage> covered = coverage.experiments(flow.site(), all);
                keepReplaced(flow, batch, replaced);
                ledger.appendAll(
                        Ledger.SYSTEM,
                        "experiment.settled",
                        TOLD,
                        batch.stream()
                                .map(due -> told(
                                        flow.run(),
                                        due,
                                        requireNonNull(covered.get(due.experiment.id())),
                                        back.getOrDefault(due.route, 0)))
                                .toList());
            });
        } finally {
            batch.forEach(due -> due.bag.close());
        }
    }

    /** NB: the links to the source are not resolved, because that may hang, and nothing of the source is read. */
    private void addDue(int[] ids, int site, List<Due> batch) {
        receipts.lock(ids);
        receipts.conclude(ids, site);
        Map<Integer, Manifest> current = manifests.current(ids);
        Map<Integer, Long> settledUnits = receipts.settledUnits(ids, site);
        Map<Integer, Map<FilePath, Digest>> known = bags.beginWriting(ids, site);
        Set<Integer> leftHalfDone = units.leftHalfDone(ids, site);
        for (Experiment experiment : experiments.of(ids)) {
            int id = experiment.id();
            Manifest manifest = requireNonNull(current.get(id));
            long settled = requireNonNull(settledUnits.get(id));
            boolean halfDone = !known.containsKey(id) || leftHalfDone.contains(id);
            batch.add(new Due(
                    experiment,
                    manifest,
                    Route.backup(
                            SourceFolder.of(experiment.source()),
                            experiment.name(),
                            manifest.number(),
                            experiment.names()),
                    tagFiles.make(experiment, site, manifest, settled),
                    Optional.ofNullable(known.get(id)),
                    halfDone,
                    halfDone || settled == 0
                            ? manifests.provenFolders(id, site)
                            : manifests.foldersTouched(id, site, settled)));
        }
    }

    /** @param replaced receives where the tag files are now that were replaced */
    private static void place(Sender sender, List<Due> batch, Map<FilePath, FilePath> replaced)
            throws RemoteException, InterruptedException {
        List<Placing> files = new ArrayList<>();
        for (Due due : batch) {
            Collection<FilePath> gone;
            if (due.before.isPresent()) {
                gone = due.bag.gone(due.before.get());
            } else {
                gone = new HashSet<>(TagFiles.names());
                gone.removeAll(due.bag.tagFiles().keySet());
            }
            for (FilePath name : gone) {
                sender.putAside(due.route, name)
                        .ifPresent(place -> replaced.put(due.route.top().resolve(name), place));
            }
            files.addAll(due.bag.changed(due.route, due.before.orElse(Map.of())));
        }
        replaced.putAll(sender.place(files));
    }

    private static List<Finding> setFolderFacts(Sender sender, List<Due> batch)
            throws RemoteException, InterruptedException {
        Map<Route, List<Failed>> failures =
                sender.setFolderFacts(batch.stream().collect(Collectors.toMap(Due::route, Due::folders)));
        List<Finding> findings = new ArrayList<>();
        for (Due due : batch) {
            failures.getOrDefault(due.route, List.of())
                    .forEach(folder -> findings.add(new Finding(
                            due.experiment.id(),
                            folder.problem(),
                            folder.entry().path(),
                            folder.message())));
        }
        return findings;
    }

    private void keepReplaced(NightFlow flow, List<Due> batch, Map<FilePath, FilePath> replaced) {
        // What an unknown night wrote has other digests.
        if (replaced.isEmpty() || ahead.isAhead(flow.run())) {
            return;
        }
        for (Due due : batch) {
            due.before.orElse(Map.of()).forEach((name, digest) -> {
                FilePath place = replaced.get(due.route.top().resolve(name));
                if (place != null) {
                    ownFiles.keep(flow.site(), due.experiment.id(), place, digest);
                }
            });
        }
    }

    /** Returns the values of {@link #TOLD}. */
    private static Subject told(long run, Due due, ExperimentCoverage covered, int back) {
        return new Subject(
                due.experiment.name() + "#" + due.manifest.number(),
                Stream.of(
                                run,
                                covered.files(),
                                covered.filesSafe(),
                                covered.bytes(),
                                covered.bytesSafe(),
                                due.bag.files(),
                                back,
                                due.bag.manifestDigest())
                        .map(String::valueOf)
                        .toList());
    }

    /**
     * Moves back the copies that dead runs had moved aside for content that was never proven. Returns the number of
     * files and links (ADR 0022).
     */
    private int putBack(Sender sender, Route route, Experiment experiment, int siteId)
            throws RemoteException, InterruptedException {
        SiteFolders folders = SiteFolders.of(experiment.name());
        int back = 0;
        int[] page = copies.perhapsAside(experiment.id(), siteId, 0, ASIDE_PAGE);
        while (page.length > 0) {
            List<SiteCopy> standing = copies.of(experiment.id(), siteId, page).stream()
                    .filter(SiteCopy::standing)
                    .toList();
            back += sender.putBack(route, folders, standing);
            page = copies.perhapsAside(experiment.id(), siteId, page[page.length - 1], ASIDE_PAGE);
        }
        return back;
    }
}
