package dozo.run;

import static java.util.Objects.requireNonNull;

import dozo.ledger.Failure;
import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import dozo.manifest.Comparison;
import dozo.manifest.Ingest;
import dozo.manifest.IngestSettings;
import dozo.manifest.Known;
import dozo.registry.Experiments.Experiment;
import dozo.registry.GivenPaths;
import dozo.registry.Refusal;
import dozo.registry.Relocations;
import dozo.registry.Relocations.Relocation;
import dozo.run.Look.Next;
import dozo.run.Runs.RunKind;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionTemplate;

/**
 * Moves sources to another path after a storage was migrated, one move at a time. All sources are compared with their
 * manifests first; then everything changes in one transaction, while no run reads sources. A move is kept in memory only: if
 * the process ends before the transaction, nothing has changed, and it is requested again.
 */
@Component
public class SourceMoves implements DisposableBean {

    /** The number of files of each experiment that are read, unless the request has another one. */
    public static final int SAMPLE = 20;

    private static final int SAMPLE_MAX = 1_000;
    private static final Logger LOG = LoggerFactory.getLogger(SourceMoves.class);

    private final Relocations relocations;
    private final Ingest ingest;
    private final IngestSettings settings;
    private final MoveCheck check;
    private final Optional<Collecting> collecting;
    private final Runs runs;
    private final Ledger ledger;
    private final TransactionTemplate transaction;
    private @Nullable Begun latest;

    /**
     * What is wanted of a move.
     *
     * @param check whether it only compares
     * @param sameOnly whether experiments that are the same move, if others are not
     * @param sample the number of files of each experiment whose content is read and compared, 0 to 1,000
     */
    public record Wanted(Path from, Path to, boolean check, boolean sameOnly, int sample) {}

    /**
     * The result for one experiment.
     *
     * @param otherContent files of the sample with the same size and time and another digest
     */
    public record Compared(
            int id, String experiment, Comparison found, long filesRead, long bytesRead, List<String> otherContent) {

        boolean same() {
            return found.same() && otherContent.isEmpty();
        }
    }

    /** How far a move is. */
    public enum MoveState {
        CHECKING,
        /** Everything was compared; a run that reads sources has not ended. */
        WAITING,
        /** It was only to compare. */
        CHECKED,
        MOVED,
        /** Nothing was changed: something differs, or is not possible. */
        REFUSED,
        STOPPED,
        FAILED
    }

    /**
     * A move.
     *
     * @param goesOn whether it has not ended
     * @param experiments whose folder or file list is there; 0: not counted yet
     * @param same of those that were compared, in which everything of the manifest is there
     * @param left of those that were compared, the others
     * @param added entries that no manifest has: the next night sends them
     * @param facts files of which only rights, owner or hard link differ: the next night backs them up again
     * @param filesRead of the sample, whose digests were compared
     * @param message why it was refused or failed; empty otherwise
     */
    public record SourceMove(
            MoveState state,
            boolean goesOn,
            String from,
            String to,
            String requestedBy,
            Instant requestedAt,
            long experiments,
            long same,
            long left,
            long added,
            long facts,
            long filesRead,
            long bytesRead,
            String message) {}

    /** The move that began last. What changes is guarded by {@link SourceMoves}. */
    private static final class Begun {
        final Relocation where;
        final Wanted wanted;
        final String actor;
        final Instant at;
        final List<Compared> compared = new ArrayList<>();
        MoveState state = MoveState.CHECKING;
        long experiments;
        boolean stopped;
        boolean decided;
        String outcome = "";

        @Nullable
        Thread thread;

        Begun(Relocation where, Wanted wanted, String actor, Instant at) {
            this.where = where;
            this.wanted = wanted;
            this.actor = actor;
            this.at = at;
        }

        boolean goesOn() {
            return state == MoveState.CHECKING || state == MoveState.WAITING;
        }

        SourceMove shown() {
            long same = compared.stream().filter(Compared::same).count();
            return new SourceMove(
                    state,
                    goesOn(),
                    GivenPaths.shown(where.from()),
                    GivenPaths.shown(where.to()),
                    actor,
                    at,
                    experiments,
                    same,
                    compared.size() - same,
                    sum(each -> each.found.added()),
                    sum(each -> each.found.facts()),
                    sum(Compared::filesRead),
                    sum(Compared::bytesRead),
                    outcome);
        }

        private long sum(ToLongFunction<Compared> number) {
            return compared.stream().mapToLong(number).sum();
        }
    }

    SourceMoves(
            Relocations relocations,
            Ingest ingest,
            IngestSettings settings,
            MoveCheck check,
            Optional<Collecting> collecting,
            Runs runs,
            Ledger ledger,
            TransactionTemplate transaction) {
        this.relocations = relocations;
        this.ingest = ingest;
        this.settings = settings;
        this.check = check;
        this.collecting = collecting;
        this.runs = runs;
        this.ledger = ledger;
        this.transaction = transaction;
    }

    /**
     * Begins a move, and returns before it has compared anything.
     *
     * @param sight the projects whose experiments move; if of everything, roots and origins move, too
     * @throws Refusal if a folder or the sample is wrong, or another move has not ended
     */
    public SourceMove begin(Sight sight, Wanted wanted, String actor) {
        if (wanted.sample < 0 || wanted.sample > SAMPLE_MAX) {
            throw new Refusal("sample", "%d: expected 0 to %d", wanted.sample, SAMPLE_MAX);
        }
        Begun now = new Begun(relocations.checked(sight, wanted.from, wanted.to), wanted, actor, ledger.now());
        synchronized (this) {
            if (latest != null && latest.goesOn()) {
                throw Refusal.conflict("from", "another move of sources has not ended; wait for its end, or stop it");
            }
            note(now, "move.requested");
            latest = now;
            now.thread = Thread.ofPlatform().name("source-move").daemon().start(() -> run(now));
            return now.shown();
        }
    }

    /** Returns the move that began last since the service started: to those who see not everything, only their own. */
    public synchronized Optional<SourceMove> latest(Sight sight, String actor) {
        return visible(sight, actor).map(Begun::shown);
    }

    /** Returns experiments of that move which differ or have more files, with an id above {@code after}, by id. */
    public synchronized List<Compared> differences(Sight sight, String actor, int after, int limit) {
        return visible(sight, actor).stream()
                .flatMap(now -> now.compared.stream())
                .filter(each -> each.id > after && (!each.same() || each.found.added() > 0))
                .filter(each -> sight.sees(each.experiment.substring(0, each.experiment.indexOf('/'))))
                .sorted(Comparator.comparingInt(Compared::id))
                .limit(limit)
                .toList();
    }

    /**
     * Stops that move. Nothing has changed.
     *
     * @throws Refusal if there is none, or it has ended
     */
    public SourceMove stop(Sight sight, String actor) {
        SourceMove shown;
        synchronized (this) {
            Begun now = visible(sight, actor)
                    .filter(each -> each.goesOn() && !each.decided)
                    .orElseThrow(() -> Refusal.conflict("move", "no move of sources is under way"));
            stop(now);
            shown = now.shown();
        }
        // NB: not while others wait for this object: the move's transaction may have the ledger, and needs the object,
        // too.
        ledger.append(actor, "move.stopping", "sources", Map.of());
        return shown;
    }

    private Optional<Begun> visible(Sight sight, String actor) {
        return Optional.ofNullable(latest).filter(now -> sight.ofEverything() || now.actor.equals(actor));
    }

    private static void stop(Begun now) {
        if (!now.decided) {
            now.stopped = true;
            requireNonNull(now.thread).interrupt();
        }
    }

    /** Has a move that is under way end with the process; nothing of it has changed. */
    @Override
    public synchronized void destroy() {
        if (latest != null) {
            stop(latest);
        }
    }

    private void run(Begun now) {
        try {
            Map<Integer, String> all = relocations.versions(now.where);
            // Tried and rolled back, so that what is not possible is known before hours of reading.
            List<Experiment> after = requireNonNull(transaction.execute(status -> {
                status.setRollbackOnly();
                return move(now, all);
            }));
            relocations.checkRoots(now.where, after);
            compare(now, after);
            end(now, now.wanted.check ? MoveState.CHECKED : moveWhatIsSame(now, all), "");
        } catch (Refusal refusal) {
            end(now, MoveState.REFUSED, String.valueOf(refusal.getMessage()));
        } catch (Throwable e) {
            if (!now.stopped) {
                LOG.error("sources were not moved", e);
            }
            end(now, MoveState.FAILED, Failure.reason(e, "nothing has changed"));
        }
    }

    private synchronized void end(Begun now, MoveState state, String message) {
        // NB: an interrupt may end any wait with an exception.
        boolean stopped = now.stopped && !now.decided;
        now.state = stopped ? MoveState.STOPPED : state;
        if (!stopped) {
            now.outcome = now.decided && state != MoveState.MOVED
                    ? "the result is unknown: the sources have moved if the ledger has source.moved"
                    : message;
        }
    }

    private MoveState moveWhatIsSame(Begun now, Map<Integer, String> all) throws InterruptedException {
        Map<Integer, String> same = new TreeMap<>();
        now.compared.stream()
                .filter(Compared::same)
                .forEach(each -> same.put(each.id, requireNonNull(all.get(each.id))));
        int left = all.size() - same.size();
        if (left > 0 && (same.isEmpty() || !now.wanted.sameOnly)) {
            throw Refusal.conflict("to", "%d of %d experiments differ; nothing has changed", left, all.size());
        }
        while (isRunReading()) {
            synchronized (this) {
                now.state = MoveState.WAITING;
            }
            Thread.sleep(NightFlow.NAP);
        }
        transaction.executeWithoutResult(_ -> {
            move(now, same);
            note(now, "source.moved");
            // A run that opens meanwhile appends to the ledger: it is seen here, or waits for the end of this
            // transaction.
            if (isRunReading()) {
                throw Refusal.conflict("from", "a run has just begun; nothing has changed; try again after its end");
            }
            decide(now);
        });
        return MoveState.MOVED;
    }

    private boolean isRunReading() {
        return runs.goingOn()
                .filter(run -> !Set.of(RunKind.REPLICATION, RunKind.SCRUB, RunKind.REBUILD)
                        .contains(run.kind()))
                .isPresent();
    }

    private List<Experiment> move(Begun now, Map<Integer, String> versions) {
        List<Experiment> after = relocations.relocate(now.where, versions, now.actor);
        int[] ids = after.stream().mapToInt(Experiment::id).toArray();
        collecting.ifPresent(origins -> origins.move(now.where, ids, now.actor));
        return after;
    }

    /** Appends to the ledger. Without the paths: folders may be named after people, and ledger rows are permanent. */
    private synchronized void note(Begun now, String action) {
        SourceMove shown = now.shown();
        ledger.append(
                now.actor,
                action,
                "sources",
                Map.of(
                        "from_sha256", GivenPaths.digest(now.where.from()),
                        "to_sha256", GivenPaths.digest(now.where.to()),
                        "experiments", shown.same,
                        "left", shown.left,
                        "files_read", shown.filesRead,
                        "bytes_read", shown.bytesRead));
    }

    /** From now on it is not stopped. */
    private synchronized void decide(Begun now) {
        if (now.stopped) {
            throw Refusal.conflict("move", "the move was stopped");
        }
        now.decided = true;
    }

    /** Compares several experiments at a time. One whose source does not respond differs. */
    private void compare(Begun now, List<Experiment> all) throws InterruptedException {
        synchronized (this) {
            now.experiments = all.size();
        }
        BlockingQueue<Look> ended = new LinkedBlockingQueue<>();
        Map<Integer, Compared> found = new ConcurrentHashMap<>();
        Set<Look> underWay = new HashSet<>();
        Iterator<Experiment> left = all.iterator();
        try {
            while (left.hasNext() || !underWay.isEmpty()) {
                while (left.hasNext() && underWay.size() < settings.looks()) {
                    Experiment next = left.next();
                    Known known =
                            requireNonNull(ingest.known(new int[] {next.id()}).get(next.id()));
                    underWay.add(new Look(
                            new Next(next, known, false, false),
                            ingest,
                            (look, seen) ->
                                    found.put(next.id(), check.compare(next, seen, now.wanted.sample, look.told())),
                            ended::add));
                }
                Look first = ended.poll(NightFlow.NAP.toMillis(), TimeUnit.MILLISECONDS);
                for (Look look : List.copyOf(underWay)) {
                    if (look.equals(first) || look.isStuck(settings.patience())) {
                        underWay.remove(look);
                        look.giveUp();
                        look.rethrow();
                        Compared result = found.get(look.experiment().id());
                        synchronized (this) {
                            now.compared.add(result == null ? silent(look.experiment()) : result);
                        }
                    }
                }
            }
        } finally {
            underWay.forEach(Look::giveUp);
        }
    }

    private static Compared silent(Experiment experiment) {
        Comparison none = Comparison.failed("the folder does not respond");
        return new Compared(experiment.id(), experiment.name(), none, 0, 0, List.of());
    }
}
