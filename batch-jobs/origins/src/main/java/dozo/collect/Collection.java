package dozo.collect;

import dozo.collect.Arrivals.Arrival;
import dozo.collect.Origins.Origin;
import dozo.collect.Reconciliations.State;
import dozo.db.LostDatabase;
import dozo.ledger.Failure;
import dozo.ledger.Rows;
import dozo.ledger.Sight;
import dozo.registry.Refusal;
import dozo.registry.Relocations.Relocation;
import dozo.run.Collecting;
import dozo.source.delivery.DeliveryException;
import dozo.source.delivery.ItemFolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.sql.Types;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Component;
import org.springframework.transaction.support.TransactionOperations;
import org.springframework.transaction.support.TransactionTemplate;
import org.springframework.util.FileSystemUtils;

/**
 * Collects from all origins in pieces: a look at an origin, then one item after the other. No transaction is open
 * during downloads; the result of a piece is stored in one transaction. The next piece is found by a query, so a
 * stopped run continues where it was.
 */
@Component
public class Collection implements Collecting {

    private static final Logger LOG = LoggerFactory.getLogger(Collection.class);

    /** At least this many items gone in one look, and no fewer than are still listed, are a finding. */
    private static final int GONE_MIN = 5;

    private final JdbcClient jdbc;
    private final Origins origins;
    private final Arrivals arrivals;
    private final Reconciliations reconciliations;
    private final Room room;
    private final CollectSettings settings;
    private final TransactionOperations transactions;
    private final InstantSource clock;

    /** The result of a look, and the free space for it in bytes. */
    private record Looked(long room, Look look) {}

    /** What was delivered of an experiment, and the spool that it is in. */
    private record Delivered(Path tree, Path spool) {}

    private interface Asked<T> {
        T of(Collector collector) throws IOException, InterruptedException;
    }

    public Collection(
            JdbcClient jdbc,
            Origins origins,
            Arrivals arrivals,
            Reconciliations reconciliations,
            Room room,
            CollectSettings settings,
            TransactionTemplate transactions,
            InstantSource clock) {
        this.jdbc = jdbc;
        this.origins = origins;
        this.arrivals = arrivals;
        this.reconciliations = reconciliations;
        this.room = room;
        this.settings = settings;
        this.transactions = transactions;
        this.clock = clock;
    }

    @Override
    public Duration limit() {
        return settings.limit();
    }

    @Override
    public boolean next(long runId) throws InterruptedException {
        Optional<Integer> running = reconciliations.running(runId);
        if (running.isPresent()) {
            nextItem(runId, origin(running.get()));
            return true;
        }
        Optional<Integer> next = reconciliations.nextOrigin(runId);
        if (next.isPresent()) {
            begin(runId, origin(next.get()));
        }
        return next.isPresent();
    }

    @Override
    public void timeIsOver(long runId) {
        transactions.executeWithoutResult(transaction -> {
            reconciliations.running(runId).ifPresent(id -> late(runId, origin(id)));
            Optional<Integer> next = reconciliations.nextOrigin(runId);
            while (next.isPresent()) {
                Origin origin = origin(next.get());
                reconciliations.begin(runId, origin);
                late(runId, origin);
                next = reconciliations.nextOrigin(runId);
            }
        });
    }

    @Override
    public void erase(int experiment) {
        jdbc.sql("""
                        select e.source_root as tree, o.spool from experiment e join arrival a using (experiment_id) join origin o using (origin_id)
                        where e.experiment_id = :experiment and e.source_kind in ('flywheel', 'dicom', 'xnat')
                        """)
                .param("experiment", experiment)
                .query(Rows.of(Delivered.class))
                .list()
                .forEach(Collection::erase);
    }

    @Override
    public void move(Relocation wanted, int[] moved, String actor) {
        origins.move(wanted, moved, actor);
    }

    /** Removes the folder of an item, which is directly in the spool, with its tree, records and temporary files. */
    private static void erase(Delivered delivered) {
        Path item = delivered.tree.getParent();
        try {
            if (item == null
                    || !delivered.spool.equals(item.getParent())
                    || !ItemFolder.tree(item).equals(delivered.tree)) {
                throw new IOException("%s is no folder of the spool %s".formatted(delivered.tree, delivered.spool));
            }
            // NB: walks without following links.
            if (!FileSystemUtils.deleteRecursively(item) && isEmpty(delivered.spool)) {
                throw new IOException("the spool %s is empty: is its disk mounted?".formatted(delivered.spool));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean isEmpty(Path folder) throws IOException {
        try (DirectoryStream<Path> names = Files.newDirectoryStream(folder)) {
            return !names.iterator().hasNext();
        }
    }

    private void late(long runId, Origin origin) {
        reconciliations.endEarly(
                runId,
                origin,
                State.LATE,
                "time limit for collecting reached (dozo.collect.limit); %d items are waiting. The next night continues"
                        .formatted(arrivals.waiting(runId, origin)));
    }

    private Origin origin(int id) {
        return origins.find(id).orElseThrow();
    }

    private void begin(long runId, Origin origin) throws InterruptedException {
        if (reconciliations.isRetry(runId)) {
            transactions.executeWithoutResult(transaction -> reconciliations.begin(runId, origin));
            return;
        }
        Looked looked = asked(
                runId,
                origin,
                true,
                collector -> new Looked(room.left(origin, Room.NIGHT), collector.look(origin, origin.newest())));
        if (looked != null) {
            transactions.executeWithoutResult(transaction -> {
                keep(runId, origin, looked.look());
                room.shortness(origin, looked.room()).ifPresent(message -> reconciliations.spoolShort(runId, message));
            });
        }
    }

    private void keep(long runId, Origin origin, Look look) {
        int changed = arrivals.told(origin, look.offers(), look.changed());
        List<Arrival> gone = arrivals.gone(origin, look.offers());
        reconciliations.begin(runId, origin, look.offers().size(), changed, gone.size(), arrivals.dismissed(origin));
        reconciliations.missing(runId, origin, null, look.missing());
        reconciliations.missing(
                runId, origin, null, origins.collector(origin.terms().kind()).kept(origin, look));
        reconciliations.remarks(runId, origin, null, look.remarks());
        if (gone.size() >= GONE_MIN && gone.size() >= look.offers().size()) {
            reconciliations.missing(
                    runId,
                    origin,
                    null,
                    List.of(manyGone(origin, gone.size(), look.offers().size())));
        }
        for (Arrival arrival : gone) {
            reconciliations.remarks(runId, origin, arrival, List.of(gone(arrival)));
        }
        for (Arrival arrival : arrivals.lost(origin)) {
            reconciliations.missing(runId, origin, arrival, List.of(gone(arrival)));
        }
        jdbc.sql("update origin set newest = :newest, looked_at = :now where origin_id = :id")
                .param("newest", look.newest(), Types.VARCHAR)
                .param("now", Timestamp.from(clock.instant()))
                .param("id", origin.id())
                .update();
    }

    /**
     * Returns the finding for many items gone at once: lost permissions or lost data are likelier than that many
     * deletions.
     */
    private static Remark manyGone(Origin origin, int gone, int told) {
        return new Remark(
                "items listed until now",
                origin.name(),
                "MANY_GONE",
                "%d items are no longer listed, %d still are. Check the user's permissions and whether data was deleted"
                        .formatted(gone, told));
    }

    private static Remark gone(Arrival arrival) {
        return new Remark(
                arrival.title(),
                arrival.item(),
                "NOT_TOLD",
                "the origin no longer lists this item: deleted, moved or hidden; local files are kept");
    }

    private void nextItem(long runId, Origin origin) throws InterruptedException {
        Optional<Arrival> next = arrivals.nextWaiting(runId, origin);
        if (next.isEmpty()) {
            transactions.executeWithoutResult(transaction -> reconciliations.end(runId, origin));
        } else if (next.get().experiment() == null) {
            describe(runId, origin, next.get());
        } else {
            deliver(runId, origin, next.get());
        }
    }

    private void describe(long runId, Origin origin, Arrival arrival) throws InterruptedException {
        Delivery told = asked(runId, origin, false, collector -> collector.describe(origin, arrival.offer()));
        if (told == null) {
            return;
        }
        boolean accept = origin.terms().automatic() && arrival.project() != null && told.isComplete();
        if (accept) {
            accept(runId, origin, arrival, told);
            return;
        }
        transactions.executeWithoutResult(transaction -> {
            arrivals.tried(runId, arrival, told, false, false);
            keep(runId, origin, arrival, told, false);
        });
    }

    /**
     * Accepts a proposal in one transaction: otherwise a run killed in between would skip the item. The run may then
     * look at it again, in order to deliver it.
     */
    private void accept(long runId, Origin origin, Arrival arrival, Delivery told) {
        try {
            transactions.executeWithoutResult(transaction -> {
                arrivals.tried(runId, arrival, told, false, true);
                arrivals.acceptAutomatically(arrival);
            });
        } catch (Refusal refusal) {
            Remark missing = new Remark(
                    arrival.title(),
                    arrival.item(),
                    "NOT_ACCEPTED",
                    "could not be registered automatically: " + refusal.getMessage());
            transactions.executeWithoutResult(transaction -> {
                arrivals.tried(runId, arrival, told, false, true);
                keep(runId, origin, arrival, told, false);
                if (isProposal(arrival.id())) {
                    reconciliations.missing(runId, origin, arrival, List.of(missing));
                }
            });
        }
    }

    /** Returns whether nobody has accepted or dismissed an arrival meanwhile. */
    private boolean isProposal(long id) {
        Arrival now = arrivals.find(Sight.EVERYTHING, id).orElseThrow();
        return now.experiment() == null && now.dismissal() == null;
    }

    private void deliver(long runId, Origin origin, Arrival arrival) throws InterruptedException {
        Delivery came = asked(runId, origin, false, collector -> deliver(collector, origin, arrival));
        if (came != null) {
            transactions.executeWithoutResult(transaction -> {
                arrivals.tried(runId, arrival, came, true, false);
                origins.collector(origin.terms().kind()).kept(runId, arrival, came);
                keep(runId, origin, arrival, came, true);
            });
        }
    }

    private Delivery deliver(Collector collector, Origin origin, Arrival arrival)
            throws IOException, InterruptedException {
        Offer offer = arrival.offer();
        Optional<Remark> refusal = room.refusal(origin, arrival, collector.tree(origin, arrival.item()));
        if (refusal.isPresent()) {
            return Delivery.none(offer, arrival.filesHere(), refusal.get());
        }
        return collector.deliver(origin, offer);
    }

    private void keep(long runId, Origin origin, Arrival arrival, Delivery came, boolean delivered) {
        reconciliations.tried(runId, origin, came, delivered);
        reconciliations.missing(runId, origin, arrival, came.missing());
        reconciliations.remarks(runId, origin, arrival, came.remarks());
    }

    private static String reason(Origin origin, Exception e) {
        DeliveryException theirs = Failure.cause(e, DeliveryException.class);
        if (theirs != null) {
            return "%s: %s".formatted(theirs.trouble(), theirs.getMessage());
        }
        Throwable unusable = Failure.cause(e, OriginException.class);
        Throwable named = unusable == null ? Failure.cause(e, Refusal.class) : unusable;
        if (named != null) {
            return String.valueOf(named.getMessage());
        }
        IOException here = Failure.cause(e, IOException.class);
        if (here != null) {
            return "the spool cannot be read or written: " + here;
        }
        LOG.error("collecting from origin {} failed", origin.name(), e);
        return Failure.reason(e, "the next night tries again");
    }

    /**
     * Asks a collector. Returns null if it fails; the origin's part of the run is then over. A lost database is not the origin's
     * fault: the run waits for it.
     */
    private <T> @Nullable T asked(long runId, Origin origin, boolean begins, Asked<T> question)
            throws InterruptedException {
        String why;
        try {
            return question.of(origins.collector(origin.terms().kind()));
        } catch (IOException | RuntimeException e) {
            if (LostDatabase.isBehind(e)) {
                throw e instanceof RuntimeException lost ? lost : new UncheckedIOException((IOException) e);
            }
            why = reason(origin, e);
        }
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
        LOG.warn("origin {}: {}", origin.name(), why);
        String message = why;
        transactions.executeWithoutResult(transaction -> {
            if (begins) {
                reconciliations.begin(runId, origin);
            }
            reconciliations.endEarly(runId, origin, State.UNUSABLE, message);
        });
        return null;
    }
}
