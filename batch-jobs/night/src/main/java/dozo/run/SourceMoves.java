package dozo.run;

import static java.util.Objects.requireNonNull;

import dozo.ledger.Failure;
import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import dozo.manifest.Comparison;
import dozo.manifest.Ingest;
import dozo.manifest.IngestSettings;
import dozo.registry.GivenPaths;
import dozo.registry.Refusal;
import dozo.registry.Relocations;
import dozo.registry.Relocations.Relocated;
import dozo.registry.Relocations.Relocation;
import dozo.run.Runs.RunKind;
import dozo.verify.Receipts;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.jdbc.core.simple.JdbcClient;
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
    private final Receipts receipts;
    private final Optional<Collecting> collecting;
    private final Ledger ledger;
    private final JdbcClient jdbc;
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
     * @param number the number in the order in which experiments were compared
     * @param manifest the number of the manifest that it was compared with; missing: it has none, and only its folder was
     *     looked for
     * @param otherContent files with the same size and time and another digest
     */
    public record Compared(
            long number,
            String experiment,
            @Nullable Integer manifest,
            Comparison found,
            long filesRead,
            long bytesRead,
            List<String> otherContent) {

        boolean isSame() {
            return found.isWhole() && otherContent.isEmpty();
        }
    }

    record Done(Compared compared, Relocated relocated) {

        boolean isSame() {
            return compared.isSame();
        }

        int manifest() {
            Integer number = compared.manifest;
            return number == null ? 0 : number;
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
     * @param moved how many have the new path
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
            long moved,
            long added,
            long facts,
            long filesRead,
            long bytesRead,
            String message) {}

    /** The move that began last. Its fields are guarded by {@link SourceMoves}. */
    private static final class Begun {
        final Relocation where;
        final Wanted wanted;
        final String actor;
        final Instant at;
        final List<Compared> compared = new ArrayList<>();
        MoveState state = MoveState.CHECKING;
        long experiments;
        long moved;
        boolean stopped;
        boolean decided;
        String message = "";
        @Nullable Thread thread;

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
            long same = compared.stream().filter(Compared::isSame).count();
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
                    moved,
                    sum(each -> each.found.added()),
                    sum(each -> each.found.facts()),
                    sum(Compared::filesRead),
                    sum(Compared::bytesRead),
                    message);
        }

        private long sum(ToLongFunction<Compared> number) {
            return compared.stream().mapToLong(number).sum();
        }
    }

    SourceMoves(
            Relocations relocations,
            Ingest ingest,
            IngestSettings settings,
            Receipts receipts,
            Optional<Collecting> collecting,
            Ledger ledger,
            JdbcClient jdbc,
            TransactionTemplate transaction) {
        this.relocations = relocations;
        this.ingest = ingest;
        this.settings = settings;
        this.receipts = receipts;
        this.collecting = collecting;
        this.ledger = ledger;
        this.jdbc = jdbc;
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
            ledger.append(actor, "move.requested", "sources", facts(now));
            latest = now;
            now.thread = Thread.ofPlatform().name("source-move").daemon().start(() -> run(now));
            return now.shown();
        }
    }

    /** Returns the move that began last since the service started, if this user may see it: their own, or with all sight. */
    public synchronized Optional<SourceMove> latest(Sight sight, String actor) {
        return visible(sight, actor).map(Begun::shown);
    }

    /**
     * Returns experiments of that move which differ or have more files, in the order in which they were compared.
     *
     * @param after the number of those before
     */
    public synchronized List<Compared> differences(Sight sight, String actor, long after, int limit) {
        return visible(sight, actor).stream()
                .flatMap(now -> now.compared.stream())
                .filter(each -> !each.isSame() || each.found.added() > 0)
                .filter(each -> each.number() > after)
                .limit(limit)
                .toList();
    }

    /**
     * Stops that move. Nothing has changed.
     *
     * @throws Refusal if there is none, or it has ended
     */
    public synchronized SourceMove stop(Sight sight, String actor) {
        Begun now = visible(sight, actor)
                .filter(each -> each.goesOn() && !each.decided)
                .orElseThrow(() -> Refusal.conflict("move", "no move of sources is under way"));
        ledger.append(actor, "move.stopping", "sources", facts(now));
        now.stopped = true;
        requireNonNull(now.thread).interrupt();
        return now.shown();
    }

    private Optional<Begun> visible(Sight sight, String actor) {
        return Optional.ofNullable(latest).filter(now -> sight.ofEverything() || now.actor.equals(actor));
    }

    /** Has a move that is under way end with the process; nothing of it has changed. */
    @Override
    public synchronized void destroy() {
        if (latest != null && latest.thread != null && !latest.decided) {
            latest.stopped = true;
            latest.thread.interrupt();
        }
    }

    private void run(Begun now) {
        try {
            List<Relocated> all = relocations.planned(now.where);
            // Tried and rolled back, so that what is not possible is known before hours of reading.
            transaction.executeWithoutResult(status -> {
                move(now, all, null);
                status.setRollbackOnly();
            });
            end(now, compareAndMove(now, all), "");
        } catch (Refusal refusal) {
            end(now, MoveState.REFUSED, String.valueOf(refusal.getMessage()));
        } catch (Throwable e) {
            end(now, MoveState.FAILED, Failure.reason(e, "nothing has changed"));
            LOG.info("sources were not moved", e);
        }
    }

    private synchronized void end(Begun now, MoveState state, String message) {
        // NB: an interrupt may end any wait with an exception.
        boolean stopped = now.stopped && !now.decided;
        now.state = stopped ? MoveState.STOPPED : state;
        if (!stopped) {
            now.message = now.decided && state != MoveState.MOVED
                    ? "the result is unknown: the sources have moved if the ledger has source.moved"
                    : message;
        }
    }

    private MoveState compareAndMove(Begun now, List<Relocated> all) throws InterruptedException {
        synchronized (this) {
            now.experiments = all.size();
        }
        List<Done> same = compared(now, all).stream().filter(Done::isSame).toList();
        long left = all.size() - same.size();
        if (now.wanted.check) {
            return MoveState.CHECKED;
        }
        if (left > 0 && (same.isEmpty() || !now.wanted.sameOnly)) {
            throw Refusal.conflict("to", "%d of %d experiments differ; nothing has changed", left, all.size());
        }
        List<Relocated> moved = same.stream().map(Done::relocated).toList();
        int[] manifests = same.stream().mapToInt(Done::manifest).toArray();
        while (!Boolean.TRUE.equals(transaction.execute(_ -> moveBetweenRuns(now, moved, manifests, left)))) {
            synchronized (this) {
                now.state = MoveState.WAITING;
            }
            Thread.sleep(NightFlow.NAP);
        }
        synchronized (this) {
            now.moved = moved.size();
        }
        return MoveState.MOVED;
    }

    /**
     * Moves what is to move, unless a run reads sources. A run that opens meanwhile appends to the ledger, and so is seen or
     * waits for the end of this transaction.
     */
    private boolean moveBetweenRuns(Begun now, List<Relocated> moved, int[] manifests, long left) {
        if (isRunReading()) {
            return false;
        }
        move(now, moved, manifests);
        SourceMove shown = shown(now);
        Map<String, Object> facts = facts(now);
        facts.putAll(Map.of("experiments", moved.size(), "left", left));
        facts.putAll(Map.of("files_read", shown.filesRead, "bytes_read", shown.bytesRead));
        ledger.append(now.actor, "source.moved", "sources", facts);
        if (isRunReading()) {
            throw Refusal.conflict("from", "a run has just begun; nothing has changed; try again after its end");
        }
        decide(now);
        return true;
    }

    /** Without the paths: folders may be named after people, and ledger rows are permanent. */
    private static Map<String, Object> facts(Begun now) {
        return new HashMap<>(Map.of(
                "from_sha256", GivenPaths.digest(now.where.from()), "to_sha256", GivenPaths.digest(now.where.to())));
    }

    private boolean isRunReading() {
        return jdbc.sql("select exists (select from run where ended_at is null and kind = any(:kinds))")
                .param("kinds", new String[] {RunKind.NIGHTLY_BACKUP.code(), RunKind.RETRY.code()})
                .query(Boolean.class)
                .single();
    }

    /** From now on it is not stopped. */
    private synchronized void decide(Begun now) {
        if (now.stopped) {
            throw Refusal.conflict("move", "the move was stopped");
        }
        now.decided = true;
    }

    private synchronized SourceMove shown(Begun now) {
        return now.shown();
    }

    private void move(Begun now, List<Relocated> moved, int @Nullable [] manifests) {
        relocations.relocate(now.where, moved, manifests, now.actor);
        int[] ids = moved.stream().mapToInt(each -> each.after().id()).toArray();
        collecting.ifPresent(origins -> origins.move(now.where, ids, now.actor));
    }

    /** Compares several experiments at a time. One whose source does not respond is not the same. Returns all, by id. */
    private List<Done> compared(Begun now, List<Relocated> all) throws InterruptedException {
        BlockingQueue<MoveCheck> ended = new LinkedBlockingQueue<>();
        Set<MoveCheck> underWay = new HashSet<>();
        Iterator<Relocated> left = all.iterator();
        List<Done> done = new ArrayList<>();
        try {
            while (left.hasNext() || !underWay.isEmpty()) {
                while (left.hasNext() && underWay.size() < settings.looks()) {
                    underWay.add(new MoveCheck(
                            left.next(), now.wanted.sample, ingest, receipts, transaction, ended::add));
                }
                MoveCheck first = ended.poll(NightFlow.NAP.toMillis(), TimeUnit.MILLISECONDS);
                List<MoveCheck> over = underWay.stream()
                        .filter(each -> each.equals(first) || each.isStuck(settings.patience()))
                        .toList();
                over.forEach(underWay::remove);
                over.forEach(each -> done.add(each.result(done.size() + 1)));
                synchronized (this) {
                    done.stream().skip(now.compared.size()).map(Done::compared).forEach(now.compared::add);
                }
            }
        } finally {
            underWay.forEach(MoveCheck::giveUp);
        }
        done.sort(Comparator.comparingInt(each -> each.relocated().after().id()));
        return done;
    }
}
