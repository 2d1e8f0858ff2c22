package dozo.collect;

import dozo.collect.Arrivals.Acceptance;
import dozo.collect.Arrivals.Arrival;
import dozo.collect.Origins.Origin;
import dozo.collect.Reconciliations.State;
import dozo.ledger.Ledger;
import dozo.ledger.Sight;
import dozo.registry.Refusal;
import java.io.IOException;
import java.sql.Timestamp;
import java.sql.Types;
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

/**
 * Collects from all origins, piece by piece: a look at an origin, then one item after the other. Bytes come while no transaction is
 * open; what came of a piece is kept in one. Which piece is next is asked of the database, so it goes on wherever it was cut off.
 */
@Component
public class Collection {

    private static final Logger LOG = LoggerFactory.getLogger(Collection.class);

    private final JdbcClient jdbc;
    private final Origins origins;
    private final Arrivals arrivals;
    private final Reconciliations reconciliations;
    private final TransactionOperations transactions;
    private final InstantSource clock;

    private interface Asked<T> {
        T of(Collector collector) throws IOException, InterruptedException;
    }

    public Collection(
            JdbcClient jdbc,
            Origins origins,
            Arrivals arrivals,
            Reconciliations reconciliations,
            TransactionTemplate transactions,
            InstantSource clock) {
        this.jdbc = jdbc;
        this.origins = origins;
        this.arrivals = arrivals;
        this.reconciliations = reconciliations;
        this.transactions = transactions;
        this.clock = clock;
    }

    /**
     * Does the next piece of a run's collecting. What goes wrong with an origin is a finding, and ends its part alone.
     *
     * @return whether there may be another one
     * @throws InterruptedException when it was asked to stop; the piece is done again, without what had come by then
     */
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

    /** Says of all origins that a run has not finished that the time was over. */
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

    private void late(long runId, Origin origin) {
        reconciliations.endEarly(
                runId,
                origin,
                State.LATE,
                "the time for collecting was over (dozo.collect.limit); known to wait: %d items. The next night goes on"
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
        Look look = asked(runId, origin, true, collector -> collector.look(origin, origin.newest()));
        if (look != null) {
            transactions.executeWithoutResult(transaction -> keep(runId, origin, look));
        }
    }

    private void keep(long runId, Origin origin, Look look) {
        int changed = arrivals.told(origin, look.offers(), look.changed());
        List<Arrival> gone = arrivals.gone(origin, look.offers());
        reconciliations.begin(runId, origin, look.offers().size(), changed, gone.size(), arrivals.dismissed(origin));
        reconciliations.missing(runId, origin, null, look.missing());
        reconciliations.remarks(runId, origin, null, look.remarks());
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

    private static Remark gone(Arrival arrival) {
        return new Remark(
                arrival.title(),
                arrival.item(),
                "NOT_TOLD",
                "the origin tells of it no more: deleted, moved to where we cannot see it, or hidden; what is here stays");
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
        transactions.executeWithoutResult(transaction -> {
            arrivals.described(runId, arrival, told, accept);
            if (!accept) {
                keep(runId, origin, arrival, told, false);
            }
        });
        if (accept) {
            accept(runId, origin, arrival, told);
        }
    }

    /** The run may look at it again: now there is something to deliver. */
    private void accept(long runId, Origin origin, Arrival arrival, Delivery told) {
        try {
            transactions.executeWithoutResult(transaction -> {
                arrivals.accept(Sight.EVERYTHING, arrival.id(), Acceptance.AS_PROPOSED, Ledger.SYSTEM);
                arrivals.again(arrival);
            });
        } catch (Refusal refusal) {
            Remark missing = new Remark(
                    arrival.title(),
                    arrival.item(),
                    "NOT_ACCEPTED",
                    "it cannot become an experiment by itself: " + refusal.getMessage());
            transactions.executeWithoutResult(transaction -> {
                keep(runId, origin, arrival, told, false);
                reconciliations.missing(runId, origin, arrival, List.of(missing));
            });
        }
    }

    private void deliver(long runId, Origin origin, Arrival arrival) throws InterruptedException {
        Delivery none = SpoolRoom.refusal(
                origin.terms().spool(), origins.collector(origin.terms().kind()).tree(origin, arrival.item()), arrival);
        if (none != null) {
            transactions.executeWithoutResult(transaction -> {
                arrivals.delivered(runId, arrival, none);
                keep(runId, origin, arrival, none, true);
            });
            return;
        }
        Delivery came = asked(runId, origin, false, collector -> collector.deliver(origin, arrival.offer()));
        if (came != null) {
            transactions.executeWithoutResult(transaction -> {
                arrivals.delivered(runId, arrival, came);
                origins.collector(origin.terms().kind()).kept(runId, arrival, came);
                keep(runId, origin, arrival, came, true);
            });
        }
    }

    private void keep(long runId, Origin origin, Arrival arrival, Delivery came, boolean delivered) {
        reconciliations.tried(runId, origin, came, delivered);
        reconciliations.missing(runId, origin, arrival, came.missing());
        reconciliations.remarks(runId, origin, arrival, came.remarks());
    }

    /** What a collector says; null where it cannot say anything: then the origin's part of the run is over. */
    private <T> @Nullable T asked(long runId, Origin origin, boolean begins, Asked<T> question)
            throws InterruptedException {
        String why;
        try {
            return question.of(origins.collector(origin.terms().kind()));
        } catch (OriginException | Refusal e) {
            why = String.valueOf(e.getMessage());
        } catch (IOException e) {
            why = "what came could not be kept in the spool: " + e;
        } catch (RuntimeException e) {
            LOG.error("origin {} cannot be collected from", origin.name(), e);
            why = "a defect of Dozo; the log says more: " + e;
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
