package dozo.run;

import dozo.file.Entry;
import dozo.file.Problem;
import dozo.ledger.Coverage;
import dozo.ledger.Coverage.ExperimentCoverage;
import dozo.ledger.Coverage.Totals;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Ledger;
import dozo.manifest.Freezes;
import dozo.manifest.Ingest;
import dozo.manifest.Ingest.Ingested;
import dozo.manifest.Manifests;
import dozo.manifest.Manifests.Manifest;
import dozo.manifest.Manifests.Sum;
import dozo.plan.PlannedUnit;
import dozo.plan.Planner;
import dozo.plan.Work;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.registry.Scanners;
import dozo.send.Route;
import dozo.send.Sender;
import dozo.send.SiteCopy;
import dozo.send.SiteFolders;
import dozo.transfer.TagFiles;
import dozo.transfer.TagFiles.Bag;
import dozo.transfer.TransferUnits;
import dozo.verify.Bags;
import dozo.verify.Copies;
import dozo.verify.Receipts;
import java.io.IOException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.springframework.stereotype.Component;
import org.springframework.transaction.annotation.Transactional;

/**
 * What the steps of the nightly backup do, each piece in one transaction and harmless when it is done twice. The job that
 * calls them in order is {@link NightlyBackupJob}.
 */
@Component
class NightSteps {

    private static final int UNITS_BATCH = 500;
    private static final int COVERAGE_PAGE = 500;
    private static final int ASIDE_PAGE = 2_000;

    /** No look at a site takes longer. */
    private static final Duration PROBE_AGE_MAX = Duration.ofDays(1);

    private final Experiments experiments;
    private final Retries retries;
    private final Ingest ingest;
    private final Manifests manifests;
    private final Freezes freezes;
    private final Receipts receipts;
    private final Copies copies;
    private final TransferUnits units;
    private final TagFiles tagFiles;
    private final Bags bags;
    private final Coverage coverage;
    private final Findings findings;
    private final Ledger ledger;
    private final Senders senders;
    private final CostModels costModels;
    private final Scanners scanners;
    private final TransferSettings settings;
    private final InstantSource clock;

    NightSteps(
            Experiments experiments,
            Retries retries,
            Ingest ingest,
            Manifests manifests,
            Freezes freezes,
            Receipts receipts,
            Copies copies,
            TransferUnits units,
            TagFiles tagFiles,
            Bags bags,
            Coverage coverage,
            Findings findings,
            Ledger ledger,
            Senders senders,
            CostModels costModels,
            Scanners scanners,
            TransferSettings settings,
            InstantSource clock) {
        this.experiments = experiments;
        this.retries = retries;
        this.ingest = ingest;
        this.manifests = manifests;
        this.freezes = freezes;
        this.receipts = receipts;
        this.copies = copies;
        this.units = units;
        this.tagFiles = tagFiles;
        this.bags = bags;
        this.coverage = coverage;
        this.findings = findings;
        this.ledger = ledger;
        this.senders = senders;
        this.costModels = costModels;
        this.scanners = scanners;
        this.settings = settings;
        this.clock = clock;
    }

    /** Looks at the source of the next experiment after one, and seals what is new there. Empty: there is none. */
    @Transactional
    Optional<Integer> ingestNext(long runId, int after) {
        Optional<Experiment> next = retries.next(runId, after);
        next.ifPresent(experiment -> ingest(runId, experiment));
        return next.map(Experiment::id);
    }

    private void ingest(long runId, Experiment experiment) {
        Ingested ingested = ingest.ingest(experiment);
        findings.add(runId, ingested.findings());
        if (ingested.sealed()) {
            receipts.carryOver(experiment.id());
        }
    }

    /** Plans what is not safe yet: every entry without a receipt, but nothing of what is frozen. All of it or nothing. */
    @Transactional
    void plan(long runId, int siteId) {
        units.cancelEarlier(runId, siteId);
        Planner planner = new Planner(
                settings.partitions(),
                settings.limits(),
                costModels.of(siteId),
                unprotected(runId, siteId),
                size -> unprotectedUpTo(runId, siteId, size));
        // Units are sent in the order in which they are planned: first what is soon gone from where it was acquired.
        Set<Integer> first = new LinkedHashSet<>();
        for (int id : scanners.nearestToPurge(siteId)) {
            if (retries.includes(runId, id) && !freezes.frozen(id)) {
                plan(planner, runId, siteId, id);
                first.add(id);
            }
        }
        eachUnprotected(runId, siteId, experiment -> {
            if (!first.contains(experiment.experimentId())) {
                plan(planner, runId, siteId, experiment.experimentId());
            }
        });
    }

    /** From kept totals, so without folders and links: these have no bytes, and a few units more or less is all they change. */
    private Work unprotected(long runId, int siteId) {
        if (retries.only(runId).isEmpty()) {
            Totals all = coverage.all(siteId);
            return new Work(Math.max(0, all.bytes() - all.bytesSafe()), Math.max(0, all.files() - all.filesSafe()));
        }
        long[] sums = new long[2];
        eachUnprotected(runId, siteId, experiment -> {
            sums[0] += Math.max(0, experiment.bytes() - experiment.bytesSafe());
            sums[1] += Math.max(0, experiment.files() - experiment.filesSafe());
        });
        return new Work(sums[0], sums[1]);
    }

    private Work unprotectedUpTo(long runId, int siteId, long sizeBytes) {
        long[] sums = new long[2];
        eachUnprotected(runId, siteId, experiment -> {
            Sum sum = manifests.unprotectedUpTo(experiment.experimentId(), siteId, sizeBytes);
            sums[0] += sum.bytes();
            sums[1] += sum.entries();
        });
        return new Work(sums[0], sums[1]);
    }

    private void eachUnprotected(long runId, int siteId, Consumer<ExperimentCoverage> work) {
        eachUnsafe(runId, siteId, experiment -> {
            if (!freezes.frozen(experiment.experimentId())) {
                work.accept(experiment);
            }
        });
    }

    private void plan(Planner planner, long runId, int siteId, int experimentId) {
        List<PlannedUnit> batch = new ArrayList<>();
        try (Stream<Entry> entries = manifests.unprotected(experimentId, siteId)) {
            for (Iterator<Entry> all = entries.iterator(); all.hasNext(); ) {
                planner.add(all.next(), batch::add);
                if (batch.size() >= UNITS_BATCH) {
                    units.add(runId, experimentId, siteId, batch);
                    batch.clear();
                }
            }
        }
        planner.flush(batch::add);
        units.add(runId, experimentId, siteId, batch);
    }

    /** How many partitions a run has: at least those configured now, and those it was planned with. */
    int partitions(long runId) {
        return Math.max(settings.partitions(), units.lastPartition(runId) + 1);
    }

    /**
     * Settles the next experiment after one that has receipts its bag does not list yet, of this run or of one that could
     * not settle it: the bag gets its tag files, folders get their times, and what dead runs left goes. A frozen one is passed
     * over: nothing at the site is touched; so is one that the run does not go through. Empty: there is none.
     */
    @Transactional(rollbackFor = Exception.class)
    Optional<Integer> settleNext(long runId, int siteId, int after) throws IOException, InterruptedException {
        Optional<Integer> next = receipts.nextUnsettled(siteId, after);
        if (next.isPresent() && retries.includes(runId, next.get()) && !freezes.frozen(next.get())) {
            settle(runId, siteId, experiments.find(next.get()).orElseThrow());
        }
        return next;
    }

    private void settle(long runId, int siteId, Experiment experiment) throws IOException, InterruptedException {
        Manifest manifest = manifests.current(experiment.id()).orElseThrow();
        Route route = Route.backup(experiment.opened(), experiment.name(), manifest.number());
        Sender sender = senders.of(runId, siteId);
        receipts.count(experiment.id());
        int back = putBack(sender, route, experiment, siteId);
        Bag bag = tagFiles.write(sender, route, experiment, siteId, manifest);
        findings.add(
                runId,
                sender.setFolderFacts(route, manifests.provenFolders(experiment.id(), siteId)).stream()
                        .map(failed -> new Finding(
                                experiment.id(),
                                failed.problem(),
                                failed.entry().path(),
                                failed.message()))
                        .toList());
        sender.sweep(route, units.underWay(experiment.id(), siteId));
        receipts.settled(experiment.id(), siteId);
        bags.written(experiment.id(), siteId, bag.tagFiles());
        ExperimentCoverage covered =
                coverage.experiment(siteId, experiment.id()).orElseThrow();
        ledger.append(
                Ledger.SYSTEM,
                "experiment.settled",
                experiment.name() + "#" + manifest.number(),
                Map.of(
                        "run", runId,
                        "files", covered.files(),
                        "files_safe", covered.filesSafe(),
                        "bytes", covered.bytes(),
                        "bytes_safe", covered.bytesSafe(),
                        "bag_files", bag.files(),
                        "put_back", back,
                        "manifest_sha256", bag.manifestDigest()));
    }

    /** Puts back what runs that died had moved aside for something that was never proven; how many files and links (ADR 0022). */
    private int putBack(Sender sender, Route route, Experiment experiment, int siteId)
            throws IOException, InterruptedException {
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

    /**
     * Compares, for every experiment that the run goes through, what has receipts with the sealed manifest: what does not add up and has no finding
     * of its own in this run is one now, so that no run can end "complete" over a gap. One without a manifest has a
     * finding from being ingested, or was registered since.
     */
    @Transactional
    void compare(long runId, int siteId) {
        eachUnsafe(runId, siteId, experiment -> {
            if (!findings.any(runId, experiment.experimentId())) {
                findings.add(runId, List.of(unsettled(experiment)));
            }
        });
    }

    /**
     * Removes what this run and those before it left under temporary names, also of experiments that are frozen or of which nothing
     * was settled; but not what the next run goes on with. What the site refuses to remove is a finding.
     */
    @Transactional(rollbackFor = Exception.class)
    void sweep(long runId, int siteId) throws IOException, InterruptedException {
        List<String> left = senders.of(runId, siteId)
                .sweepAll(name -> underWay(name, siteId), clock.instant().minus(PROBE_AGE_MAX));
        findings.add(
                runId,
                left.stream()
                        .map(why -> new Finding(null, Problem.SITE_REFUSED, null, why))
                        .toList());
    }

    private Optional<Set<Integer>> underWay(String name, int siteId) {
        int slash = name.indexOf('/');
        return experiments
                .find(name.substring(0, slash), name.substring(slash + 1))
                .map(experiment -> units.underWay(experiment.id(), siteId));
    }

    /** Goes through the run's experiments that have a manifest and are not safe. */
    private void eachUnsafe(long runId, int siteId, Consumer<ExperimentCoverage> work) {
        Optional<List<Integer>> only = retries.only(runId);
        if (only.isPresent()) {
            only.get().stream()
                    .flatMap(id -> coverage.experiment(siteId, id).stream())
                    .filter(NightSteps::unsafe)
                    .forEach(work);
        } else {
            eachUnsafeOfAll(siteId, work);
        }
    }

    private void eachUnsafeOfAll(int siteId, Consumer<ExperimentCoverage> work) {
        List<ExperimentCoverage> page = coverage.experiments(siteId, 0, COVERAGE_PAGE);
        while (!page.isEmpty()) {
            page.stream().filter(NightSteps::unsafe).forEach(work);
            page = coverage.experiments(siteId, page.getLast().experimentId(), COVERAGE_PAGE);
        }
    }

    private static boolean unsafe(ExperimentCoverage experiment) {
        return experiment.manifest() != null && !experiment.safe();
    }

    private static Finding unsettled(ExperimentCoverage experiment) {
        String message = "%d of %d files and %d of %d bytes of manifest %d have receipts"
                .formatted(
                        experiment.filesSafe(),
                        experiment.files(),
                        experiment.bytesSafe(),
                        experiment.bytes(),
                        experiment.manifest());
        return new Finding(experiment.experimentId(), Problem.UNSETTLED, null, message);
    }
}
