package dozo.run;

import static java.util.Objects.requireNonNull;

import dozo.file.Entry;
import dozo.file.Problem;
import dozo.ledger.Coverage;
import dozo.ledger.Coverage.ExperimentCoverage;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.manifest.Freezes;
import dozo.manifest.Ingest;
import dozo.manifest.IngestSettings;
import dozo.manifest.Known;
import dozo.manifest.Manifests;
import dozo.manifest.SourceLook;
import dozo.manifest.SourceLook.Ingested;
import dozo.manifest.UnprotectedEntries;
import dozo.manifest.UnprotectedEntries.Sum;
import dozo.plan.PlannedUnit;
import dozo.plan.Planner;
import dozo.plan.Work;
import dozo.registry.Experiments.Experiment;
import dozo.run.Agenda.Plan;
import dozo.send.Stay;
import dozo.transfer.OfferedLooks;
import dozo.transfer.OfferedLooks.Offer;
import dozo.transfer.TransferUnits;
import dozo.verify.FoundCopies;
import dozo.verify.Receipts;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Deque;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.batch.core.job.JobInterruptedException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The flow of a backup that reads sources, several at the same time. It seals and plans what is new in each at once, so
 * that it is sent while other sources are still read. No transaction is open while a source is read. A source that does
 * not respond affects only its own experiment.
 */
@Component
class Looking {

    private static final int UNITS_BATCH = 500;
    private static final int BALANCED_FROM_BUNDLES = 64;
    private static final Duration CURSOR_KEPT_EVERY = Duration.ofSeconds(1);

    /** For each look that the other workers can have under way, so many are offered: those under way, and the next ones. */
    private static final int OFFERS = 2;

    private static final Logger LOG = LoggerFactory.getLogger(Looking.class);

    private final Runs runs;
    private final Retries retries;
    private final Replications replications;
    private final Ingest ingest;
    private final Manifests manifests;
    private final UnprotectedEntries unprotected;
    private final Freezes freezes;
    private final Receipts receipts;
    private final FoundCopies foundCopies;
    private final TransferUnits units;
    private final OfferedLooks offers;
    private final Coverage coverage;
    private final Findings findings;
    private final Agenda agenda;
    private final Forecasts forecasts;
    private final TransferSettings transferSettings;
    private final IngestSettings settings;
    private final TransactionTemplate transaction;

    Looking(
            Runs runs,
            Retries retries,
            Replications replications,
            Ingest ingest,
            Manifests manifests,
            UnprotectedEntries unprotected,
            Freezes freezes,
            Receipts receipts,
            FoundCopies foundCopies,
            TransferUnits units,
            OfferedLooks offers,
            Coverage coverage,
            Findings findings,
            Agenda agenda,
            Forecasts forecasts,
            TransferSettings transferSettings,
            IngestSettings settings,
            TransactionTemplate transaction) {
        this.runs = runs;
        this.retries = retries;
        this.replications = replications;
        this.ingest = ingest;
        this.manifests = manifests;
        this.unprotected = unprotected;
        this.freezes = freezes;
        this.receipts = receipts;
        this.foundCopies = foundCopies;
        this.units = units;
        this.offers = offers;
        this.coverage = coverage;
        this.findings = findings;
        this.agenda = agenda;
        this.forecasts = forecasts;
        this.transferSettings = transferSettings;
        this.settings = settings;
        this.transaction = transaction;
    }

    /**
     * Reads the sources of all experiments of the run, except those that it had read before it was interrupted. A
     * replication reads no source: it plans what the current manifests lack at its site. A worker that has joined reads what the
     * service offers. Returns their number.
     *
     * @throws JobInterruptedException if the run is asked to stop in the meantime
     */
    int look(NightFlow flow) throws JobInterruptedException, InterruptedException {
        if (flow.joined()) {
            Offered offered = new Offered(flow);
            try (Stay _ = flow.in(Limit.LOOKING)) {
                return offered.run();
            } finally {
                offered.leave();
            }
        }
        units.cancelEarlier(flow.run(), flow.site());
        if (replications.source(flow.run()).isPresent()) {
            return planAll(flow);
        }
        Plan planned = agenda.of(flow.site());
        Optional<List<Integer>> only = retries.only(flow.run());
        if (only.isEmpty()) {
            forecasts.keep(flow.run(), planned);
        }
        Window window = new Window(
                flow, only.map(ids -> included(planned, Set.copyOf(ids))).orElse(planned.experiments()));
        try (Stay _ = flow.in(Limit.LOOKING)) {
            return window.run();
        } finally {
            window.leave();
        }
    }

    private static List<Integer> included(Plan planned, Set<Integer> experiments) {
        return planned.experiments().stream().filter(experiments::contains).toList();
    }

    /** Plans frozen experiments too: what their sources have lost is not looked at. */
    private int planAll(NightFlow flow) throws JobInterruptedException {
        int count = 0;
        List<Experiment> page = retries.page(flow.run(), 0);
        while (!page.isEmpty()) {
            for (Experiment experiment : page) {
                flow.check();
                if (Boolean.TRUE.equals(transaction.execute(_ -> plan(flow, experiment, 0)))) {
                    flow.ring();
                }
                count++;
            }
            page = retries.page(flow.run(), page.getLast().id());
        }
        runs.looked(flow.run());
        flow.ring();
        return count;
    }

    /**
     * Seals and plans the result of a look, all of it or nothing. A worker that has joined stores only what is sound, and only
     * if nobody has taken over the look: a source may be missing only on its machine.
     */
    private void keep(NightFlow flow, Experiment experiment, int turn, SourceLook look) {
        boolean planned = Boolean.TRUE.equals(transaction.execute(status -> {
            if (flow.joined() && offers.remove(flow.run(), flow.worker(), Set.of(experiment.id())) == 0) {
                return false;
            }
            Ingested ingested = look.seal();
            if (flow.joined() && (!ingested.findings().isEmpty() || manifests.lacksEarlier(experiment.id()))) {
                status.setRollbackOnly();
                return false;
            }
            findings.add(flow.run(), ingested.findings());
            if (ingested.sealed()) {
                receipts.carryOver(experiment.id());
            }
            return !freezes.frozen(experiment.id()) && plan(flow, experiment, turn);
        }));
        if (planned) {
            flow.ring();
        }
    }

    /**
     * Plans what is not safe yet: every entry without a receipt, but not what a continued run has already planned.
     * Returns false if there is nothing.
     */
    private boolean plan(NightFlow flow, Experiment experiment, int turn) {
        Optional<ExperimentCoverage> unsafe =
                coverage.experiment(flow.site(), experiment.id()).filter(NightSteps::unsafe);
        if (unsafe.isEmpty()) {
            return false;
        }
        synchronized (flow.planner()) {
            expect(flow.planner(), flow.site(), unsafe.get());
            return plan(flow, experiment.id(), turn, units.planned(flow.run(), experiment.id()));
        }
    }

    /**
     * Tells the planner how much work to expect. Work that is little compared with what is under way at once is not
     * divided finely at its end: units of other experiments follow, every unit's files use all lanes, and each unit has
     * a cost.
     */
    private void expect(Planner planner, int site, ExperimentCoverage unsafe) {
        Work work = new Work(
                Math.max(0, unsafe.bytes() - unsafe.bytesSafe()), Math.max(0, unsafe.files() - unsafe.filesSafe()));
        if (work.bytes() <= BALANCED_FROM_BUNDLES * transferSettings.bundle().toBytes()
                && work.entries() <= (long) BALANCED_FROM_BUNDLES * transferSettings.bundleEntries()) {
            planner.expectPlenty();
        } else {
            planner.expect(work, size -> {
                Sum sum = unprotected.sumUpTo(unsafe.experimentId(), site, size);
                return new Work(sum.bytes(), sum.entries());
            });
        }
    }

    private boolean plan(NightFlow flow, int experimentId, int turn, int afterEntry) {
        List<PlannedUnit> batch = new ArrayList<>();
        boolean any = false;
        int[] links = unprotected.links(experimentId, flow.site(), afterEntry);
        BitSet isLink = new BitSet();
        Arrays.stream(links).forEach(isLink::set);
        try (Stream<Entry> entries = unprotected.stream(experimentId, flow.site(), afterEntry)) {
            for (Iterator<Entry> all = entries.iterator(); all.hasNext(); any = true) {
                Entry entry = all.next();
                if (!isLink.get(entry.number())) {
                    flow.planner().add(entry, batch::add);
                }
                if (batch.size() >= UNITS_BATCH) {
                    units.add(flow.run(), experimentId, flow.site(), turn, batch);
                    batch.clear();
                }
            }
        }
        flow.planner().flush(batch::add);
        for (int i = 0; i < links.length; i += transferSettings.bundleEntries()) {
            int end = Math.min(links.length, i + transferSettings.bundleEntries());
            batch.add(flow.planner().links(Arrays.copyOfRange(links, i, end)));
        }
        units.add(flow.run(), experimentId, flow.site(), turn, batch);
        return any;
    }

    /**
     * An experiment to read.
     *
     * @param safe whether its current manifest is completely safe: if the source is also unchanged, there is nothing to
     * do
     * @param waits whether copies of it are not verified since the catalogue was rebuilt
     */
    private record Next(Experiment experiment, Known known, boolean safe, boolean waits) {}

    private List<Next> nexts(NightFlow flow, List<Experiment> experiments) {
        int[] ids = experiments.stream().mapToInt(Experiment::id).toArray();
        Map<Integer, Known> known = ingest.known(ids);
        Set<Integer> safe = coverage.safe(flow.site(), ids);
        Set<Integer> waiting = foundCopies.waiting(known.keySet(), flow.site());
        return experiments.stream()
                .map(each -> new Next(
                        each,
                        requireNonNull(known.get(each.id())),
                        safe.contains(each.id()),
                        waiting.contains(each.id())))
                .toList();
    }

    /** Gives up unfinished looks, which others repeat, and waits for those that are storing their result. */
    private static void leave(Set<Look> underWay) throws InterruptedException {
        for (Look look : underWay) {
            if (!look.giveUp()) {
                look.thread.join();
            }
        }
    }

    /** The looks of a worker that has joined: what the service offers, up to the limit. Only the step's thread uses it. */
    private final class Offered {

        private final NightFlow flow;
        private final BlockingQueue<Look> ended = new LinkedBlockingQueue<>();
        private final Set<Look> underWay = new HashSet<>();
        private int count;

        Offered(NightFlow flow) {
            this.flow = flow;
        }

        int run() throws JobInterruptedException, InterruptedException {
            while (true) {
                flow.check();
                flow.requireLease();
                long heard = flow.rings();
                boolean looked = runs.isLooked(flow.run());
                fill();
                if (underWay.isEmpty()) {
                    if (looked) {
                        return count;
                    }
                    flow.await(heard);
                } else {
                    end(ended.poll(NightFlow.NAP.toMillis(), TimeUnit.MILLISECONDS));
                    giveUpStuck();
                }
            }
        }

        void leave() throws InterruptedException {
            Looking.leave(underWay);
        }

        private void fill() {
            int room = settings.looks() - underWay.size();
            if (room == 0) {
                return;
            }
            List<Offer> claimed = offers.claim(flow.run(), flow.worker(), room);
            if (claimed.isEmpty()) {
                return;
            }
            Map<Integer, Integer> turns = claimed.stream().collect(Collectors.toMap(Offer::experimentId, Offer::turn));
            List<Experiment> known = claimed.stream()
                    .flatMap(offer -> retries.find(flow.run(), offer.experimentId()).stream())
                    .toList();
            for (Next next : nexts(flow, known)) {
                Look look = new Look(flow, next, requireNonNull(turns.remove(next.experiment.id())), ended);
                underWay.add(look);
                look.begin();
            }
            // The run has these no more.
            offers.remove(flow.run(), flow.worker(), turns.keySet());
        }

        /** Ends this look and all others that have ended in the meantime. What was stored has no offer any more. */
        private void end(@Nullable Look first) {
            List<Integer> unchanged = new ArrayList<>();
            for (Look look = first; look != null; look = ended.poll()) {
                if (underWay.remove(look)) {
                    look.rethrow();
                    count++;
                    if (look.unchanged) {
                        unchanged.add(look.experiment.id());
                    } else {
                        offers.leaveToService(flow.run(), flow.worker(), look.experiment.id());
                    }
                }
            }
            if (!unchanged.isEmpty()) {
                offers.remove(flow.run(), flow.worker(), unchanged);
            }
        }

        private void giveUpStuck() {
            for (Look look : List.copyOf(underWay)) {
                if (look.isStuck(settings.patience()) && look.giveUp()) {
                    underWay.remove(look);
                    LOG.warn("{}: the source does not answer here; it is left to the service", look.experiment.name());
                    offers.leaveToService(flow.run(), flow.worker(), look.experiment.id());
                }
            }
        }
    }

    /** The looks that are under way, up to the limit. Only the step's thread uses it. */
    private final class Window {

        private final NightFlow flow;
        private final BlockingQueue<Look> ended = new LinkedBlockingQueue<>();
        private final Set<Look> underWay = new HashSet<>();
        private final Set<Integer> offered = new HashSet<>();
        private final Set<Integer> takenBack = new HashSet<>();
        private final Deque<Next> next = new ArrayDeque<>();
        private final List<Integer> first;
        private final Set<Integer> wasFirst;
        private final Set<Integer> read;
        private int turn;
        private int after;
        private int kept;
        private long keptNanos = System.nanoTime();
        private int count;

        /** @param first the experiments to read before all others, except those that the run had read before it was interrupted */
        Window(NightFlow flow, List<Integer> first) {
            this.flow = flow;
            this.first = first;
            this.read = units.planned(
                    flow.run(),
                    flow.site(),
                    first.stream().mapToInt(Integer::intValue).toArray());
            this.wasFirst = Set.copyOf(first);
            this.after = runs.lookedAfter(flow.run());
            this.kept = after;
        }

        int run() throws JobInterruptedException, InterruptedException {
            fill();
            while (!underWay.isEmpty() || !offered.isEmpty()) {
                flow.check();
                flow.requireLease();
                Look look = ended.poll(NightFlow.NAP.toMillis(), TimeUnit.MILLISECONDS);
                for (; look != null; look = ended.poll()) {
                    if (underWay.remove(look)) {
                        look.rethrow();
                        if (takenBack.remove(look.experiment.id())) {
                            offers.remove(flow.run(), flow.worker(), Set.of(look.experiment.id()));
                        }
                        count++;
                    }
                }
                giveUpStuck();
                count += endOffers();
                keepCursor();
                fill();
            }
            runs.looked(flow.run());
            flow.ring();
            return count;
        }

        void leave() throws InterruptedException {
            Looking.leave(underWay);
        }

        private void fill() {
            boolean more = true;
            while (more && underWay.size() < settings.looks() && !flow.ends()) {
                Optional<Next> found = next();
                found.ifPresent(next -> begin(next, turn));
                more = found.isPresent();
            }
            while (more
                    && offered.size()
                            < OFFERS * settings.looks() * flow.others().alive()
                    && !flow.ends()) {
                Optional<Next> found = next();
                found.ifPresent(this::offer);
                more = found.isPresent();
            }
            int room = settings.looks() - underWay.size();
            if (room > 0 && !offered.isEmpty() && !flow.ends()) {
                offers.takeBack(flow.run(), flow.worker(), room, !more).forEach(this::begin);
            }
        }

        private void begin(Next next, int itsTurn) {
            Look look = new Look(flow, next, itsTurn, ended);
            underWay.add(look);
            look.begin();
        }

        private void begin(Offer offer) {
            offered.remove(offer.experimentId());
            takenBack.add(offer.experimentId());
            for (Next next : nexts(
                    retries.find(flow.run(), offer.experimentId()).stream().toList())) {
                begin(next, offer.turn());
            }
        }

        private void offer(Next next) {
            offers.add(flow.run(), new Offer(next.experiment.id(), turn));
            offered.add(next.experiment.id());
        }

        /** Forgets the offers that workers have dealt with. Returns their number. */
        private int endOffers() {
            if (offered.isEmpty()) {
                return 0;
            }
            int before = offered.size();
            offered.retainAll(offers.left(flow.run()));
            return before - offered.size();
        }

        private Optional<Next> next() {
            while (turn < first.size()) {
                int id = first.get(turn++);
                Optional<Experiment> urgent = read.contains(id) ? Optional.empty() : retries.find(flow.run(), id);
                Optional<Next> next = urgent.flatMap(experiment -> nexts(List.of(experiment)).stream()
                        .filter(this::mayBeRead)
                        .findFirst());
                if (next.isPresent()) {
                    return next;
                }
            }
            turn = Integer.MAX_VALUE;
            while (true) {
                if (next.isEmpty()) {
                    next.addAll(nexts(retries.page(flow.run(), after)));
                }
                Next found = next.poll();
                if (found == null) {
                    return Optional.empty();
                }
                after = found.experiment.id();
                if (!wasFirst.contains(after) && mayBeRead(found)) {
                    return Optional.of(found);
                }
            }
        }

        private List<Next> nexts(List<Experiment> experiments) {
            return Looking.this.nexts(flow, experiments);
        }

        /** Leaves out an experiment whose copies are not verified since a rebuild: nobody knows what to send of it. */
        private boolean mayBeRead(Next next) {
            Experiment experiment = next.experiment;
            if (!next.waits) {
                return true;
            }
            findings.add(
                    flow.run(),
                    List.of(new Finding(
                            experiment.id(),
                            Problem.UNPROVEN,
                            null,
                            "some copies were found at the site and are not verified yet, so nothing of %s is backed up;"
                                            .formatted(experiment.name())
                                    + " stop the service and run dozo rebuild-catalogue again")));
            return false;
        }

        private void giveUpStuck() {
            for (Look look : List.copyOf(underWay)) {
                if (look.isStuck(settings.patience()) && look.giveUp()) {
                    underWay.remove(look);
                    count++;
                    String words = "the source has not answered for %d s and was skipped; check its file server"
                            .formatted(settings.patience().toSeconds());
                    LOG.warn("{}: {}", look.experiment.name(), words);
                    findings.add(
                            flow.run(), List.of(new Finding(look.experiment.id(), Problem.UNREADABLE, null, words)));
                }
            }
        }

        /** Stores the position for a restart: all experiments up to it have been read. */
        private void keepCursor() {
            if (System.nanoTime() - keptNanos < CURSOR_KEPT_EVERY.toNanos()) {
                return;
            }
            int done = Stream.concat(underWay.stream().map(look -> look.experiment.id()), offered.stream())
                    .filter(experiment -> !wasFirst.contains(experiment))
                    .mapToInt(experiment -> experiment - 1)
                    .min()
                    .orElse(after);
            if (done > kept) {
                runs.lookedAfter(flow.run(), done);
                kept = done;
            }
            keptNanos = System.nanoTime();
        }
    }

    /** One look in its own platform thread, because a file system that hangs blocks the thread. */
    private final class Look {

        private final NightFlow flow;
        private final Experiment experiment;
        private final Known known;
        private final boolean safe;
        private final int turn;
        private final BlockingQueue<Look> ended;
        private final LongAdder told = new LongAdder();
        private final Thread thread;
        private volatile @Nullable Throwable failure;
        private volatile boolean unchanged;
        private long toldBefore;
        private long answeredNanos = System.nanoTime();

        /** Guarded by this: whether it was given up, and whether it stores its result and can no longer be given up. */
        private boolean givenUp;

        private boolean keeping;

        Look(NightFlow flow, Next next, int turn, BlockingQueue<Look> ended) {
            this.flow = flow;
            this.experiment = next.experiment;
            this.known = next.known;
            this.safe = next.safe;
            this.turn = turn;
            this.ended = ended;
            this.thread =
                    Thread.ofPlatform().name("look-" + experiment.id()).daemon().unstarted(this::run);
        }

        void begin() {
            thread.start();
        }

        private void run() {
            try (SourceLook look = ingest.look(experiment, known, told)) {
                unchanged = safe && look.isUnchanged();
                if (!unchanged && mayKeep()) {
                    keep(flow, experiment, turn, look);
                }
            } catch (InterruptedException e) {
                // An interrupt without giveUp() has an unknown reason, and the source was not read.
                failure = mayKeep() ? e : null;
            } catch (Throwable e) {
                failure = e;
            } finally {
                ended.add(this);
            }
        }

        private synchronized boolean mayKeep() {
            keeping = !givenUp;
            return keeping;
        }

        /** Returns false if it is too late, because the result is being stored. */
        synchronized boolean giveUp() {
            if (keeping) {
                return false;
            }
            givenUp = true;
            thread.interrupt();
            return true;
        }

        /** Returns whether the source has reported nothing for this long. */
        boolean isStuck(Duration patience) {
            long now = System.nanoTime();
            if (told.sum() != toldBefore) {
                toldBefore = told.sum();
                answeredNanos = now;
            }
            return now - answeredNanos > patience.toNanos();
        }

        void rethrow() {
            Throwable why = failure;
            if (why instanceof RuntimeException defect) {
                throw defect;
            }
            if (why instanceof Error error) {
                throw error;
            }
            if (why != null) {
                throw new IllegalStateException(why);
            }
        }
    }
}
