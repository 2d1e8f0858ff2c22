package dozo.run;

import static java.util.Objects.requireNonNull;
import static java.util.stream.Collectors.groupingBy;

import dozo.file.EntryKind;
import dozo.file.Problem;
import dozo.file.Zoned;
import dozo.ledger.Findings;
import dozo.ledger.Findings.Finding;
import dozo.ledger.Ledger;
import dozo.registry.Experiments;
import dozo.registry.Experiments.Experiment;
import dozo.remote.RemoteException;
import dozo.run.Scrubs.Read;
import dozo.run.Scrubs.Scrub;
import dozo.send.SiteCopy;
import dozo.send.SiteFolders;
import dozo.send.SiteReader;
import dozo.send.SiteReader.Seen;
import dozo.verify.Bags;
import dozo.verify.Challenges;
import dozo.verify.Damages;
import dozo.verify.Damages.OpenDamages;
import dozo.verify.Readings;
import dozo.verify.Readings.Due;
import dozo.verify.Readings.Position;
import dozo.verify.Readings.Reading;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import org.springframework.batch.core.job.JobInterruptedException;
import org.springframework.stereotype.Component;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.TransactionStatus;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * The work of a scrub's steps. Each piece is one transaction and harmless if it is repeated. A piece whose site is lost is
 * repeated when the site is back. {@link ScrubJob} calls them in order.
 */
@Component
class ScrubSteps {

    /** The maximum of one transaction: enough names for a command, and no more than is read in a few seconds. */
    static final int FILES_MAX = 4_000;

    static final long BYTES_MAX = 1L << 30;
    private static final int RECEIPTS_FIRST = 2;
    private static final int RECEIPTS_MAX = 500;

    /** With a budget, one transaction reads as much as the budget allows in this time. */
    private static final int BUDGET_SECONDS = 2;

    private static final long BUDGET_BYTES_MIN = 1 << 20;

    /** How often a wait for the budget checks for a stop. */
    private static final Duration PATIENCE = Duration.ofSeconds(1);

    private final Scrubs scrubs;
    private final Runs runs;
    private final AtSite site;
    private final PaceWatch pace;
    private final Readings readings;
    private final Challenges challenges;
    private final Damages damages;
    private final Bags bags;
    private final Experiments experiments;
    private final ScrubFindings found;
    private final BagExamination examination;
    private final OwnFilesExamination ownFiles;
    private final SiteAhead ahead;
    private final Findings findings;
    private final Ledger ledger;
    private final PlatformTransactionManager transactions;
    private final InstantSource clock;
    private final Map<Long, ReadBudget> budgets = new ConcurrentHashMap<>();

    private interface Piece<T> {
        T with(SiteReader reader) throws RemoteException, InterruptedException;
    }

    ScrubSteps(
            Scrubs scrubs,
            Runs runs,
            AtSite site,
            PaceWatch pace,
            Readings readings,
            Challenges challenges,
            Damages damages,
            Bags bags,
            Experiments experiments,
            ScrubFindings found,
            BagExamination examination,
            OwnFilesExamination ownFiles,
            SiteAhead ahead,
            Findings findings,
            Ledger ledger,
            PlatformTransactionManager transactions,
            InstantSource clock) {
        this.scrubs = scrubs;
        this.runs = runs;
        this.site = site;
        this.pace = pace;
        this.readings = readings;
        this.challenges = challenges;
        this.damages = damages;
        this.bags = bags;
        this.experiments = experiments;
        this.found = found;
        this.examination = examination;
        this.ownFiles = ownFiles;
        this.ahead = ahead;
        this.findings = findings;
        this.ledger = ledger;
        this.transactions = transactions;
        this.clock = clock;
    }

    /**
     * Opens the lanes, and checks that the site's storage is mounted: if no project has a folder there, a missing mount
     * is more likely than a complete loss.
     */
    void checkSite(NightFlow flow) throws RemoteException, JobInterruptedException, InterruptedException {
        site.first(flow, sender -> {
            SiteReader reader = sender.reader();
            examination.checkMounted(flow.site(), reader);
            findings.mounted(flow.site(), flow.run());
            ahead.look(flow.run(), reader);
            return null;
        });
        budgets.keySet().removeIf(other -> other != flow.run());
    }

    /**
     * Reads the copies with the oldest readings, as many at once as one command takes, and stores the results, until nothing is
     * due or the time is over. It begins with the head of the queue: what another partition had claimed and not read is there,
     * also after a restart. An incomplete reading is not tried again by the same call.
     */
    void read(NightFlow flow) throws RemoteException, JobInterruptedException, InterruptedException {
        Scrub scrub = scrubs.find(flow.run()).orElseThrow();
        ReadBudget budget = budgets.computeIfAbsent(flow.run(), _ -> new ReadBudget(scrub.bytesPerSecond()));
        Duration kept =
                scrub.keptForChallenges(runs.find(flow.run()).orElseThrow().startedAt());
        List<Due> read = List.of();
        while (!scrub.isOver(clock.instant().plus(kept))) {
            flow.check();
            if (budget.await(PATIENCE)) {
                List<Due> before = read;
                read = transacted(flow, reader -> readNext(flow, scrub, budget, before, reader));
                if (read.isEmpty()) {
                    return;
                }
            }
        }
    }

    /** @param before what was read last */
    private List<Due> readNext(NightFlow flow, Scrub scrub, ReadBudget budget, List<Due> before, SiteReader reader)
            throws RemoteException, InterruptedException {
        scrubs.enter(flow.run());
        Position after = before.isEmpty() ? Position.BEGIN : before.getLast().place();
        List<Due> claimed = readings.claim(flow.site(), scrub.dueBefore(), after, receipts(before));
        List<Due> dues = asMuchAsFits(claimed, scrub.bytesPerSecond());
        if (!dues.isEmpty()) {
            budget.spend(dues.stream().mapToLong(Due::bytes).sum());
            read(scrub, flow.site(), dues, reader);
        }
        return dues;
    }

    /** Returns about how many receipts one transaction reads, as the last one suggests. */
    private static int receipts(List<Due> before) {
        long files = before.stream().mapToLong(Due::files).sum();
        return before.isEmpty()
                ? RECEIPTS_FIRST
                : Math.clamp(FILES_MAX * (long) before.size() / Math.max(1, files), 1, RECEIPTS_MAX);
    }

    /** Examines the bag of every experiment that is due, until the time is over. */
    void examine(NightFlow flow) throws RemoteException, JobInterruptedException, InterruptedException {
        Scrub scrub = scrubs.find(flow.run()).orElseThrow();
        Optional<Integer> next = bags.nextToExamine(flow.site(), scrub.dueBefore(), 0);
        while (next.isPresent() && !scrub.isOver(clock.instant())) {
            flow.check();
            Experiment experiment = experiments.find(next.get()).orElseThrow();
            transacted(flow, reader -> {
                long damaged = examination.examine(flow.run(), flow.site(), experiment, reader);
                ownFiles.examine(flow.run(), flow.site(), experiment, reader);
                scrubs.add(flow.run(), new Read(0, 0, damaged, 0));
                return damaged;
            });
            next = bags.nextToExamine(flow.site(), scrub.dueBefore(), experiment.id());
        }
    }

    /** Reads what is not of an experiment. */
    void examineOwn(NightFlow flow) throws RemoteException, JobInterruptedException, InterruptedException {
        transacted(flow, reader -> {
            ownFiles.examine(flow.run(), flow.site(), reader);
            return true;
        });
    }

    /** Reports earlier damage that is not repaired, so that no scrub ends "complete" over it. */
    void conclude(NightFlow flow) {
        new TransactionTemplate(transactions).executeWithoutResult(_ -> conclude(flow.run(), flow.site()));
        budgets.remove(flow.run());
    }

    private void conclude(long runId, int siteId) {
        for (OpenDamages open : damages.open(siteId)) {
            if (!findings.any(runId, open.experimentId())) {
                findings.add(runId, new Finding(open.experimentId(), Problem.DAMAGED, unrepaired(open)));
            }
        }
        Scrub scrub = scrubs.find(runId).orElseThrow();
        Challenges.Sums asked = challenges.sums(runId);
        ledger.append(
                Ledger.SYSTEM,
                "scrub.ended",
                String.valueOf(runId),
                Map.of(
                        "copies", scrub.copiesRead(),
                        "bytes", scrub.bytesRead(),
                        "damaged", scrub.copiesDamaged(),
                        "challengesHeld", asked.held(),
                        "challengesWrong", asked.wrong(),
                        "challengesUnknown", asked.unknown(),
                        "challengesLeft", scrub.challengesLeft(),
                        "site", runs.find(runId).orElseThrow().site()));
    }

    /**
     * Does a piece of the work in one transaction. If the site is lost, the transaction is rolled back before the wait for
     * the site, and the piece is done again.
     */
    private <T> T transacted(NightFlow flow, Piece<T> piece)
            throws RemoteException, JobInterruptedException, InterruptedException {
        return site.of(flow, sender -> {
            TransactionStatus transaction = transactions.getTransaction(TransactionDefinition.withDefaults());
            T done;
            try {
                done = piece.with(sender.reader());
            } catch (RemoteException | InterruptedException | RuntimeException | Error e) {
                transactions.rollback(transaction);
                throw e;
            }
            transactions.commit(transaction);
            return done;
        });
    }

    private static String unrepaired(OpenDamages open) {
        return open.copies() == 1
                ? "1 copy was found damaged or missing at %s and is not repaired".formatted(Zoned.text(open.since()))
                : "%,d copies were found damaged or missing since %s and are not repaired"
                        .formatted(open.copies(), Zoned.text(open.since()));
    }

    private static List<Due> asMuchAsFits(List<Due> claimed, long bytesPerSecond) {
        long bytesMax = bytesPerSecond == 0
                ? BYTES_MAX
                : Math.clamp(bytesPerSecond * BUDGET_SECONDS, BUDGET_BYTES_MIN, BYTES_MAX);
        List<Due> fits = new ArrayList<>();
        long files = 0;
        long bytes = 0;
        for (Due due : claimed) {
            files += due.files();
            bytes += due.bytes();
            if (!fits.isEmpty() && (files > FILES_MAX || bytes > bytesMax)) {
                break;
            }
            fits.add(due);
        }
        return fits;
    }

    private void read(Scrub scrub, int siteId, List<Due> dues, SiteReader reader)
            throws RemoteException, InterruptedException {
        Map<Long, List<SiteCopy>> copiesOf = readings.toRead(siteId, dues);
        List<SiteCopy> all = copiesOf.values().stream().flatMap(List::stream).toList();
        boolean cold = scrub.cold() && reader.drop(all);
        long begin = System.nanoTime();
        Map<SiteCopy, Seen> seen = new HashMap<>();
        reader.read(all).forEach(one -> seen.put(one.copy(), one));
        double seconds = (System.nanoTime() - begin) / 1e9;
        long damaged = 0;
        Map<Integer, List<Due>> byExperiment = dues.stream().collect(groupingBy(Due::experimentId));
        for (Map.Entry<Integer, List<Due>> one : byExperiment.entrySet()) {
            Experiment experiment = experiments.find(one.getKey()).orElseThrow();
            SiteFolders folders = SiteFolders.of(experiment.name());
            for (Due due : one.getValue()) {
                List<Seen> ofReceipt = ahead.search(
                        scrub.runId(),
                        reader,
                        folders,
                        requireNonNull(copiesOf.get(due.receiptId())).stream()
                                .map(copy -> requireNonNull(seen.get(copy)))
                                .toList());
                if (ofReceipt.stream().anyMatch(Seen::missing)) {
                    examination.checkMounted(siteId, reader);
                }
                damaged += keep(scrub, siteId, experiment, due, ofReceipt, cold, reader.method());
            }
        }
        long bytes = all.stream().mapToLong(SiteCopy::sizeBytes).sum();
        scrubs.add(scrub.runId(), new Read(all.size(), bytes, damaged, seconds));
        pace.count(scrub.runId(), bytes, all.size());
    }

    /**
     * Stores the results for one receipt's copies. If the state of one of them is unknown, the receipt is not read, and
     * is due again.
     */
    private long keep(
            Scrub scrub, int siteId, Experiment experiment, Due due, List<Seen> seen, boolean cold, String method) {
        Instant now = clock.instant();
        List<Integer> damaged = found.keep(scrub.runId(), siteId, experiment, seen, number -> due.receiptId(), now);
        if (seen.stream().noneMatch(Seen.Unknown.class::isInstance)) {
            boolean anyFile = seen.stream().anyMatch(one -> one.copy().kind() == EntryKind.FILE);
            readings.add(
                    scrub.runId(),
                    new Reading(
                            due.receiptId(),
                            now,
                            seen.stream()
                                    .mapToLong(one -> one.copy().sizeBytes())
                                    .sum(),
                            seen.size(),
                            cold && anyFile,
                            method,
                            damaged));
        }
        return damaged.size();
    }
}
